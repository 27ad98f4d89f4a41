package tables

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mars.dev/mars/arrowio"
)

// A kind is a file format.
type kind string

const (
	kindIDX     kind = "IDX"
	kindNPY     kind = "a NumPy array (npy)"
	kindNPZ     kind = "a NumPy archive (npz)"
	kindParquet kind = "Parquet"
	kindArrow   kind = "Arrow"
	kindText    kind = "a text table"

	kindMAT       kind = "MATLAB (mat)"
	kindFCS       kind = "FCS"
	kindJSONLines kind = "JSON lines"
	kindSVMLight  kind = "svmlight (LIBSVM) rows"
	kindARFF      kind = "ARFF"
)

// extensions are those that claim a kind. Others claim none.
var extensions = map[string]kind{
	".npy": kindNPY, ".npz": kindNPZ, ".mat": kindMAT, ".fcs": kindFCS, ".lmd": kindFCS, ".csv": kindText, ".tsv": kindText,
	".jsonl": kindJSONLines, ".ndjson": kindJSONLines,
	".svm": kindSVMLight, ".svmlight": kindSVMLight, ".libsvm": kindSVMLight, ".arff": kindARFF,
	".parquet": kindParquet, ".arrow": kindArrow, ".arrows": kindArrow, ".feather": kindArrow,
}

// kinds are the formats that can be read.
var kinds = map[arrowio.Format]kind{
	arrowio.FormatNPY: kindNPY, arrowio.FormatZip: kindNPZ, arrowio.FormatMATLAB: kindMAT, arrowio.FormatFCS: kindFCS, arrowio.FormatParquet: kindParquet, arrowio.FormatIDX: kindIDX,
	arrowio.FormatArrowFile: kindArrow, arrowio.FormatArrowStream: kindArrow, arrowio.FormatText: kindText,
}

// remedies are what to do about files that are often given by mistake.
var remedies = map[arrowio.Format]string{
	arrowio.FormatLFSPointer: "fetch the file itself with git lfs pull",
	arrowio.FormatHTML:       "download the file itself",
	arrowio.FormatHDF5:       "save its arrays in Python with numpy.savez",
	arrowio.FormatExcel:      "save the sheet as CSV",
	arrowio.FormatSQLite:     "write its table as CSV: sqlite3 -header -csv x.db 'select * from t' > x.csv",
	arrowio.FormatR:          "write its table in R: write.csv(readRDS(\"x.rds\"), \"x.csv\", row.names = FALSE)",
	arrowio.FormatORC:        "write it as Parquet",
	arrowio.FormatAvro:       "write it as Parquet",
	arrowio.FormatPDF:        "give the data that it shows",
	arrowio.FormatPickle:     "save its arrays in Python with numpy.savez, or its data frame with to_parquet",
	arrowio.FormatGzip:       twice,
	arrowio.FormatZstd:       twice,
	arrowio.FormatLZ4:        twice,
	arrowio.FormatBzip2:      twice,
	arrowio.FormatXZ:         twice,
	arrowio.FormatJPEG:       "give the folder of the images, a table or an array",
	arrowio.FormatPNG:        "give the folder of the images, a table or an array",
	arrowio.FormatFeatherV1:  "write it again with a newer version",
}

// twice is what to do about a compressed file in a compressed file.
const twice = "it is compressed twice: decompress it once"

// tell returns the kind of a file that begins with head. Text that is not UTF-8 may
// have the encoding, or be an error when it is read. It fails if the file's name
// claims another kind.
func tell(head []byte, name, encoding string) (kind, error) {
	if len(head) == 0 {
		return "", errors.New("is empty: check what wrote it")
	}
	found, err := tellContent(head, name, encoding)
	if err == nil && found == kindText {
		found, err = tellText(head)
	}
	if err != nil {
		return "", err
	}
	ext := strings.ToLower(filepath.Ext(name))
	if found == kindText && isTextKind(extensions[ext]) {
		found = extensions[ext] // whose errors say what is wrong with it
	}
	if claimed, ok := extensions[ext]; ok && claimed != found {
		return "", fmt.Errorf("is named %s but holds %s: rename it, or check what wrote it", ext, found)
	}
	return found, nil
}

func tellContent(head []byte, name, encoding string) (kind, error) {
	format := arrowio.Sniff(head)
	if format == arrowio.FormatUnknown && !strings.EqualFold(filepath.Ext(name), ".mat") && (encoding != "" && encoding != Encodings[0] || maybeText(head)) {
		return kindText, nil
	}
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case bytes.HasPrefix(head, []byte("MATLAB 7.3")):
		return "", errors.New("holds a MATLAB file of version 7.3 (HDF5), which cannot be read: save it in MATLAB with save(\"x.mat\", \"X\", \"y\", \"-v7\"), or its arrays in Python: numpy.savez(\"x.npz\", X=h5py.File(\"x.mat\")[\"X\"][()].T)")
	case format == arrowio.FormatFCS && !isFCS(head):
		return "", fmt.Errorf("holds FCS of version %q: 2.0, 3.0 and 3.1 can be read: export it as one of them", head[3:6])
	case ext == ".mat" && (format == arrowio.FormatUnknown || format == arrowio.FormatIDX):
		return "", errors.New("holds a MATLAB file of version 4, or none, which cannot be read: save it in MATLAB with save(\"x.mat\", \"X\", \"y\", \"-v7\"), or in Python: scipy.io.savemat(\"new.mat\", scipy.io.loadmat(\"x.mat\"))")
	}
	if k, ok := kinds[format]; ok {
		return k, nil
	}
	if format == arrowio.FormatHDF5 && (ext == ".h5ad" || ext == ".loom") {
		return "", fmt.Errorf("holds AnnData (%s), which cannot be read: write a table in Python: a = anndata.read_h5ad(\"x.h5ad\"); a.to_df().join(a.obs).to_parquet(\"x.parquet\")", format)
	}
	if remedy, ok := remedies[format]; ok {
		return "", fmt.Errorf("holds %s, which cannot be read: %s", format, remedy)
	}
	if unmarkedUTF16(head) {
		return "", errors.New("holds text in UTF-16: give --encoding utf-16")
	}
	return "", fmt.Errorf("begins with bytes % x, which is no kind of file that can be read: give CSV, TSV, JSON lines, Parquet, Arrow, npy, npz, IDX, MATLAB, FCS, ARFF or svmlight", head[:min(8, len(head))])
}

// foreignTexts are text that is no table, by its beginning, and what to do about it.
var foreignTexts = []struct {
	begins       *regexp.Regexp
	what, remedy string
}{
	{regexp.MustCompile(`^\s*(\{\s*["}]|\[\s*([\[{"\]]|-?\d+(\.\d+)?\s*,))`), "JSON", `convert it in Python: pandas.read_json("x.json").to_json("x.jsonl", orient="records", lines=True)`},
	{regexp.MustCompile(`^%%MatrixMarket`), "a MatrixMarket matrix", `convert it in Python: numpy.savez("x.npz", X=scipy.io.mmread("x.mtx").toarray())`},
	{regexp.MustCompile(`^\s*<\?xml`), "XML", "write it as CSV"},
}

// A textKind is a kind of text.
type textKind struct {
	begins *regexp.Regexp
	kind   kind
}

// textKinds are text that is no table of fields, by its beginning.
var textKinds = []textKind{
	{regexp.MustCompile(`^\s*\{[ \t]*("|\}\s*\n\s*\{)`), kindJSONLines},
	{regexp.MustCompile(`^(\s*#[^\n]*\n)*[-+]?\d+(\.\d*)?([eE][-+]?\d+)?(,\d+)*([ \t]+qid:\d+)?[ \t]+\d+:[-+.\d]\S*([ \t]+\d+:\S*|\s*\n|\s*#|\s*$)`), kindSVMLight},
	{regexp.MustCompile(`(?i)^(\s*%[^\n]*\n|\s*\n)*\s*@relation\s`), kindARFF},
}

func isTextKind(k kind) bool {
	return slices.ContainsFunc(textKinds, func(t textKind) bool { return t.kind == k })
}

// tellText tells the kind of text. It fails for what is no table.
func tellText(head []byte) (kind, error) {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for _, t := range textKinds {
		if t.begins.Match(head) {
			return t.kind, nil
		}
	}
	for _, f := range foreignTexts {
		if f.begins.Match(head) {
			return "", fmt.Errorf("holds %s, which cannot be read: %s", f.what, f.remedy)
		}
	}
	return kindText, nil
}
