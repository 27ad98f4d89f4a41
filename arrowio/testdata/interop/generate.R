# Writes the data set of generate.py from R, through reticulate and pyarrow (R's
# own arrow package is not in every distribution). Usage: Rscript generate.R FOLDER
#
# Made with R 4.2, reticulate 1.28 and pyarrow 26.0. MARS_PYTHON names the
# interpreter that has pyarrow and pandas.
library(reticulate)
use_python(Sys.getenv("MARS_PYTHON", "python3"), required = TRUE)
pa <- import("pyarrow", convert = FALSE)

folder <- commandArgs(trailingOnly = TRUE)[1]
id <- 0:5
features <- cbind(id, id + 0.5, -id)
name <- ifelse(id %% 2 == 1, paste("row", id, "with a longer name"), paste("row", id))

save <- function(table, name) {
  writer <- pa$ipc$new_stream(file.path(folder, paste0(name, ".arrows")), table$schema)
  writer$write_table(table)
  writer$close()
  writer <- pa$ipc$new_file(file.path(folder, paste0(name, ".arrow")), table$schema)
  writer$write_table(table)
  writer$close()
}

frame <- data.frame(id = id, domain = rep(c("source", "target"), each = 3), label = c(0, 1, 2, NA, NA, NA), name = name)
table <- pa$Table$from_pandas(r_to_py(frame))
matrix <- pa$FixedSizeListArray$from_arrays(pa$array(as.vector(t(features))), 3L)
save(table$append_column("features", matrix), "r-matrix")

lists <- pa$array(lapply(id + 1, function(i) unname(features[i, ])))
frame$id <- as.numeric(id)
frame$domain <- factor(frame$domain)
table <- pa$Table$from_pandas(r_to_py(frame))
save(table$append_column("features", lists), "r-lists")
