# Runs a command of mars. What it logs arrives while it runs: messages as messages,
# warnings as warnings, and what it says when it fails as an error. It ends with this
# function, however that ends. processx can do this where system2 cannot: an interrupt
# in RStudio or Jupyter does not reach a child of system2, which then runs on.
#
# It runs in the folder of its files, so that what it keeps of their names is the same each
# time. said(text) makes what the user knows of names and rows that only the program knows.
run_mars <- function(command, arguments, folder, quiet, said, stdout = NULL) {
  arguments <- c(command, arguments, "--log-format=json")
  process <- processx::process$new(
    normalizePath(mars_binary()), arguments, wd = folder, stdin = "|", stdout = stdout, stderr = "|", encoding = "UTF-8",
    # Its temporary files are here, so that an end by force leaves nothing. Its standard input
    # ends with R, however that ends, and so does it.
    env = c("current", TMPDIR = folder, TMP = folder, TEMP = folder, MARS_PARENT_FD = "0")
  )
  on.exit(end(process))
  log <- list()
  rest <- character()
  repeat {
    process$poll_io(1000)
    for (line in process$read_error_lines()) {
      entry <- log_entry(line)
      if (is.null(entry)) {
        rest <- c(rest, line)
        next
      }
      entry$text <- said(entry$text)
      log <- c(log, list(entry))
      if (entry$level == "WARN") warn(entry$text) else if (!quiet) note(entry$text)
    }
    if (!process$is_incomplete_error() && !process$is_alive()) break
  }
  process$wait()
  status <- process$get_exit_status()
  rest <- said(rest)
  if (status != 0) fail(command, status, rest)
  if (!quiet && length(rest)) note(paste(rest, collapse = "\n"))  # the table of --explain
  data.frame(level = vapply(log, `[[`, "", "level"), message = vapply(log, `[[`, "", "text"))
}

# A line of the log, or NULL if it is no such line.
log_entry <- function(line) {
  if (!startsWith(line, "{")) return(NULL)
  entry <- tryCatch(jsonlite::fromJSON(line), error = function(e) NULL)
  if (!is.character(entry$msg) || !is.character(entry$level)) return(NULL)
  list(level = entry$level, text = entry$msg)
}

end <- function(process) {
  if (!process$is_alive()) return(invisible())
  process$interrupt()
  process$wait(2000)
  process$kill()
}

note <- function(text) message(mars_condition("message", paste0(text, "\n")))
warn <- function(text) warning(mars_condition("warning", text))

fail <- function(command, status, lines) {
  lines <- sub(paste0("^mars[ _-]", command, ": "), "", lines)
  lines <- lines[!startsWith(lines, "Run 'mars")]
  text <- if (length(lines)) paste(lines, collapse = "\n") else paste0("mars ", command, " ended with status ", status)
  error <- mars_condition("error", text)
  error$status <- status
  stop(error)
}

# A condition whose text has no control characters that a terminal would obey.
mars_condition <- function(kind, text) {
  plain <- strsplit(text, "\n", fixed = TRUE)[[1]]
  odd <- grepl("[[:cntrl:]]", plain)
  plain[odd] <- encodeString(plain[odd])
  text <- paste0(paste(plain, collapse = "\n"), if (endsWith(text, "\n")) "\n")
  structure(class = c(paste0("mars_", kind), kind, "condition"), list(message = text, call = NULL))
}

# Flags of a command, from arguments: assume = "move" is --assume=move, log1p = TRUE is
# --log1p, max_categories = 8 is --max-categories=8, and several values have commas between.
flags <- function(options, ours = NULL) {
  if (!length(options)) return(character())
  names <- gsub("[._]", "-", names(options))
  if (is.null(names(options)) || !all(nzchar(names))) {
    stop("an argument has no name: options of the program are named, as in assume = \"move\"", call. = FALSE)
  }
  taken <- intersect(names, c(ours, always_ours))
  if (length(taken)) stop("the argument ", taken[1], " is no option here: data frames go in and come out", call. = FALSE)
  unlist(Map(flag, names, options), use.names = FALSE)
}

always_ours <- c("source", "target", "label", "id", "output", "format", "save", "load", "model", "json", "quiet", "q", "o", "h", "help",
                 "log-format", "keep", "truth", "details", "force", "compression", "spreadsheet", "cached", "source-labels", "target-labels", "labels", "summary", "report", "missing-labels",
                 "file-column", "domain-column", "source-domain", "target-domain", "domain", "features", "embedding",
                 "separator", "decimal", "thousands", "comment", "skip-lines", "no-header", "encoding", "compensate", "panel")

lists <- c("columns", "exclude", "categorical", "classes", "levels")

flag <- function(name, value) {
  if (is.null(value)) return(NULL)
  if (is.list(value) || !is.atomic(value) || anyNA(value)) stop("the argument ", name, " has to be text, numbers, TRUE or FALSE", call. = FALSE)
  if (is.logical(value) && length(value) == 1) return(paste0("--", name, "=", tolower(value)))
  if (is.factor(value)) value <- as.character(value)
  if (is.numeric(value)) value <- vapply(value, format, "", digits = 15, scientific = FALSE)
  if (name %in% lists) value <- quoted(value)
  if (name == "tree") value <- normalizePath(value, mustWork = FALSE)  # the program runs in another folder
  if (!is.null(names(value))) value <- paste0(names(value), "=", value)
  paste0("--", name, "=", paste(value, collapse = ","))
}
