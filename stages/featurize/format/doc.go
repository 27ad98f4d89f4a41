// Package format reads the files that data come in, one Table whatever the
// kind: IDX, npy and npz, CSV and TSV, Parquet, Arrow streams and files, each
// of them plain or compressed with gzip.
//
// The kind is told by a file's first bytes; a name that claims another kind is
// an error. Nothing that a file says of itself is believed before its bytes are
// there: sizes are checked, memory grows with what has been read, and every
// error names the input, the place and what to do about it.
//
// NumPy files are read by this package rather than by sbinet/npyio, which
// allocates what a header claims, has no float16, and reads one element at a
// time.
package format
