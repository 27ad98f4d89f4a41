# Reads what the Go writer wrote from R, through reticulate and pyarrow.
# Usage: Rscript verify.R FOLDER
library(reticulate)
use_python(Sys.getenv("MARS_PYTHON", "python3"), required = TRUE)
pa <- import("pyarrow", convert = FALSE)

folder <- commandArgs(trailingOnly = TRUE)[1]
for (file in list.files(folder, full.names = TRUE)) {
  opened <- if (endsWith(file, ".arrow")) pa$ipc$open_file(file) else pa$ipc$open_stream(file)
  columns <- py_to_r(opened$read_all()$to_pydict())
  features <- do.call(rbind, lapply(columns$features, unlist))
  id <- 0:5
  stopifnot(
    identical(as.integer(unlist(columns$id)), id),
    identical(unlist(columns$domain), rep(c("source", "target"), each = 3L)),
    identical(as.integer(unlist(columns$label)), 0:2),
    isTRUE(all.equal(unname(features), unname(cbind(id, id + 0.5, -id)))),
    identical(unlist(columns$name)[2], "row 1 with a longer name")
  )
}
