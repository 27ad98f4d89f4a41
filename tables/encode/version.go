package encode

// Version is of the numbers that columns become. Raise it when the same table gives others
// than before: what caches hold of them is then made again.
const Version = 3
