package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
)

// makeWiringInputs writes what the stages are run on into the present folder: tables,
// images, and the rows that each stage of a small pipeline puts out. These have every
// column twice, with other values in the column whose name ends in 2.
func makeWiringInputs(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	writeTables(t, rng)
	writeImages(t, rng)
	for _, line := range strings.Split(strings.TrimSpace(wiringPipeline), "\n") {
		switch name, args, _ := strings.Cut(line, ": "); name {
		case "double":
			rewriteRows(t, strings.Fields(args), otherColumns)
		case "strip":
			rewriteRows(t, strings.Fields(args), withoutMetadata)
		default:
			runStage(t, name, args)
		}
	}
	writeAsked(t)
	if err := errors.Join(os.MkdirAll("out", 0o777), os.MkdirAll("changing", 0o777)); err != nil {
		t.Fatal(err)
	}
}

// wiringPipeline makes what the stages are run on: a stage a line.
const wiringPipeline = `
featurize toy: --setting=high --source-rows=36 --target-rows=36 --shift=3 --source-proportions=0.5,0.3,0.2 --target-proportions=0.4,0.2,0.4 --truth --output=made.arrow
double: made.arrow toy.arrow
embed: --epochs=30 --learning-rate=0.1 --save=g.safetensors --output=embedded1.arrow toy.arrow
embed: --epochs=3 --features=features2 --embedding=embedding2 --output=embedded.arrow embedded1.arrow
strip: embedded.arrow plain.arrow
cluster: --output=clustered1.arrow embedded.arrow
cluster: --method=kmeans --embedding=embedding2 --component=component2 --save=components.state --output=clustered2.arrow clustered1.arrow
cluster: --method=kmeans --components=6 --embedding=features2 --component=component3 --output=clustered.arrow clustered2.arrow
match: --output=matched1.arrow clustered.arrow
match: --embedding=embedding2 --component=component2 --matched=matched2 --save=matching.state --output=matched2.arrow matched1.arrow
predict: --model=g.safetensors --output=matched3.arrow matched2.arrow
predict: --model=g.safetensors --features=features2 --prediction=prediction2 --predicted-class=class2 --probability=probability2 --output=matched.arrow matched3.arrow
embed: --epochs=4 --learning-rate=0.1 --hold-out=2 --seed=2 --embedding=e --save=h.safetensors --output=held1.arrow matched.arrow
predict: --model=h.safetensors --output=held2.arrow held1.arrow
embed: --epochs=8 --learning-rate=0.1 --hold-out=3 --seed=1 --unseen=unseen2 --embedding=e --output=held.arrow held2.arrow
reweight: --estimator=given --proportions=0.5,0.25,0.25 --save=weights.state --output=weighted1.arrow matched.arrow
reweight: --estimator=given --proportions=0.2,0.2,0.6 --weight=weight2 --output=weighted.arrow weighted1.arrow
train: --epochs=8 --learning-rate=0.1 --save=model.safetensors --output=labelled.arrow weighted.arrow
strip: labelled.arrow bare.arrow
featurize: --source=source.csv --target=target.csv --standardize=source --save=prepared.state --output=prepared.arrow
featurize: --source=source.csv --target=target.csv --output=tables.arrow
label: --source=source.csv --target=target.csv --save=tables.safetensors --output=labels.arrow
label: --source=source.csv --target=target.csv --assume=stay --seed=1 --save=tables2.safetensors --output=labels.arrow
label: --source=bars.csv --target=bars.csv --separator=| --save=bars.safetensors --output=labels.arrow
label: --source=grouped.csv --target=grouped.csv --thousands=_ --save=grouped.safetensors --output=labels.arrow
label: --source=commas.csv --target=commas.csv --decimal=, --save=commas.safetensors --output=labels.arrow
label: --source=accents.csv --target=accents.csv --save=accents.safetensors --output=labels.arrow
label: --source=listed.csv --target=listed.csv --image-column=path --method=source --epochs=1 --save=listed.safetensors --output=labels.arrow
featurize: --source=source.npy --source-labels=source-labels.npy --target=target.npy --output=pixels.arrow
double: pixels.arrow pixels2.arrow
embed: --epochs=1 --output=images1.arrow pixels2.arrow
embed: --epochs=1 --features=features2 --embedding=embedding2 --seed=1 --output=images.arrow images1.arrow
train: --method=translate --epochs=1 --save=images.safetensors --output=labels.arrow images.arrow
`

func runStage(t *testing.T, name, args string) {
	t.Helper()
	var log bytes.Buffer
	if err := catalogue().Find(name).Run(t.Context(), append(strings.Fields(args), "--jobs=1"), pipeline.Streams{Log: &log}); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, log.String())
	}
}

// writeAsked writes rows of target.csv that a person has labelled, in three ways, of which one has a
// class that the source lacks.
func writeAsked(t *testing.T) {
	t.Helper()
	var log bytes.Buffer
	cmd := askCommand()
	cmd.SetOut(&log)
	if _, err := execute(t.Context(), cmd, append(strings.Fields(twoTables), "--budget=20", "--jobs=1", "--keep=id", "--output=asked.csv"), &log); err != nil {
		t.Fatalf("ask: %v\n%s", err, log.String())
	}
	asked, err := os.ReadFile("asked.csv")
	if err != nil {
		t.Fatal(err)
	}
	for file, classes := range map[string]string{"answers.csv": "pqr", "answers2.csv": "rpq", "answers3.csv": "rpz"} {
		var table strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(string(asked)), "\n") {
			cells := strings.Split(line, ",")
			if i > 0 {
				cells[2] = classes[i%3 : i%3+1]
			}
			fmt.Fprintln(&table, strings.Join(cells, ","))
		}
		writeInput(t, file, table.String())
	}
}

// rewriteRows changes the rows of one file and writes them to another.
func rewriteRows(t *testing.T, files []string, change func(arrow.Record) arrow.Record) {
	t.Helper()
	in, err := arrowio.Open(files[0], arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := arrowio.Create(files[1], arrowio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	begun := false
	err = arrowio.Each(t.Context(), in, func(rec arrow.Record) error {
		rec = change(rec)
		if !begun {
			begun = true
			if err := out.Begin(rec.Schema()); err != nil {
				return err
			}
		}
		return out.Write(rec)
	})
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

func withoutMetadata(rec arrow.Record) arrow.Record {
	return array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), nil), rec.Columns(), rec.NumRows())
}

// otherColumns adds features2, label2, label3, truth2, domain2 and domain3.
func otherColumns(rec arrow.Record) arrow.Record {
	fields, columns := rec.Schema().Fields(), rec.Columns()
	for i, f := range rec.Schema().Fields() {
		for _, suffix := range []string{"2", "3"} {
			name := f.Name + suffix
			if other := otherColumn(name, rec.Column(i)); other != nil {
				fields = append(fields, arrow.Field{Name: name, Type: f.Type, Nullable: f.Nullable, Metadata: f.Metadata})
				columns = append(columns, other)
			}
		}
	}
	meta := rec.Schema().Metadata()
	return array.NewRecord(arrow.NewSchema(fields, &meta), columns, rec.NumRows())
}

// otherColumn is a column with other values: features moved, classes numbered otherwise,
// a few rows of one domain made the other's; nil for other names.
func otherColumn(name string, column arrow.Array) arrow.Array {
	switch name {
	case "features2":
		list := column.(*array.FixedSizeList)
		b := array.NewFixedSizeListBuilder(memory.DefaultAllocator, list.DataType().(*arrow.FixedSizeListType).Len(), arrow.PrimitiveTypes.Float32)
		values, width := list.ListValues().(*array.Float32), int(list.DataType().(*arrow.FixedSizeListType).Len())
		for i := range list.Len() {
			b.Append(true)
			for j := range width {
				b.ValueBuilder().(*array.Float32Builder).Append(values.Value(width*i+j)*0.5 + float32(i%3)/4)
			}
		}
		return b.NewArray()
	case "label2", "truth2", "label3": // of which the last has two classes
		b := array.NewInt32Builder(memory.DefaultAllocator)
		for i, v := range column.(*array.Int32).Int32Values() {
			other := (v + int32(i%2) + 1) % 3
			if name == "label3" {
				other = v % 2
			}
			b.AppendValues([]int32{other}, []bool{column.IsValid(i)})
		}
		return b.NewArray()
	case "domain2", "domain3":
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := range column.Len() {
			value := column.ValueStr(i)
			switch {
			case name == "domain2" && i < 4:
				value = "target"
			case name == "domain3" && i >= column.Len()-10:
				value = "source"
			}
			b.Append(value)
		}
		return b.NewArray()
	}
	return nil
}

// writeTables writes text tables whose columns can be read in more than one way.
func writeTables(t *testing.T, rng *rand.Rand) {
	t.Helper()
	for file, domain := range map[string]string{"source.csv": "source", "target.csv": "target"} {
		var table strings.Builder
		table.WriteString("id,key,a,b,label,kind,side\n")
		for i := range 42 {
			side := []string{domain, domain, "old", "new"}[i/3%4]
			class := "001012"[i%6] - '0'
			fmt.Fprintf(&table, "%d,k%d,%.3f,%.3f,%c,%c,%s\n", i, 100-i, rng.NormFloat64()+float64(class)*2,
				rng.NormFloat64()-float64(class), "pqr"[class], "xyz"[i/2%3], side)
		}
		writeInput(t, file, table.String())
		if domain == "source" {
			writeInput(t, "gaps.csv", table.String()+"42,k200,0.5,0.5,,x,source\n")
		}
	}
	for _, file := range []string{"mixed-source.csv", "mixed-target.csv"} {
		var table strings.Builder
		table.WriteString("a,n,c,g,label\n")
		for i := range 42 {
			gap := fmt.Sprintf("%.3f", rng.NormFloat64())
			if i%5 == 0 {
				gap = ""
			}
			fmt.Fprintf(&table, "%.3f,%d,%c,%s,%c\n", rng.NormFloat64()+float64(i%3), rng.IntN(4), "stuv"[rng.IntN(4)], gap, "pqr"[i%3])
		}
		writeInput(t, file, table.String())
	}
	sparse := ""
	for i := range 42 {
		sparse += fmt.Sprintf("%d %d:%.3f 9:%.3f\n", i%3, 1+i%3+rng.IntN(2), 1+rng.Float64(), rng.Float64())
	}
	writeInput(t, "sparse.svm", sparse)
	grouped, remarks, bare := "a,b,label\n", "# of Monday\na,b,label\n", ""
	for i := range 42 {
		grouped += fmt.Sprintf("1_%03d.5,%d,%c\n", rng.IntN(1000), rng.IntN(9), "pqr"[i%3])
		bare += fmt.Sprintf("%.3f,%.3f,%c\n", rng.NormFloat64(), rng.NormFloat64(), "pqr"[i%3])
	}
	writeInput(t, "grouped.csv", grouped)
	writeInput(t, "remarks.csv", remarks+bare)
	writeInput(t, "bare.csv", bare)
	half := len(bare) / 2
	half += strings.Index(bare[half:], "\n") + 1
	writeInput(t, "first.csv", "a,b,label\n"+bare[:half])
	writeInput(t, "second.csv", "a,b,label\n"+bare[half:])
	var bars, commas, accents strings.Builder
	bars.WriteString("x|y,label,v,c|label|w\n")
	commas.WriteString("a|b|label\n") // beside ; a decimal comma is found
	accents.WriteString("id;a;b;label\n")
	for i := range 42 {
		a, b, class := rng.NormFloat64()+float64(3*(i%3)), rng.NormFloat64(), "pqr"[i%3]
		fmt.Fprintf(&bars, "%.3f|2,%c,%.3f,z|%c|%.3f\n", a, class, a, class, b)
		commas.WriteString(strings.ReplaceAll(fmt.Sprintf("%.3f|%.3f|%c\n", a, b, class), ".", ","))
		fmt.Fprintf(&accents, "é%d;%.3f;%.3f;é%c\n", i, a, b, class)
	}
	writeInput(t, "bars.csv", bars.String())
	writeInput(t, "commas.csv", commas.String())
	writeInput(t, "accents.csv", accents.String())
	levelled := "a,b,group,other,label\n"
	for i := range 42 {
		levelled += fmt.Sprintf("%.3f,%.3f,%c,%c,%c\n", rng.NormFloat64()+float64(i%3), rng.NormFloat64(), "gh"[i%3/2], "mn"[min(1, i%3)], "pqr"[i%3])
	}
	writeInput(t, "levelled.csv", levelled)
	writeInput(t, "tree.csv", "group,class_\ng,p\ng,q\nh,r\n")
	writeInput(t, "panel.csv", "detector,marker\na,CD3\nb,CD4\n")
	writeInput(t, "tree2.csv", "group,class_\ng,p\nh,q\nh,r\n")
}

// writeImages writes images of 5×5 pixels of three classes, and a photograph.
func writeImages(t *testing.T, rng *rand.Rand) {
	t.Helper()
	const n, side = 45, 5
	for _, domain := range []string{"source", "target"} {
		pixels, labels := make([]byte, n*side*side), make([]byte, n)
		for i := range labels {
			labels[i] = byte(i % 3)
			for j := range side * side {
				if j/side*3/side == i%3 {
					pixels[side*side*i+j] = byte(100 + rng.IntN(100))
				} else if rng.IntN(3) == 0 {
					pixels[side*side*i+j] = byte(rng.IntN(60))
				}
			}
		}
		writeInput(t, domain+".npy", npy(pixels, "(45, 5, 5)"))
		writeInput(t, domain+"-labels.npy", npy(labels, "(45,)"))
		if domain == "source" {
			for i := range labels {
				labels[i] = byte(i / 2 % 3)
			}
			writeInput(t, "other-labels.npy", npy(labels, "(45,)"))
		}
	}
	flat := make([]byte, n*36)
	for i := range flat {
		flat[i] = byte(i/36%3*50 + rng.IntN(100))
	}
	writeInput(t, "flat.npy", npy(flat, "(45, 36)"))
	tinted := make([]byte, n*side*side*3)
	for i := range tinted {
		tinted[i] = byte(i/75%3*50 + rng.IntN(100))
	}
	writeInput(t, "tinted.npy", npy(tinted, "(45, 5, 5, 3)"))
	writeListed(t, tinted, n, side)
	picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 * 32 {
		picture.Set(i%32, i/32, color.RGBA{byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256)), 255})
	}
	var b bytes.Buffer
	if err := errors.Join(png.Encode(&b, picture), os.MkdirAll("photographs", 0o777)); err != nil {
		t.Fatal(err)
	}
	writeInput(t, "photographs/a.png", b.String())
}

// writeListed writes n pictures, and a table with their paths in two orders.
func writeListed(t *testing.T, pixels []byte, n, side int) {
	t.Helper()
	if err := os.MkdirAll("listed", 0o777); err != nil {
		t.Fatal(err)
	}
	table := "path,other,label\n"
	for i := range n {
		picture := image.NewGray(image.Rect(0, 0, side, side))
		copy(picture.Pix, pixels[i*side*side:])
		var b bytes.Buffer
		if err := png.Encode(&b, picture); err != nil {
			t.Fatal(err)
		}
		writeInput(t, fmt.Sprintf("listed/%d.png", i), b.String())
		table += fmt.Sprintf("listed/%d.png,listed/%d.png,%c\n", i, n-1-i, "pqr"[i%3])
	}
	writeInput(t, "listed.csv", table)
	writeInput(t, "listed/torn.png", "\x89PNG and no more")
	writeInput(t, "torn.csv", table+"listed/torn.png,listed/0.png,p\n")
}

// npy is a NumPy file of bytes.
func npy(data []byte, shape string) string {
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	length := binary.LittleEndian.AppendUint16(nil, uint16(len(header)))
	return "\x93NUMPY\x01\x00" + string(length) + header + string(data)
}

func writeInput(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
