package boosting

import "mars.dev/mars/stages/algorithms/onnx"

// ONNX adds Logits to a graph, for rows x of float32.
func (m *Model) ONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	if len(m.trees) == 0 { // the same for all rows
		return g.Op("Gemm", x, g.Floats(make([]float32, m.Columns*len(m.Start)), m.Columns, len(m.Start)), g.Floats(m.Start, len(m.Start)))
	}
	var e ensembleONNX
	for i, t := range m.trees {
		e.add(i, t)
	}
	sums := g.MLNode("TreeEnsembleRegressor", []onnx.Value{x}, e.attributes(len(m.Start))...)
	// ONNX Runtime leaves the operator's own base_values out where a class has no leaf, as the first of two has none.
	return g.Op("Add", sums, g.Floats(m.Start, len(m.Start)))
}

// ensembleONNX is a TreeEnsembleRegressor in the making: of each node the tree, its number in it
// and what it does, and of each leaf the class and the value.
type ensembleONNX struct {
	trees, nodes, columns, yes, no, missing []int
	modes                                   []string
	thresholds                              []float32

	leafTrees, leafNodes, classes []int
	values                        []float32
}

func (e *ensembleONNX) add(i int, t tree) {
	for k, n := range t.nodes {
		mode, threshold, yes, no, missing := "BRANCH_LEQ", n.value, int(n.left), int(n.left)+1, 0
		if n.missingLeft {
			missing = 1
		}
		if n.left == 0 {
			mode, threshold, yes, no = "LEAF", 0, 0, 0
			e.leafTrees, e.leafNodes = append(e.leafTrees, i), append(e.leafNodes, k)
			e.classes, e.values = append(e.classes, t.class), append(e.values, n.value)
		}
		e.trees, e.nodes, e.columns = append(e.trees, i), append(e.nodes, k), append(e.columns, int(n.column))
		e.yes, e.no, e.missing = append(e.yes, yes), append(e.no, no), append(e.missing, missing)
		e.modes, e.thresholds = append(e.modes, mode), append(e.thresholds, threshold)
	}
}

func (e *ensembleONNX) attributes(targets int) []onnx.Attribute {
	return []onnx.Attribute{
		onnx.Int("n_targets", targets),
		onnx.Ints("nodes_falsenodeids", e.no...),
		onnx.Ints("nodes_featureids", e.columns...),
		onnx.Ints("nodes_missing_value_tracks_true", e.missing...),
		onnx.Texts("nodes_modes", e.modes),
		onnx.Ints("nodes_nodeids", e.nodes...),
		onnx.Ints("nodes_treeids", e.trees...),
		onnx.Ints("nodes_truenodeids", e.yes...),
		onnx.Numbers("nodes_values", e.thresholds),
		onnx.Ints("target_ids", e.classes...),
		onnx.Ints("target_nodeids", e.leafNodes...),
		onnx.Ints("target_treeids", e.leafTrees...),
		onnx.Numbers("target_weights", e.values),
	}
}
