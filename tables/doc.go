// Package tables reads data files of all kinds into a Table: IDX, npy, npz and mat,
// FCS, CSV and TSV, JSON lines, svmlight rows, ARFF, Parquet, Arrow streams and files,
// each plain or compressed as a whole (gzip, zstd, bzip2, xz, lz4), and folders of
// JPEG and PNG files.
//
// The first bytes of a file tell its kind; it is an error if its name claims
// another one. The package does not trust what a file says about itself: sizes
// are checked, memory grows only with what has been read, and every error names
// the input, the place and what to do about it.
//
// The package reads NumPy files itself because sbinet/npyio allocates what a
// header claims, has no float16, and reads one element at a time.
package tables
