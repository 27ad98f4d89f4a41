package adapt

import (
	"context"
	"io"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Problem is the data of one adaptation: labelled source rows and unlabelled
// target rows of the same width. It is read, never changed.
type Problem struct {
	Source blas32.General // n_S×d features
	Labels []int32        // class of each source row, 0 ≤ label < len(Classes)
	Target blas32.General // n_T×d features; may be empty for a method that does not align
	Shape  []int          // C, H, W of an image row, or nil for plain columns; the product is d
	// Classes holds the classes' names. Every class must have a source row.
	Classes []string
}

// ClassLoss says how source rows are weighted in the classification loss.
type ClassLoss string

// The classification losses. The coefficients of a batch sum to 1 in all three.
const (
	ClassLossWeighted ClassLoss = "weighted" // by w†(y) = p_T(y)/p_S(y), the paper's Algorithm 1
	ClassLossPlain    ClassLoss = "plain"    // every row alike, the authors' published code
	ClassLossBalanced ClassLoss = "balanced" // every class alike
)

// PenaltyPoints says where the norm of the critic's gradient is held at 1.
type PenaltyPoints string

// Where the gradient penalty is taken.
const (
	PenaltyInterpolates PenaltyPoints = "interpolates" // B points between source and target rows
	PenaltyAll          PenaltyPoints = "all"          // those and the source and target rows themselves
)

// Batches says how the critic's batches are drawn.
type Batches string

// How batches are drawn.
const (
	// BatchesFresh draws a new pair of batches for every critic step and for the
	// step of g and h, as the authors' code does.
	BatchesFresh Batches = "fresh"
	// BatchesShared draws one pair an iteration, as the paper's Algorithm 1 is
	// written: embeddings are computed once for all critic steps.
	BatchesShared Batches = "shared"
)

// Sampling says which source rows make a batch.
type Sampling string

// How a source batch is filled.
const (
	// SamplingStratified gives each class its share of every batch, at least one
	// row where the batch has room, so that no class' mass is ever lost.
	SamplingStratified Sampling = "stratified"
	// SamplingShuffled takes rows in shuffled order; the weights of a batch are
	// scaled to sum to 1 whatever classes it holds.
	SamplingShuffled Sampling = "shuffled"
	// SamplingPublished is SamplingShuffled without the scaling: the mass of a class
	// that a batch lacks is lost, as in the authors' published code.
	SamplingPublished Sampling = "published"
)

// Optimiser names the update rule.
type Optimiser string

// The optimisers, with PyTorch's semantics.
const (
	SGD  Optimiser = "sgd"
	Adam Optimiser = "adam"
)

// InputScaling says how features are mapped before they enter g. The mapping is
// part of the model: Model.Embed and Model.Predict take features as they came.
type InputScaling string

// The input mappings.
const (
	InputAsIs      InputScaling = "as-is"
	InputSymmetric InputScaling = "symmetric" // [0, 1] to [−1, 1], for images
	InputStandard  InputScaling = "standard"  // each column to mean 0 and deviation 1 over the source
)

// Schedule names a set of defaults.
type Schedule string

// The schedules.
const (
	ScheduleDefault Schedule = "default" // the cheapest that was measured to be the best
	SchedulePaper   Schedule = "paper"   // the published settings
)

// A Config says how to train. Recipe fills one with defaults; no field but the
// optional ones has a meaningful zero value.
type Config struct {
	Method Method // see ParseMethod
	Arch   string // toy, visda, office, digits, ganin, identity, mlp:… or auto

	Epochs          int // passes over the source rows
	StartAlign      int // first epoch (from 0) in which the domains are aligned
	ReestimateEvery int // epochs from one estimate of p_T to the next
	CriticSteps     int // critic steps an iteration
	Batch           int // rows of each domain in a batch

	Lambda float64 // λ, weight of the alignment in the loss of g
	Gamma  float64 // γ, weight of the gradient penalty in the loss of v

	Optimiser          Optimiser
	LearningRate       float64 // of g and h
	CriticLearningRate float64 // of v
	Decay              float64 // both rates fall linearly to this fraction of themselves …
	DecayFrom          int     // … from this epoch to the last; 1 keeps them
	Momentum           float64 // SGD
	Beta1, Beta2       float64 // Adam
	WeightDecay        float64 // L2, added to the gradients of g and h
	AverageFrom        int     // first epoch whose weights of g and h are averaged into the model; Epochs for none

	ClassLoss     ClassLoss
	PenaltyPoints PenaltyPoints
	Batches       Batches
	Sampling      Sampling
	Input         InputScaling
	// DropoutFirstEpoch switches dropout off from the second epoch on.
	DropoutFirstEpoch bool
	// FirstBatchTwice gives Estimate the rows in shuffled order and the first batch of
	// them twice.
	FirstBatchTwice bool

	Seed uint64
	// Jobs is the number of threads that split a batch, each with its own sums: another
	// number gives other last bits, and other dropout masks.
	Jobs int

	// Estimate estimates p_T on the current embedding. The methods that weight by
	// target proportions need it (Method.NeedsEstimate).
	Estimate Estimator `json:"-"`
	// StartProportions is p_T before the first estimate, or nil for p_S. It weights
	// the classification loss of the epochs before StartAlign too.
	StartProportions []float64
	// Initial gives the weights that training starts from, or nil for fresh ones. Its
	// networks must have the shape of Arch.
	Initial *Model `json:"-"`

	// OnEpoch, if set, receives the figures of each epoch as it ends; an error stops
	// training and is returned.
	OnEpoch func(EpochMetrics) error `json:"-"`

	// Checkpoint, if set, is called every CheckpointEvery epochs and at the last. It
	// keeps the whole state of training, which write writes to the writer it is given.
	Checkpoint      func(write func(io.Writer) error) error `json:"-"`
	CheckpointEvery int                                     `json:"-"`
	// ResumeFile, if set, is a checkpoint to go on from, to the same bits as a run that
	// was not interrupted. It must have been written with the same problem sizes and
	// the same configuration (Epochs apart, where nothing else depends on them).
	ResumeFile string `json:"-"`
}

// A Snapshot is what an Estimator sees: both domains through the current g and h.
// Matrices belong to the trainer and are valid during the call only.
type Snapshot struct {
	Epoch   int
	Classes int
	// Proportions is p_T in use, and Estimates how many estimates have been made.
	Proportions []float64
	Estimates   int

	Source blas32.General // n_S×h embeddings
	Labels []int32        // class of each source row
	Target blas32.General // n_T×h embeddings
	// SourcePosteriors and TargetPosteriors compute the n×C class probabilities of h,
	// for the estimators that are based on a classifier.
	SourcePosteriors func() blas32.General
	TargetPosteriors func() blas32.General
}

// An Estimator returns the class proportions of the target, C numbers that are not
// negative and sum to 1.
type Estimator func(ctx context.Context, s Snapshot) ([]float64, error)

// EpochMetrics are the figures of one epoch: means over its iterations.
type EpochMetrics struct {
	Epoch  int // from 0
	Epochs int // in all

	ClassLoss       float64 // classification loss as minimised
	Aligned         bool    // whether the domains were aligned; the next two are 0 otherwise
	CriticDistance  float64 // Σ w v(z^s) − mean v(z^t), or the domain loss of DANN
	GradientPenalty float64 // mean (‖∇v‖ − 1)², before γ
	SourceAccuracy  float64 // share of the batches' source rows that h labels right

	Proportions  []float64 // p_T in use
	Reestimated  bool      // whether it was estimated in this epoch
	LearningRate float64   // of g and h in this epoch
	Duration     time.Duration
	EstimateTime time.Duration // part of Duration

	// Model returns a copy of the model as it is now, the averaged weights where
	// averaging has begun. It may be called during OnEpoch only.
	Model func() *Model
}

// A DivergedError reports training that broke down. Train returns it together with
// the model of the last good epoch.
type DivergedError struct {
	Epoch    int    // in which it happened
	LastGood int    // epoch whose end the returned model is from; −1 for the initial weights
	Reason   string // what was seen
}
