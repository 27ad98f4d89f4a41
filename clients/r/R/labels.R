# The source's labels on their way to the program and back.

# Labels as names that the program takes as they are, and the factor levels that they stand for.
encode_labels <- function(y) {
  if (is.list(y) || is.matrix(y) || is.null(y)) stop("the labels have to be a factor or a vector with a value for each row of the source", call. = FALSE)
  if (is.character(y)) y[!nzchar(trimws(y))] <- NA
  levels <- if (is.factor(y)) levels(y) else if (is.character(y)) sort(unique(y), method = "radix") else sort(unique(y))
  values <- if (is.factor(y)) as.integer(y) else match(y, levels)
  text <- if (is.numeric(levels) && !is.object(levels)) format_number(levels) else enc2utf8(as.character(levels))
  sent <- trimws(text)
  present <- sort(unique(values))
  if (!is.numeric(y)) sent[present] <- unlike_numbers(sent[present])
  sent <- make.unique(sent)
  sent[!nzchar(trimws(text))] <- NA
  list(values = sent[values], sent = sent, levels = text, ordered = is.ordered(y))
}

# Names such as 01 and 1, or 1.5, would be taken for numbers. All other names stay.
unlike_numbers <- function(names) {
  numbers <- look_like_numbers(names) | tolower(names) %in% c("na", "nan", "null")
  if (all(numbers) && !all(grepl("^(0|-?[1-9][0-9]{0,14})$", names))) paste("class", names) else names
}

# A factor of names that the program gave, with the levels of the source's labels and,
# last, names that are none of them, such as unknown.
decode_labels <- function(names, codes) {
  new <- setdiff(unique(names), c(codes$sent, NA))
  text <- c(codes$levels, new)[match(names, c(codes$sent, new))]
  factor(text, levels = c(codes$levels, setdiff(new, codes$levels)), ordered = codes$ordered && !length(new))
}
