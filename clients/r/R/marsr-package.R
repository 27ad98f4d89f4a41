#' marsr: class proportions and labels of data that differ from the labelled data
#'
#' [mars_proportions()] estimates the class proportions of a target, [mars_label()] labels its rows, and
#' [mars_predict()] labels more rows of the same target. The work is done by the program `mars`
#' ([mars_binary()] says which); this package takes data frames to it and brings the answers
#' back.
#'
#' @section Options:
#' \describe{
#'   \item{`mars.binary`}{the path of the program}
#'   \item{`mars.transport`}{`"auto"`, `"nanoarrow"`, `"arrow"` or `"csv"`: how data get to the program}
#'   \item{`mars.quiet`}{whether the program's log is left out, unless an argument says otherwise}
#' }
#'
#' It has nothing to do with multivariate adaptive regression splines, which other packages call
#' MARS too.
#' @keywords internal
"_PACKAGE"
