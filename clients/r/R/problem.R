# A problem is what a command is asked: the columns of source and target, the labels, and
# the recipe by which rows to predict get the same columns.

# The column of labels: with levels of classes that of the finest, if no other is named.
finest <- function(label, options) {
  if (identical(label, "label") && length(options$levels)) utils::tail(as.character(options$levels), 1) else label
}

# By the names of columns: all but the label.
problem_of_tables <- function(source, target, label, missing_labels) {
  source <- as_table(source, "source")
  name <- if (is_name_of_label(label, source)) label else unused("label", names(source))
  y <- if (identical(name, label)) columns_of(source)[[name]] else label
  recipe <- list(drop = name)
  finish_problem(recipe, source, target, name, y, missing_labels)
}

is_name_of_label <- function(label, source) {
  if (!is.character(label) || length(label) != 1) return(FALSE)
  if (!label %in% names(source)) {
    stop("source has no column \"", label, "\" (its columns are ", some(names(source)), "): ", did_you_mean(label, names(source)), "label names the column with the labels, or is a vector of them", call. = FALSE)
  }
  TRUE
}

# The name that is nearest to one that is not there, as a question.
did_you_mean <- function(name, names) {
  distance <- utils::adist(name, names, ignore.case = TRUE)
  if (!length(names) || min(distance) > max(1, nchar(name) %/% 3)) return("")
  paste0("did you mean \"", names[which.min(distance)], "\"? Otherwise ")
}

some <- function(names, most = 20) {
  if (length(names) > most) names <- c(names[seq_len(most)], paste("and", length(names) - most, "more"))
  paste(names, collapse = ", ")
}

unused <- function(name, names) utils::tail(make.unique(c(names, name)), 1)

# By a formula: its left side is the label, its right side the features.
problem_of_formula <- function(formula, data, newdata, missing_labels) {
  if (length(formula) != 3) stop("the formula has no label on its left side: want label ~ .", call. = FALSE)
  source <- as_table(data, "data")
  lacking <- setdiff(all.vars(formula[[2]]), names(source))
  if (length(lacking)) stop("data has no column \"", lacking[1], "\" (its columns are ", some(names(source)), ")", call. = FALSE)
  y <- eval(formula[[2]], columns_of(source), environment(formula))
  name <- deparse1(formula[[2]])
  if (is.name(formula[[2]])) name <- as.character(formula[[2]])
  others <- setdiff(names(source), all.vars(formula[[2]]))
  recipe <- list(terms = formula_terms(formula[[3]], others), columns = names(source), environment = environment(formula))
  lacking <- setdiff(symbols(recipe$terms), names(source))
  if (length(lacking)) stop("data has no column \"", lacking[1], "\" (its columns are ", some(names(source)), ")", call. = FALSE)
  finish_problem(recipe, source, newdata, name, y, missing_labels)
}

# The terms of a right side as a named list of expressions; a dot is the other columns.
# stats::terms is not used: its table of columns and terms is quadratic in the columns.
formula_terms <- function(side, others) {
  found <- list()
  for (piece in pieces(side)) {
    e <- piece$term
    if (identical(e, quote(.))) {
      terms <- stats::setNames(lapply(others, as.name), others)
    } else if (is.numeric(e)) {
      next  # the intercept
    } else if (is.call(e) && as.character(e[[1]])[1] %in% c(":", "*", "^", "/", "%in%", "|")) {
      stop("the formula has ", deparse1(e), ": name columns, or functions of columns; there are no interactions", call. = FALSE)
    } else {
      terms <- stats::setNames(list(e), if (is.name(e)) as.character(e) else deparse1(e))
    }
    found <- if (piece$plus) c(found, terms[!names(terms) %in% names(found)]) else found[!names(found) %in% names(terms)]
  }
  if (!length(found)) stop("the formula names no features", call. = FALSE)
  found
}

# What a sum has, from left to right.
pieces <- function(e, plus = TRUE) {
  right <- list()
  while (is.call(e) && length(e) == 3 && as.character(e[[1]])[1] %in% c("+", "-")) {
    right <- c(list(pieces(e[[3]], plus == identical(e[[1]], as.name("+")))), right)
    e <- e[[2]]
  }
  first <- if (is.call(e) && identical(e[[1]], as.name("("))) pieces(e[[2]], plus)
           else if (is.call(e) && length(e) == 2 && identical(e[[1]], as.name("-"))) pieces(e[[2]], !plus)
           else list(list(term = e, plus = plus))
  c(first, unlist(right, recursive = FALSE))
}

# The terms that are columns, and not functions of them.
symbols <- function(terms) vapply(Filter(is.name, terms), as.character, "")

# The columns that a recipe makes of a table. Those that the table lacks are left out:
# the program says whether it needs them. It takes a column called id for the names of
# rows, which is why that is no feature, and is not sent.
features <- function(recipe, table, what) {
  columns <- columns_of(table)
  if (is.null(recipe$terms)) {
    values <- columns[!names(columns) %in% recipe$drop]
  } else {
    there <- Filter(function(e) all(intersect(all.vars(e), recipe$columns) %in% names(table)), recipe$terms)
    values <- Map(function(e, name) term(e, name, columns, nrow(table), recipe$environment, what), there, names(there))
  }
  plain_columns(values[names(values) != "id"], what)
}

term <- function(e, name, columns, rows, environment, what) {
  if (is.name(e)) return(columns[[as.character(e)]])
  value <- eval(e, columns, environment)
  if (NROW(value) != rows) stop(name, " has ", NROW(value), " values for the ", rows, " rows of ", what, call. = FALSE)
  value
}

finish_problem <- function(recipe, source, target, name, y, missing_labels) {
  target <- as_table(target, "target")
  for (side in c("source", "target")) if (!nrow(get(side))) stop(side, " has no rows: give data with at least one", call. = FALSE)
  codes <- encode_labels(y)
  if (length(codes$values) != nrow(source)) {
    stop("source has ", nrow(source), " rows, but there are ", length(codes$values), " labels", call. = FALSE)
  }
  columns <- features(recipe, source, "source")
  categories <- attr(columns, "categories")
  kept <- which(!is.na(codes$values))
  if (length(kept) < nrow(source)) {
    if (missing_labels == "error") {
      stop(sprintf("source: %d of %d rows have no label, the first is row %d: label them, or leave them out with missing_labels = \"drop\"",
                   nrow(source) - length(kept), nrow(source), which(is.na(codes$values))[1]), call. = FALSE)
    }
    warn(sprintf("source: %d of %d rows have no label and are left out", nrow(source) - length(kept), nrow(source)))
    columns <- lapply(columns, `[`, kept)
  }
  name <- unused(trimws(enc2utf8(name)), names(columns))
  columns[[name]] <- codes$values[kept]
  list(source = columns, target = features(recipe, target, "target"), label = name, categories = categories,
       codes = codes[c("sent", "levels", "ordered")], recipe = recipe, table = target, rows = kept)
}

# Runs a command on the files of a problem.
run_problem <- function(command, problem, arguments, folder, quiet, stdout = NULL) {
  if (!length(problem$target)) stop("target has none of the columns that the features are made of", call. = FALSE)
  files <- c(source = write_columns(problem$source, folder, "source"), target = write_columns(problem$target, folder, "target"))
  categories <- if (length(problem$categories)) paste0("--categorical=", paste(quoted(literal(problem$categories)), collapse = ","))
  arguments <- c(paste0("--", names(files), "=", files), paste0("--label=", problem$label), categories, arguments)
  run_mars(command, arguments, folder, quiet, rewording(files, problem), stdout)
}

# Names of columns as patterns that match nothing else.
literal <- function(names) gsub("([][*?\\\\])", "\\\\\\1", names)

# A function that calls the files in a text what the user calls them, and their lines and
# rows by the numbers of the user's rows.
rewording <- function(files, problem) {
  broken <- vapply(names(files), function(name) any(grepl("\n", c(names(problem[[name]]), unlist(Filter(is.character, problem[[name]]))), fixed = TRUE)), NA)
  function(text) {
    for (name in names(files)) {
      text <- gsub(files[[name]], name, text, fixed = TRUE)
      if (!broken[[name]]) text <- renumbered(text, name, if (name == "source") problem$rows)
    }
    spoken(text)
  }
}

# Where a message says "source: line 6" or "source: column "x": row 5". A header is line 1.
renumbered <- function(text, name, rows) {
  found <- regmatches(text, regexec(paste0("(", name, ": (column .*: )?)(line|row) ([0-9]+)"), text))
  for (i in which(lengths(found) > 0)) {
    row <- as.integer(found[[i]][5]) - (found[[i]][4] == "line")
    if (row %in% seq_along(rows)) row <- rows[row]
    if (row > 0) text[i] <- sub(found[[i]][1], paste0(found[[i]][2], "row ", row), text[i], fixed = TRUE)
  }
  text
}
