package labelshift

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/transport"
)

// A Cluster fits a mixture of k components to the rows of x (n×d).
type Cluster func(x blas32.General, k int) (*mixture.Result, error)

// Matched estimates p_T by Algorithm 2 of the paper: the target's rows (n_T×d)
// are clustered in as many components as there are classes, each component is
// matched with a class by optimal transport between their means, and its share
// of the rows is the class'. Labels holds the class of each source row (n_S×d).
func Matched(source blas32.General, labels []int32, target blas32.General, classes int, cluster Cluster) (*transport.Matching, error) {
	mixture, err := cluster(target, classes)
	if err != nil {
		return nil, err
	}
	prototypes := transport.NewPrototypes(classes, source.Cols)
	if err := prototypes.Add(context.TODO(), source, labels); err != nil {
		return nil, err
	}
	return transport.MatchPrototypes(context.TODO(), prototypes.Means(), prototypes.Counts(), mixture.Means, mixture.Proportions)
}
