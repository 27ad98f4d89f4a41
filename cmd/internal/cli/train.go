package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/featurize/shift"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/stages/train"
)

var trainHelp = `Trains the representation, the classifier and the Wasserstein critic (Algorithm 1),
estimating the target's class proportions again as the embedding changes, and adds
prediction, predicted_class and probability; written as a table (CSV, JSON, Parquet), the
target's rows are those of mars label. It needs features, domain and labels alone;
weight or matched, from the stages before, give the proportions that training starts from.

Methods: hedge (for tables whose change nobody knows: five assumptions, weighed by how well each
explains the target), translate (match, translate, retrain: moves the source's classes to where they
are in the target, then trains there; the best where each class is one cloud that moves, on
features, or on the embedding of images), self-training (the best on images: trains on
augmented source rows, then on augmented target rows too, with labels that it gives and
corrects by its estimate of p_T), source (no adaptation), marsc and marsg (MARS
with Ward's clustering or a Gaussian mixture), wd (Wasserstein distance without weights,
relaxed by --beta), dann (domain-adversarial), iw-wd (weights from the classifier's confusion),
gmm-ot (trains nothing: a row gets the class that its component of a Gaussian mixture is matched
with; it takes embedding where there is one, and --save keeps an Arrow file), unmix (for rows
that are mixtures of the classes: probability is what each is made of, by least squares on the
classes' means).
An iteration of the paper is an epoch here: a pass over the source rows.

--as-published-code measures what the authors' program does otherwise than their paper says:
an unweighted classification loss, batches that lose the mass of absent classes, the penalty
on three sets of points, a new batch for every critic step (wd: one for all), no dropout
after the first epoch (source and dann keep it), the first batch counted twice in estimates
of p_T and, for marsg, a mixture of the first 2,000 shuffled rows and the mean of all estimates.

--select chooses among settings without a label of the target: all combinations of the values
listed are trained on the source without a fifth of its rows, scored, and the best is trained on
all rows, as it would be with these values given. Scores (the higher, the better): reverse, the
paper's (what is trained on the target, with the labels that it was given, labels the rows
held out; their mean recall), circular (the same on the rows trained on), importance (accuracy on
the rows held out, weighted by how likely they are in the target), dev (deep embedded validation),
density (soft neighbourhood density), entropy (of the predictions), mixval (consistency on
mixtures of rows). Of several scores the first chooses and the others are told.

--decision makes probability and prediction ready for the most right rows (accuracy:
posteriors times p_T over the proportions of training) or for the best mean recall of the
classes (balanced: posteriors over the proportions of training).`

// Train is the command of the stage that adapts.
func Train() *cobra.Command {
	var t trainFlags
	var s selectFlags
	cmd := &cobra.Command{
		Use:   "mars-train",
		Short: "Train a classifier adapted to the target and label every row",
		Long:  trainHelp,
		Example: `  mars-featurize toy --shift 8 | mars-train --method marsc --save model.safetensors -o labelled.arrow
  mars-train --method translate --decision balanced features.arrow -o labels.csv
  mars-train --method marsc --proportions mte features.arrow -o labelled.arrow
  mars-train --method marsc --proportions 0.7,0.2,0.1 features.arrow -o labelled.arrow
  mars-embed features.arrow | mars-train --method gmm-ot -o labelled.arrow
  mars-train --method wd --beta 1 --metrics epochs.arrows features.arrow -o labelled.arrow
  mars-train --method marsc --select learning-rate=0.01,0.05 --select lambda=0.3,1 --score reverse features.arrow -o labelled.arrow
  mars-train --method marsc --checkpoint run.ckpt --resume features.arrow -o labelled.arrow
  mars-train --load model.safetensors more.arrow -o more-labelled.arrow`,
	}
	f := cmd.Flags()
	t.register(f)
	s.register(f)
	f.StringVar(&t.load, "load", "", "apply the model in this file instead of training one")
	columns := []string{"features", "embedding", "domain", "label", "weight", "matched", "unseen", "prediction", "predicted_class", "probability", "typicality"}
	return streamCommand(cmd, columns, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		c.labels = true
		if t.load != "" {
			names := append(t.n.names(), "method", "proportions", "beta", "schedule", "as-published-code", "save", "metrics", "init", "augment", "assume", "classifier", "select", "score")
			return predict.Apply(predict.Options{Model: t.load, Decision: t.o.Decision}), refuse(cmd, "--load applies a model and trains none", append(names, t.a.names()...))
		}
		if err := s.check(cmd); err != nil {
			return nil, err
		}
		if s.settings.items != nil {
			choice, err := s.choice(cmd)
			return train.Select(choice), err
		}
		o, err := t.options(cmd)
		return train.Fit(o), err
	})
}

// trainFlags are those that say how to train.
type trainFlags struct {
	o    train.Options
	load string
	n    networkFlags
	a    adaptFlags
	h    hedgeFlags
}

func (t *trainFlags) register(f *pflag.FlagSet) {
	o := &t.o
	o.Method = "marsc"
	f.Var(oneOf{&o.Method, train.Methods()}, "method", "how to adapt")
	f.Var(&estimatorFlag{o: o}, "proportions", "how marsc and marsg estimate p_T as they train: mars (the default), stream (keep what mars-reweight found), an estimator of mars-reweight, or p_T itself: 0.5,0.3,0.2 or a=0.7,b=0.3")
	f.Var(oneOf{&o.Decision, decisions}, "decision", "what predictions are made ready for (default: accuracy for translate, self-training and hedge, none for the others)")
	f.Float64Var(&o.Beta, "beta", 0, "β of method wd: how much larger the target's mass is taken to be")
	o.Schedule = adapt.ScheduleDefault
	f.Var(oneOf{(*string)(&o.Schedule), []string{string(adapt.ScheduleDefault), string(adapt.SchedulePaper)}}, "schedule", "defaults of all that follows: measured to be good and cheap, or the paper's")
	f.BoolVar(&o.AsPublishedCode, "as-published-code", false, "do as the authors' program does where it differs from their paper, with --schedule paper unless another is given")
	t.n.register(f)
	t.a.register(f)
	f.StringVar(&o.Augment, "augment", "", augmentHelp("with self-training, none with the other methods"))
	t.h.register(f)
	f.StringVar(&o.Save, "save", "", "keep the model in this safetensors file (gmm-ot: Arrow file)")
	f.StringVar(&o.Metrics, "metrics", "", "write losses, proportions and critic distance of each epoch to this Arrow file, or, with --select, the scores of each candidate")
	f.StringVar(&o.Initial, "init", "", "start from the weights in this file instead of random ones")
}

// options are those that the flags, which are parsed, ask for.
func (t *trainFlags) options(cmd *cobra.Command) (o train.Options, err error) {
	if err := t.h.refuseUnless(cmd, t.o.Method == hedge.Method, t.o.Method); err != nil {
		return o, err
	}
	o = t.o
	o.Assume, o.Classifiers = t.h.views(), t.h.members()
	o.Arch, o.HoldOut = t.n.arch, t.n.holdOut
	if o.Shape, err = parseShape(t.n.shape); err != nil {
		return o, err
	}
	if t.a.resume && t.a.checkpoint == "" {
		return o, usagef("--resume goes on from a checkpoint: name it with --checkpoint FILE")
	}
	if err := t.checkMethod(cmd, o); err != nil {
		return o, err
	}
	if o.AsPublishedCode && !cmd.Flags().Changed("schedule") {
		o.Schedule = adapt.SchedulePaper
	}
	o.Tune = append(t.n.given(cmd.Flags()), t.a.given(cmd.Flags())...)
	return o, nil
}

// estimatorFlag is the estimator of p_T in training, or p_T itself.
type estimatorFlag struct {
	o    *train.Options
	text string
}

func (e *estimatorFlag) choices() []string {
	return slices.DeleteFunc(train.ProportionNames(), func(name string) bool { return name == "given" })
}

func (e *estimatorFlag) Type() string   { return strings.Join(e.choices(), "|") + "|SHARES" }
func (e *estimatorFlag) String() string { return e.text }

func (e *estimatorFlag) Set(s string) error {
	e.o.Given, e.text = nil, s
	switch {
	case s == "given":
		return errors.New("give the proportions themselves: 0.5,0.3,0.2 or a=0.7,b=0.3")
	case s == "plan" || s == "oracle":
		return fmt.Errorf("%s is no estimate on the embedding as it trains: run mars-reweight --estimator %s before, and train with --proportions stream", s, s)
	case strings.ContainsAny(s, ",="):
		e.o.Proportions = "given"
		e.o.Given = func(classes []string) ([]float64, error) { return shift.ParseProportions(s, classes) }
		return nil
	}
	return oneOf{&e.o.Proportions, e.choices()}.Set(s)
}

// augmentHelp is that of --augment, whose default holds under a condition.
func augmentHelp(condition string) string {
	return "random changes of the rows trained on: " + strings.Join(augment.Presets(), ", ") + ", or a list such as affine,filter=0.5 of parts with strengths, from " +
		strings.Join(augment.Names(), ", ") + " (default: digits for images and columns for tables " + condition + ")"
}

// imageAugmentHelp is that of --augment where it is for images alone.
var imageAugmentHelp = "random changes of the images that self-training learns from: digits (default), photos, none, or a list such as affine,filter=0.5 of parts with strengths (see mars train; mars featurize --augment-preview shows them)"

// decisions are the values of --decision.
var decisions = []string{"accuracy", "balanced", "none"}

// checkMethod refuses flags that the method does not look at.
func (t *trainFlags) checkMethod(cmd *cobra.Command, o train.Options) error {
	networks := slices.Concat(t.n.names(), []string{"proportions", "beta", "schedule", "as-published-code", "metrics", "init", "augment"}, t.a.names())
	switch o.Method {
	case gmmot.Method:
		return refuse(cmd, "--method gmm-ot trains no networks", networks)
	case hedge.Method:
		return refuse(cmd, "--method hedge trains classifiers of its own", networks)
	case unmix.Method:
		return refuseUnmixed(cmd, o.Decision, networks...)
	case translate.Method:
		return refuse(cmd, "--method translate does not align networks", []string{"proportions", "beta", "schedule", "as-published-code", "start-align", "reestimate-every",
			"critic-steps", "lambda", "gamma", "critic-learning-rate", "class-loss", "penalty-points", "batches", "decay-from", "average-from"})
	}
	method, err := adapt.ParseMethod(o.Method, o.Beta)
	if err != nil {
		return usageError{err}
	}
	if method.SelfTrains() {
		return refuse(cmd, "--method "+o.Method+" aligns nothing and estimates p_T in its own way", []string{"proportions", "schedule", "as-published-code",
			"critic-steps", "lambda", "gamma", "critic-learning-rate", "class-loss", "penalty-points", "batches"})
	}
	switch {
	case o.Method == "iw-wd":
		return refuse(cmd, "--method iw-wd estimates p_T in its own way", []string{"proportions"})
	case !method.NeedsEstimate():
		return refuse(cmd, "--method "+o.Method+" does not estimate p_T", []string{"proportions"})
	}
	return nil
}

// adaptFlags are the settings of adaptation.
type adaptFlags struct {
	tuning
	checkpoint      string
	checkpointEvery int
	resume          bool
}

func (a *adaptFlags) register(f *pflag.FlagSet) {
	a.count(f, "start-align", 0, "first epoch, from 0, in which the domains are aligned, or the target is labelled (default: the schedule's)", func(c *adapt.Config, n int) { c.StartAlign = n })
	a.count(f, "reestimate-every", 1, "epochs from one estimate of p_T, or labelling of the target, to the next (default: the schedule's)", func(c *adapt.Config, n int) { c.ReestimateEvery = n })
	a.count(f, "critic-steps", 1, "critic steps an iteration (default: the schedule's)", func(c *adapt.Config, n int) { c.CriticSteps = n })
	a.number(f, "lambda", math.MaxFloat32, "weight λ of the alignment (default: the schedule's)", func(c *adapt.Config, v float64) { c.Lambda = v })
	a.number(f, "gamma", math.MaxFloat32, "weight γ of the gradient penalty (default: the schedule's)", func(c *adapt.Config, v float64) { c.Gamma = v })
	a.number(f, "critic-learning-rate", math.MaxFloat32, "learning rate of the critic (default: --learning-rate)", func(c *adapt.Config, v float64) { c.CriticLearningRate = v })
	a.choice(f, "class-loss", []string{"weighted", "plain", "balanced"}, "weights of the classification loss: by p_T/p_S, none, or every class alike (default: the schedule's)", func(c *adapt.Config, name string) { c.ClassLoss = adapt.ClassLoss(name) })
	a.choice(f, "penalty-points", []string{"interpolates", "all"}, "where the gradient penalty is taken: between the domains' rows, or at those rows too (default: the schedule's)", func(c *adapt.Config, name string) { c.PenaltyPoints = adapt.PenaltyPoints(name) })
	a.choice(f, "batches", []string{"shared", "fresh"}, "one pair of batches an iteration, or a new one for each critic step (default: the schedule's)", func(c *adapt.Config, name string) { c.Batches = adapt.Batches(name) })
	a.count(f, "decay-from", 0, "epoch from which the learning rates fall; as many as --epochs for never (default: the schedule's)", func(c *adapt.Config, n int) { c.DecayFrom = n })
	a.count(f, "average-from", 0, "epoch from which weights are averaged into the model; as many as --epochs for never (default: the schedule's)", func(c *adapt.Config, n int) { c.AverageFrom = n })
	f.StringVar(&a.checkpoint, "checkpoint", "", "keep the whole state of training in this file as it goes")
	countVar(f, &a.checkpointEvery, "checkpoint-every", 10, 1, "epochs from one checkpoint to the next")
	f.BoolVar(&a.resume, "resume", false, "go on from the --checkpoint file, to the same bits as without the interruption")
}

// given are the changes of the flags that were given.
func (a *adaptFlags) given(f *pflag.FlagSet) []func(*adapt.Config) {
	return append(a.tuning.given(f), func(c *adapt.Config) {
		if f.Changed("checkpoint") {
			c.Checkpoint, c.CheckpointEvery = a.keep, a.checkpointEvery
		}
		if a.resume {
			c.ResumeFile = a.checkpoint
		}
	})
}

// keep keeps a checkpoint.
func (a *adaptFlags) keep(write func(io.Writer) error) error {
	return atomicfile.Write(a.checkpoint, write)
}

// names are those of all that change the training.
func (a *adaptFlags) names() []string {
	return slices.Sorted(slices.Values(append(slices.Clone(a.tuning.names), "checkpoint", "resume")))
}
