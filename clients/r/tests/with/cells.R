# Tables of cells, and what the tests say of them. The tests are plain R, as testthat would
# be the only reason to install it and the thirty packages under it.
centres <- list(naive = c(0, 0, 1), memory = c(2, 0, 0), effector = c(0, 2, 2))

cells <- function(counts, moved = 0, seed = 1) {
  set.seed(seed)
  celltype <- rep(names(counts), counts)
  x <- t(vapply(celltype, function(k) rnorm(3, centres[[k]] + moved, 0.35), numeric(3)))
  colnames(x) <- c("CD4", "CD8", "CCR7")
  data.frame(x, celltype, row.names = NULL)[sample(length(celltype)), ]
}

old <- cells(c(naive = 80, memory = 80, effector = 80))
new <- cells(c(naive = 120, memory = 40, effector = 30), c(0.4, 0.3, -0.3), seed = 2)
truth <- new$celltype
new$celltype <- NULL
rownames(new) <- paste("cell", seq_len(nrow(new)))

has_mars <- !inherits(try(marsr::mars_binary(), silent = TRUE), "try-error")

# What an expression says when it fails has to match.
fails <- function(expression, pattern) {
  said <- tryCatch({ expression; NULL }, error = conditionMessage)
  if (is.null(said)) stop("no error, but there should be one that matches ", pattern)
  if (!grepl(pattern, said)) stop("the error is \"", said, "\", which does not match ", pattern)
}

warns <- function(expression, pattern) {
  said <- character()
  value <- withCallingHandlers(expression, warning = function(w) {
    said <<- c(said, conditionMessage(w))
    tryInvokeRestart("muffleWarning")
  })
  if (!any(grepl(pattern, said))) stop("no warning matches ", pattern, ": ", paste(said, collapse = "; "))
  value
}
