# Frames go to the program through files in a folder of their own: as Arrow where the
# package nanoarrow or arrow is installed, else as CSV. Both carry every number to the bit.

in_folder <- function(work) {
  folder <- tempfile("mars")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE, force = TRUE))
  work(normalizePath(folder))
}

# Writes a list of columns (doubles, integers and text), and returns the file's name.
write_columns <- function(columns, folder, name) {
  by <- transport()
  file <- paste0(name, if (by == "csv") ".csv" else ".arrows")
  writers[[by]](columns, file.path(folder, file))
  file
}

transport <- function() {
  chosen <- getOption("mars.transport", "auto")
  if (chosen %in% names(writers)) return(chosen)
  if (!identical(chosen, "auto")) {
    stop("the option mars.transport is ", chosen, ": want auto, ", paste(names(writers), collapse = ", "), call. = FALSE)
  }
  if (requireNamespace("nanoarrow", quietly = TRUE) && "write_nanoarrow" %in% getNamespaceExports("nanoarrow")) return("nanoarrow")
  if (requireNamespace("arrow", quietly = TRUE)) return("arrow")
  "csv"
}

writers <- list(
  nanoarrow = function(columns, path) nanoarrow::write_nanoarrow(as_frame(columns), path),
  arrow = function(columns, path) arrow::write_ipc_stream(as_frame(columns), path),
  csv = function(columns, path) write_csv(columns, path)
)

as_frame <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

# Base R's and data.table's writers stop at 15 digits, which is not enough for a double.
write_csv <- function(columns, path) {
  fields <- lapply(columns, function(x) {
    text <- if (is.character(x)) quoted(x) else format_number(x)
    text[is.na(x)] <- if (length(columns) == 1) "\"\"" else ""  # a line is never empty
    text
  })
  lines <- do.call(paste, c(unname(fields), list(sep = ",")))
  con <- file(path, "wb")
  on.exit(close(con))
  writeLines(c(paste(quoted(names(columns)), collapse = ","), lines), con, useBytes = TRUE)
}

# Numbers as text that gives the same numbers back.
format_number <- function(x) if (is.integer(x)) sprintf("%d", x) else sprintf("%.17g", x)

# Text as a field of CSV: in quotes if it needs them.
quoted <- function(text) {
  values <- unique(text)
  odd <- grepl("[\",\r\n]|^[ \t#]|[ \t]$|^$", values)
  values[odd] <- paste0("\"", gsub("\"", "\"\"", values[odd], fixed = TRUE), "\"")
  values[match(text, unique(text))]
}

# Reads a table that the program has written. Its first column is left as text; the
# columns after it are doubles, or what single precision has of them.
read_table <- function(path, skip = 0, single = FALSE) {
  columns <- names(utils::read.csv(path, nrows = 1, check.names = FALSE, encoding = "UTF-8", colClasses = "character"))
  text <- columns %in% c("class", "level", "parent") | startsWith(columns, "predicted_")
  kinds <- ifelse(seq_along(columns) <= skip, "NULL", ifelse(text, "character", "numeric"))
  table <- utils::read.csv(path, check.names = FALSE, encoding = "UTF-8", colClasses = kinds, na.strings = "", comment.char = "",
                           quote = "\"", stringsAsFactors = FALSE)
  if (single) table[vapply(table, is.numeric, NA)] <- lapply(Filter(is.numeric, table), to_single)
  table
}

# The program's numbers of single precision, which it writes in as few digits as
# tell them apart.
to_single <- function(x) readBin(writeBin(x, raw(), size = 4), "numeric", length(x), size = 4)
