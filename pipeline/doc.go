// Package pipeline runs whole pipelines of stages from one file, and never
// computes the same thing twice.
//
// The flow, a file of this package a step:
//
//  1. Parse reads a TOML file into stages with their flags, and a matrix of
//     values; a mistake names its line, its key and the nearest valid one.
//  2. Expand makes a run of every combination of the matrix. Stages that are
//     alike in several runs become one node, so the runs form a tree.
//  3. A node's Dependencies (stage, algorithm, options, seed, inputs) has a key, and
//     the Cache keeps under it what the node put out: complete, or not at all.
//  4. NewPlan goes back from what is asked for to what is there already, and says
//     of every node whether it must run, and why.
//  5. A Runner runs what must: chains of stages joined by pipes, or by channels
//     in one process, as many at once as there is room for. What flows from a
//     stage to the next is kept in the cache on its way.
//  6. What the file names as outputs is copied from the cache to its place.
//
// Back from a file to the pipeline that made it goes Provenance.
//
// The package knows stages only by what a Stage says of them. Who uses it (the
// commands) lists them.
package pipeline
