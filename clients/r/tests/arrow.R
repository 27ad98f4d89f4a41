# Arrow in place of CSV: the same answer to the bit. The packages nanoarrow and arrow write
# it where they are installed. pyarrow stands in for arrow where reticulate has it: it writes the
# types that arrow writes for R's, doubles, integers and text.
library(marsr)
source("with/cells.R")
if (!has_mars) quit("no")
options(mars.quiet = TRUE)

mixed <- function(x, n = nrow(x)) {
  set.seed(n)
  cbind(x, site = factor(rep_len(c("1", "2", "\u00e7"), n)), whole = c(NA, seq_len(n - 1) %% 7L), day = as.Date("2024-01-01") + seq_len(n) %% 50,
        tiny = rnorm(n) * 1e-9, gaps = c(NaN, NA, rnorm(n - 2)), "a, \"b\"" = rnorm(n) / 3)
}
answer <- function(transport) {
  options(mars.transport = transport)
  fit <- mars_label(mixed(old), mixed(new), "celltype")
  list(fit$labels, predict(fit, mixed(new)[3:9, ], type = "prob"), mars_proportions(celltype ~ ., mixed(old), mixed(new))$table)
}
csv <- answer("csv")
for (name in c("nanoarrow", "arrow")) {
  if (requireNamespace(name, quietly = TRUE)) stopifnot(identical(answer(name), csv)) else message("the package ", name, " is not installed: it was not tested")
}
fails(answer("pigeon"), "mars.transport is pigeon: want auto, nanoarrow, arrow, csv")

python <- Sys.getenv("MARS_PYTHON")
if (!requireNamespace("arrow", quietly = TRUE) && nzchar(python) && requireNamespace("reticulate", quietly = TRUE)) {
  reticulate::use_python(python, required = TRUE)
  if (!reticulate::py_module_available("pyarrow")) quit("no")
  pa <- reticulate::import("pyarrow", convert = FALSE)
  by_pyarrow <- function(columns, path) {
    arrays <- lapply(columns, function(x) {
      type <- if (is.character(x)) pa$string() else if (is.integer(x)) pa$int32() else pa$float64()
      pa$array(lapply(x, function(v) if (is.na(v)) NULL else v), type = type)
    })
    table <- pa$Table$from_arrays(unname(arrays), names = as.list(names(columns)))
    writer <- pa$ipc$new_stream(path, table$schema)
    writer$write_table(table)
    writer$close()
  }
  space <- asNamespace("marsr")
  writers <- get("writers", space)
  writers$arrow <- by_pyarrow
  unlockBinding("writers", space)
  assign("writers", writers, space)
  stopifnot(identical(answer("arrow"), csv))
  message("pyarrow stood in for arrow")
}
