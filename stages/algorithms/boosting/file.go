package boosting

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// After a prefix, the key of the metadata and the names of the tensors.
const (
	metadataKey = "boosting"
	startTensor = "start" // C logits
	treesTensor = "trees" // of each tree its class, and how many nodes it has
	nodesTensor = "nodes" // of all trees, one after the other, see nodeColumns
)

// nodeColumns are how many numbers a node has in a file: its column, its left child, counted in its
// tree and 0 of a leaf, its threshold or value, and 1 if missing values go left.
const nodeColumns = 4

// header is what the metadata say of a model.
type header struct {
	Columns int `json:"columns"`
}

// Put adds the model to a file. The names of its tensors and the keys of its metadata begin with prefix.
func (m *Model) Put(f *safetensors.File, prefix string) error {
	f.Put(prefix+startTensor, m.Start, len(m.Start))
	if len(m.trees) > 0 {
		trees, nodes := dense.New(0, 2), dense.New(0, nodeColumns)
		for _, t := range m.trees {
			dense.Append(&trees, []float32{float32(t.class), float32(len(t.nodes))})
			for _, n := range t.nodes {
				row := []float32{float32(n.column), float32(n.left), n.value, 0}
				if n.missingLeft {
					row[3] = 1
				}
				dense.Append(&nodes, row)
			}
		}
		f.PutMatrix(prefix+treesTensor, trees)
		f.PutMatrix(prefix+nodesTensor, nodes)
	}
	return f.PutJSON(prefix+metadataKey, header{m.Columns})
}

// Get reads what Put has added with the same prefix. It checks that every way through every tree
// ends at a leaf. Its errors name the tensor or the key, but not the file.
func Get(f *safetensors.File, prefix string, classes int) (*Model, error) {
	var h header
	if err := f.GetJSON(prefix+metadataKey, &h); err != nil {
		return nil, err
	}
	if h.Columns < 1 {
		return nil, fmt.Errorf("metadata %s%s: %d columns: want at least 1", prefix, metadataKey, h.Columns)
	}
	m := &Model{Columns: h.Columns}
	var err error
	if m.Start, err = f.GetVector(prefix+startTensor, classes); err != nil {
		return nil, err
	}
	if _, there := f.Get(prefix + treesTensor); !there {
		return m, nil
	}
	trees, err := f.GetMatrix(prefix+treesTensor, safetensors.AnySize, 2)
	if err != nil {
		return nil, err
	}
	nodes, err := f.GetMatrix(prefix+nodesTensor, safetensors.AnySize, nodeColumns)
	if err != nil {
		return nil, err
	}
	return m, m.get(trees, nodes, prefix)
}

// get takes the trees from the matrices of a file.
func (m *Model) get(trees, nodes blas32.General, prefix string) error {
	first := 0
	for i := range trees.Rows {
		row := dense.Row(trees, i)
		class, ok := whole(row[0], len(m.Start)-1)
		size, fits := whole(row[1], nodes.Rows-first)
		if !ok || !fits || size == 0 {
			return fmt.Errorf("tensor %s%s: tree %d is of class %g and has %g nodes: want one of %d classes, and of the %d nodes that are left", prefix, treesTensor, i, row[0], row[1], len(m.Start), nodes.Rows-first)
		}
		var all []node
		for k := range size {
			n, err := m.node(dense.Row(nodes, first+k), k, size)
			if err != nil {
				return fmt.Errorf("tensor %s%s: node %d: %w", prefix, nodesTensor, first+k, err)
			}
			all = append(all, n)
		}
		m.add(class, all)
		first += size
	}
	if first != nodes.Rows {
		return fmt.Errorf("tensor %s%s has %d nodes: the trees have %d", prefix, nodesTensor, nodes.Rows, first)
	}
	return m.checkRounds(prefix)
}

// checkRounds reports trees whose classes are not the same in every round.
func (m *Model) checkRounds(prefix string) error {
	n := m.perRound()
	for i, t := range m.trees {
		if t.class != m.trees[i%n].class || len(m.trees)%n != 0 {
			return fmt.Errorf("tensor %s%s: tree %d is of class %d: the %d trees are not of the same %d classes in every round", prefix, treesTensor, i, t.class, len(m.trees), n)
		}
	}
	return nil
}

// node is that of a row of numbers, the k-th of a tree of that size.
func (m *Model) node(row []float32, k, size int) (node, error) {
	column, known := whole(row[0], m.Columns-1)
	left, inside := whole(row[1], size-2)
	missing, flag := whole(row[3], 1)
	switch {
	case !known:
		return node{}, fmt.Errorf("column %g is not one of %d, from 0", row[0], m.Columns)
	case !inside && row[1] != 0 || left > 0 && left <= k:
		return node{}, fmt.Errorf("its left child is %g: want 0, or a node after it and not the last of the tree's %d", row[1], size)
	case !flag:
		return node{}, fmt.Errorf("missing values go to %g: want 0 or 1", row[3])
	}
	return node{int32(column), int32(left), row[2], missing == 1}, nil
}

// whole returns v if it is a whole number from 0 to most.
func whole(v float32, most int) (int, bool) {
	if f := float64(v); f >= 0 && f <= float64(most) && f == math.Trunc(f) {
		return int(f), true
	}
	return 0, false
}
