// Package ppi says what a few labels of a target say of all of its rows (prediction-powered
// inference: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023). It draws the rows that are to be
// labelled, half of them uniformly and half in proportion to a model's doubt (Zrnic & Candès 2024), at
// known probabilities, in an order in which the first ones are a fair sample again; and it makes of
// their labels:
//
//   - intervals of shares that hold whatever has shifted, by the uniform draws alone (Exact);
//   - sharper ones by all draws and the model's posteriors (Sample.Difference);
//   - the weights of what the model assumes, given the labels (Reweigh), and a test of each assumption
//     (Refute);
//   - what such a model says once it has learnt where it errs (Learner), of rows that are like the labelled ones
//     (Field);
//   - how many rows have to be labelled for intervals of a width (Forecast).
//
// The study behind the constants is in docs/measured/ask.md.
package ppi
