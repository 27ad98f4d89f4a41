// Package pipeline runs whole pipelines of stages from one file, and never
// computes the same thing twice.
//
// The flow, with the type or function that does each step:
//
//  1. [Parse] reads a TOML file into stages with their flags, a matrix of values, and
//     what table to make. A mistake names its line, its key and the nearest valid one.
//     [File.Settle] adds what flags and the environment say.
//  2. [File.Expand] makes a [Run] of every combination of the matrix that its values
//     allow. Stages that are alike in several runs become one [Node], so the runs form
//     a [Graph].
//  3. [Graph.Keys] finds what each node's output depends on: stage, algorithm,
//     options, seed and inputs ([Dependencies]). Their hash is the key under which
//     the [Cache] keeps the output, whole or not at all.
//  4. A plan goes back from what is asked for to what is there already, and says of
//     every node whether it must run; [Explain] prints why.
//  5. A [Runner] runs what must: chains of stages joined by pipes, or in one process
//     by a [Channel], as many at once as there is room for. What a stage passes to
//     the next is kept in the cache on its way.
//  6. The outputs that the file names are copied from the cache to their places.
//  7. The numbers of the runs, their [Results], become a [Table].
//
// [Single] makes a graph of one command, [Graph.WriteShell] a script of a graph.
// [Trace] goes back from a file to the stages that made it, its [History], from
// which [History.WritePipeline] makes a pipeline file again.
//
// The package knows a stage only by its [Stage], and a flag by its [Role]. The
// commands list both in a [Catalogue].
package pipeline
