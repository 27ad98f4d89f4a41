# What becomes of columns, numbers, names and formulas before the program sees them.
library(marsr)
source("with/cells.R")
plain <- function(...) marsr:::plain_columns(list(...), "source")

# Numbers come back to the bit.
x <- c(rnorm(1e4), 10^runif(1e4, -300, 300), 1 / 3, .Machine$double.xmin, .Machine$double.xmax, 5e-324, -0.0, 2^53 + 2, 1e5, 123456789012345678)
old_options <- options(OutDec = ",", scipen = -5)
text <- marsr:::format_number(x)
stopifnot(identical(as.numeric(text), x), identical(marsr:::format_number(c(100000L, -3L)), c("100000", "-3")))
options(old_options)

# The program's single precision is what CSV of single precision has.
single <- c(0.1, 1 / 3, 0.99999547)
stopifnot(identical(marsr:::to_single(as.numeric(sprintf("%.9g", marsr:::to_single(single)))), marsr:::to_single(single)))

# Types.
wide <- 2^53 - 1
integer64 <- structure(readBin(writeBin(as.integer(c(5, 0, -1, -1, -1, 2^21 - 1, 0, 1, 0, NA)), raw(), endian = "little"),
                               "double", 5, endian = "little"), class = "integer64")
p <- plain(l = c(TRUE, NA), f = factor(c("b", "a"), levels = c("a", "b", "")), d = as.Date(c("2024-02-29", NA)),
           p = as.POSIXct(c(0.25, NA), origin = "1970-01-01", tz = "Asia/Tokyo"), lt = as.POSIXlt(c(0, 60), origin = "1970-01-01", tz = "Asia/Tokyo"),
           t = as.difftime(c(1, 2), units = "hours"), e = c("", "x"), n = 1:2, m = cbind(u = 1:2, v = 3:4), q = data.frame(z = 5:6), I = I(c(0.5, 1)))
stopifnot(
  identical(p$l, c(1L, NA)), identical(p$f, c("b", "a")), identical(p$d, c("2024-02-29", NA)),
  identical(p$p, c("1970-01-01T00:00:00.250000Z", NA)), identical(p$lt, c("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z")),
  identical(p$t, c(3600, 7200)), identical(p$e, c(NA, "x")), identical(p$n, 1:2),
  identical(p$m.u, 1:2), identical(p$m.v, 3:4), identical(p$q.z, 5:6), identical(p$I, c(0.5, 1)),
  identical(plain(x = integer64)$x, c(5, -1, wide, 2^32, NA)), !length(attr(p, "categories"))
)
fails(plain(x = list(1, 2)), "source: column \"x\" is of type list")
fails(plain(x = complex(2)), "complex")

# Categories that look like numbers are none.
p <- plain(cyl = factor(c(4, 6)), zip = c("01", NA), mixed = c("1", "x"), word = "x", "odd, [name]" = factor("7"), none = NA_character_)
stopifnot(identical(attr(p, "categories"), c("cyl", "zip", "odd, [name]")), identical(marsr:::literal("a[*?]\\"), "a\\[\\*\\?\\]\\\\"))

# Names of labels.
round_trip <- function(y) {
  codes <- marsr:::encode_labels(y)
  marsr:::decode_labels(codes$values, codes)
}
for (y in list(factor(c("b", "a"), levels = c("z", "b", "a")), factor(c("01", "1", "02")), c("1.5", "2.5"), factor(c(" a", "a", "a ")),
               factor(c("NA", "b")), c("x, \"y\"", "line\nbreak", "na\u00efve"), c("NA", "1"), ordered(c("lo", "hi"), levels = c("lo", "hi")))) {
  back <- round_trip(y)
  stopifnot(identical(as.character(back), as.character(y)), is.ordered(back) == is.ordered(y))
  if (is.factor(y)) stopifnot(identical(levels(back), levels(y)))
}
stopifnot(identical(marsr:::encode_labels(c(2, 10, 1))$sent, c("1", "2", "10")), identical(marsr:::encode_labels(c("", "a"))$values, c(NA, "a")),
          identical(levels(marsr:::decode_labels(c("a", "unknown"), marsr:::encode_labels(c("b", "a")))), c("a", "b", "unknown")))

# Formulas.
terms <- function(f) names(marsr:::formula_terms(f[[3]], c("a", "b c", "d")))
stopifnot(
  identical(terms(y ~ .), c("a", "b c", "d")), identical(terms(y ~ . - `b c`), c("a", "d")), identical(terms(y ~ . - a - d), "b c"),
  identical(terms(y ~ a + log(d) - 1), c("a", "log(d)")), identical(terms(y ~ d + (a + `b c`) - (a + d)), "b c"), identical(terms(y ~ . + a + 0), c("a", "b c", "d")),
  identical(terms(y ~ -a + .), c("a", "b c", "d"))
)
for (f in list(y ~ a * d, y ~ a:d, y ~ (a + d)^2, y ~ a %in% d, y ~ . + a:d)) fails(terms(f), "there are no interactions")
fails(terms(y ~ a - a), "names no features")

# Messages count the user's rows.
said <- marsr:::rewording(c(source = "source.csv", target = "target.arrows"), list(source = list(x = c("a", "b")), target = list(x = "a"), rows = c(2L, 5L)))
stopifnot(identical(said(c("source.csv: line 3, column \"x\"", "target.arrows: row 1", "source.csv: line 1", "of source.csv")),
                    c("source: row 5, column \"x\"", "target: row 1", "source: line 1", "of source")))

# Options.
stopifnot(identical(
  marsr:::flags(list(assume = "move", log1p = TRUE, max_categories = 1e5, logicle = c(262144, 0.5), columns = c("a,b", "c"), source.proportions = c(x = 0.05, y = 0.95), seed = NULL)),
  c("--assume=move", "--log1p=true", "--max-categories=100000", "--logicle=262144,0.5", "--columns=\"a,b\",c", "--source-proportions=x=0.05,y=0.95")
))
fails(marsr:::flags(list("move")), "has no name")
fails(marsr:::flags(list(output = "x.csv")), "argument output is no option here")
