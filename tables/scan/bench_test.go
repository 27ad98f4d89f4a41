package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
)

// table is a text of rows with 20 columns.
func table(rows int, quotes bool) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	var text []byte
	for range rows {
		for j := range 20 {
			if j > 0 {
				text = append(text, ',')
			}
			if quotes && j%5 == 0 {
				text = fmt.Appendf(text, "%q", "kind "+strconv.Itoa(r.IntN(9)))
				continue
			}
			text = strconv.AppendFloat(text, 3*r.NormFloat64(), 'f', 5, 32)
		}
		text = append(text, '\n')
	}
	return text
}

func BenchmarkScan(b *testing.B) {
	for _, of := range []string{"fields", "numbers", "quotes"} {
		text := table(50_000, of == "quotes")
		for _, jobs := range []int{1, 2} {
			b.Run(fmt.Sprint(of, "/", jobs), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s, _ := New(bytes.NewReader(text), Options{Separator: ','})
					err := Each(context.Background(), s, jobs, func(c *Chunk) (sum float32, err error) {
						for {
							err := c.Next()
							if errors.Is(err, io.EOF) {
								return sum, nil
							}
							if err != nil {
								return sum, err
							}
							if of == "numbers" {
								for i := range c.Len() {
									v, _ := Float32(c.Field(i))
									sum += v
								}
							}
						}
					}, func(float32) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
