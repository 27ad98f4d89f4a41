#' Whether a model is still right
#'
#' Says how right a model's predictions are to be expected, without their labels: accuracy and other
#' figures of all rows or of each window of them, each with an interval, what they rest on, and whether to
#' believe them. The model may be of any program.
#'
#' @param newdata What the model says of rows without labels: a data frame, tibble, data.table or matrix with a column
#'   `probability_CLASS` for each class. Or with the posterior of one of two classes in a column that the
#'   option `score` names, or with classes alone in one that `prediction` names.
#' @param reference The same of rows that the model was not trained on, with their labels.
#' @param label The name of the reference's column of labels.
#' @param ... Options of the program, by name, which `mars check --help` lists: `window = 5000`, or `window = "1d"` with
#'   `time = "at"`, a column of times; `score`, `positive`, `prediction`, `probability`, `level`, `seed`;
#'   `columns`, the rows' own columns that are looked at too.
#' @inheritParams mars_proportions
#' @return An object of class `mars_check`, which `print()`, `plot()` and `as.data.frame()` know: a list with
#'   \describe{
#'     \item{table}{a data frame with a row for each window: `accuracy` with the bounds `accuracy_lower` and `accuracy_upper` of
#'       an interval and `accuracy_change` since the reference, the same of other figures, what they rest on, and a
#'       `verdict`: believe, care, unjudged or doubt}
#'     \item{sentences}{whether to believe each window, in words}
#'     \item{unseen}{what no rows without labels show}
#'     \item{report}{all that the program says, as `mars check --json` has it}
#'     \item{log}{its log}
#'   }
#' @seealso [mars_ask()], for labels of a few rows where predictions alone cannot tell.
#' @export
#' @examples
#' if (nzchar(Sys.which("mars"))) {
#'   set.seed(1)
#'   p <- runif(2000)
#'   rows <- data.frame(probability_no = 1 - p, probability_yes = p, y = ifelse(runif(2000) < p, "yes", "no"))
#'   mars_check(rows[1001:2000, 1:2], rows[1:1000, ], label = "y", window = 500, quiet = TRUE)
#' }
mars_check <- function(newdata, reference, label = "label", ..., quiet = getOption("mars.quiet", FALSE)) {
  options <- flags(list(...), c("reference", "reference-labels", "alert", "metrics-file"))
  sides <- list(newdata = newdata, reference = reference)
  sides <- Map(function(x, what) plain_columns(columns_of(as_table(x, what)), what), sides, names(sides))
  if (!label %in% names(sides$reference)) {
    stop("reference has no column \"", label, "\": name the column of labels with label", call. = FALSE)
  }
  in_folder(function(folder) {
    files <- Map(function(columns, name) write_columns(columns, folder, name), sides, names(sides))
    said <- file.path(folder, "report.json")
    arguments <- c(files$newdata, paste0("--reference=", files$reference), paste0("--label=", label), "--json", "--output=windows.csv", options)
    words <- function(text) {
      for (side in names(files)) text <- gsub(files[[side]], side, text, fixed = TRUE)
      spoken(text)
    }
    log <- run_mars("check", arguments, folder, quiet, words, stdout = said)
    table <- utils::read.csv(file.path(folder, "windows.csv"), check.names = FALSE, encoding = "UTF-8", na.strings = "", stringsAsFactors = FALSE)
    yes_no <- vapply(table, function(x) all(x %in% c("true", "false")), NA)
    table[yes_no] <- lapply(table[yes_no], `==`, "true")
    report <- jsonlite::fromJSON(said, simplifyVector = FALSE)
    structure(class = "mars_check", list(
      table = table, sentences = vapply(report$windows, function(window) words(window$sentence), ""), unseen = words(report$unseen),
      report = report, log = log
    ))
  })
}

#' Methods of checks
#'
#' @param x What [mars_check()] returned.
#' @param ... Arguments of `graphics::plot()`; else nothing.
#' @inheritParams base::as.data.frame
#' @return `as.data.frame()`: a data frame with a row for each window. The others return their argument, invisibly.
#' @name check-methods
NULL

#' @rdname check-methods
#' @export
print.mars_check <- function(x, ...) {
  shown <- x$table[c("start", "end", "rows", "verdict")]
  shown$accuracy <- percent(x$table$accuracy)
  shown$interval <- paste0(percent(x$table$accuracy_lower), " to ", percent(x$table$accuracy_upper))
  shown$change <- sprintf("%+.1f", 100 * x$table$accuracy_change)
  print(shown, row.names = FALSE)
  cat("\n")
  for (text in unique(x$sentences)) print_text(text)
  print_text(x$unseen)
  invisible(x)
}

#' @rdname check-methods
#' @export
as.data.frame.mars_check <- function(x, row.names = NULL, optional = FALSE, ...) {
  table <- x$table
  if (!is.null(row.names)) rownames(table) <- row.names
  table
}

#' @rdname check-methods
#' @export
plot.mars_check <- function(x, ...) {
  table <- x$table
  believed <- table$verdict %in% c("believe", "care")
  graphics::plot(table$window, table$accuracy, ylim = range(table$accuracy_lower, table$accuracy_upper, na.rm = TRUE), xlab = "window",
                 ylab = "accuracy", pch = ifelse(believed, 19, 1), ...)
  graphics::segments(table$window, table$accuracy_lower, table$window, table$accuracy_upper, lty = ifelse(believed, 1, 2))
  graphics::abline(h = x$report$reference[[1]]$value, col = "grey50", lty = 3)
  invisible(x)
}
