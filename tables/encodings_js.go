package tables

import "golang.org/x/text/encoding"

// eastern would be a twentieth of what a browser has to load.
var eastern map[string]encoding.Encoding
