package label

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// labelled makes a stream of a batch for each string of domains, "s" and "t".
func labelled(withID bool, domains ...string) *arrowio.Batches {
	schema := arrowio.Meta{Classes: []string{"cat", "dog"}}.Apply(arrow.NewSchema([]arrow.Field{
		{Name: "domain", Type: arrow.BinaryTypes.String},
		{Name: "predicted_class", Type: arrow.BinaryTypes.String},
		{Name: "probability", Type: arrowio.VectorType(2)},
	}, nil))
	if withID {
		schema = arrowio.WithColumns(schema, arrow.Field{Name: "id", Type: arrow.BinaryTypes.String})
	}
	var batches []arrow.Record
	row := 0
	for _, text := range domains {
		var side []arrowio.Domain
		var names, ids []string
		var p []float32
		for _, d := range text {
			side = append(side, map[rune]arrowio.Domain{'s': arrowio.SourceDomain, 't': arrowio.TargetDomain}[d])
			names = append(names, []string{"cat", "dog"}[row%2])
			ids = append(ids, string(rune('a'+row)))
			p = append(p, 1-float32(row)/16, float32(row)/16)
			row++
		}
		columns := []arrow.Array{arrowio.NewDomainArray(side), arrowio.NewStringArray(names),
			arrowio.NewVectorArray(arrowio.Vectors{Data: p, Rows: len(text), Width: 2})}
		if withID {
			columns = append(columns, arrowio.NewStringArray(ids))
		}
		batches = append(batches, array.NewRecord(schema, columns, int64(len(text))))
	}
	return arrowio.NewBatches("test", schema, batches...)
}

var env = stages.Env{Columns: arrowio.DefaultColumns()}

// Target rows come out in order however they are mixed with the source's.
func TestLabels(t *testing.T) {
	for name, test := range map[string]struct {
		in   arrowio.Stream
		want string
	}{
		"mixed":   {labelled(true, "tst", "ss", "stts"), "a,cat,1,1,0\nc,cat,0.875,0.875,0.125\ng,cat,0.625,0.625,0.375\nh,dog,0.5625,0.5625,0.4375\n"},
		"no id":   {labelled(false, "st", "t"), "0,dog,0.9375,0.9375,0.0625\n1,cat,0.875,0.875,0.125\n"},
		"no rows": {labelled(true, "t", ""), "a,cat,1,1,0\n"},
	} {
		l, err := New(env, test.in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := Write(t.Context(), &text, Format{Name: "csv"}, l); err != nil {
			t.Fatal(name, err)
		}
		if want := "id,predicted_class,confidence,probability_cat,probability_dog\n" + test.want; text.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text.String(), want)
		}
	}
}

func TestLabelsOfNothing(t *testing.T) {
	l, err := New(env, labelled(true, "ss"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "there are no target rows") {
		t.Errorf("got %v", err)
	}
	if _, err := New(env, arrowio.NewBatches("test", arrow.NewSchema(nil, nil)), Options{}); err == nil || !strings.Contains(err.Error(), "predicted_class") {
		t.Errorf("got %v", err)
	}
}

func TestSummarise(t *testing.T) {
	l, err := New(env, labelled(true, "tst", "ss", "stts"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Summarise(t.Context(), &text, NewTally(l)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cat    3     75.0 %  0.833", "dog    1     25.0 %  0.562", "all    4", "labels with a confidence below 0.6: 1, most of class dog (1)", "a   cat              1.000"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("there is no line %q in\n%s", line, text.String())
		}
	}
}

// Of many classes the largest are listed.
func TestSummariseManyClasses(t *testing.T) {
	l, err := New(env, labelled(true, "tst", "ss", "stts"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(l)
	for k := range 40 {
		if err := tally.Count(func() Row { return Row{} }, fmt.Sprint("c", k), 0.9, ""); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	if err := Summarise(t.Context(), &text, tally); err != nil {
		t.Fatal(err)
	}
	if strings.Count(text.String(), "0.900\n") != 29 || !strings.Contains(text.String(), "\nand 12 smaller classes, together 27.3 %\nall ") {
		t.Error(text.String())
	}
}
