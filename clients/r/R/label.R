#' Labels of a target's rows
#'
#' Gives each row of the target the label that it has most probably, with its probability, from a source
#' whose rows have labels, where both the class balance and the looks of the classes may
#' have changed. [mars_predict()] labels more rows of the same target.
#'
#' @inheritParams mars_proportions
#' @inheritSection mars_proportions Columns
#' @inheritSection mars_proportions Options of the program
#' @inheritSection mars_proportions How data get to the program
#' @param save A file to keep the model in, for [mars_predict()] in other sessions and
#'   `mars predict`.
#' @return An object of class `mars_label`, which `print()`, `summary()`, `plot()`, `predict()`
#'   and `as.data.frame()` know: a list with
#'   \describe{
#'     \item{labels}{the target as it came in (data frame, tibble or data.table, with row names and
#'       all columns; a matrix as a data frame), with the columns `predicted_class` (a
#'       factor with the levels of the source's labels in their order; `NA` for a row without any value), `confidence` (the
#'       probability of that class), `typicality` (how usual the row is for its class, as
#'       a p-value; where the method knows it) and `probability_CLASS` for each class; with the option `levels` also
#'       `predicted_LEVEL` and `confidence_LEVEL` of each, which agree. Columns of
#'       the target with these names are replaced, with a warning}
#'     \item{classes}{the classes that the model knows, as a factor}
#'     \item{model}{the model, as bytes. `saveRDS()` of the object keeps it too}
#'     \item{verdict}{whether to believe the labels; empty or `NULL` where the method does not know it}
#'     \item{expected_accuracy}{the share of the labels that is expected to be right; `NULL` where the
#'       method does not know it}
#'     \item{assumptions}{a data frame with what may have happened to the classes and how much it
#'       counted (`weight`)}
#'     \item{report}{all that is known of the labels as a whole, as `mars label --summary` writes it}
#'     \item{warnings, log}{what the program warned about, and its log}
#'     \item{call}{the call}
#'   }
#' @seealso [mars_proportions()] for the shares of the classes with intervals, which are better estimates
#'   than counts of labels.
#' @export
#' @examples
#' if (nzchar(Sys.which("mars"))) {
#'   set.seed(1)
#'   new <- iris[c(1:50, sample(51:100, 20), sample(101:150, 10)), ]
#'   fit <- mars_label(iris, new[-5], label = "Species", quiet = TRUE)
#'   table(new$Species, fit$labels$predicted_class)
#'   head(as.data.frame(fit))
#'   predict(fit, new[1:3, ], type = "prob")
#' }
mars_label <- function(source, ...) UseMethod("mars_label")

#' @rdname mars_label
#' @export
mars_label.default <- function(source, target, label = "label", ..., labels = NULL, missing_labels = c("error", "drop"), save = NULL, quiet = getOption("mars.quiet", FALSE)) {
  label_rows(problem_of_tables(source, target, finest(label, list(...)), match.arg(missing_labels)), list(...), labels, save, quiet, match.call())
}

#' @rdname mars_label
#' @export
mars_label.formula <- function(formula, data, newdata, ..., labels = NULL, missing_labels = c("error", "drop"), save = NULL, quiet = getOption("mars.quiet", FALSE)) {
  label_rows(problem_of_formula(formula, data, newdata, match.arg(missing_labels)), list(...), labels, save, quiet, match.call())
}

label_rows <- function(problem, options, labels, save, quiet, call) {
  call[[1]] <- as.name("mars_label")
  options <- flags(options, draws)
  in_folder(function(folder) {
    log <- run_problem("label", problem, c("--output=labels.csv", "--save=model.safetensors", "--summary=known.json", write_filled(labels, problem, folder), options), folder, quiet)
    model <- bytes(file.path(folder, "model.safetensors"))
    known <- jsonlite::fromJSON(file.path(folder, "known.json"))
    new_labels(problem$table, read_labels(folder), problem$codes, problem$recipe, model, log, call, save, known)
  })
}

# Options that draw rows of the target, each of which gets a label here.
draws <- c("target-proportions", "target-rows", "max-target-rows", "disjoint")

# Labels without the numbers of the rows, which are in order.
read_labels <- function(folder) read_table(file.path(folder, "labels.csv"), skip = 1, single = TRUE)

bytes <- function(path) readBin(path, raw(), file.size(path))

new_labels <- function(table, answer, codes, recipe, model, log, call, save = NULL, known = NULL) {
  if (nrow(answer) != nrow(table)) stop("the program gave ", nrow(answer), " labels for ", nrow(table), " rows", call. = FALSE)
  of_class <- startsWith(names(answer), "probability_")
  sent <- substring(names(answer)[of_class], nchar("probability_") + 1)
  if (is.null(codes)) codes <- list(sent = sent, levels = sent, ordered = FALSE)
  classes <- decode_labels(sent, codes)
  answer[[1]] <- decode_labels(answer[[1]], codes)
  names(answer)[of_class] <- paste0("probability_", classes)
  answer <- answer[c(which(!of_class), which(of_class)[order(classes)])]
  if (!is.null(save)) writeBin(model, save)
  structure(class = "mars_label", list(
    labels = with_columns(table, answer), classes = sort(classes), model = model, codes = codes, recipe = recipe,
    verdict = if (!is.null(known)) spoken(known$verdict), expected_accuracy = known$expected_accuracy, assumptions = known$assumptions, report = known,
    warnings = log$message[log$level == "WARN"], log = log, call = call
  ))
}

# A table with columns added, in its own class.
with_columns <- function(table, columns) {
  there <- intersect(names(columns), names(table))
  if (length(there)) warn(paste0("target: columns that it had are replaced: ", paste(there, collapse = ", ")))
  if (inherits(table, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    table <- data.table::copy(table)
    data.table::set(table, j = names(columns), value = unclass(columns))
    return(table)
  }
  for (name in names(columns)) table[[name]] <- columns[[name]]
  table
}

#' Labels of more rows
#'
#' Labels rows of the same target with a model that [mars_label()] or `mars label --save`
#' has made. The model knows its columns by their names.
#'
#' @param model What [mars_label()] returned, or the path of a file with a model.
#' @param newdata Rows to label, with the columns of the target. Others may be there too.
#' @param ... Options of `mars predict`, such as `decision = "balanced"`.
#' @inheritParams mars_proportions
#' @return An object of class `mars_label` with the labels of `newdata`: see [mars_label()]. If `model`
#'   is a file, the factor has the classes in the model's order.
#' @seealso [predict.mars_label()], which gives the labels alone.
#' @export
mars_predict <- function(model, newdata, ..., quiet = getOption("mars.quiet", FALSE)) {
  fit <- if (inherits(model, "mars_label")) model else list(model = model_of(model))
  table <- as_table(newdata, "newdata")
  problem <- list(newdata = features(fit$recipe, table, "newdata"))
  options <- flags(list(...))
  call <- match.call()
  in_folder(function(folder) {
    writeBin(fit$model, file.path(folder, "model.safetensors"))
    files <- c(newdata = write_columns(problem$newdata, folder, "newdata"))
    arguments <- c("--model=model.safetensors", paste0("--target=", files), "--output=labels.csv", options)
    log <- run_mars("predict", arguments, folder, quiet, rewording(files, problem))
    new_labels(table, read_labels(folder), fit$codes, fit$recipe, fit$model, log, call)
  })
}

model_of <- function(path) {
  if (!is.character(path) || length(path) != 1) stop("model has to be what mars_label() returned, or the path of a model's file", call. = FALSE)
  if (!file.exists(path)) stop("there is no model ", path, call. = FALSE)
  bytes(path)
}

#' Methods of labels
#'
#' @param x,object What [mars_label()] or [mars_predict()] returned.
#' @param newdata Rows to label, with the columns of the target. The target itself if it is left out.
#' @param type What to give: the classes as a factor, the probabilities as a matrix with a row for each row and a
#'   column for each class, or the frame with all columns.
#' @param quiet Whether to leave the program's log out. Warnings stay.
#' @param ... `predict()`: options of `mars predict`. `plot()`: arguments of
#'   `graphics::boxplot()` where ggplot2 is not installed.
#' @inheritParams base::as.data.frame
#' @return `predict()`: as `type` says, in the order of the rows; vectors and matrices have the names of the
#'   rows where these are not just numbers. `as.data.frame()`: the target's columns and the labels'.
#'   `plot()`: where ggplot2 is installed the plot, invisibly, of the confidence
#'   by class. The others return their argument.
#' @name label-methods
NULL

#' @rdname label-methods
#' @export
predict.mars_label <- function(object, newdata, type = c("class", "prob", "frame"), ..., quiet = TRUE) {
  type <- match.arg(type)
  if (!missing(newdata)) object <- mars_predict(object, newdata, ..., quiet = quiet)
  table <- object$labels
  if (type == "frame") return(table)
  columns <- columns_of(table)
  if (type == "class") return(columns$predicted_class)
  matrix(unlist(columns[paste0("probability_", object$classes)], use.names = FALSE), nrow(table),
         dimnames = list(if (.row_names_info(table) > 0) row.names(table), as.character(object$classes)))
}

#' @rdname label-methods
#' @export
fitted.mars_label <- function(object, ...) predict.mars_label(object)

#' @rdname label-methods
#' @export
as.data.frame.mars_label <- function(x, row.names = NULL, optional = FALSE, ...) {
  table <- as.data.frame(x$labels)
  if (!is.null(row.names)) rownames(table) <- row.names
  table
}

#' @rdname label-methods
#' @export
print.mars_label <- function(x, ...) {
  cat("Labels of ", nrow(x$labels), " rows; probabilities in x$labels, more rows with predict(x, newdata)\n", sep = "")
  class <- predict.mars_label(x)
  confidence <- columns_of(x$labels)$confidence
  counts <- table(class)
  missing <- sum(is.na(class))
  shown <- data.frame(class = names(counts), rows = as.vector(counts), share = percent(as.vector(counts) / max(length(class), 1)),
                      confidence = vapply(split(confidence, class), function(p) if (length(p)) sprintf("%.2f", mean(p)) else "", ""))
  print(shown, row.names = FALSE)
  if (missing) cat(missing, ngettext(missing, "row without any value has no label\n", "rows without any value have no label\n"))
  if (isTRUE(nzchar(x$verdict))) print_text(x$verdict)
  print_notes(x$warnings)
  invisible(x)
}

#' @rdname label-methods
#' @export
summary.mars_label <- function(object, ...) structure(list(labels = object), class = "summary.mars_label")

#' @rdname label-methods
#' @export
print.summary.mars_label <- function(x, ...) {
  cat("Call: ", paste(deparse(x$labels$call), collapse = "\n  "), "\n\n", sep = "")
  print.mars_label(x$labels)
  cat("\nThe program's log:\n")
  print_text(x$labels$log$message[x$labels$log$level != "WARN"])
  invisible(x)
}

#' @rdname label-methods
#' @export
plot.mars_label <- function(x, ...) {
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    drawn <- autoplot.mars_label(x)
    print(drawn)
    return(invisible(drawn))
  }
  columns <- columns_of(x$labels)
  graphics::boxplot(columns$confidence ~ columns$predicted_class, xlab = "", ylab = "confidence", col = shades[2], ...)
  invisible(x)
}

#' @rdname label-methods
#' @exportS3Method ggplot2::autoplot
autoplot.mars_label <- function(object, ...) {
  columns <- columns_of(object$labels)
  rows <- data.frame(class = columns$predicted_class, confidence = columns$confidence)
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$class, y = .data$confidence)) +
    ggplot2::geom_boxplot(fill = shades[2], outlier.size = 0.5) +
    ggplot2::labs(x = NULL)
}
