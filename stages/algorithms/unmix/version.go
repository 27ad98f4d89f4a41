package unmix

// Version is of the answers that this package gives. Raise it when the same data, options and
// seed give others than before: what caches hold of them is then made again.
const Version = 2
