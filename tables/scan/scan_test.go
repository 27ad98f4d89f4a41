package scan

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// A record is what a reader makes of one: its fields, its line, and the error.
type record struct {
	fields []string
	line   int
	fault  string
}

var errRead = errors.New("the disk is on fire")

// faultOf is an error as tests compare it.
func faultOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// standard is what encoding/csv reads.
func standard(r io.Reader, o Options) (all []record) {
	c := csv.NewReader(r)
	c.Comma, c.TrimLeadingSpace, c.FieldsPerRecord = o.Separator, o.Trim, o.Fields
	for _, char := range o.Comment {
		c.Comment = char
	}
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		next := record{fault: faultOf(err)}
		if err == nil {
			next.fields = fields
			next.line, _ = c.FieldPos(0)
		}
		if all = append(all, next); err != nil {
			return all
		}
	}
}

// clone is a record of a chunk.
func clone(c *Chunk, err error) record {
	next := record{fault: faultOf(err)}
	if err == nil {
		next.line = c.Line()
		for i := range c.Len() {
			next.fields = append(next.fields, string(c.Field(i)))
		}
	}
	return next
}

// inTurn is what Next reads, and parallel is what Each does.
func inTurn(t testing.TB, r io.Reader, o Options) (all []record) {
	s, err := New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		c, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if all = append(all, clone(c, err)); err != nil {
			return all
		}
	}
}

func parallel(t testing.TB, r io.Reader, o Options, jobs, first int) (all []record) {
	s, err := New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range first {
		c, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if all = append(all, clone(c, err)); err != nil {
			return all
		}
	}
	err = Each(context.Background(), s, jobs, func(c *Chunk) (some []record, err error) {
		for {
			err := c.Next()
			if errors.Is(err, io.EOF) {
				return some, nil
			}
			if err != nil {
				return some, err
			}
			some = append(some, clone(c, nil))
		}
	}, func(some []record) error {
		all = append(all, some...)
		return nil
	})
	if err != nil {
		all = append(all, record{fault: faultOf(err)})
	}
	return all
}

// checkScan reads a text in all ways.
func checkScan(t testing.TB, text []byte, o Options) {
	t.Helper()
	for _, fails := range []bool{false, true} {
		reader := func() io.Reader {
			if fails {
				return io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errRead))
			}
			return bytes.NewReader(text)
		}
		want := standard(reader(), o)
		check := func(what string, got []record) {
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q, %+v, %s, fails %v\ngot  %+v\nwant %+v", text, o, what, fails, got, want)
			}
		}
		for _, size := range []int{1, 2, 7, 64, 0} {
			o.Chunk = size
			check(fmt.Sprint("in turn, chunks of ", size), inTurn(t, reader(), o))
			for jobs := 1; jobs <= 3; jobs++ {
				check(fmt.Sprint(jobs, " jobs, chunks of ", size), parallel(t, reader(), o, jobs, jobs-1))
			}
		}
	}
}

var dialects = []Options{{Separator: ','}, {Separator: ';', Fields: -1}, {Separator: ',', Comment: "#"}, {Separator: ' ', Trim: true}, {Separator: '§', Comment: "é"}, {Separator: '\t', Fields: 2}, {Separator: ',', Trim: true, Comment: "#", Fields: -1}}

var texts = []string{
	"", "\n", "\r", "\r\n", "\n\n\r\n", "a", "a\r", "a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\n1,2", "a,b\n1,2\r", "a,b\n\n1,2\n\r\n3,4\n",
	"a\rb,c\n", "a,\r\n", ",\n,\n", "a,b\n1\n", "a,b\n1,2,3\n", "a\n\r\r\n", "a\nb\r\r\n", "a b\n", " a  b \n c d\n", "a\tb\n1\t2\n",
	"\"a\",\"b\"\n\"1\",2\n", "\"a\nb\",c\n1,2\n", "\"a\r\nb\r\",c\n1,2\n", "\"a\"\"b\",\"\"\n\"\"\"\",\"x\"\n", "\"a\",b\n\"1\n\n\n\",2\n3,4\n5\n",
	"a,b\n1,2\"3\n4,5\n", "a,b\n1,\"2\n3,4\n", "a,b\n1,\"2\"x\n3,4\n", "a,b\n1,\"2\"\r", "a,b\n1,\"2\r", "a,b\n1,\"2\n\r", "a,b\n1,\"", "\"", "\"\"", "\"\"\"", "\"a\"\rb\n", "\"a\"\r\n", " \"a\" ,b\n",
	"#x\na,b\n#y\"\n1,2\n\"#z\n\",3\n", "#x", "#x\n", "a,#b\n1,2\n #c,3\n", "a\"b\n1,2\n#\"\n3,4\n\"5\",6\n",
	"a§b\n1§2\n", "éa\nb§c\n", "\"a\"§b\n", "a;b\n\"1;2\";3\n4\n", "a,b\n1,2\n3,4\n5,6\n7,8\n9\n", "aaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbb\n1,2\n", "a,b\n\xff,\xfe\n",
}

func TestScan(t *testing.T) {
	for _, text := range texts {
		for _, o := range dialects {
			checkScan(t, []byte(text), o)
		}
	}
}

// Texts of the characters that matter.
func TestScanRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "bc", "12345678", ",", ",", ";", " ", "\t", "\n", "\n", "\r\n", "\r", "\"", "\"x\"", "\"\"", "#", "§", "é", "x,y\n", "\"p\nq\",z\n"}
	for range 1000 {
		var text strings.Builder
		for range r.IntN(30) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkScan(t, []byte(text.String()), dialects[r.IntN(len(dialects))])
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range dialects {
			checkScan(t, text, o)
		}
	})
}
