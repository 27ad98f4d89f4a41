package stream

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// TruthShares are the shares of the classes of the target rows by the column
// truth. No fit may use them: only what compares an estimate with them, or a user
// who has asked for an oracle.
func (r *Rows) TruthShares(ctx context.Context, classes []string) ([]float64, error) {
	counts, total := make([]int, len(classes)), 0
	err := r.Each(ctx, func(rec arrow.Record) error {
		domains, err := r.Domains(rec)
		if err != nil {
			return err
		}
		truth, err := arrowio.LabelColumn(rec, r.Columns.Truth, classes)
		if err != nil {
			return err
		}
		for i, d := range domains {
			if d == arrowio.TargetDomain && !truth.Null(i) {
				k := truth.Values[i]
				if k < 0 || int(k) >= len(counts) {
					return r.Fail(r.Columns.Truth, fmt.Errorf("row %d of its batch has class %d, and there are %d", i+1, k, len(classes)), "")
				}
				counts[k]++
				total++
			}
		}
		return nil
	})
	if err == nil && total == 0 {
		err = fmt.Errorf("%s: no target row has a true class: ask for it with mars-featurize --truth", r.Name())
	}
	if err != nil {
		return nil, err
	}
	return Shares(counts), nil
}
