package main

// The spreads are what the same runs differed by with other kernels (MARS_KERNEL) or another
// number of threads, rounded up: adversarial training goes another way after the first
// rounding, and so does what rests on an embedding that a network learns; what trains nothing stays where it is.
var (
	trained = map[string]float64{"balanced_accuracy": 0.06, "accuracy": 0.03, "proportions_l1": 0.08,
		"source balanced_accuracy": 0.02, "source accuracy": 0.02, "gmm-ot balanced_accuracy": 0.005, "gmm-ot proportions_l1": 0.005}
	estimated = map[string]float64{"estimators_l1": 0.005, "expected_error": 0.005, "balanced_accuracy": 0.01, "accuracy": 0.01}
	// Digits: p_T is that of clusters of an embedding, and a network is trained for it.
	trainedDigits = map[string]float64{"balanced_accuracy": 0.1, "accuracy": 0.1, "proportions_l1": 0.2,
		"source balanced_accuracy": 0.02, "source accuracy": 0.02, "gmm-ot balanced_accuracy": 0.15, "gmm-ot accuracy": 0.15}
	embedded = map[string]float64{"estimators_l1": 0.05, "estimators_l1.marsc": 0.2, "estimators_l1.marsg": 0.2, "expected_error": 0.02, "balanced_accuracy": 0.03, "accuracy": 0.03}
	signs    = map[string]float64{"estimators_l1.mte": 0.005, "expected_error": 0.005, "disagreement": 0.005, "translate.accuracy": 0.01}
)

const (
	shiftTests = "./stages/algorithms/labelshift"
	draws      = "seeds 0 and up"
)

var simulated = map[string]float64{"l1": 0.005, "expected_error": 0.005}

// goTest is a test that writes what came of its tasks.
func goTest(count, pkg, run string) []string {
	return []string{"env", "MARS_STUDY={out}.jsonl", count, "go", "test", pkg, "-run", run, "-timeout", "0", "-count", "1"}
}

// studies are all that the pages rest on.
var studies = []study{
	{name: "readme", file: "readme.toml", seconds: 10, axes: []string{"seed"}, spread: map[string]float64{"label.balanced_accuracy": 0.005, "pipe.balanced_accuracy": 0.03}, sample: []string{"matrix.seed=0"}},
	{name: "toy", file: "toy.toml", seconds: 70, axes: []string{"method", "seed"}, spread: trained, sample: []string{"matrix.seed=0"}},
	{name: "paper-toy", init: "paper-toy", seconds: 180_000, axes: []string{"setting", "x", "method", "seed"}, spread: trained,
		sample: []string{"matrix.setting=5", "matrix.x=5", "matrix.method=source,gmm-ot,wd1", "matrix.seed=0"}},
	{name: "paper-digits", init: "paper-digits", seconds: 150_000, data: true, axes: []string{"task", "method", "seed"}, spread: trainedDigits,
		sample: []string{"matrix.task=um-mid", "matrix.method=source", "matrix.seed=0"}},
	{name: "paper-office10", file: "paper-office10.toml", seconds: 300, data: true, axes: []string{"task", "method", "seed"}, spread: trained,
		sample: []string{"matrix.task=D-A", "matrix.seed=0"}},
	{name: "schedules-toy", file: "schedules-toy.toml", seconds: 300, axes: []string{"changed", "seed"}, spread: trained,
		sample: []string{"matrix.changed=20-epochs", "matrix.seed=0"}},
	{name: "estimators-toy", file: "estimators-toy.toml", seconds: 30, axes: []string{"family", "seed"}, spread: estimated, sample: []string{"matrix.seed=0"}},
	{name: "labels-toy", file: "labels-toy.toml", seconds: 20, axes: []string{"labels", "seed"}, spread: estimated, sample: []string{"matrix.seed=0"}},
	{name: "diagnostics-toy", file: "diagnostics-toy.toml", seconds: 500, axes: []string{"noise", "shift", "balance"}, spread: signs,
		sample: []string{"matrix.noise=mid", "matrix.shift=3"}},
	{name: "diagnostics-blobs", file: "diagnostics-blobs.toml", seconds: 400, axes: []string{"classes", "spread", "move"}, spread: signs,
		sample: []string{"matrix.classes=3", "matrix.spread=3", "matrix.move=1"}},
	{name: "diagnostics-hipc", file: "diagnostics-hipc.toml", seconds: 400, data: true, axes: []string{"from", "to"}, spread: signs,
		sample: []string{"matrix.from=FTV_1"}},
	{name: "signs", seconds: 60, seeds: "seeds of the test", data: true, axes: []string{"cluster", "family"}, spread: map[string]float64{"l1": 0.01},
		command: goTest("MARS_DRAWS=4", "./stages/algorithms/transport", "SignsOfFailure")},
	{name: "simulated-3", seconds: 500, seeds: draws, axes: []string{"family"}, spread: simulated,
		command: goTest("MARS_DRAWS=200", shiftTests, "Coverage/3_"), sample: goTest("MARS_DRAWS=1", shiftTests, "Coverage/3_")},
	{name: "simulated-10", seconds: 300, seeds: draws, axes: []string{"family"}, spread: simulated,
		command: goTest("MARS_DRAWS=20", shiftTests, "Coverage/10_"), sample: goTest("MARS_DRAWS=1", shiftTests, "Coverage/10_")},
	{name: "simulated-many", seconds: 3000, seeds: draws, axes: []string{"family"}, spread: simulated,
		command: goTest("MARS_DRAWS=80", shiftTests, "Coverage/(31|65)_"), sample: goTest("MARS_DRAWS=10", shiftTests, "Coverage/31_classes,_label")},
	{name: "hipc", file: "hipc.toml", seconds: 60, data: true, axes: []string{"method"}, spread: trained, sample: []string{"matrix.method=marsc"}},
	{name: "labels-hipc", file: "labels-hipc.toml", seconds: 120, data: true, axes: []string{"from", "to", "labels"}, spread: estimated, sample: []string{"matrix.from=FTV_1"}},
	{name: "mixed", file: "mixed.toml", seconds: 120, data: true, axes: []string{"task", "method"}, spread: map[string]float64{"balanced_accuracy": 0.02, "accuracy": 0.02, "proportions_l1": 0.03},
		sample: []string{"matrix.task=mushrooms-te"}},
	{name: "estimators-hipc", file: "estimators-hipc.toml", seconds: 120, data: true, axes: []string{"from", "to"}, spread: estimated, sample: []string{"matrix.from=FTV_1"}},
	{name: "estimators-digits", file: "estimators-digits.toml", seconds: 600, data: true, axes: []string{"family", "seed"}, spread: embedded,
		sample: []string{"matrix.family=usps-mnist", "matrix.seed=0"}},
	{name: "schedules-digits", file: "schedules-digits.toml", set: []string{"matrix.task=um-mid"}, seconds: 400, data: true, axes: []string{"changed"}, spread: trainedDigits,
		sample: []string{"matrix.changed=10-epochs"}},
	{name: "digits-weighted", file: "digits.toml", set: []string{"matrix.task=um-mid,um-high,mu-mid,mu-high", "matrix.method=marsc", "train.class-loss=weighted"},
		seconds: 500, data: true, axes: []string{"task", "seed"}, spread: trainedDigits, sample: []string{"matrix.task=mu-high", "matrix.seed=0"}},
	{name: "self-training", file: "self-training.toml", seconds: 2700, data: true, axes: []string{"task", "seed"}, spread: map[string]float64{"balanced_accuracy": 0.02, "proportions_l1": 0.03},
		sample: []string{"matrix.task=um-balanced", "matrix.seed=0"}},
	{name: "doubts", seconds: 1500, data: true, axes: []string{"task"}, spread: map[string]float64{"accuracy": 0.05},
		command: []string{"python3", "docs/experiments/doubts.py", "$MARS_DATA", "{out}.csv"},
		sample:  []string{"python3", "docs/experiments/doubts.py", "$MARS_DATA", "{out}.csv", "MNIST → 200 rows of USPS"}},
}
