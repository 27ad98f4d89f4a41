# What the program says, in R's words: --unknown 0.05 is unknown = 0.05, and mars label is
# mars_label. A word behind a flag is its value where a clause ends with it, or where it is
# a number; else it is a part of the sentence. Pages that are not installed are left out.
spoken <- function(text) {
  text <- gsub("[[:space:]]*\\(docs/[^)]*\\)", "", text)
  text <- gsub("(?<![\\w./-])mars (label|predict|proportions|ask|check)(?![\\w.:-])", "mars_\\1", text, perl = TRUE)
  value <- "('[^']*'|\"[^\"]*\"|-?[0-9.]*[0-9](?![\\w.])|[^\\s;()\"]*[^\\s;():,.\"](?=[,.;:)]|$|\\n))"
  vapply(text, function(line) {
    found <- gregexpr(paste0("--[a-z][a-z0-9]*(-[a-z0-9]+)*(( |=|: (?=\"))", value, ")?"), line, perl = TRUE)
    regmatches(line, found) <- list(vapply(regmatches(line, found)[[1]], argument, "", USE.NAMES = FALSE))
    gsub("(mars_[a-z]+) ([a-z_0-9]+ =( \"[^\"]*\"| [0-9.]+)?)", "\\1(\\2)", line)
  }, "", USE.NAMES = FALSE)
}

# A flag, which may have a value, as an argument.
argument <- function(flag) {
  name <- sub("^--([a-z0-9-]+).*$", "\\1", flag)
  value <- gsub("^[ =:]+|^['\"]|['\"]$", "", sub("^[ =:]+", "", substring(flag, nchar(name) + 3)))
  name <- gsub("-", "_", name)
  if (name %in% c("source", "target")) return(name)
  if (!nzchar(value)) return(paste(name, "="))
  if (!grepl("^-?[0-9.]*[0-9]$", value)) value <- paste0("\"", value, "\"")
  paste(name, "=", value)
}
