// Package adapt trains the networks of unsupervised domain adaptation under
// generalised target shift: Algorithm 1 of the MARS paper and the methods it is
// compared with.
//
// Three networks are trained: the representation g, which maps a row of features
// to its embedding z, the classifier h, which maps an embedding to class scores,
// and, for the methods that align the domains, the critic v, which maps an
// embedding to a number. Before Config.StartAlign the source classification loss
// is minimised alone. From then on each iteration takes Config.CriticSteps steps of
// v and one of g and h,
//
//	max over v   Σ_i w_i v(z_i^s) − mean_j v(z_j^t) − γ mean (‖∇v‖ − 1)²
//	min over g,h Σ_i c_i L(y_i, h(z_i^s)) + λ [Σ_i w_i v(z_i^s) − mean_j v(z_j^t)]
//
// where w_i = p_T(y_i) / (rows of class y_i in the batch), so that the weights of a
// batch sum to 1. Every Config.ReestimateEvery epochs Config.Estimate, a function that
// the caller chooses, estimates p_T again. One epoch is one pass over the source rows.
// It is what the paper calls an iteration when it says "every 10 iterations".
//
// Start from Recipe, which has measured defaults for each architecture, and change
// what differs:
//
//	config, err := adapt.Recipe("toy", []int{2}, adapt.ScheduleDefault)
//	config.Method, err = adapt.ParseMethod("marsc", 0)
//	config.Estimate = estimator
//	model, err := adapt.Train(ctx, problem, config)
//
// Matrices are row-major float32 of n×d, one sample per row. All random numbers derive
// from Config.Seed: the same problem and configuration, Config.Jobs included, give the
// same bytes on the same kind of processor.
package adapt
