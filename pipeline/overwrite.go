package pipeline

import (
	"context"

	"mars.dev/mars/arrowio"
)

// CheckFiles refuses a graph with an output that is one of its inputs, or another of its
// outputs, under whatever name. Beside the stages' files there are those given, and those
// that are read with a path, which beside says.
func (g *Graph) CheckFiles(ctx context.Context, inputs, outputs []arrowio.FileUse, beside func(ctx context.Context, path string) []string) error {
	if table := g.File.Table; table != nil {
		path, err := g.File.path(table.Beside)
		if err != nil {
			return g.File.fail(tablePlace, "beside", err)
		}
		inputs = append(inputs, arrowio.FileUse{Flag: "beside", Path: path})
	}
	for _, n := range g.Nodes {
		for _, in := range n.given() {
			for _, path := range beside(ctx, in.Path) {
				inputs = append(inputs, arrowio.FileUse{Flag: n.Label() + ": " + in.Flag, Path: path})
			}
		}
		for _, o := range n.Outputs {
			outputs = append(outputs, arrowio.FileUse{Flag: n.Label() + ": " + o.Flag, Path: o.Path})
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return arrowio.CheckFiles(inputs, outputs)
}

// given are the files that a node reads and no node makes.
func (n *Node) given() []FileInput {
	var files []FileInput
	if n.From != "" {
		files = append(files, FileInput{Flag: "from", Path: n.From})
	}
	for _, f := range n.Files {
		if f.Maker == nil {
			files = append(files, f)
		}
	}
	return files
}
