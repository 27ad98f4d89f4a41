// Package scan reads delimited text fast: it cuts a reader into chunks of whole records,
// which several goroutines split into fields, and turns fields into numbers.
//
// Records, fields and errors are those of encoding/csv, byte by byte, and numbers those of
// strconv.ParseFloat, bit by bit; tests hold them side by side.
package scan
