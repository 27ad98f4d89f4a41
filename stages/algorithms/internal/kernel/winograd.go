package kernel

// Winograd's algorithm computes neighbouring values of a convolution by fewer products: two
// values with five weights, F(2, 5), or four with three, F(4, 3), by six products instead of
// ten or twelve (Lavin & Gray 2016). For the weights w and six inputs x they are
//
//	y = Aᵀ·(G·w ∘ Bᵀ·x),
//
// where ∘ multiplies element by element. The matrices are those of the points 0, ±1, ±2 and
// ∞. The functions below apply them to lines of interleaved images, so that the products
// that are left are convolutions along lines.

// WinogradPoints is the number of products, and of lines of the input that a few lines of
// the output need.
const WinogradPoints = 6

// WinogradLines is the number of lines of the output that are computed at once with kernels
// of side rows; 0 if the algorithm is not for them.
func WinogradLines(side int) int {
	if side != 3 && side != 5 {
		return 0
	}
	return WinogradPoints - side + 1
}

// WinogradWeights is G, points×side, which turns a kernel's rows into those of the products.
func WinogradWeights(side int) [][]float32 {
	var g [][]float32
	for _, row := range winogradG[:WinogradPoints-1] {
		g = append(g, row[:side])
	}
	last := make([]float32, side) // the point ∞
	last[side-1] = 1
	return append(g, last)
}

// winogradG has G's rows of finite points: powers of the point. winogradB is Bᵀ; winogradA
// is Aᵀ by the number of lines.
var (
	winogradG = [][]float32{
		{1. / 4, 0, 0, 0, 0},
		{-1. / 6, -1. / 6, -1. / 6, -1. / 6, -1. / 6},
		{-1. / 6, 1. / 6, -1. / 6, 1. / 6, -1. / 6},
		{1. / 24, 1. / 12, 1. / 6, 1. / 3, 2. / 3},
		{1. / 24, -1. / 12, 1. / 6, -1. / 3, 2. / 3},
	}
	winogradB = [][]float32{
		{4, 0, -5, 0, 1, 0},
		{0, -4, -4, 1, 1, 0},
		{0, 4, -4, -1, 1, 0},
		{0, -2, -1, 2, 1, 0},
		{0, 2, -1, -2, 1, 0},
		{0, 4, 0, -5, 0, 1},
	}
	winogradA = map[int][][]float32{
		2: {
			{1, 1, 1, 1, 1, 0},
			{0, 1, -1, 2, -2, 1},
		},
		4: {
			{1, 1, 1, 1, 1, 0},
			{0, 1, -1, 2, -2, 0},
			{0, 1, 1, 4, 4, 0},
			{0, 1, -1, 8, -8, 1},
		},
	}
)

// Lines says where the lines are that a transform reads and writes, in blocks that each hold
// a few. Steps count elements.
type Lines struct {
	Length   int // elements of a line: a multiple of Lanes
	Blocks   int
	DstLine  int // from line to line of the result
	DstBlock int // from block to block of it
	SrcLine  int // the same of what is read
	SrcBlock int
}

// WinogradInput sets the six lines of each block of dst to Bᵀ times the six of src.
func WinogradInput(dst, src []float32, l Lines) { l.apply(winogradInput, dst, src) }

// WinogradInputBack adds B times the six lines of each block of src to the six of dst: the
// gradient of WinogradInput.
func WinogradInputBack(dst, src []float32, l Lines) { l.apply(winogradInputBack, dst, src) }

// WinogradOutput sets the lines of each block of dst, two or four, to Aᵀ times the six of src.
func WinogradOutput(lines int, dst, src []float32, l Lines) {
	if lines == 2 {
		l.apply(winogradTwo, dst, src)
	} else {
		l.apply(winogradFour, dst, src)
	}
}

// WinogradOutputBack sets the six lines of each block of dst to A times the two or four of
// src: the gradient of WinogradOutput.
func WinogradOutputBack(lines int, dst, src []float32, l Lines) {
	if lines == 2 {
		l.apply(winogradTwoBack, dst, src)
	} else {
		l.apply(winogradFourBack, dst, src)
	}
}

// The transforms, as convolver has them.
const (
	winogradInput = iota
	winogradInputBack
	winogradTwo
	winogradTwoBack
	winogradFour
	winogradFourBack
	transforms
)

// transformFunc applies a transform to lines of length elements.
type transformFunc = func(dst *float32, dstLine, dstBlock int, src *float32, srcLine, srcBlock int, length, blocks int)

// transformLines are the numbers of lines that each transform writes and reads.
var transformLines = [transforms][2]int{
	winogradInput:     {WinogradPoints, WinogradPoints},
	winogradInputBack: {WinogradPoints, WinogradPoints},
	winogradTwo:       {2, WinogradPoints},
	winogradTwoBack:   {WinogradPoints, 2},
	winogradFour:      {4, WinogradPoints},
	winogradFourBack:  {WinogradPoints, 4},
}

func (l Lines) apply(transform int, dst, src []float32) {
	lines := transformLines[transform]
	if l.Length <= 0 || l.Length%Lanes != 0 || l.Blocks <= 0 {
		panic("kernel: Winograd: no whole pixels or no blocks")
	}
	if (l.Blocks-1)*l.DstBlock+(lines[0]-1)*l.DstLine+l.Length > len(dst) || (l.Blocks-1)*l.SrcBlock+(lines[1]-1)*l.SrcLine+l.Length > len(src) {
		panic("kernel: Winograd: lines end beyond their slice")
	}
	width := Lanes
	if l.Length%(2*Lanes) == 0 {
		width = 2 * Lanes
	}
	active.convolver(width).transforms[transform](&dst[0], l.DstLine, l.DstBlock, &src[0], l.SrcLine, l.SrcBlock, l.Length, l.Blocks)
}

// transformGo applies matrix m, or its transpose, and adds to dst or replaces it.
func transformGo(m [][]float32, transpose, adds bool) transformFunc {
	return func(dst *float32, dstLine, dstBlock int, src *float32, srcLine, srcBlock int, length, blocks int) {
		rows, columns := len(m), len(m[0])
		if transpose {
			rows, columns = columns, rows
		}
		for b := range blocks {
			for i := range rows {
				to := line(dst, b*dstBlock+i*dstLine, length)
				if !adds {
					clear(to)
				}
				for j := range columns {
					var v float32
					if transpose {
						v = m[j][i]
					} else {
						v = m[i][j]
					}
					for k, x := range line(src, b*srcBlock+j*srcLine, length) {
						to[k] += v * x
					}
				}
			}
		}
	}
}
