#' Class proportions of a target
#'
#' Estimates which share of the target each class has, from a source whose rows have
#' labels, where both the class balance and the looks of the classes may have changed. Says
#' how sure that is, and whether to believe it.
#'
#' @section Columns:
#' All columns of the source but the label are features, unless a formula or an option says
#' otherwise. The program leaves out those that say nothing, such as names and row numbers,
#' and its messages name them. A column called `id` is never a feature. Numbers, logicals,
#' factors, text, dates and times (in UTC; differences in seconds) are taken; the columns
#' of a matrix in a data frame are features each. Factors are categories even where their
#' levels look like numbers, and so is text that is all numbers. `NA` and empty text are
#' missing values: the program fills them in. Columns of the target that the source lacks
#' are not looked at, and its labels, if it has any, are never sent.
#'
#' In a formula, terms are columns or functions of columns, such as `log1p(CD4)`, which are
#' computed in source and target each. `.` is all other columns, and `-` takes one out.
#' There are no interactions.
#'
#' @section Options of the program:
#' `mars proportions --help` and `mars label --help` list what else can be said. Give them as
#' arguments, with `_` or `.` for `-`: `assume = "move"`, `arcsinh = 5`, `log1p = TRUE`,
#' `columns = c("CD4", "CD8")`, `exclude = "plate"`, `categorical = "site"`, `seed = 1`.
#'
#' @section How data get to the program:
#' Through a temporary file, which is removed whatever happens: Arrow where the package
#' nanoarrow or arrow is installed, which is faster, else CSV with 17 digits. The answer is
#' the same to the bit. `options(mars.transport = "csv")` chooses.
#'
#' What the program logs arrives as messages, its warnings as warnings, its errors as errors
#' of class `mars_error`. An interrupt ends it.
#'
#' @param source Rows with labels: a data frame, tibble, data.table or matrix. Or a formula,
#'   `label ~ .`, which then needs `data` and `newdata`.
#' @param target Rows whose classes are not known, with the same columns.
#' @param label The name of the source's column of labels, or the labels: a factor, or a
#'   vector, with a value for each row of the source. See `missing_labels`.
#' @param labels What [mars_ask()] gave, filled in as far as it goes: labels of some rows of the
#'   target, from which intervals follow that hold whatever has changed (`holds_lower` and
#'   `holds_upper` in `table`, and `labelled`).
#' @param missing_labels What to do about rows of the source whose label is `NA`: refuse them, or leave
#'   them out with a warning.
#' @param formula A formula with the label on its left side and the features on its right.
#' @param data,newdata Source and target of a formula.
#' @param ... Options of the program, by name. See below.
#' @param quiet Whether to leave the program's log out. Warnings stay.
#' @return An object of class `mars_proportions`, which `print()`, `summary()`, `plot()` and
#'   `as.data.frame()` know: a list with
#'   \describe{
#'     \item{table}{a data frame with a row for each class that the source has, in the order of its
#'       factor's levels: `class`, its share of the `source` and of the `target`, the interval's
#'       bounds `lower` and `upper`, and the `rows` that this makes}
#'     \item{levels}{with the option `levels = c("kind", "type")`, columns of labels of which the last is what is learnt, the
#'       same of the classes of all levels: a data frame with `level` and `parent`, in which shares add up; else `NULL`}
#'     \item{estimators}{what each assumption or estimator alone would say: a matrix with a column for each}
#'     \item{level}{the probability with which an interval is to hold the true share}
#'     \item{expected_error}{how far off the shares are expected to be: the sum of all
#'       absolute errors, 0 to 2. Above 0.2 they are not to be believed}
#'     \item{verdict, grounds, advice}{whether to believe them, why, and what to do next}
#'     \item{warnings}{what the program warned about}
#'     \item{report}{all that the program says, as `mars proportions --json` has it}
#'     \item{log}{its log}
#'     \item{call}{the call}
#'   }
#' @seealso [mars_label()] for the label of each row.
#' @export
#' @examples
#' if (nzchar(Sys.which("mars"))) {
#'   set.seed(1)
#'   old <- iris
#'   new <- iris[c(1:50, sample(51:100, 20), sample(101:150, 10)), -5]
#'   new[1:4] <- new[1:4] + 0.2
#'   shares <- mars_proportions(Species ~ ., data = old, newdata = new, quiet = TRUE)
#'   print(shares)
#'   as.data.frame(shares)
#' }
mars_proportions <- function(source, ...) UseMethod("mars_proportions")

#' @rdname mars_proportions
#' @export
mars_proportions.default <- function(source, target, label = "label", ..., labels = NULL, missing_labels = c("error", "drop"), quiet = getOption("mars.quiet", FALSE)) {
  estimate(problem_of_tables(source, target, finest(label, list(...)), match.arg(missing_labels)), list(...), labels, quiet, match.call())
}

#' @rdname mars_proportions
#' @export
mars_proportions.formula <- function(formula, data, newdata, ..., labels = NULL, missing_labels = c("error", "drop"), quiet = getOption("mars.quiet", FALSE)) {
  estimate(problem_of_formula(formula, data, newdata, match.arg(missing_labels)), list(...), labels, quiet, match.call())
}

estimate <- function(problem, options, labels, quiet, call) {
  call[[1]] <- as.name("mars_proportions")
  options <- flags(options)
  in_folder(function(folder) {
    said <- file.path(folder, "report.json")
    log <- run_problem("proportions", problem, c("--json", "--output=table.csv", write_filled(labels, problem, folder), options), folder, quiet, stdout = said)
    new_proportions(jsonlite::fromJSON(said), read_table(file.path(folder, "table.csv")), problem$codes, log, call)
  })
}

new_proportions <- function(report, table, codes, log, call) {
  levels <- table_of_levels(table, codes)
  if (!is.null(levels)) table <- table[table$level == utils::tail(report$levels$level, 1), setdiff(names(table), c("level", "parent"))]
  table$class <- decode_labels(table$class, codes)
  table <- table[order(table$class), ]
  rownames(table) <- NULL
  ours <- c("class", "source", "target", "lower", "upper", "rows", "true", "before", "holds_lower", "holds_upper")
  estimators <- as.matrix(table[setdiff(names(table), ours)])
  rownames(estimators) <- as.character(table$class)
  structure(class = "mars_proportions", list(
    table = table[intersect(ours, names(table))], levels = levels, estimators = estimators, level = report$interval$level,
    expected_error = report$expected_error, verdict = spoken(report$verdict), grounds = spoken(report$grounds), advice = spoken(report$advice),
    labelled = report$labelled, warnings = spoken(as.character(report$warnings)), report = report, log = log, call = call
  ))
}

# The shares of the classes of all levels, each after that of which it is a part; NULL if there is one level.
table_of_levels <- function(table, codes) {
  if (is.null(table$level)) return(NULL)
  table$class <- as.character(decode_labels(table$class, codes))
  table[intersect(c("class", "level", "parent", "source", "target", "lower", "upper", "rows", "true", "before", "holds_lower", "holds_upper"), names(table))]
}

#' Methods of class proportions
#'
#' @param x,object What [mars_proportions()] returned.
#' @param ... Arguments of `graphics::barplot()` where ggplot2 is not installed; else nothing.
#' @param estimators Whether to add a column for what each assumption or estimator alone would say.
#' @inheritParams base::as.data.frame
#' @return `as.data.frame()`: a data frame with a row for each class. `plot()`: where ggplot2 is
#'   installed the plot, invisibly. The others return their argument.
#' @name proportions-methods
NULL

#' @rdname proportions-methods
#' @export
print.mars_proportions <- function(x, ...) {
  print_shares(x)
  cat("\n")
  print_text(x$verdict)
  print_notes(x$warnings)
  invisible(x)
}

print_shares <- function(x) {
  table <- if (is.null(x$levels)) x$table else x$levels
  names <- as.character(table$class)
  if (!is.null(x$levels)) names <- format(paste0(strrep("  ", match(table$level, unique(table$level)) - 1), names))
  shown <- data.frame(class = names, target = percent(table$target),
                      interval = paste0(percent(table$lower), " to ", percent(table$upper)), rows = table$rows, source = percent(table$source))
  names(shown)[3] <- paste0("interval (", 100 * x$level, " %)")
  if (!is.null(table$true)) shown$true <- percent(table$true)
  print(shown, row.names = FALSE)
}

percent <- function(x) sprintf("%.1f %%", 100 * x)

print_text <- function(text) cat(strwrap(text, exdent = 2), sep = "\n")

print_notes <- function(warnings) for (text in warnings) print_text(paste("Warning:", text))

#' @rdname proportions-methods
#' @export
summary.mars_proportions <- function(object, ...) structure(list(proportions = object), class = "summary.mars_proportions")

#' @rdname proportions-methods
#' @export
print.summary.mars_proportions <- function(x, ...) {
  x <- x$proportions
  cat("Call: ", paste(deparse(x$call), collapse = "\n  "), "\n\n", sep = "")
  print_shares(x)
  cat("\nWhat each assumption or estimator alone would say:\n")
  print(round(x$estimators, 3))
  cat("\n")
  print_text(x$verdict)
  if (length(x$grounds)) print_text(paste0("Why: ", x$grounds, "."))
  print_text(paste0("Next: ", sub("--details", "above", x$advice, fixed = TRUE), "."))
  print_notes(x$warnings)
  invisible(x)
}

#' @rdname proportions-methods
#' @export
as.data.frame.mars_proportions <- function(x, row.names = NULL, optional = FALSE, ..., estimators = FALSE) {
  table <- if (estimators) cbind(x$table, x$estimators) else x$table
  if (!is.null(row.names)) rownames(table) <- row.names
  table
}

#' @rdname proportions-methods
#' @export
plot.mars_proportions <- function(x, ...) {
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    drawn <- autoplot.mars_proportions(x)
    print(drawn)
    return(invisible(drawn))
  }
  table <- x$table
  at <- graphics::barplot(rbind(table$source, table$target), beside = TRUE, names.arg = as.character(table$class), ylab = "share",
                          ylim = c(0, 1.2 * max(table$upper, table$source)), col = shades, ...)[2, ]
  graphics::legend("top", c("source", "target"), fill = shades, horiz = TRUE, bty = "n")
  graphics::segments(at, table$lower, at, table$upper, lwd = 2)
  invisible(x)
}

shades <- c("grey75", "steelblue")

#' @rdname proportions-methods
#' @exportS3Method ggplot2::autoplot
autoplot.mars_proportions <- function(object, ...) {
  table <- object$table
  bars <- data.frame(class = rep(table$class, 2), share = c(table$source, table$target),
                     of = rep(c("source", "target"), each = nrow(table)))
  bars$lower <- c(rep(NA, nrow(table)), table$lower)
  bars$upper <- c(rep(NA, nrow(table)), table$upper)
  side <- ggplot2::position_dodge(0.8)
  ggplot2::ggplot(bars, ggplot2::aes(x = .data$class, y = .data$share, fill = .data$of)) +
    ggplot2::geom_col(position = side, width = 0.75) +
    ggplot2::geom_errorbar(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), position = side, width = 0.25, na.rm = TRUE) +
    ggplot2::scale_fill_manual(values = shades) +
    ggplot2::labs(x = NULL, y = "share", fill = NULL)
}

utils::globalVariables(".data")
