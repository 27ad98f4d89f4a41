# How right a model still is, by its predictions.
library(marsr)
source("with/cells.R")
if (!has_mars) quit("no")
options(mars.quiet = TRUE)

model <- function(n, positive, seed) {
  set.seed(seed)
  y <- runif(n) < positive
  x <- rnorm(n, 2 * y)
  p <- 0.3 / 0.7 * exp(2 * x - 2)  # what is right where three of ten are positive
  p <- p / (1 + p)
  data.frame(probability_no = 1 - p, probability_yes = p, y = ifelse(y, "yes", "no"), at = as.POSIXct("2026-03-01", tz = "UTC") + 60 * seq_len(n))
}
truth <- function(rows) mean(ifelse(rows$probability_yes > 0.5, "yes", "no") == rows$y)

reference <- model(3000, 0.3, 1)
now <- model(2880, 0.6, 2)
found <- mars_check(now[1:2], reference[1:3], "y")
table <- as.data.frame(found)
stopifnot(nrow(table) == 1, table$accuracy_lower < truth(now), table$accuracy_upper > truth(now), table$accuracy_change < 0,
          is.logical(table$complete), table$verdict %in% c("believe", "care"), nzchar(found$sentences), grepl("mars_ask", found$unseen))
printed <- capture.output(print(found))
stopifnot(any(grepl("accuracy", printed)), any(grepl("verdict", printed)))

# Windows of time, classes alone, a score, a factor and another name of the label.
days <- mars_check(now[-3], transform(reference, y = factor(y)), "y", window = "1d", time = "at")
stopifnot(nrow(days$table) == 3, days$table$rows[1] + days$table$rows[2] + days$table$rows[3] == 2880)
classes <- function(rows) data.frame(said = ifelse(rows$probability_yes > 0.5, "yes", "no"), truth = rows$y)
hard <- mars_check(classes(now)["said"], classes(reference), "truth", prediction = "said")
stopifnot(all(is.na(hard$table$log_loss)), hard$table$accuracy < 1)
score <- mars_check(now[2], reference[2:3], "y", score = "probability_yes", positive = "yes")
stopifnot(isTRUE(all.equal(score$table$accuracy, table$accuracy, tolerance = 1e-3)))
plot(days)

fails(mars_check(now[1:2], reference[1:2], "y"), "reference has no column \"y\"")
fails(mars_check(now[1], reference[1:3], "y"), "newdata: .*has no column \"probability_yes\"")
fails(mars_check(now[1:2], reference[1:3], "y", alert = 0.9), "the argument alert is no option here")
