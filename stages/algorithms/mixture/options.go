package mixture

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// WardOptions are the options of Ward. The zero value is usable.
type WardOptions struct {
	// MaxRows is the greatest number of rows that are clustered; 0 means
	// DefaultMaxRows. Of more rows, a sample is clustered and the others are
	// assigned to the nearest mean.
	MaxRows int
	// Seed is the seed of the sample.
	Seed uint64
}

// KMeansOptions are the options of KMeans. The zero value is usable.
type KMeansOptions struct {
	// Starts is the number of k-means++ initialisations; the one with the least
	// inertia wins. 0 means 10.
	Starts int
	// MaxIterations limits each start; 0 means 300.
	MaxIterations int
	// Tolerance ends a start when the squared movement of all centres is at
	// most Tolerance times the mean variance of the columns; 0 means 1e-4.
	Tolerance float64
	// Initial, if not nil, gives the K×d centres of the only start.
	Initial *mat.Dense
	// MaxRows is the greatest number of rows that are fitted; 0 means
	// DefaultMaxRows. Of more rows, a sample is fitted and the others are
	// assigned.
	MaxRows int
	// Seed is the seed of the sample and the starts.
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

// GMMOptions are the options of GMM. The zero value is usable and is the
// paper's MARSg: full covariances and ten initialisations.
type GMMOptions struct {
	// Covariance is the form of the covariances.
	Covariance Covariance
	// Starts is the number of initialisations, each from one run of k-means;
	// the one with the greatest likelihood wins (GMM says how). 0 means 10.
	Starts int
	// MaxIterations limits the EM steps of each start; 0 means 100.
	MaxIterations int
	// Tolerance ends a start when the mean log-likelihood of a row changes by
	// less than this; 0 means 1e-3.
	Tolerance float64
	// Floor is added to every variance, in squared units of the data; 0 means
	// 1e-6 and a negative value no floor.
	Floor float64
	// Initial, if not nil, gives the parameters of the only start: Weights,
	// Means, and Covariances in the form of Covariance.
	Initial *Components
	// MaxRows is the greatest number of rows that are fitted; 0 means
	// DefaultMaxRows. Of more rows, a sample is fitted and the others are
	// assigned.
	MaxRows int
	// Seed is the seed of the sample and the starts.
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

// setDefault sets an option to its default if it is zero.
func setDefault[T int | float64](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// Covariance is the form of a Gaussian mixture's covariances.
type Covariance int

const (
	// Full gives each component its own matrix.
	Full Covariance = iota
	// Tied gives all components the same matrix.
	Tied
	// Diagonal gives each component one variance for each axis.
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

// ParseCovariance returns the form with this name, as String gives it.
func ParseCovariance(name string) (Covariance, error) {
	for c, s := range covarianceNames {
		if s == name {
			return Covariance(c), nil
		}
	}
	return 0, fmt.Errorf("mixture: covariance: %q is not known: choose full, tied, diagonal or spherical", name)
}
