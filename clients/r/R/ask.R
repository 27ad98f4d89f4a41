#' Rows of a target to label by hand
#'
#' Draws a few rows of the target at known probabilities. Look at them from the first one on, fill
#' in their labels, stop when you like, and give the table as `labels` to [mars_proportions()] and
#' [mars_label()], with the same source, target and options: then they say what the shares are with
#' intervals that hold whatever has changed, and how many labels are right.
#'
#' @inheritParams mars_proportions
#' @param source Rows with labels: a data frame, tibble, data.table or matrix.
#' @param ... Options of the program, by name: see [mars_proportions()].
#' @param budget How many rows to draw.
#' @param for_class Choose the rows that say most about the share of this class.
#' @return A data frame with a row for each draw, in the order to look at them and with the row names
#'   of the target: `order`, `row` (the row's number in the target), the target's columns where
#'   they are at most 12, the column of labels, which is empty (`label` if the labels have no
#'   name), `predicted_class`, `confidence`, `probability` (of being drawn), `part`, and `drawn`, a
#'   code by which the row is known again.
#' @seealso [mars_proportions()]
#' @export
#' @examples
#' if (nzchar(Sys.which("mars"))) {
#'   new <- iris[c(1:50, 51:70, 101:110), ]
#'   rows <- mars_ask(iris, new[-5], label = "Species", budget = 10, quiet = TRUE)
#'   rows$Species <- as.character(new$Species)[rows$row]
#'   mars_proportions(iris, new[-5], label = "Species", labels = rows, quiet = TRUE)
#' }
mars_ask <- function(source, target, label = "label", ..., budget = 50, for_class = NULL, missing_labels = c("error", "drop"),
                     quiet = getOption("mars.quiet", FALSE)) {
  problem <- problem_of_tables(source, target, finest(label, list(...)), match.arg(missing_labels))
  options <- flags(c(list(budget = budget, "for" = for_class), list(...)), draws)
  in_folder(function(folder) {
    run_problem("ask", problem, c("--output=rows.csv", "--keep=id", options), folder, quiet)
    rows <- utils::read.csv(file.path(folder, "rows.csv"), check.names = FALSE, encoding = "UTF-8", colClasses = "character", na.strings = "")
    new_sheet(problem, rows)
  })
}

# The drawn rows of the table that the user gave, with what mars ask says of them.
new_sheet <- function(problem, rows, most = 12) {
  at <- as.integer(rows$id) + 1L
  target <- as.data.frame(problem$table)[at, , drop = FALSE]
  target <- target[setdiff(names(target), problem$label)]
  if (length(target) > most) target <- target[0]
  taken <- intersect(names(target), c("order", "row", names(rows)))
  if (length(taken)) stop("target has columns that the table to fill in has too: ", some(taken), ": rename them", call. = FALSE)
  numbers <- c("confidence", "probability")
  rows[numbers] <- lapply(rows[numbers], as.numeric)
  rows$predicted_class <- as.character(decode_labels(rows$predicted_class, problem$codes))
  sheet <- cbind(data.frame(order = as.integer(rows$order), row = at), target, rows[setdiff(names(rows), c("order", "id"))])
  sheet[[problem$label]] <- NA_character_
  if (.row_names_info(problem$table) > 0) rownames(sheet) <- make.unique(row.names(problem$table)[at])
  sheet
}

# Writes what mars_ask gave and a user filled in, and returns the flag for it.
write_filled <- function(labels, problem, folder) {
  if (is.null(labels)) return(NULL)
  lacking <- setdiff(c("drawn", problem$label), names(labels))
  if (length(lacking)) stop("labels has no column \"", lacking[1], "\": give what mars_ask() gave, filled in", call. = FALSE)
  text <- trimws(as.character(labels[[problem$label]]))
  at <- match(text, problem$codes$levels)
  text[!is.na(at)] <- problem$codes$sent[at[!is.na(at)]]
  columns <- stats::setNames(list(as.character(labels$drawn), text), c("drawn", problem$label))
  write_csv(columns, file.path(folder, "labels-given.csv"))
  "--labels=labels-given.csv"
}
