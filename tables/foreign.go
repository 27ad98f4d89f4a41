package tables

import (
	"fmt"
	"regexp"
	"slices"
)

// A foreign is what files hold that are often given by mistake, and cannot be read.
type foreign struct {
	what    string // "holds …"
	begins  func(head []byte) bool
	remedy  string // what to do about it
	instead string // what to do where Arrow is wanted
}

// twice is what to do about a compressed file in a compressed file.
const twice = "it is compressed twice: decompress it once"

const (
	pictureFolder = "give the folder of the images, a table or an array"
	toArray       = "convert it to an array of images"
	toArrow       = "convert it to Arrow"
	asArrow       = "write its table as Arrow"
)

// foreigns are known by their first bytes.
var foreigns = []foreign{
	{"a Feather version 1 file", prefixes("FEA1"), "write it again with a newer version", "write Feather version 2, which is an Arrow file"},
	{hdf5, prefixes("\x89HDF"), "save its arrays in Python with numpy.savez, or, if it holds cells (10x), let the Python package read it: " + cellsInPython, toArrow},
	{"an old Excel file (xls)", prefixes("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "save the sheet as CSV", "save it as CSV"},
	{"an SQLite database", prefixes("SQLite format 3\x00"), "write its table as CSV: sqlite3 -header -csv x.db 'select * from t' > x.csv", asArrow},
	{"a file of R objects (rds, RData)", prefixes("RDX2\n", "RDX3\n", "X\n\x00\x00\x00"), "write its table in R: write.csv(readRDS(\"x.rds\"), \"x.csv\", row.names = FALSE)", asArrow},
	{"an ORC file", prefixes("ORC"), "write it as Parquet", toArrow},
	{"an Avro file", prefixes("Obj\x01"), "write it as Parquet", toArrow},
	{"a PDF document", prefixes("%PDF-"), "give the data that it shows", "give the data that it shows"},
	{"a Python pickle", prefixes("\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"), "save its arrays in Python with numpy.savez, or its data frame with to_parquet", "write Arrow instead"},
	{"a gzip file", prefixes("\x1f\x8b"), twice, "decompress it first: gzip -dc FILE | …"},
	{"a zstd file", prefixes("\x28\xb5\x2f\xfd"), twice, "decompress it first: zstd -dc FILE | …"},
	{"an lz4 file", prefixes("\x04\x22\x4d\x18"), twice, "decompress it first: lz4 -dc FILE | …"},
	{"a bzip2 file", prefixes("BZh"), twice, "decompress it first: bzip2 -dc FILE | …"},
	{"an xz file", prefixes("\xfd7zXZ"), twice, "decompress it first: xz -dc FILE | …"},
	{"a JPEG picture", prefixes("\xff\xd8\xff"), pictureFolder, toArray},
	{"a PNG picture", prefixes("\x89PNG"), pictureFolder, toArray},
	{"an HTML page", prefixes("<!DOCTYPE", "<html"), "download the file itself", "download the file itself"},
	{"a Git LFS pointer", prefixes("version https://git-lfs"), lfsPull, lfsPull},
}

const (
	hdf5          = "an HDF5 file"
	cellsInPython = "python -m mars label --source atlas.h5ad --target sample.h5ad --label cell_type -o labelled.h5ad (docs/how-to/single-cell.md)"
	lfsPull       = "fetch the file itself with git lfs pull"
)

// foreignOf is what begins so, nil if that is not known.
func foreignOf(head []byte) *foreign {
	if i := slices.IndexFunc(foreigns, func(f foreign) bool { return f.begins(head) }); i >= 0 {
		return &foreigns[i]
	}
	return nil
}

// refuse is the error of a file with that extension.
func (f *foreign) refuse(ext string) error {
	if f.what == hdf5 && ext == ".h5ad" {
		return fmt.Errorf("holds AnnData (%s), which the Python package reads: %s", f.what, cellsInPython)
	}
	return fmt.Errorf("holds %s, which cannot be read: %s", f.what, f.remedy)
}

// foreignTexts are text that is no table, by its beginning, and what to do about it.
var foreignTexts = []struct {
	begins       *regexp.Regexp
	what, remedy string
}{
	{regexp.MustCompile(`^\s*(\{\s*["}]|\[\s*([\["\]]|-?\d+(\.\d+)?\s*,))`), "JSON", `convert it in Python: pandas.read_json("x.json").to_json("x.jsonl", orient="records", lines=True)`},
	{regexp.MustCompile(`^%%MatrixMarket`), "a MatrixMarket matrix", `convert it in Python: numpy.savez("x.npz", X=scipy.io.mmread("x.mtx").toarray())`},
	{regexp.MustCompile(`^\s*<\?xml`), "XML", "write it as CSV"},
}
