// Package gate says how much each assumption of package hedge is to be believed, and how far its
// answer is to be trusted. It has no rule of its own: all of it is fitted, by the command
// cmd/internal/fitgate, to tasks whose truth is known, and kept in gate.json.
//
// What is seen of a task without its target's labels are its signs: of the problem (how well the
// source's classes are told apart, how badly they explain the target where they are, …) and of each
// view (how well boosted trees tell the target's rows from what the view says of them, …). Each
// is a number without a threshold.
//
//	weights          the softmax over the views of a linear function of the signs of the problem,
//	                 whose coefficients are a view's own, and of the view's signs, whose
//	                 coefficients all views share
//	expected L1 / 2  a logistic regression on the signs of the answer
//	wrong labels     another
//
// The weights are fitted so that the L1 distance of the weighted mean of the views' proportions
// from the truth, and the share of wrong labels, are least in the mean over families of tasks that
// count alike. A gate of this kind is a mixture of experts (Jacobs, Jordan, Nowlan & Hinton 1991),
// whose experts stay as they are.
package gate
