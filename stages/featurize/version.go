package featurize

import "mars.dev/mars/tables/encode"

// Version is of what the stage puts out: its own, which is raised when the same rows, options
// and seed give other results, and those of what it runs.
const Version = 9 + encode.Version
