package tables

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fcsOf is an FCS file of those keywords, which change those of a plain one.
func fcsOf(version, data string, changes ...string) string {
	keys := map[string]string{"$PAR": "1", "$MODE": "L", "$DATATYPE": "I", "$BYTEORD": "1,2,3,4", "$TOT": "2", "$P1B": "16", "$P1R": "1024", "$P1E": "0,0", "$P1N": "FL1"}
	for i := 0; i < len(changes); i += 2 {
		if keys[changes[i]] = changes[i+1]; changes[i+1] == "" {
			delete(keys, changes[i])
		}
	}
	text := "|"
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		text += k + "|" + keys[k] + "|"
	}
	begin := 58 + len(text)
	return fmt.Sprintf("%s    %8d%8d%8d%8d%8d%8d", version, 58, begin-1, begin, begin+len(data)-1, 0, 0) + text + data
}

func TestFCSErrors(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	plain := fcsOf("FCS3.1", data)
	for _, tc := range []struct{ text, want string }{
		{fcsOf("FCS1.0", data), "begins with bytes"},
		{fcsOf("FCS3.3", data), `holds FCS of version "3.3": 2.0, 3.0, 3.1 and 3.2 can be read`},
		{plain[:30], "header: is truncated"},
		{plain[:100], "TEXT: is truncated"},
		{plain[:len(plain)-1], "is truncated: announces 2 events of 2 bytes, 1 are there"},
		{strings.Replace(plain, "      58", "      5x", 1), `header: byte 10: "5x" is no offset`},
		{strings.Replace(plain, "      58", "99999999", 1), "header: TEXT from byte 99999999 to "},
		{fcsOf("FCS3.1", data, "$MODE", "U"), "has histograms"},
		{fcsOf("FCS3.1", data, "$DATATYPE", "A"), `has values of type "A": I, F and D ($DATATYPE) can be read`},
		{fcsOf("FCS3.2", data, "$P1DATATYPE", "A"), `has values of type "A": I, F and D ($P1DATATYPE) can be read`},
		{fcsOf("FCS3.1", data, "$PAR", "99999999"), "want a whole number from 1 to 10000"},
		{fcsOf("FCS3.1", data, "$PAR", "2"), `$P2B is "", want a whole number from 1 to 64`},
		{fcsOf("FCS3.1", data, "$P1B", "10"), "$P1B is 10: integers of 8, 16, 24, 32 and 64 bits can be read"},
		{fcsOf("FCS3.1", data, "$P1B", "*"), `$P1B is "*"`},
		{fcsOf("FCS3.1", data, "$DATATYPE", "F"), "$P1B is 16, and values of type F have 32 bits"},
		{fcsOf("FCS3.1", data, "$P1R", "x"), `$P1R is "x", want the range`},
		{fcsOf("FCS3.1", data, "$P1E", "4"), `$P1E is "4", want decades and the smallest value`},
		{fcsOf("FCS3.1", data, "$BYTEORD", "3,4,1,2"), `$BYTEORD is "3,4,1,2"`},
		{fcsOf("FCS3.1", data, "$TOT", "0"), "has no events"},
		{fcsOf("FCS3.1", data, "$TOT", "1000000000000"), "announces 1000000000000 events of 2 bytes, 2 are there"},
		{fcsOf("FCS3.1", "", "$TOT", "2"), "announces 2 events"},
		{fcsOf("FCS3.1", data, "$TOT", "1"), "announces 1 events of 2 bytes ($TOT), and has 2: it is damaged: export it again"},
	} {
		_, err := read("a.fcs", tc.text, Options{})
		wantError(t, err, tc.want)
	}
	for _, key := range []string{"A", "z"} { // the first and the last keyword
		empty := strings.Replace(fcsOf("FCS3.1", data, key, "12345678"), key+"|12345678|", key+"||        ", 1)
		if got, err := read("a.fcs", empty, Options{}); err != nil || got.Features.Rows != 2 {
			t.Errorf("an empty value: %v, %v", got, err)
		}
	}
	got, err := read("a.fcs", fcsOf("FCS2.0", data, "$TOT", "", "$P1E", "2,0", "$P1R", "2", "$P1S", "CD3"), Options{})
	if err != nil || len(got.Features.Data) != 2 || got.Features.Data[0] != 10 || got.Features.Data[1] != 1 || got.Columns[0] != "CD3" {
		t.Errorf("%+v, %v", got, err) // the range masks 2 to 0
	}
}

func TestCompensation(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	for _, tc := range []struct{ key, value, want string }{
		{"X", "", "has no spillover matrix ($SPILLOVER or SPILL): leave --compensate out"},
		{"$COMP", "1,1", "has its compensation in $COMP, which names no channels"},
		{"$SPILLOVER", "1,FL1,0", "$SPILLOVER: cannot be inverted: its condition number is +Inf"},
		{"SPILL", "1,FL7,1", `SPILL: names the channel "FL7", which the file has not`},
		{"SPILL", "1,FL1,x", `SPILL: "x" is no number`},
		{"SPILL", "1,FL1", `SPILL: "1,FL1" is no matrix`},
		{"SPILL", "3,FL1,1", `SPILL: "3,FL1,1" is no matrix`},
	} {
		_, err := read("a.fcs", fcsOf("FCS3.1", data, tc.key, tc.value), Options{Compensate: true})
		wantError(t, err, tc.want)
		_, err = read("a.fcs", fcsOf("FCS3.1", data, tc.key, tc.value), Options{Compensated: true})
		wantError(t, err, strings.Replace(tc.want, "leave --compensate out", "what was learnt on was compensated: learn again without --compensate", 1))
	}
	two := []fcsChannel{{short: "FL1"}, {short: "FL2"}}
	_, err := parseSpill("2,FL1,FL2,1,1,1,1.0000000000001", two, "leave --compensate out")
	wantError(t, err, "cannot be inverted: its condition number is 4e+13, and above 1e+06 nothing is left of what was measured: leave --compensate out")
	if _, err := parseSpill("2,FL1,FL2,1,.9,.8,1", two, ""); err != nil {
		t.Error(err)
	}
	got, err := read("a.fcs", fcsOf("FCS3.1", data, "$SPILLOVER", "1,1,2"), Options{Compensate: true})
	if err != nil || got.Features.Data[1] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	got, err = read("a.fcs", fcsOf("FCS3.1", data, "$SPILLOVER", "1,1,2"), Options{Compensated: true})
	if err != nil || got.Features.Data[1] != 1 || got.Note == "" || got.Doubt != "" {
		t.Errorf("%v, %v", got, err)
	}
	got, err = read("a.csv", "a\n1\n", Options{Compensated: true})
	if err != nil || !strings.HasPrefix(got.Doubt, "is a text table, and what was learnt on was compensated") {
		t.Errorf("%v, %v", got, err)
	}
	_, err = read("a.csv", "a\n1\n", Options{Compensate: true})
	wantError(t, err, "a.csv: is a text table, and --compensate is for FCS files")
}

// events is an FCS file of floats, a row an event, with detectors and markers ("" for none).
func events(rows [][]float32, detectors, markers []string, more ...string) string {
	var data []byte
	for _, row := range rows {
		for _, v := range row {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	changes := append([]string{"$DATATYPE", "F", "$PAR", fmt.Sprint(len(detectors)), "$TOT", fmt.Sprint(len(rows))}, more...)
	for i := range detectors {
		key := func(letter string) string { return fmt.Sprintf("$P%d%s", i+1, letter) }
		changes = append(changes, key("B"), "32", key("R"), "1024", key("E"), "0,0", key("N"), detectors[i])
		if markers[i] != "" {
			changes = append(changes, key("S"), markers[i])
		}
	}
	return fcsOf("FCS3.1", string(data), changes...)
}

func TestChannelNames(t *testing.T) {
	row := [][]float32{{1, 2, 3, 4}}
	detectors := []string{"FITC-A", "PE-A", "Time", "APC-A"}
	marked := events(row, detectors, []string{"CD3", "HLA-DR", "", ""})
	bare := events(row, detectors, []string{"", "", "", ""})
	twice := events(row, detectors, []string{"CD3", "cd-3", "", ""})
	for _, tc := range []struct {
		file         string
		o            Options
		columns      []string
		values       []float32
		note, failed string
	}{
		{file: marked, columns: []string{"CD3", "HLA-DR", "APC-A"}, values: []float32{1, 2, 4}},
		{file: bare, columns: []string{"FITC-A", "PE-A", "APC-A"}, values: []float32{1, 2, 4}},
		{file: marked, o: Options{Columns: []string{"Time", "CD3"}}, columns: []string{"Time", "CD3"}, values: []float32{3, 1}},
		{file: marked, o: Options{Columns: []string{"PE-A", "FITC-A"}}, columns: []string{"PE-A", "FITC-A"}, values: []float32{2, 1}, note: "channels are read by other names: HLA-DR as PE-A, CD3 as FITC-A"},
		{file: marked, o: Options{Columns: []string{"hladr", "CD3"}}, columns: []string{"hladr", "CD3"}, values: []float32{2, 1}, note: "HLA-DR as hladr"},
		{file: marked, o: Options{Exclude: []string{"FITC-A"}}, columns: []string{"HLA-DR", "APC-A"}, values: []float32{2, 4}, note: "CD3 as FITC-A"},
		{file: marked, o: Options{Fields: []Field{{Name: "cd3"}}, Mixed: true}, columns: []string{"cd3"}, values: []float32{1}, note: "CD3 as cd3"},
		// Who asks for a marker that the file has means by PE-A a channel that has none.
		{file: marked, o: Options{Columns: []string{"CD3", "PE-A"}}, failed: `has no column "PE-A" (its columns are CD3, HLA-DR, Time, APC-A)`},
		{file: bare, o: Options{Columns: []string{"CD3"}}, failed: "Its detectors are FITC-A, PE-A, Time, APC-A: if one of them has the marker, say so in a table of detectors and markers (--panel)"},
		{file: twice, o: Options{Columns: []string{"CD 3"}}, failed: `has no column "CD 3"`},
		{file: twice, columns: []string{"CD3", "cd-3", "APC-A"}, values: []float32{1, 2, 4}},
	} {
		got, err := read("a.fcs", tc.file, tc.o)
		if tc.failed != "" {
			wantError(t, err, tc.failed)
			continue
		}
		if err != nil || !slices.Equal(got.Columns, tc.columns) || !slices.Equal(got.Features.Data, tc.values) || !strings.Contains(got.Note, tc.note) || tc.note == "" && got.Note != "" {
			t.Errorf("%v: %+v, %v", tc.o.Columns, got, err)
		}
	}
}

func TestPanel(t *testing.T) {
	panelOf := func(text string) *Panel {
		t.Helper()
		file := filepath.Join(t.TempDir(), "panel.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPanel(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := events([][]float32{{1, 2, 3, 1}, {4, 5, 6, 2}}, []string{"FITC-A", "PE-A", "APC-A", "label"}, []string{"CD8", "", "CD19", ""})
	p := panelOf("fcs_colname,antigen,marker_class\nPE-A,CD8,type\nAPC-A,CD4,type\nFITC-A,,none\nBV421-A,CD4,type\n")
	got, err := read("a.fcs", file, Options{Panel: p, Label: "label"})
	if err != nil || !slices.Equal(got.Columns, []string{"CD8", "CD4"}) || !slices.Equal(got.Features.Data, []float32{2, 3, 5, 6}) || !slices.Equal(got.Labels, []string{"1", "2"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if len(got.Skipped) != 1 || got.Skipped[0].String() != "CD8 (P1) (not in the panel)" {
		t.Errorf("skipped %v", got.Skipped)
	}
	if got.Doubt != "" { // CD4 is of one of two detectors
		t.Error(got.Doubt)
	}
	got, err = read("a.fcs", file, Options{Panel: panelOf("a,b\nfitc-a,CD3\nPE-A,CD4\nX,\n"), Label: "label"})
	if err != nil || !slices.Equal(got.Columns, []string{"CD4"}) || !strings.HasSuffix(got.Doubt, "panel.csv names: fitc-a (CD3); it has FITC-A, PE-A, APC-A, label") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = read("a.fcs", file, Options{Panel: panelOf("FITC-A,CD3\nPE-A,CD4\n")})
	wantError(t, err, "panel.csv: its first line is taken for names of columns, and begins with the detector FITC-A: put a line such as detector,marker before it")
	_, err = read("a.fcs", file, Options{Panel: panelOf("a,b\nX,CD3\n")})
	wantError(t, err, "panel.csv names (its detectors are FITC-A, PE-A, APC-A, label): give the panel of this instrument")
	_, err = read("a.fcs", file, Options{Panel: panelOf("a,b\nPE-A,CD3\nAPC-A,CD3\n")})
	wantError(t, err, "says that PE-A and APC-A are both CD3: give each a name of its own")
	_, err = read("a.csv", "CD3\n1\n", Options{Panel: p})
	wantError(t, err, "a.csv: is a text table, and --panel is for FCS files of a cytometer: leave it out")
	for text, want := range map[string]string{
		"a\nPE-A\n":                 "has one column: give a panel",
		"a,b\nPE-A,CD3\nPE-A,CD4\n": `says that PE-A is "CD3", and that it is "CD4"`,
	} {
		bad := filepath.Join(t.TempDir(), "panel.csv")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadPanel(t.Context(), bad)
		wantError(t, err, want)
	}
	_, err = ReadPanel(t.Context(), t.TempDir())
	wantError(t, err, "is no table in a file")
}

// Labels and ids are columns of FCS files too; what is not gated has none.
func TestFCSLabels(t *testing.T) {
	nan := float32(math.NaN())
	file := events([][]float32{{1, 2, 7}, {4, nan, 8}, {3, 5, 9}}, []string{"CD4", "label", "id"}, []string{"", "", ""})
	got, err := read("a.fcs", file, Options{})
	if err != nil || !slices.Equal(got.Columns, []string{"CD4"}) || !slices.Equal(got.Labels, []string{"2", "", "5"}) || !slices.Equal(got.IDInts, []int64{7, 8, 9}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A file of FCS 3.2 may have types of its own for channels.
func TestFCSTypes(t *testing.T) {
	data := "\x05\x00" + "\x00\x00\xc0\x3f" + "\x00\x00\x00\x00\x00\x00\x04\x40"
	file := fcsOf("FCS3.2", data, "$TOT", "1", "$PAR", "3",
		"$P2B", "32", "$P2R", "1", "$P2E", "0,0", "$P2N", "b", "$P2DATATYPE", "F", "$P3B", "64", "$P3R", "1", "$P3E", "0,0", "$P3N", "c", "$P3DATATYPE", "D")
	got, err := read("a.fcs", file, Options{})
	if err != nil || !slices.Equal(got.Features.Data, []float32{5, 1.5, 2.5}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A matrix that is there and not used is told of, unless it does nothing or the channels say that
// it was used.
func TestSpilloverIsTold(t *testing.T) {
	rows := [][]float32{{1, 2}}
	for _, tc := range []struct {
		detector, matrix string
		o                Options
		told             bool
	}{
		{"FL1", "2,FL1,FL2,1,.1,0,1", Options{}, true},
		{"FL1", "2,FL1,FL2,1,.1,0,1", Options{Compensate: true}, false},
		{"FL1", "2,FL1,FL2,1,.1,0,1", Options{Learnt: true}, false},
		{"FL1", "2,FL1,FL2,1,0,0,1", Options{}, false},
		{"FL1", "2,FL1,FL7,1,.1,0,1", Options{}, false},
		{"Comp-FL1", "2,Comp-FL1,FL2,1,.1,0,1", Options{}, false},
	} {
		got, err := read("a.fcs", events(rows, []string{tc.detector, "FL2"}, []string{"", ""}, "$SPILLOVER", tc.matrix), tc.o)
		if err != nil || strings.Contains(got.Note, "--compensate takes it out") != tc.told {
			t.Errorf("%+v: %q, %v", tc, got.Note, err)
		}
	}
}

// Header and TEXT that say otherwise where the events are give numbers that were never measured, or none.
func TestFCSOffsets(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	plain := fcsOf("FCS3.1", data, "$BEGINDATA", "%%%%%%%%")
	at := fmt.Sprint(len(plain) - len(data))
	agrees := strings.Replace(plain, "%%%%%%%%", fmt.Sprintf("%8s", at), 1)
	if got, err := read("a.fcs", agrees, Options{}); err != nil || !slices.Equal(got.Features.Data, []float32{1, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := read("a.fcs", strings.Replace(plain, "%%%%%%%%", "      99", 1), Options{})
	wantError(t, err, "header: says that the events begin at byte "+at+", and $BEGINDATA that they do at 99: one of them is wrong: export it again")
	zero := strings.Replace(plain, "%%%%%%%%", "       0", 1)
	if got, err := read("a.fcs", zero, Options{}); err != nil || !slices.Equal(got.Features.Data, []float32{1, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	// A CyFlow Cube has a zip archive of its settings where supplemental TEXT is announced.
	archive := "PK\x03\x04 settings and settings"
	plain = fcsOf("FCS3.0", data, "$BEGINSTEXT", "%%%%%%%%", "$ENDSTEXT", "########") + archive
	begin := len(plain) - len(archive)
	cube := strings.NewReplacer("%%%%%%%%", fmt.Sprintf("%8d", begin), "########", fmt.Sprintf("%8d", len(plain)-1)).Replace(plain)
	got, err := read("a.fcs", cube, Options{})
	if err != nil || !slices.Equal(got.Features.Data, []float32{1, 2}) || got.Note != "has something else than keywords in its supplemental TEXT, which is left out" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Times are in steps, whatever gain the cytometer writes for them.
func TestFCSTime(t *testing.T) {
	file := events([][]float32{{1, 200}}, []string{"FL1", "Time"}, []string{"", ""}, "$P2G", "0.01", "$TIMESTEP", "0.01")
	if got, err := read("a.fcs", file, Options{Columns: []string{"Time"}}); err != nil || !slices.Equal(got.Features.Data, []float32{2}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A slash is a letter of a name, which a pattern matches as any other.
func TestPatternsMatchSlashes(t *testing.T) {
	file := events([][]float32{{1, 2, 3}}, []string{"GFP/FITC-A", "FSC-A", "GFP/FITC-H"}, []string{"", "", ""})
	for _, tc := range []struct {
		o    Options
		want []string
	}{
		{Options{Columns: []string{"*"}}, []string{"GFP/FITC-A", "FSC-A", "GFP/FITC-H"}},
		{Options{Columns: []string{"GFP*A"}}, []string{"GFP/FITC-A"}},
		{Options{Columns: []string{"GFP?FITC-[AH]"}}, []string{"GFP/FITC-A", "GFP/FITC-H"}},
		{Options{Columns: []string{"GFP/*"}}, []string{"GFP/FITC-A", "GFP/FITC-H"}},
		{Options{Exclude: []string{"GFP*"}}, []string{"FSC-A"}},
	} {
		if got, err := read("a.fcs", file, tc.o); err != nil || !slices.Equal(got.Columns, tc.want) {
			t.Errorf("%+v: %+v, %v", tc.o, got, err)
		}
	}
}

// A value that is empty takes no other keyword with it, here the amplifier of the channel: $P1E is behind $P1D.
func TestFCSEmptyValues(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	full := fcsOf("FCS3.0", data, "$P1D", "12345678", "$P1E", "1,1", "$P1R", "4", "$P1S", "a||b")
	text, begin := full[58:len(full)-len(data)], len(full)-len(data)
	empty := strings.Replace(strings.Replace(text, "12345678", "", 1), "a||b", "ab", 1)
	file := func(text string) string {
		padded := text + strings.Repeat(" ", begin-58-len(text))
		return full[:58] + padded + data
	}
	want := []float32{float32(math.Pow(10, .25)), float32(math.Pow(10, .5))}
	for text, name := range map[string]string{text: "a|b", empty: "ab"} {
		if got, err := read("a.fcs", file(text), Options{}); err != nil || !slices.Equal(got.Features.Data, want) || got.Columns[0] != name {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, err := read("a.fcs", file(strings.Replace(text, "12345678", "", 1)), Options{}) // nobody knows which || is which
	wantError(t, err, "TEXT: has a keyword without a value")
}
