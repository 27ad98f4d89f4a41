#' The program mars
#'
#' Finds the program `mars`, which does the work of this package.
#'
#' It is the one that `options(mars.binary = )` names, else the one that the
#' environment variable `MARS_BINARY` names, else the one on the `PATH`.
#'
#' @return The path of the program. An error says how to install it if there is none.
#' @export
#' @examples
#' tryCatch(mars_binary(), error = conditionMessage)
mars_binary <- function() {
  named <- getOption("mars.binary")
  by <- "the option mars.binary"
  if (is.null(named)) {
    named <- Sys.getenv("MARS_BINARY")
    by <- "the environment variable MARS_BINARY"
  }
  if (nzchar(named)) {
    found <- Sys.which(path.expand(named))
    if (!nzchar(found)) stop(by, " names ", named, ": there is no such program", call. = FALSE)
    return(unname(found))
  }
  found <- Sys.which("mars")
  if (!nzchar(found)) {
    stop("the program mars is not installed: build it (make install, or go install mars.dev/mars/cmd/mars@latest) ",
         "and put it on your PATH, or name it: options(mars.binary = \"/path/to/mars\") or the environment variable MARS_BINARY",
         call. = FALSE)
  }
  unname(found)
}
