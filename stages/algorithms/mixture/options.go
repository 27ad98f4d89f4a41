package mixture

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// WardOptions are the options of Ward. The zero value is usable.
type WardOptions struct {
	// MaxRows is how many rows are clustered at most, 0 means DefaultMaxRows;
	// of more rows a sample is clustered and the rest is assigned to the
	// nearest mean.
	MaxRows int
	// Seed draws the sample.
	Seed uint64
}

// KMeansOptions are the options of KMeans. The zero value is usable.
type KMeansOptions struct {
	// Starts is the number of k-means++ initialisations of which the one with
	// the least inertia wins; 0 means 10.
	Starts int
	// MaxIterations bounds each start; 0 means 300.
	MaxIterations int
	// Tolerance ends a start when the squared movement of all centres is at
	// most Tolerance times the mean variance of the columns; 0 means 1e-4.
	Tolerance float64
	// Initial, if not nil, gives the K×d centres of the only start.
	Initial *mat.Dense
	// MaxRows is how many rows are fitted at most, 0 means DefaultMaxRows; of
	// more rows a sample is fitted and the rest is assigned.
	MaxRows int
	// Seed draws the sample and the starts.
	Seed uint64
}

func (o KMeansOptions) withDefaults() KMeansOptions {
	setDefault(&o.Starts, 10)
	setDefault(&o.MaxIterations, 300)
	setDefault(&o.Tolerance, 1e-4)
	if o.Initial != nil {
		o.Starts = 1
	}
	return o
}

// GMMOptions are the options of GMM. The zero value is usable and is what the
// paper's MARSg asks for: full covariances and ten initialisations.
type GMMOptions struct {
	// Covariance is the form of the covariances.
	Covariance Covariance
	// Starts is the number of initialisations, each from one run of k-means,
	// of which the one with the greatest likelihood wins (see GMM for how they
	// race); 0 means 10.
	Starts int
	// MaxIterations bounds the EM steps of each start; 0 means 100.
	MaxIterations int
	// Tolerance ends a start when the mean log-likelihood of a row changes by
	// less; 0 means 1e-3.
	Tolerance float64
	// Floor is added to every variance, in squared units of the data; 0 means
	// 1e-6 and a negative value no floor.
	Floor float64
	// Initial, if not nil, gives the parameters of the only start: Weights,
	// Means, and Covariances in the form that Covariance says.
	Initial *Components
	// MaxRows is how many rows are fitted at most, 0 means DefaultMaxRows; of
	// more rows a sample is fitted and the rest is assigned.
	MaxRows int
	// Seed draws the sample and the starts.
	Seed uint64
}

func (o GMMOptions) withDefaults() GMMOptions {
	setDefault(&o.Starts, 10)
	setDefault(&o.MaxIterations, 100)
	setDefault(&o.Tolerance, 1e-3)
	setDefault(&o.Floor, 1e-6)
	o.Floor = max(o.Floor, 0)
	if o.Initial != nil {
		o.Starts = 1
	}
	return o
}

// setDefault gives an option that is zero its default.
func setDefault[T int | float64](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// Covariance is the form of a Gaussian mixture's covariances.
type Covariance int

const (
	// Full gives each component a matrix of its own.
	Full Covariance = iota
	// Tied gives all components the same matrix.
	Tied
	// Diagonal gives each component a variance an axis.
	Diagonal
	// Spherical gives each component one variance.
	Spherical
)

var covarianceNames = [...]string{"full", "tied", "diagonal", "spherical"}

// String returns "full", "tied", "diagonal" or "spherical".
func (c Covariance) String() string {
	if c < 0 || int(c) >= len(covarianceNames) {
		return fmt.Sprintf("Covariance(%d)", int(c))
	}
	return covarianceNames[c]
}

// ParseCovariance returns the form that String names.
func ParseCovariance(name string) (Covariance, error) {
	for c, s := range covarianceNames {
		if s == name {
			return Covariance(c), nil
		}
	}
	return 0, fmt.Errorf("mixture: covariance: %q is not known: choose full, tied, diagonal or spherical", name)
}
