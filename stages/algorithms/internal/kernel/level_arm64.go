package kernel

// levels lists the levels that this processor can run, the best first: every one has NEON.
func levels() []*loops { return []*loops{&neon, &generic} }

var neon = derive("neon", func(l *loops) {
	l.products32 = &tiling[float32]{
		depth: 384, height: 6, wide: 16, narrow: 8, packRows: 512,
		wholeTiles: true, wideTile: sgemmWideNEON, narrowTile: sgemmNarrowNEON,
		lanes: 8, group: 4, transpose: stransposeNEON, copy: scopyNEON,
	}
	l.products64 = &tiling[float64]{
		depth: 256, height: 6, wide: 8, narrow: 4, packRows: 512,
		wholeTiles: true, wideTile: dgemmWideNEON, narrowTile: dgemmNarrowNEON,
		lanes: 4, group: 2, transpose: dtransposeNEON, copy: dcopyNEON,
	}
	l.axpy, l.axpy64, l.dot, l.dot64 = saxpyNEON, daxpyNEON, sdotNEON, ddotNEON
	l.scale, l.mul, l.mulAdd, l.lerp, l.maximum = scaleNEON, mulNEON, mulAddNEON, lerpNEON, maximumNEON
	l.affine, l.sum, l.squaredDistances = affineNEON, sumNEON, squaredDistancesNEON
	l.markAbove, l.markNotUpTo = markAboveNEON, markNotUpToNEON
	l.addReLU, l.reluBackward = addReLUNEON, reluBackwardNEON
	l.pixelSums, l.pixelSquares = pixelSumsNEON, pixelSquaresNEON
	l.normalise, l.normaliseSums, l.normaliseBackward = normaliseNEON, normaliseSumsNEON, normaliseBackwardNEON
	l.sgd, l.momentumSGD, l.adam = sgdNEON, momentumSGDNEON, adamNEON
	l.zip, l.block = zipNEON, 8
	l.exp, l.exp64, l.log64 = expNEON, exp64NEON, log64NEON
	l.pixels, l.pairs = &convolverNEON, &convolverNEON
	l.maxPool, l.maxPoolBackward = maxPoolNEON, maxPoolBackwardNEON
})

var convolverNEON = convolver{
	width: Lanes, heights: []int{4, 1},
	convolve:      [3]convolveFunc{convolve1NEON, convolve2NEON, convolve3NEON},
	correlateRows: 2, correlate: correlateNEON,
	transforms: [transforms]transformFunc{
		winogradInput: winogradInputNEON, winogradInputBack: winogradInputBackNEON,
		winogradTwo: winogradTwoNEON, winogradTwoBack: winogradTwoBackNEON,
		winogradFour: winogradFourNEON, winogradFourBack: winogradFourBackNEON,
	},
}
