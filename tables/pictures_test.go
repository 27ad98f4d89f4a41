package tables

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/image"
)

// writeListed writes pictures of one colour each, of several sizes: grey i at i.png.
func writeListed(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		writePicture(t, filepath.Join(dir, "pics", fmt.Sprintf("%d.png", i)), 2+i%3, slices.Repeat([]color.Color{color.Gray{uint8(i)}}, (2+i%3)*(1+i%4))...)
	}
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table names pictures, in any format; each row has its own, whatever the threads do.
func TestListedPictures(t *testing.T) {
	dir := t.TempDir()
	const n = 100
	writeListed(t, dir, n)
	csv, lines, want := "kind,path,w\n", "", []float32{}
	for k := range n {
		i := k * 37 % n
		csv += fmt.Sprintf("%c,pics/%d.png,%d\n", "xy"[i%2], i, i)
		lines += fmt.Sprintf("{\"path\": \"pics/%d.png\", \"kind\": \"%c\"}\n", i, "xy"[i%2])
		want = append(want, slices.Repeat([]float32{float32(i)}, 6)...)
	}
	o := Options{Image: "path", Label: "kind", Fit: image.Fit{Height: 3, Width: 2}}
	for _, path := range []string{writeFile(t, filepath.Join(dir, "a.csv"), csv), writeFile(t, filepath.Join(dir, "a.jsonl"), lines)} {
		table, err := Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Features.Data, want) || !slices.Equal(table.Shape, []int{1, 3, 2}) || !table.Pictures || table.Largest != 255 {
			t.Errorf("%s: shape %v, or other pixels", path, table.Shape)
		}
		if table.Labels[1] != "y" || table.Labels[2] != "x" || table.IDNames[2] != "pics/74.png" || len(table.Labels) != n {
			t.Errorf("%s: labels %q, ids %q", path, table.Labels[:3], table.IDNames[:3])
		}
	}
	o.Colour = true
	table, err := Open(t.Context(), filepath.Join(dir, "a.csv"), o)
	if err != nil || !slices.Equal(table.Shape, []int{3, 3, 2}) || !slices.Equal(table.Row(1), slices.Repeat([]float32{37}, 18)) {
		t.Errorf("grey in three channels: %v, %v", table.Shape, err)
	}
}

// Rows of two domains are fitted each in its way, and those of none are not decoded.
func TestListedPicturesOfParts(t *testing.T) {
	dir := t.TempDir()
	writeListed(t, dir, 4)
	path := writeFile(t, filepath.Join(dir, "a.csv"), "path,side,label\npics/0.png,old,a\npics/absent.png,none,a\npics/1.png,new,\npics/2.png,old,b\n")
	tables, err := OpenParts(t.Context(), path, Options{Image: "path", Domain: "side", Parts: []Part{
		{Name: "source", Values: []string{"old"}, Fit: image.Fit{Height: 2, Width: 2}},
		{Name: "target", Values: []string{"new"}, NoLabels: true, Fit: image.Fit{Height: 1, Width: 5}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tables[0].Shape, []int{1, 2, 2}) || !slices.Equal(tables[1].Shape, []int{1, 1, 5}) {
		t.Errorf("shapes %v and %v", tables[0].Shape, tables[1].Shape)
	}
	if !slices.Equal(tables[0].Labels, []string{"a", "b"}) || tables[1].Labels != nil || tables[1].IDNames[0] != "pics/1.png" || tables[0].Row(1)[0] != 2 {
		t.Errorf("labels %q and %q, ids %q", tables[0].Labels, tables[1].Labels, tables[1].IDNames)
	}
	writeFile(t, path, "path,side,label\npics/0.png,old,a\npics/1.png,none,a\npics/absent.png,new,\n")
	_, err = OpenParts(t.Context(), path, Options{Image: "path", Domain: "side", Parts: []Part{{Name: "source", Values: []string{"old"}}, {Name: "target", Values: []string{"new"}}}})
	wantError(t, err, "a.csv: line 4, column \"path\": "+filepath.Join(dir, "pics", "absent.png")+": there is no such file")
}

// Two tables name pictures from their own folders, and both have ids that are paths.
func TestListedPicturesOfSeveral(t *testing.T) {
	dir := t.TempDir()
	for _, day := range []string{"a", "b"} {
		writeListed(t, filepath.Join(dir, day), 2)
		writeFile(t, filepath.Join(dir, day, "t.csv"), "path,label\npics/1.png,"+day+"\n"+filepath.Join(dir, day, "pics", "0.png")+",z\n")
	}
	o := Options{Image: "path", Fit: image.Fit{Height: 2, Width: 2}}
	_, err := Open(t.Context(), filepath.Join(dir, "*", "t.csv"), o)
	wantError(t, err, "both have id \"pics/1.png\"")
	writeFile(t, filepath.Join(dir, "b", "t.csv"), "label,path\nb,./pics/1.png\n")
	table, err := Open(t.Context(), filepath.Join(dir, "*", "t.csv"), o)
	if err != nil || !slices.Equal(table.Labels, []string{"a", "z", "b"}) || table.Row(2)[3] != 1 {
		t.Fatalf("%v, %v", table, err)
	}
}

// Of what is read the memory is that of the pixels as numbers, and no picture is refused for
// want of memory that others have while they are decoded.
func TestPicturesInLittleMemory(t *testing.T) {
	dir := t.TempDir()
	const n, side = 40, 60
	pixels := slices.Repeat([]color.Color{color.Gray{9}}, side*side)
	for i := range n {
		writePicture(t, filepath.Join(dir, fmt.Sprintf("%02d.png", i)), side, pixels...)
	}
	// Room for the decoding of one, about 83 KB, beside those that are fitted.
	mem := arrowio.NewBudget(110 << 10)
	table, err := Open(t.Context(), dir, Options{Memory: mem, Fit: image.Fit{Height: 8, Width: 8}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mem.Used(), int64(4*n*64); got < want || got > want+n*64 || table.Features.Rows != n {
		t.Errorf("%d bytes are taken for %d", got, want)
	}
	_, err = Open(t.Context(), dir, Options{Memory: arrowio.NewBudget(60 << 10), Fit: image.Fit{Height: 8, Width: 8}})
	wantError(t, err, "00.png: is 60×60 pixels: needs")
	_, err = Open(t.Context(), dir, Options{Memory: arrowio.NewBudget(110 << 10), Fit: image.Fit{Height: 30, Width: 30}})
	wantError(t, err, "40 images of 1×30×30: needs 141 KB")
}

// The pictures that a table names are files that it is read with.
func TestFilesOfListedPictures(t *testing.T) {
	dir := t.TempDir()
	writeListed(t, dir, 2)
	path := writeFile(t, filepath.Join(dir, "a.csv"), "n,path,also,name\n1,pics/0.png,x,p\n2,pics/1.png,pics/1.png,q\n3,pics/absent.png,x,r\n4,pics/0.png,x,pics/1.png\n")
	want := []string{path, filepath.Join(dir, "pics", "0.png"), filepath.Join(dir, "pics", "1.png")}
	if got := Files(t.Context(), path); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	plain := writeFile(t, filepath.Join(dir, "b.csv"), "n,name\n1,a\n")
	if got := Files(t.Context(), plain); !slices.Equal(got, []string{plain}) {
		t.Errorf("files %q", got)
	}
}

// Whatever a table has in the column, it is read or refused.
func FuzzListedPictures(f *testing.F) {
	dir := f.TempDir()
	f.Add("pics/0.png")
	f.Add("../\x00")
	f.Add("a\n,,\"")
	f.Add(strings.Repeat("a/", 3000))
	f.Fuzz(func(t *testing.T, cell string) {
		path := writeFile(t, filepath.Join(dir, "a.csv"), "path,label\n"+cell+",x\n")
		table, err := Open(t.Context(), path, Options{Image: "path", Fit: image.Fit{Height: 1, Width: 1}})
		if err == nil && len(table.Labels) != table.Features.Rows {
			t.Error(table)
		}
		Files(t.Context(), path)
	})
}

// Pictures that cannot be read are left out if that is asked for, with their labels and
// identities, and counted.
func TestSkippedPictures(t *testing.T) {
	dir := t.TempDir()
	writeListed(t, dir, 40)
	torn := []string{"0", "17", "39"}
	for _, name := range torn {
		writeFile(t, filepath.Join(dir, "pics", name+".png"), "\x89PNG and no more")
	}
	table, labels := "path,label\n", "label\n"
	for i := range 40 {
		table += fmt.Sprintf("pics/%d.png,c%d\n", i, i)
		labels += fmt.Sprintf("c%s\n", slices.Sorted(func(yield func(string) bool) {
			for k := range 40 {
				if !yield(fmt.Sprint(k)) {
					return
				}
			}
		})[i]) // a folder's pictures are in the order of their names
	}
	o := Options{Fit: image.Fit{Height: 1, Width: 1}}
	listed, folder := o, o
	listed.Image = "path"
	folder.Labels = writeFile(t, filepath.Join(dir, "labels.csv"), labels)
	for path, o := range map[string]Options{writeFile(t, filepath.Join(dir, "a.csv"), table): listed, filepath.Join(dir, "pics"): folder} {
		_, err := Open(t.Context(), path, o)
		wantError(t, err, "0.png: ")
		o.SkipPictures = true
		got, err := Open(t.Context(), path, o)
		if err != nil || got.Features.Rows != 37 || len(got.Labels) != 37 || !strings.HasPrefix(got.Doubt, "3 of 40 images cannot be read, and are left out; the first: ") {
			t.Fatalf("%s: %+v, %v", path, got, err)
		}
		for i := range 37 {
			name := strings.TrimSuffix(filepath.Base(got.IDNames[i]), ".png")
			if want := fmt.Sprint(got.Row(i)[0]); name != want || got.Labels[i] != "c"+want || slices.Contains(torn, name) {
				t.Errorf("%s: row %d is %s, with the label %s and the pixel %s", path, i, name, got.Labels[i], want)
			}
		}
	}
	for i := range 40 {
		writeFile(t, filepath.Join(dir, "pics", fmt.Sprintf("%d.png", i)), "no picture")
	}
	listed.SkipPictures = true
	_, err := Open(t.Context(), filepath.Join(dir, "a.csv"), listed)
	wantError(t, err, "none of its 40 images can be read; the first: line 2, column \"path\"")
}
