# Tables in and out of the program, as users have them.
library(marsr)
source("with/cells.R")
if (!has_mars) {
  message("the program mars is not installed: nothing was tested")
  quit("no")
}
options(mars.quiet = TRUE, mars.transport = "csv")
added <- c("predicted_class", "confidence", "typicality", "probability_effector", "probability_memory", "probability_naive")

# Data frames keep their rows, columns and row names; a character label gives a factor.
fit <- mars_label(old, new, label = "celltype")
stopifnot(
  identical(names(fit$labels), c(names(new), added)), identical(fit$labels[names(new)], new),
  identical(levels(fit$labels$predicted_class), c("effector", "memory", "naive")), mean(predict(fit) == truth) > 0.9,
  identical(as.data.frame(fit), fit$labels), identical(fitted(fit), fit$labels$predicted_class)
)
probability <- predict(fit, type = "prob")
stopifnot(
  identical(dimnames(probability), list(rownames(new), levels(predict(fit)))), all(abs(rowSums(probability) - 1) < 1e-5),
  identical(colnames(probability)[max.col(probability)], as.character(predict(fit))),
  identical(unname(apply(probability, 1, max)), fit$labels$confidence),
  identical(marsr:::to_single(as.vector(probability)), as.vector(probability))
)

# A matrix, and labels beside it: the same answer, by the columns' names or without.
matrix_fit <- mars_label(as.matrix(old[1:3]), as.matrix(new), label = factor(old$celltype))
stopifnot(identical(matrix_fit$labels, fit$labels))
bare <- mars_label(unname(as.matrix(old[1:3])), unname(as.matrix(new)), label = old$celltype)
stopifnot(identical(predict(bare), predict(fit)), identical(names(bare$labels)[1:3], c("V1", "V2", "V3")))

# Factors: the levels of the source in their order, those without rows too.
ordered_old <- transform(old, celltype = factor(celltype, levels = c("naive", "none", "memory", "effector")))
factor_fit <- mars_label(ordered_old, new, label = "celltype")
stopifnot(
  identical(levels(predict(factor_fit)), levels(ordered_old$celltype)), identical(as.character(predict(factor_fit)), as.character(predict(fit))),
  identical(as.character(factor_fit$classes), c("naive", "memory", "effector")), identical(colnames(predict(factor_fit, type = "prob")), c("naive", "memory", "effector"))
)

# Rows of the same target, in any order, one alone, and none of the target's other columns.
stopifnot(
  identical(predict(fit, new[c(30, 2, 11), ], type = "prob"), probability[c(30, 2, 11), ]),
  identical(predict(fit, new[7, 3:1], type = "prob"), probability[7, , drop = FALSE]),
  identical(as.character(predict(factor_fit, new[1:9, ])), as.character(predict(fit)[1:9])),
  identical(predict(fit, as.matrix(new[3:4, ])), predict(fit)[3:4])
)
fails(predict(fit, new[1:2]), "newdata.*CCR7")

# A model in a file.
file <- tempfile(fileext = ".safetensors")
saved <- mars_label(old, new, label = "celltype", save = file)
stopifnot(identical(saved$labels, fit$labels), identical(mars_predict(file, new)$labels, fit$labels))
again <- unserialize(serialize(fit, NULL))
stopifnot(identical(predict(again, new[1:5, ]), predict(fit)[1:5]))
fails(mars_predict("none.safetensors", new), "no model none.safetensors")
fails(mars_predict(3, new), "what mars_label")

# Formulas.
stopifnot(
  identical(predict(mars_label(celltype ~ ., old, new)), predict(fit)),
  identical(predict(mars_label(celltype ~ . - CD8, old, new), type = "prob"), predict(mars_label(old, new, "celltype", exclude = "CD8"), type = "prob")),
  identical(predict(mars_label(celltype ~ CD4 + CCR7, old, new), type = "prob"), predict(mars_label(old, new, "celltype", columns = c("CD4", "CCR7")), type = "prob"))
)
k <- 3
by_function <- mars_label(factor(celltype) ~ CD4 + exp(CD8 / k) + CCR7, data = old, newdata = new)
stopifnot(mean(predict(by_function) == truth) > 0.9, identical(predict(by_function, new[5:6, ]), predict(by_function)[5:6]))
fails(mars_label(celltype ~ CD4 + CD88, old, new), "data has no column \"CD88\"")
fails(mars_label(~ CD4, old, new), "no label on its left side")
fails(mars_label(celltype ~ CD4, old, new["CD8"]), "target has none of the columns")
fails(mars_label(celltype ~ CD4 + CD8, old, new["CD8"]), "target: has no column \"CD4\"")
fails(mars_label(celltype ~ mean(CD4), old, new), "1 values for the 240 rows")

# Labels that are missing are left out, and rows keep their numbers.
gaps <- old
gaps$celltype[c(1, 7)] <- NA
gaps$celltype[3] <- ""
fails(mars_label(gaps, new, "celltype"), "source: 3 of 240 rows have no label, the first is row 1: .*missing_labels = \"drop\"")
some <- warns(mars_label(gaps, new, "celltype", missing_labels = "drop"), "3 of 240 rows have no label")
stopifnot(identical(predict(some), predict(mars_label(old[-c(1, 3, 7), ], new, "celltype"))))
gaps$CD8[9] <- Inf
for (transport in c("csv", if (requireNamespace("nanoarrow", quietly = TRUE)) "nanoarrow")) {
  options(mars.transport = transport)
  fails(suppressWarnings(mars_label(gaps, new, "celltype", missing_labels = "drop")), "source: (row 9, column \"CD8\"|column \"CD8\": row 9)")
  fails(mars_label(old, transform(new, CD4 = replace(CD4, 4, -Inf)), "celltype"), "target: (row 4, column \"CD4\"|column \"CD4\": row 4)")
}
options(mars.transport = "csv")

# The target's own labels are not sent, and come back as they were.
knows <- cbind(new, celltype = truth)
stopifnot(identical(mars_label(old, knows, "celltype")$labels$celltype, truth), identical(predict(mars_label(celltype ~ ., old, knows)), predict(fit)))

# Columns called as the program calls its own; a column id is never a feature.
taken <- cbind(new, id = rev(seq_len(nrow(new))), confidence = 7, domain = "x")
odd <- warns(mars_label(cbind(old, id = 1L), taken, "celltype"), "columns that it had are replaced: confidence")
stopifnot(identical(odd$labels$id, taken$id), identical(odd$labels$confidence, fit$labels$confidence), !anyDuplicated(names(odd$labels)))

# Names and text with all that CSV dislikes.
strange <- function(x, site) {
  names(x)[1:3] <- c("CD 4, \"new\"", "\u00dcber*[1]", "line\nbreak")
  x$site <- factor(site, labels = c("3", "10", "a \"b\"\nc, d"))
  x$note <- c("NA", NA, "", "x,y")[seq_len(nrow(x)) %% 4 + 1]
  x
}
classes <- c(naive = "na\u00efve, \"T\"", memory = "01", effector = "two\nlines")
site <- function(n) rep(1:3, length.out = n)
strange_old <- strange(transform(old, celltype = factor(classes[celltype], levels = classes)), site(nrow(old)))
names(strange_old)[4] <- "cell type"
strange_new <- strange(new, site(nrow(new)))
strange_fit <- mars_label(strange_old, strange_new, label = "cell type")
stopifnot(
  mean(as.character(predict(strange_fit)) == classes[truth]) > 0.9, identical(levels(predict(strange_fit)), unname(classes)),
  identical(strange_fit$labels[names(strange_new)], strange_new), any(grepl("site", strange_fit$log$message[grepl("^categories", strange_fit$log$message)])),
  identical(predict(strange_fit, strange_new[12, ]), predict(strange_fit)[12])
)

# A factor of numbers is a category, and the model knows it.
codes <- function(x, class) cbind(x, code = factor(match(class, names(centres)) * 10))
coded <- mars_label(codes(old, old$celltype), codes(new, truth), "celltype", columns = c("code", "CD8"))
stopifnot(any(grepl("^categories: code \\(3 features\\)", coded$log$message)), identical(predict(coded, codes(new, truth)[4:9, ]), predict(coded)[4:9]))

# Numbers as labels; wholes alone, as the program says.
numbered <- transform(old, celltype = match(celltype, names(centres)) * 5)
stopifnot(identical(levels(predict(mars_label(numbered, new, "celltype"))), c("5", "10", "15")))
fails(mars_label(transform(numbered, celltype = celltype / 4), new, "celltype"), "labels are classes")

# One row, one column, many columns.
one <- mars_label(old, new[5, ], "celltype")
stopifnot(nrow(one$labels) == 1, rownames(one$labels) == "cell 5")
single <- mars_label(celltype ~ CD4, transform(old, CD4 = replace(CD4, 1:3, NA)), transform(new, CD4 = replace(CD4, c(1, 5, nrow(new)), NA)))
stopifnot(nrow(single$labels) == nrow(new))
set.seed(3)
wide <- function(x) cbind(x, as.data.frame(matrix(rnorm(nrow(x) * 2000), nrow(x))))
many <- mars_label(celltype ~ ., wide(old[1:120, ]), wide(new[1:50, ]))
stopifnot(dim(many$labels) == c(50, 2003 + 6))

# What can't be.
fails(mars_label(old, new, "cell"), "source has no column \"cell\" \\(its columns are CD4, CD8, CCR7, celltype\\)")
fails(mars_label(old, new, label = old$celltype[-1]), "source has 240 rows, but there are 239 labels")
fails(mars_label(old, new, label = NULL), "labels have to be")
fails(mars_label(old, "new.csv", "celltype"), "target has to be a data frame or a matrix, not character")
fails(mars_label(old[0, ], new, "celltype"), "source")
fails(mars_label(old, new[0, ], "celltype"), "target")
fails(mars_label(old, new, "celltype", unkown = 0.1), "^unknown flag: unkown =: did you mean unknown =\\?$")
fails(mars_label(old, new, "celltype", assume = "perhaps"), "^assume = \"perhaps\" is not one of")
fails(mars_label(old, new, "cell_type"), "did you mean \"celltype\"\\? Otherwise")
fails(mars_label(old, new, "celltype", target_rows = 5), "target-rows is no option here")
fails(mars_label(cbind(old, CD4 = 1), new, "celltype"), "column \"CD4\" is there twice")

# Rows like none of the source are one more level.
far <- mars_label(old, rbind(new, data.frame(CD4 = 90, CD8 = -90, CCR7 = 90, row.names = "far")), "celltype", unknown = 0.05)
stopifnot(tail(as.character(predict(far)), 1) == "unknown", tail(levels(predict(far)), 1) == "unknown")

# What is known of the labels as a whole is data.
stopifnot(
  abs(fit$expected_accuracy - mean(predict(fit) == truth)) < 0.1, identical(fit$report$rows, nrow(new)), all(fit$assumptions$weight >= 0),
  "nothing has changed" %in% fit$assumptions$assumption, identical(sum(fit$report$classes$rows), nrow(new)),
  grepl("^(These labels can be believed|Believe these labels with care)", fit$verdict), any(startsWith(capture.output(print(fit)), substring(fit$verdict, 1, 20)))
)

# A row without any value has no label, and its posteriors are the shares of the classes.
gaps <- new[c("CD4", "CD8", "CCR7")]
gaps[2, ] <- NA
empty <- suppressWarnings(mars_label(old[c("CD4", "CD8", "CCR7", "celltype")], gaps, "celltype"))
stopifnot(
  identical(unname(which(is.na(predict(empty)))), 2L), identical(empty$report$missing, 1L), identical(levels(predict(empty)), levels(predict(fit))),
  "1 row without any value has no label" %in% capture.output(print(empty)), abs(sum(predict(empty, type = "prob")[2, ]) - 1) < 1e-6,
  grepl("with care", empty$verdict)
)

# Rows for a person to label, and their labels on the way back.
sheet <- mars_ask(ordered_old, new, label = "celltype", budget = 20)
stopifnot(
  identical(names(sheet), c("order", "row", names(new), "celltype", "predicted_class", "confidence", "probability", "part", "drawn")),
  all(is.na(sheet$celltype)), identical(sheet[names(new)], new[sheet$row, ]), identical(sheet$order, 1:20)
)
sheet$celltype <- truth[sheet$row]
told <- mars_label(ordered_old, new, label = "celltype", labels = sheet)
stopifnot(identical(as.character(predict(told))[sheet$row], sheet$celltype), all(told$labels$confidence[sheet$row] == 1))
by_labels <- mars_proportions(ordered_old, new, label = "celltype", labels = sheet[order(sheet$confidence), ])
stopifnot(by_labels$labelled$rows == 20, by_labels$table$holds_lower <= by_labels$table$target, by_labels$table$target <= by_labels$table$holds_upper)
fails(mars_label(old, new, label = "celltype", labels = old), "labels has no column \"drawn\": give what mars_ask")

# Proportions.
shares <- mars_proportions(ordered_old, new, label = "celltype")
table <- as.data.frame(shares)
stopifnot(
  identical(names(table), c("class", "source", "target", "lower", "upper", "rows")), identical(as.character(table$class), c("naive", "memory", "effector")),
  identical(levels(table$class), levels(ordered_old$celltype)), sum(table$rows) == nrow(new), abs(table$target - c(120, 40, 30) / 190) < 0.1,
  table$lower <= table$target, table$target <= table$upper, identical(shares$level, 0.9), is.character(shares$verdict),
  identical(shares$report$proportions$estimated[match(table$class, shares$report$classes)], table$target),
  identical(dim(as.data.frame(shares, estimators = TRUE)), c(3L, 6L + ncol(shares$estimators))), abs(colSums(shares$estimators) - 1) < 0.01,
  identical(unname(shares$estimators[, "same"]), shares$report$estimators$same[match(table$class, shares$report$classes)])
)
by_formula <- mars_proportions(celltype ~ ., data = ordered_old, newdata = new, level = 0.5)
stopifnot(identical(by_formula$table$target, table$target), by_formula$level == 0.5, by_formula$table$upper < table$upper)
stopifnot(nrow(as.data.frame(suppressWarnings(mars_proportions(old, new[1, ], "celltype")))) == 3)

# Other frames.
if (requireNamespace("tibble", quietly = TRUE)) {
  tibble_fit <- mars_label(tibble::as_tibble(old), tibble::as_tibble(new), "celltype")
  stopifnot(tibble::is_tibble(tibble_fit$labels), identical(predict(tibble_fit), predict(fit)))
}
if (requireNamespace("dplyr", quietly = TRUE)) {
  grouped <- dplyr::group_by(cbind(new, plate = rep(c("A", "B"), length.out = nrow(new))), plate)
  grouped_fit <- mars_label(dplyr::group_by(old, celltype), grouped, "celltype")
  stopifnot(identical(dplyr::group_vars(grouped_fit$labels), "plate"), identical(predict(grouped_fit), predict(fit)),
            nrow(dplyr::summarise(grouped_fit$labels, n = dplyr::n())) == 2)
}
if (requireNamespace("data.table", quietly = TRUE)) {
  before <- data.table::as.data.table(new)
  table_fit <- mars_label(data.table::as.data.table(old), before, "celltype")
  stopifnot(data.table::is.data.table(table_fit$labels), ncol(before) == 3, identical(predict(table_fit), predict(fit)))
  table_fit$labels[, more := 1]
  stopifnot("more" %in% names(table_fit$labels), identical(unname(predict(table_fit, type = "prob")), unname(probability)))
}
if (requireNamespace("Matrix", quietly = TRUE)) {
  sparse <- mars_label(Matrix::Matrix(as.matrix(old[1:3]), sparse = TRUE), Matrix::Matrix(as.matrix(new), sparse = TRUE), old$celltype)
  stopifnot(identical(predict(sparse), predict(fit)))
}

# Classes of several levels.
sides <- c(naive = "left", memory = "right", effector = "left")
levelled <- transform(old, side = factor(sides[celltype]))
level_fit <- mars_label(levelled, new, levels = c("side", "celltype"), confidence = 0.99)
both <- level_fit$labels
stopifnot(
  all(sides[both$predicted_celltype] == both$predicted_side), mean(both$predicted_celltype == truth) > 0.9,
  all(both$predicted_class[both$predicted_level == "side"] == both$predicted_side[both$predicted_level == "side"])
)
level_shares <- mars_proportions(levelled, new, levels = c("side", "celltype"))
stopifnot(
  identical(level_shares$table$class, factor(c("effector", "memory", "naive"))), identical(level_shares$levels$class, c("left", "effector", "naive", "right", "memory")),
  isTRUE(all.equal(level_shares$levels$target[1], sum(level_shares$levels$target[2:3]))), any(grepl("^   *naive", capture.output(print(level_shares))))
)
tree <- tempfile(fileext = ".csv")
write.csv(unique(levelled[c("side", "celltype")]), tree, row.names = FALSE)
stopifnot(isTRUE(all.equal(mars_proportions(old, new, "celltype", tree = tree)$levels, level_shares$levels)))

# What is printed and drawn.
printed <- capture.output(print(shares), print(summary(shares)), print(fit), print(summary(fit)))
for (text in c("naive +[0-9.]+ %", "believe", "alone would say", "Labels of 190 rows", "log:", "mars_label\\(")) stopifnot(any(grepl(text, printed)))
pdf(NULL)
drawn <- list(plot(shares), plot(fit))
if (requireNamespace("ggplot2", quietly = TRUE)) {
  stopifnot(all(vapply(drawn, ggplot2::is.ggplot, NA)), identical(ggplot2::layer_data(drawn[[1]], 2)$ymax[!is.na(ggplot2::layer_data(drawn[[1]], 2)$ymax)], table$upper))
}
# As where ggplot2 is not installed.
without <- list2env(list(requireNamespace = function(...) FALSE), parent = asNamespace("marsr"))
draw <- function(method, x) {
  environment(method) <- without
  method(x)
}
stopifnot(identical(draw(marsr:::plot.mars_proportions, shares), shares), identical(draw(marsr:::plot.mars_label, fit), fit))
invisible(dev.off())
