# What the program takes are columns of numbers and text. These functions make them of
# the columns of a user's table, the same of source, target and rows to predict.

# A user's data as a data frame, tibble or data.table; a matrix becomes a data frame.
as_table <- function(x, what) {
  if (is.data.frame(x)) return(x)
  if (inherits(x, "Matrix")) x <- as.matrix(x)
  if (is.matrix(x) && is.atomic(x)) {
    if (anyDuplicated(rownames(x))) rownames(x) <- NULL
    return(as.data.frame(x, stringsAsFactors = FALSE))
  }
  if (is.atomic(x) || is.function(x)) stop(what, " has to be a data frame or a matrix, not ", class(x)[1], call. = FALSE)
  as.data.frame(x, stringsAsFactors = FALSE)
}

# Columns of a table, whatever its class, as a list.
columns_of <- function(table) stats::setNames(lapply(seq_along(table), function(i) .subset2(table, i)), names(table))

# A list of columns of doubles, integers and text, with the names of those that are
# categories though their values look like numbers as the attribute "categories".
plain_columns <- function(columns, what) {
  if (!length(columns)) return(list())
  found <- Map(function(x, name) plain_column(x, name, what), columns, names(columns))
  plain <- do.call(c, unname(found))
  categories <- names(plain)[vapply(plain, is_category_of_numbers, NA)]
  plain <- lapply(plain, function(x) if (is.factor(x)) as.character(x) else x)
  names(plain) <- trimws(enc2utf8(names(plain)))
  structure(plain, categories = trimws(enc2utf8(categories)))
}

# A column as a list of one plain column, or of several if it is a matrix or a frame.
plain_column <- function(x, name, what) {
  if (is.data.frame(x) || is.matrix(x)) {
    parts <- columns_of(as_table(x, what))
    names(parts) <- paste0(name, ".", names(parts))
    return(do.call(c, unname(Map(function(part, label) plain_column(part, label, what), parts, names(parts)))))
  }
  if (is.list(x) && !inherits(x, "POSIXlt") || is.complex(x) || is.raw(x)) {
    stop(what, ": column \"", name, "\" is of type ", typeof(x), ": make it numbers or text, or leave it out", call. = FALSE)
  }
  stats::setNames(list(plain_values(x)), name)
}

plain_values <- function(x) {
  if (inherits(x, "POSIXt")) return(times(as.POSIXct(x)))
  if (inherits(x, "Date")) return(format(x, "%Y-%m-%d"))
  if (inherits(x, "difftime")) return(as.double(x, units = "secs"))
  if (inherits(x, "integer64")) return(from_integer64(x))
  if (is.factor(x)) {
    levels <- enc2utf8(levels(x))
    levels[!nzchar(levels)] <- NA
    return(factor(levels[as.integer(x)], levels = unique(levels[!is.na(levels)])))
  }
  if (is.logical(x)) return(as.integer(x))
  if (is.integer(x)) return(as.integer(x))
  if (is.numeric(x)) return(as.double(x))
  x <- enc2utf8(as.character(x))
  x[!nzchar(x)] <- NA
  x
}

# Times in UTC, so that source and target mean the same by them.
times <- function(x) {
  whole <- all(is.na(x) | unclass(x) == floor(unclass(x)))
  format(x, if (whole) "%Y-%m-%dT%H:%M:%SZ" else "%Y-%m-%dT%H:%M:%OS6Z", tz = "UTC")
}

# The integers of 64 bits that bit64 keeps in the bits of doubles.
from_integer64 <- function(x) {
  words <- matrix(readBin(writeBin(as.double(unclass(x)), raw(), endian = "little"), "integer", 2 * length(x), endian = "little"), 2)
  low <- ifelse(is.na(words[1, ]), -2^31, words[1, ])
  high <- ifelse(is.na(words[2, ]), -2^31, words[2, ])
  value <- high * 2^32 + low %% 2^32
  value[is.na(words[2, ]) & low == 0] <- NA
  value
}

is_category_of_numbers <- function(x) {
  if (is.factor(x)) return(any(look_like_numbers(levels(x))))
  if (!is.character(x)) return(FALSE)
  values <- unique(x[!is.na(x)])
  length(values) > 0 && all(look_like_numbers(values))
}

look_like_numbers <- function(text) !is.na(suppressWarnings(as.numeric(text)))
