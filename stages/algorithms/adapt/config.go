package adapt

import (
	"context"
	"io"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/augment"
)

// A Problem is the data of one adaptation: labelled source rows and unlabelled
// target rows of the same width. It is never changed.
type Problem struct {
	Source blas32.General // n_S×d features
	Labels []int32        // class of each source row, 0 ≤ label < len(Classes)
	Target blas32.General // n_T×d features; may be empty for a method that does not align
	Shape  []int          // C, H, W of a row that is an image, with product d; nil for plain columns
	// Classes holds the names of the C classes. Every class must have a source row.
	Classes []string
}

// ClassLoss says how source rows are weighted in the classification loss.
type ClassLoss string

// The weightings of the classification loss. The coefficients of a batch sum to 1, except
// those of ClassLossWeighted with SamplingPublished when the batch lacks a class.
const (
	ClassLossWeighted ClassLoss = "weighted" // by w†(y) = p_T(y)/p_S(y), the paper's Algorithm 1
	ClassLossPlain    ClassLoss = "plain"    // all rows equally, as the authors' published code does
	ClassLossBalanced ClassLoss = "balanced" // all classes equally
)

// PenaltyPoints says at which points the norm of the critic's gradient is pulled to 1.
type PenaltyPoints string

// The points of the gradient penalty, for a batch of B rows of each domain.
const (
	PenaltyInterpolates PenaltyPoints = "interpolates" // B points between source and target rows
	PenaltyAll          PenaltyPoints = "all"          // 3B points: those, the source rows and the target rows
)

// Batches says whether the steps of an iteration share their batch.
type Batches string

// The choices of batches.
const (
	// BatchesFresh draws a new pair of batches for every critic step and for the
	// step of g and h, as the authors' code does.
	BatchesFresh Batches = "fresh"
	// BatchesShared draws one pair of batches in an iteration, as the paper's Algorithm 1
	// is written, so that embeddings are computed once for all critic steps.
	BatchesShared Batches = "shared"
)

// Sampling says which source rows make a batch.
type Sampling string

// The ways to fill a source batch.
const (
	// SamplingStratified gives each class its share of every batch, and at least one
	// row if the batch has room, so that the mass of no class is lost.
	SamplingStratified Sampling = "stratified"
	// SamplingShuffled takes rows in random order. The weights of a batch are scaled
	// to sum to 1, whichever classes it holds.
	SamplingShuffled Sampling = "shuffled"
	// SamplingPublished is SamplingShuffled without the scaling, as in the authors'
	// published code: the mass of a class that a batch lacks is lost.
	SamplingPublished Sampling = "published"
	// SamplingBalanced gives all classes the same number of rows in a batch.
	SamplingBalanced Sampling = "balanced"
)

// Optimiser names the update rule.
type Optimiser string

// The optimisers, as PyTorch defines them.
const (
	SGD  Optimiser = "sgd"
	Adam Optimiser = "adam"
)

// InputScaling says how features are scaled before they enter g. The scaling is part of
// the model: Model.Embed and Model.Predict take features without it.
type InputScaling string

// The scalings of the input.
const (
	InputAsIs      InputScaling = "as-is"
	InputSymmetric InputScaling = "symmetric" // [0, 1] to [−1, 1], for images
	InputStandard  InputScaling = "standard"  // each column to mean 0 and deviation 1 over the source
	InputRow       InputScaling = "row"       // each row to mean 0 and about deviation 1 over its columns, for images
)

// Schedule names a set of defaults.
type Schedule string

// The schedules.
const (
	ScheduleDefault Schedule = "default" // the fastest of those that measured best
	SchedulePaper   Schedule = "paper"   // the published settings
)

// A Config says how to train. Recipe fills it with defaults. Epochs are counted from 0.
type Config struct {
	Method Method // see ParseMethod
	Arch   string // toy, visda, office, digits, ganin, digits-gn, resnet8, identity, mlp:… or auto

	minSteps int // see ForRows

	Epochs          int // number of passes over the source rows, or of Iterations steps
	Iterations      int `json:",omitempty"` // steps in an epoch; 0 for a pass over the source rows
	StartAlign      int // first epoch in which the domains are aligned
	ReestimateEvery int // epochs from one estimate of p_T to the next
	CriticSteps     int // critic steps in an iteration
	// Batch is the number of rows of each domain in a batch. In self-training it is that of
	// both, and TargetShare of them are target rows once these have labels.
	Batch       int
	TargetShare float64 `json:",omitempty"`

	Lambda float64 // λ, weight of the alignment in the loss of g
	Gamma  float64 // γ, weight of the gradient penalty in the loss of v

	Optimiser          Optimiser
	LearningRate       float64 // of g and h
	CriticLearningRate float64 // of v
	Decay              float64 // fraction to which both rates fall linearly; 1 keeps them
	DecayFrom          int     // first epoch with a lower rate; the last epoch has the lowest
	// WarmUp is the number of epochs in which the rates rise from 0. With SmoothRates they
	// change at every step, and otherwise at every epoch.
	WarmUp      float64 `json:",omitempty"`
	SmoothRates bool    `json:",omitempty"`

	Momentum     float64 // SGD
	Beta1, Beta2 float64 // Adam
	WeightDecay  float64 // L2, added to the gradients of g and h
	AverageFrom  int     // first epoch whose weights are averaged into the model's g and h; Epochs for none

	// AverageDecay makes the average an exponential moving one with this decay; with 0 it is
	// the plain mean.
	AverageDecay float64 `json:",omitempty"`
	// Augment changes the rows of every batch at random.
	Augment augment.Policy `json:",omitempty"`

	ClassLoss     ClassLoss
	PenaltyPoints PenaltyPoints
	Batches       Batches
	Sampling      Sampling
	Input         InputScaling
	// DropoutFirstEpoch has dropout in the first epoch alone.
	DropoutFirstEpoch bool
	// FirstBatchTwice gives Estimate the rows in random order, with those of the first
	// batch twice.
	FirstBatchTwice bool

	Seed uint64
	// Jobs is the number of threads that split a batch (0: all that the process may use). Each has sums of its own, so
	// another number gives other rounding errors, and other dropout masks.
	Jobs int

	// Estimate estimates p_T from the current embeddings. Methods for which
	// Method.NeedsEstimate is true need it.
	Estimate Estimator `json:"-"`
	// Estimated says in words what Estimate is and what it depends on beside its Snapshot, so
	// that training is not resumed with another.
	Estimated string `json:",omitempty"`
	// StartProportions is p_T before the first estimate, or nil for p_S. It also weights
	// the classification loss in the epochs before StartAlign.
	StartProportions []float64
	// Initial has the weights and the scaling of the input that training starts from, or
	// is nil for random weights. Its networks must have the layers of Arch.
	Initial *Model `json:"-"`

	// Relabel gives target rows labels in self-training: before epoch StartAlign and then
	// every ReestimateEvery epochs.
	Relabel Labeller `json:"-"`
	// OnEpoch, if set, is called at the end of each epoch. If it returns an error, training
	// stops and returns the error.
	OnEpoch func(EpochMetrics) error `json:"-"`

	// Checkpoint, if set, is called every CheckpointEvery epochs and after the last. It
	// keeps the whole state of training, which write writes to the writer it is given.
	Checkpoint      func(write func(io.Writer) error) error `json:"-"`
	CheckpointEvery int                                     `json:"-"`
	// ResumeFile, if set, is a checkpoint to go on from, with the same result, bit for bit,
	// as a run without interruption. The data and the configuration must be those it was
	// written with; Epochs may differ if Decay is 1.
	ResumeFile string `json:"-"`
}

// A Snapshot is what an Estimator gets: both domains through the current g and h. Its
// matrices belong to the trainer, and are valid during the call only.
type Snapshot struct {
	Epoch   int // the epoch that the estimate is for, from 0
	Classes int
	// Proportions is the p_T in use, and Estimates the number of estimates made so far.
	Proportions []float64
	Estimates   int

	Source blas32.General // n_S×h embeddings
	Labels []int32        // class of each source row
	Target blas32.General // n_T×h embeddings
	// Predict computes the class probabilities of other rows of features.
	Predict func(x blas32.General) blas32.General
	// SourcePosteriors and TargetPosteriors compute the n×C class probabilities of h, for
	// estimators that use a classifier.
	SourcePosteriors func() blas32.General
	TargetPosteriors func() blas32.General
}

// An Estimator returns the class proportions p_T of the target: C numbers of at least 0
// that sum to 1.
type Estimator func(ctx context.Context, s Snapshot) ([]float64, error)

// A Labeller gives target rows labels to train on, by their n_T×C posteriors, which assume
// the class proportions prior. A row that is not to be used gets −1.
type Labeller func(ctx context.Context, posteriors blas32.General, prior []float64) (*PseudoLabels, error)

// PseudoLabels are labels of target rows that a classifier gave.
type PseudoLabels struct {
	Labels      []int32   // n_T: class, or −1
	Weights     []float32 // C: weight of each class in the loss
	Proportions []float64 // C: the p_T that the labels assume
}

// LabelFigures are the figures of pseudo-labels.
type LabelFigures struct {
	Kept        float64   // share of the target rows with a label
	Proportions []float64 // the p_T that they assume
}

// EpochMetrics are the figures of one epoch. Losses and accuracy are means over its
// iterations.
type EpochMetrics struct {
	Epoch  int // from 0
	Epochs int // total number

	ClassLoss       float64 // classification loss as minimised
	Aligned         bool    // whether the domains were aligned; if not, the next two are 0
	CriticDistance  float64 // Σ w v(z^s) − mean v(z^t), or the domain loss of DANN
	GradientPenalty float64 // mean (‖∇v‖ − 1)², without the factor γ
	SourceAccuracy  float64 // share of source rows in the batches that h labels correctly

	Labelled bool    // whether target rows were trained on with pseudo-labels
	Kept     float64 // share of the target rows that had one

	Proportions  []float64 // p_T in use
	Reestimated  bool      // whether p_T was estimated before this epoch
	LearningRate float64   // of g and h in this epoch
	Duration     time.Duration
	EstimateTime time.Duration // part of Duration

	// Model returns a copy of the model as it is now, with averaged weights once
	// averaging has begun. It may be called during OnEpoch only.
	Model func() *Model
}
