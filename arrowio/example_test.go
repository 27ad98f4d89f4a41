package arrowio_test

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/write"
)

// A stage in miniature: it adds the sum of each row's features as a column, and
// passes everything else through.
func Example() {
	in, err := arrowio.NewReader(exampleInput(), "standard input", arrowio.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	var buf bytes.Buffer
	out := arrowio.NewWriter(&buf, "standard output", arrowio.WriteOptions{})
	if err := addSums(out, in); err != nil {
		out.Fail(err)
		fmt.Println(err)
		return
	}
	if err := out.Close(); err != nil {
		fmt.Println(err)
		return
	}
	result, err := arrowio.NewReader(&buf, "result", arrowio.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer result.Close()
	var text bytes.Buffer
	err = write.CSV(context.Background(), &text, result)
	fmt.Print(text.String(), err)
	// Output:
	// features_0,features_1,sum
	// 1,2,3
	// 3,4,7
	// <nil>
}

func addSums(out arrowio.Sink, in arrowio.Stream) error {
	schema := arrowio.WithColumns(in.Schema(), arrow.Field{Name: "sum", Type: arrow.PrimitiveTypes.Float32})
	if err := out.Begin(schema); err != nil {
		return err
	}
	for {
		rec, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		features, err := arrowio.VectorColumn(rec, "features")
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name(), err)
		}
		sums := make([]float32, features.Rows)
		for i := range sums {
			for _, x := range features.Row(i) {
				sums[i] += x
			}
		}
		more, err := arrowio.AppendColumns(rec, schema, arrowio.Column{Name: "sum", Array: arrowio.NewFloatArray(sums)})
		if err != nil {
			return err
		}
		err = out.Write(more)
		more.Release()
		if err != nil {
			return err
		}
	}
}

// exampleInput is a stream of two rows.
func exampleInput() io.Reader {
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: arrowio.VectorType(2)}}, nil)
	features := arrowio.NewVectorArray(arrowio.Vectors{Data: []float32{1, 2, 3, 4}, Rows: 2, Width: 2})
	rec := array.NewRecord(schema, []arrow.Array{features}, 2)
	var buf bytes.Buffer
	out := arrowio.NewWriter(&buf, "example", arrowio.WriteOptions{})
	if out.Begin(schema) != nil || out.Write(rec) != nil || out.Close() != nil {
		panic("the example cannot be written")
	}
	return &buf
}
