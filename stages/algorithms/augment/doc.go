// Package augment changes rows at random in ways that leave their class as it is: images
// by geometry, thickness of strokes, texture and random filters, and plain columns by
// noise. A classifier that is trained on such rows relies less on what
// differs between domains.
//
// A Policy is a list of parts, each with a strength; Parse reads one. An Augmenter applies
// it to one row after the other. The change of a row depends on the seed, the step and the
// row's place in its batch alone, so it is the same for any number of threads, and after
// training is resumed.
//
//	policy, err := augment.Parse("digits", []int{1, 28, 28})
//	a := policy.New([]int{1, 28, 28})
//	a.Apply(row, seed, step, place)
package augment
