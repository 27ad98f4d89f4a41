package kernel

// Winograd's algorithm F(2, 5) computes two neighbouring values of a convolution with five
// weights by six products instead of ten (Lavin & Gray 2016, with the points 0, ±1, ±2 and
// ∞): for the weights w and six inputs x they are
//
//	y = Aᵀ·(G·w ∘ Bᵀ·x),
//
// where ∘ multiplies element by element. The functions below apply the matrices to lines of
// interleaved images, so that the products that are left are convolutions along lines.

// The sizes of F(2, 5): each pair of output lines needs as many lines of the input, each as
// many products, as WinogradPoints.
const (
	WinogradSide   = 5 // of the kernel
	WinogradLines  = 2 // of the output
	WinogradPoints = WinogradSide + WinogradLines - 1
)

// WinogradWeights is G, which turns a kernel's rows into those of the six products.
var WinogradWeights = [WinogradPoints][WinogradSide]float32{
	{1. / 4, 0, 0, 0, 0},
	{-1. / 6, -1. / 6, -1. / 6, -1. / 6, -1. / 6},
	{-1. / 6, 1. / 6, -1. / 6, 1. / 6, -1. / 6},
	{1. / 24, 1. / 12, 1. / 6, 1. / 3, 2. / 3},
	{1. / 24, -1. / 12, 1. / 6, -1. / 3, 2. / 3},
	{0, 0, 0, 0, 1},
}

// winogradB is Bᵀ, and winogradA is Aᵀ.
var (
	winogradB = [][]float32{
		{4, 0, -5, 0, 1, 0},
		{0, -4, -4, 1, 1, 0},
		{0, 4, -4, -1, 1, 0},
		{0, -2, -1, 2, 1, 0},
		{0, 2, -1, -2, 1, 0},
		{0, 4, 0, -5, 0, 1},
	}
	winogradA = [][]float32{
		{1, 1, 1, 1, 1, 0},
		{0, 1, -1, 2, -2, 1},
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

// WinogradOutput sets the two lines of each block of dst to Aᵀ times the six of src.
func WinogradOutput(dst, src []float32, l Lines) { l.apply(winogradOutput, dst, src) }

// WinogradOutputBack sets the six lines of each block of dst to A times the two of src: the
// gradient of WinogradOutput.
func WinogradOutputBack(dst, src []float32, l Lines) { l.apply(winogradOutputBack, dst, src) }

// WinogradInputBack adds B times the six lines of each block of src to the six of dst: the
// gradient of WinogradInput.
func WinogradInputBack(dst, src []float32, l Lines) { l.apply(winogradInputBack, dst, src) }

// The transforms, as convolver has them.
const (
	winogradInput = iota
	winogradOutput
	winogradOutputBack
	winogradInputBack
	transforms
)

// transformFunc applies a transform to lines of length elements.
type transformFunc = func(dst *float32, dstLine, dstBlock int, src *float32, srcLine, srcBlock int, length, blocks int)

// transformLines are the numbers of lines that each transform writes and reads.
var transformLines = [transforms][2]int{
	winogradInput:      {WinogradPoints, WinogradPoints},
	winogradOutput:     {WinogradLines, WinogradPoints},
	winogradOutputBack: {WinogradPoints, WinogradLines},
	winogradInputBack:  {WinogradPoints, WinogradPoints},
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
