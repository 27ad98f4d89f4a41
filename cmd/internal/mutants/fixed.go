package main

// The packages whose tests most of the fixed list should be noticed by.
const (
	adaptPackage   = "./stages/algorithms/adapt"
	shiftPackage   = "./stages/algorithms/labelshift"
	mixturePackage = "./stages/algorithms/mixture"
)

// wiring is the test of one flag of one stage.
func wiring(stage, flag string) []tests {
	return []tests{{"./cmd/internal/cli", "TestWiring/^" + stage + "$/^" + flag + "$"}}
}

func of(pkg, run string) []tests { return []tests{{pkg, run}} }

// fixedMutants are lines that were once broken without a test noticing, and others that a
// result hangs by, each with the test that notices.
var fixedMutants = []mutant{
	{"intervals of 90 % are of 80 %", "stages/algorithms/labelshift/interval.go", "Quantile((1 + level) / 2)", "Quantile(level)", 0, of(shiftPackage, "TestQuantiles")},
	{"the joint region is too small", "stages/algorithms/labelshift/region.go", "Quantile(level)", "Quantile(level * level)", 0, of(shiftPackage, "TestQuantiles")},
	{"hedge's intervals of 90 % are of 80 %", "stages/algorithms/hedge/interval.go", "Quantile((1 + level) / 2)", "Quantile(level)", 0, of("./stages/algorithms/hedge", "TestIntervalLevels")},
	{"numbers in the middle of two are rounded twice", "stages/featurize/format/scan/number.go", "if math.Float64bits(x)&lacking-(middle-near) <= 2*near {", "if false {", 0, of("./stages/featurize/format/scan", "TestFloat32$")},
	{"text is cut within quotes", "stages/featurize/format/scan/scanner.go", "open = open != (bytes.Count(line, quote)%2 == 1)", "open = false", 0, of("./stages/featurize/format/scan", "TestScan$")},
	{"fields of a table of text are those of another chunk", "stages/featurize/format/text.go", "header[i] = strings.Clone(strings.TrimSpace(name))", "header[i] = strings.TrimSpace(name)", 0, of("./stages/featurize/format", "TestTextInPieces")},
	{"wins are not tested", "pipeline/compare/compare.go", "r.Best || w.P >= c.Level", "r.Best", 0, of("./pipeline/compare", "TestWinsAndTies")},
	{"results of two versions are mixed", "pipeline/compare/compare.go", "o.program == first.program || c.Mixed", "true", 0, of("./pipeline/compare", "TestJSONLines")},
	{"zeros have no ranks", "stages/algorithms/ranktest/wilcoxon.go", "used = append(used, ranks[i])", "used = append(used, ranks[i]-1)", 0, of("./stages/algorithms/ranktest", "TestSignedRanksAreSciPys")},
	{"axes of rounding are kept", "stages/algorithms/mte/discriminant.go", "<= leastVariance*scatter.At(0, 0)", "< 0", 0, of("./stages/algorithms/mte", "TestFewRowsOfManyColumns")},
	{"marsg is marsc", "stages/train/reestimate.go", `return "marsg"`, `return "marsc"`, 0, wiring("train", "method")},
	{"marsc is marsg", "stages/train/reestimate.go", `return "marsc"`, `return "marsg"`, 0, wiring("train", "method")},
	{"train --proportions is ignored", "stages/train/reestimate.go", `case o.Proportions != "" && o.Proportions != "mars":`, `case false:`, 0, wiring("train", "proportions")},
	{"the balanced class loss is plain", "stages/algorithms/adapt/epoch.go", "b.weigh(b.class, t.sampler.balanced, true)", "fill(b.class, 1/float32(len(b.class)))", 0, wiring("train", "class-loss")},
	{"estimates are counted from epoch 0", "stages/algorithms/adapt/snapshot.go", "return (t.epoch-t.config.StartAlign)%t.config.ReestimateEvery == 0", "return t.epoch%t.config.ReestimateEvery == 0", 0, of(adaptPackage, "TestEstimatesCountFromAlignment")},
	{"weights are never averaged", "stages/algorithms/adapt/epoch.go", "if t.epoch < t.config.AverageFrom {", "if true {", 0, of(adaptPackage, "TestModelIsAverage")},
	{"rates fall half as far", "stages/algorithms/adapt/epoch.go", "(1 - (1-c.Decay)*fallen)", "(1 - (1-c.Decay)*fallen/2)", 0, of(adaptPackage, "TestRateFallsToDecay")},
	{"rows that are held out are trained on", "stages/proportions/others.go", "labels[part] = append(labels[part], label)", "labels[part] = append(labels[part], label)\n\t\tif part == 1 {\n\t\t\tstream.AppendRow(&parts[0], s.Source.Data[i*s.Source.Stride:][:s.Source.Cols])\n\t\t\tlabels[0] = append(labels[0], label)\n\t\t}", 0, of("./stages/proportions", "TestHeldOutRowsAreNotTrainedOn")},
	{"reweight looks at rows that were trained on", "stages/reweight/inputs.go", "s.Source, s.Labels = s.Held, s.HeldLabels", "_ = s.Held", 0, of("./cmd/internal/cli", "TestEstimatorsWithOverfittedNetwork")},
	{"train looks at rows that it trains on", "stages/train/reestimate.go", "in.Labels, in.SourcePosteriors = rows.HeldLabels, s.Predict(rows.Held)", "in.SourcePosteriors = s.SourcePosteriors()", 0, of("./cmd/internal/cli", "TestEstimatorsWithOverfittedNetwork")},
	{"--hold-out is ignored", "cmd/internal/cli/embed.go", "o.Arch, o.HoldOut, o.Tune = n.arch, n.holdOut, n.tune(cmd.Flags())", "o.Arch, o.Tune = n.arch, n.tune(cmd.Flags())", 0, wiring("embed", "hold-out")},
	{"resuming takes another estimator", "stages/train/train.go", "c.Estimated = o.estimated(start, s)", "_ = o.estimated(start, s)", 0, wiring("train", "proportions")},
	{"resuming takes other initial weights", "stages/algorithms/adapt/checkpoint.go", "range c.Initial.all() {", "range c.Initial.all()[:0] {", 0, of(adaptPackage, "TestResumeRefusesOtherSettings")},
	{"stated proportions are ignored in training", "stages/train/train.go", "return o.Given(s.Classes)", "return startProportions(r, s)", 0, wiring("train", "proportions")},
	{"--class-loss is ignored", "cmd/internal/cli/train.go", "c.ClassLoss = adapt.ClassLoss(a.classLoss)", "_ = a.classLoss", 0, wiring("train", "class-loss")},
	{"--weight-decay is ignored", "cmd/internal/cli/network.go", "c.WeightDecay = n.weightDecay", "_ = n.weightDecay", 0, wiring("embed", "weight-decay")},
	{"--penalty-points is ignored", "cmd/internal/cli/train.go", "c.PenaltyPoints = adapt.PenaltyPoints(a.penalty)", "_ = a.penalty", 0, wiring("train", "penalty-points")},
	{"--gamma is ignored", "cmd/internal/cli/train.go", "c.Gamma = a.gamma", "_ = a.gamma", 0, wiring("train", "gamma")},
	{"--gamma is not in the cache's key", "cmd/internal/cli/run_stages.go", `"memory": pipeline.NoEffect,`, `"memory": pipeline.NoEffect, "gamma": pipeline.NoEffect,`, 0, wiring("train", "gamma")},
	{"λ of digits is 1", "stages/algorithms/adapt/recipe.go", "c.optimise(Adam, 1e-3, 0.01)", "c.optimise(Adam, 1e-3, 1)", 0, of(adaptPackage, "TestRecipes")},
	{"the paper's 500 epochs are 50", "stages/algorithms/adapt/recipe.go", "c.train(500, 100, 10, 120)", "c.train(50, 100, 10, 120)", 0, of(adaptPackage, "TestRecipes")},
	{"the simplex may cycle", "stages/algorithms/transport/simplex.go", "t.flow[k] <= flow {", "t.flow[k] < flow {", 0, of("./stages/algorithms/transport", "TestTreeStaysStronglyFeasible")},

	{"a cached result of other threads is taken", "pipeline/dependencies.go", "Threads: m.threads(n)", "Threads: 0", 0, wiring("cluster", "jobs")},
	{"a cached result of another seed is taken", "pipeline/expand.go", "case Effect, Seed, Threads:", "case Effect, Threads:", 0, wiring("label", "seed")},
	{"a cached result of another model is taken", "pipeline/dependencies.go", "n.Dependencies.Files[f.Flag] = in\n", "_ = in\n", 0, wiring("train", "init")},
	{"the key depends on the path of an input", "pipeline/dependencies.go", "anonymous.Options[flag] = d.reading(flag)\n", "_ = d.reading(flag)\n", 0, of("./pipeline", "TestKey")},
	{"images without metadata are columns", "stages/internal/stream/shape.go", "if side < minSide || channels*side*side != width {", "if true {", 0, of("./cmd/mars", "TestScripts/lost_metadata")},
	{"reweight --shape is ignored", "stages/reweight/reweight.go", "env.Shape = o.Shape", "_ = o.Shape", 0, wiring("reweight", "shape")},
	{"tables are not standardised", "stages/algorithms/adapt/recipe.go", "c.Input, c.minSteps = InputStandard, tableSteps", "c.minSteps = tableSteps", 0, of(adaptPackage, "TestTablesAreStandardised")},
	{"the toy is any table", "stages/internal/stream/provenance.go", `s.Options["source"] == ""`, `s.Options["source"] != ""`, 0, of("./cmd/mars", "TestScripts/scales")},
	{"iw-wd estimates as rarely as marsc", "stages/algorithms/adapt/recipe.go", `if c.Method.Name == "iw-wd" {`, "if false {", 0, of(adaptPackage, "TestEstimatesOfIWWD")},
	{"--unknown is ignored", "cmd/internal/cli/label.go", "label.New(env, in, l.labels)", "label.New(env, in, label.Options{})", 0, wiring("label", "unknown")},
	{"--assume is ignored by mars label", "cmd/internal/cli/label.go", "l.options.Assume, l.options.Classifiers = l.hedge.views(), l.hedge.members()", "l.options.Classifiers = l.hedge.members()", 0, wiring("label", "assume")},
	{"--classifier is ignored by mars proportions", "cmd/internal/cli/proportions.go", "o.Assume, o.Classifiers = p.hedge.views(), p.hedge.members()", "o.Assume = p.hedge.views()", 0, wiring("proportions", "classifier")},
	{"--decision is ignored by mars predict", "stages/predict/predict.go", "models.Load(ctx, o.Model, o.Decision)", `models.Load(ctx, o.Model, "")`, 0, wiring("predict", "decision")},
	{"--target-binarise is that of the source", "cmd/internal/cli/featurize.go", `f.BoolVar(&o.target.binarise, "target-binarise"`, `f.BoolVar(&o.source.binarise, "target-binarise"`, 0, wiring("featurize", "target-binarise")},
	{"--grey is ignored", "cmd/internal/cli/featurize.go", "side.Images.Grey = o.grey", "_ = o.grey", 0, wiring("featurize", "grey")},
	{"mars predict forgets how pictures were fitted", "stages/featurize/files.go", "f.Image, f.Fit, f.Colour = st.Pictures.Column, st.images(group[0]).Fit, st.Pictures.Colour", "f.Image = st.Pictures.Column", 0, of("./cmd/mars", "TestScripts/^images$")},
	{"fitted pictures are fitted again", "stages/featurize/images.go", "if t.Pictures {", "if false {", 0, of("./stages/featurize", "TestPicturesAreFittedOnce")},
	{"pictures are resized without antialiasing", "stages/featurize/image/resample.go", "reach := max(ratio, 1)", "reach := 1.0", 0, of("./stages/featurize/image", "TestFitOracle")},
	{"the cache does not know the pictures of a table", "stages/featurize/format/files.go", "all = append(all, listed(file)...)", "_ = listed(file)", 0, of("./cmd/mars", "TestScripts/^images$")},
	{"a file named a second time is ignored", "cmd/internal/cli/files.go", "*l = fileList(path)", "if *l == \"\" {\n\t\t*l = fileList(path)\n\t}", 0, of("./cmd/mars", "TestScripts/^several$")},
	{"categories of a second file have codes of their own", "stages/featurize/format/several.go", "each.Fields, each.growing = all[0].Fields, true", "each.Columns = all[0].Columns", 0, of("./stages/featurize/format", "TestSeveral$")},
	{"rows of several files have the place of the first", "stages/featurize/format/parts.go", "if w.spans[k].first <= in {", "if w.spans[k].first <= min(in, 0) {", 0, of("./stages/featurize/format", "TestSeveral")},
	{"spillover stays in the channels", "stages/featurize/format/fcsdata.go", "if e.spill != nil {", "if false {", 0, of("./stages/featurize/format", "TestOracle$")},
	{"gains of a cytometer are ignored", "stages/featurize/format/fcsdata.go", "return func(v float64) float64 { return v / gain }, nil", "return nil, nil", 0, of("./stages/featurize/format", "TestOracle$")},
	{"--shift is ignored", "cmd/internal/cli/featurize.go", "o.Noise, o.Shift = toy.Noise(t.setting), t.shift", "o.Noise, o.Shift = toy.Noise(t.setting), 0", 0, wiring("featurize toy", "shift")},
	{"--hash-features is ignored", "cmd/internal/cli/featurize.go", "o.exclude, o.categorical, o.hash", "o.exclude, o.categorical, 0", 0, wiring("featurize", "hash-features")},
	{"models forget --compensate", "stages/featurize/files.go", "o.Source.Format.Compensated, o.Target.Format.Compensated = st.Compensate, st.Compensate", "_ = st.Compensate", 0, of("./cmd/mars", "TestScripts/^compensate$")},
	{"hashes lose their sign", "stages/featurize/format/svmlight.go", "c.row[at] += sign * values[k]", "c.row[at] += values[k] + 0*sign", 0, of("./stages/featurize/format", "TestOracle$")},
	{"--scale is ignored", "cmd/internal/cli/featurize.go", "Scale: scale.Method(o.scale)", "Scale: scale.Moments", 0, wiring("featurize", "scale")},
	{"--log1p and --arcsinh are ignored", "cmd/internal/cli/featurize.go", "Transform: o.transform", "Transform: scale.Transform{}", 0, wiring("label", "log1p")},
	{"a column of lists is one feature", "stages/featurize/flow.go", "isMixed(t) || t.Columns == nil", "isMixed(t)", 0, of("./cmd/mars", "TestScripts/^flow$")},
	{"blocks of a file are not transformed", "stages/featurize/flow.go", "f.st.transform(ctx, t)", "error(nil)", 0, of("./cmd/mars", "TestScript/scaling")},
	{"blocks of a file are not scaled", "stages/featurize/flow.go", "f.scaling.Apply(ctx, t.Features)", "error(nil)", 0, of("./cmd/mars", "TestScript/scaling")},
	{"a model's rows are not transformed", "stages/featurize/preparation.go", "Columns: note.Columns, Compensate: note.Compensate, Transform: note.Target.Transform}", "Columns: note.Columns, Compensate: note.Compensate}", 0, of("./cmd/mars", "TestScript/scaling")},
	{"days and hours are transformed", "stages/featurize/encode/encode.go", "slices.Contains(c.Parts, plain)", "len(c.Parts) > 0", 0, of("./cmd/mars", "TestScript/scaling")},
	{"rows that were transformed otherwise are taken", "stages/internal/prepared/prepared.go", "was != is", "false", 0, of("./stages/internal/prepared", "TestCheckAlike")},
	{"--scale robust is standard", "stages/algorithms/scale/scaling.go", "if m == Robust {", "if false {", 0, of("./stages/algorithms/scale", "TestScalersAreScikitLearns")},
	{"the critic's target has the wrong sign", "stages/algorithms/adapt/worker.go", "fill(w.c[n:], -float32(", "fill(w.c[n:], float32(", 0, of(adaptPackage, "TestGradients")},
	{"the gradient is not reversed", "stages/algorithms/adapt/worker.go", "kernel.Scale(-float32(lambda), dz)", "kernel.Scale(float32(lambda), dz)", 0, of(adaptPackage, "TestGradients")},
	{"weights are p_S over p_T", "stages/algorithms/labelshift/weights.go", "w[k] = target[k] / p\n", "w[k] = p / target[k]\n", 0, of(shiftPackage, "TestWeights")},
	{"EM stops after a step", "stages/algorithms/labelshift/em.go", "e.Converged = dense.L1(e.Proportions, next) < o.Tolerance", "e.Converged = true", 0, of(shiftPackage, "TestLabelShift|TestPosteriorsOracle")},
	{"Ward's heights are squares", "stages/algorithms/mixture/ward.go", "Height: math.Sqrt(squaredHeight)", "Height: math.Abs(squaredHeight)", 0, of(mixturePackage, "Ward|Oracle")},
	{"the expected error has another factor", "stages/algorithms/labelshift/interval.go", "math.Sqrt(2/math.Pi)", "math.Sqrt(1/math.Pi)", 0, of(shiftPackage, "TestInterval|TestQuantiles|TestPanel")},
	{"a threshold is not that of the pages", "stages/internal/diagnostics/parts.go", "maxLeft          = 1.2", "maxLeft          = 1.3", 0, of("./cmd/internal/measured", "TestThresholds")},
	{"a figure that moved is not told", "cmd/internal/measured/check.go", "far > 1 ||", "far > 1000 ||", 0, of("./cmd/internal/measured", "TestCompare")},
	{"a stream that fails looks complete", "arrowio/writer.go", "w.out.w.Write(poison(cause))", "_ = poison(cause)", 0, of("./arrowio", "")},
	{"an archive is given without a licence", "cmd/internal/dist/notices.go", "if len(files[module]) == 0 {", "if false {", 0, of("./cmd/internal/dist", "TestNotices")},
	{"archives have no links", "cmd/internal/dist/archive.go", `if e.link != "" {`, "if false {", 0, of("./cmd/internal/dist", "TestWriteArchive")},
	{"the manual lacks flags that are under a heading", "cmd/internal/cli/man.go", "for _, g := range flagsOf(cmd) {", "for _, g := range flagsOf(cmd)[:1] {", 0, of("./cmd/internal/cli", "TestManPages")},
	{"the manual depends on the machine", "cmd/internal/cli/help.go", `if strings.Contains(f.Usage, "(default:") {`, "if false {", 0, of("./cmd/internal/cli", "TestShareIsTheSameEverywhere")},
	{"an ONNX file whose graph was changed is taken", "stages/internal/models/onnx.go", "case sum(file.Graph) != o.Graph:", "case false:", 0, of("./cmd/mars", "TestScripts/^export$")},
	{"an ONNX file whose metadata were changed is taken", "stages/internal/models/onnx.go", "if sum(content) != o.Sum {", "if false {", 0, of("./cmd/mars", "TestScripts/^export$")},
	{"export --prepared is ignored", "cmd/internal/cli/export.go", "f.BoolVar(&o.Prepared,", "f.BoolVar(new(bool),", 0, of("./cmd/mars", "TestScripts/^export$")},
	{"export writes over another model's numbers", "stages/export/torch.go", "case err == nil && !exists(o.Output):", "case false:", 0, of("./cmd/mars", "TestScripts/^export$")},
}
