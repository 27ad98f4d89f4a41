//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// levels lists the levels that this processor can run, the best first.
func levels() []*loops {
	var all []*loops
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, &avx2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2 {
			all = append([]*loops{&avx512}, all...)
		}
	}
	return append(all, &generic)
}

var avx512 = derive("avx512", func(l *loops) {
	l.products32 = &tiling[float32]{
		depth: 384, height: 12, broad: 40, wide: 32, narrow: 16, half: 8, packRows: 512,
		broadTile: sgemmBroadAVX512, wideTile: sgemmWideAVX512, narrowTile: sgemmNarrowAVX512, halfTile: sgemmHalfAVX512,
		lanes: 16, group: 4, transpose: stransposeAVX512, copy: scopyAVX512,
	}
	l.products64 = &tiling[float64]{
		depth: 256, height: 12, broad: 20, wide: 16, narrow: 8, half: 4, packRows: 512,
		broadTile: dgemmBroadAVX512, wideTile: dgemmWideAVX512, narrowTile: dgemmNarrowAVX512, halfTile: dgemmHalfAVX512,
		lanes: 8, group: 2, transpose: dtransposeAVX512, copy: dcopyAVX512,
	}
	l.axpy, l.axpy64, l.dot, l.dot64 = saxpyAVX512, daxpyAVX512, sdotAVX512, ddotAVX512
	l.scale, l.mul, l.mulAdd, l.lerp, l.maximum = scaleAVX512, mulAVX512, mulAddAVX512, lerpAVX512, maximumAVX512
	l.affine, l.sum, l.squaredDistances = affineAVX512, sumAVX512, squaredDistancesAVX512
	l.markAbove, l.markNotUpTo = markAboveAVX512, markNotUpToAVX512
	l.addReLU, l.reluBackward = addReLUAVX512, reluBackwardAVX512
	l.pixelSums, l.pixelSquares = pixelSumsAVX512, pixelSquaresAVX512
	l.normalise, l.normaliseSums, l.normaliseBackward = normaliseAVX512, normaliseSumsAVX512, normaliseBackwardAVX512
	l.sgd, l.momentumSGD, l.adam = sgdAVX512, momentumSGDAVX512, adamAVX512
	l.zip, l.block, l.stream = zipAVX512, 16, streamAVX512
	l.exp, l.exp64, l.log64 = expAVX512, exp64AVX512, log64AVX512
	l.pixels, l.pairs = &convolverAVX2, &convolverAVX512
	l.maxPool, l.maxPoolBackward = maxPoolAVX512, maxPoolBackwardAVX2
})

var avx2 = derive("avx2", func(l *loops) {
	l.products32 = &tiling[float32]{
		depth: 384, height: 6, wide: 16, narrow: 8, packRows: 256,
		wideTile: sgemmWideAVX2, aheadTile: sgemmAheadAVX2, narrowTile: sgemmNarrowAVX2,
		lanes: 8, group: 4, transpose: stransposeAVX2, copy: scopyAVX2,
	}
	l.products64 = &tiling[float64]{
		depth: 256, height: 6, wide: 8, narrow: 4, packRows: 256,
		wideTile: dgemmWideAVX2, aheadTile: dgemmAheadAVX2, narrowTile: dgemmNarrowAVX2,
		lanes: 4, group: 2, transpose: dtransposeAVX2, copy: dcopyAVX2,
	}
	l.axpy, l.axpy64, l.dot, l.dot64 = saxpyAVX2, daxpyAVX2, sdotAVX2, ddotAVX2
	l.scale, l.mul, l.mulAdd, l.lerp, l.maximum = scaleAVX2, mulAVX2, mulAddAVX2, lerpAVX2, maximumAVX2
	l.affine, l.sum, l.squaredDistances = affineAVX2, sumAVX2, squaredDistancesAVX2
	l.markAbove, l.markNotUpTo = markAboveAVX2, markNotUpToAVX2
	l.addReLU, l.reluBackward = addReLUAVX2, reluBackwardAVX2
	l.pixelSums, l.pixelSquares = pixelSumsAVX2, pixelSquaresAVX2
	l.normalise, l.normaliseSums, l.normaliseBackward = normaliseAVX2, normaliseSumsAVX2, normaliseBackwardAVX2
	l.sgd, l.momentumSGD, l.adam = sgdAVX2, momentumSGDAVX2, adamAVX2
	l.zip, l.block, l.stream = zipAVX2, 8, streamAVX2
	l.exp, l.exp64, l.log64 = expAVX2, exp64AVX2, log64AVX2
	l.pixels, l.pairs = &convolverAVX2, &convolverAVX2
	l.maxPool, l.maxPoolBackward = maxPoolAVX2, maxPoolBackwardAVX2
})

var convolverAVX512 = convolver{
	width: 2 * Lanes, heights: []int{8, 4, 1},
	convolve:      [3]convolveFunc{convolve1AVX512, convolve2AVX512, convolve3AVX512},
	correlateRows: 4, correlate: correlateAVX512,
	transforms: [transforms]transformFunc{
		winogradInput: winogradInputAVX512, winogradInputBack: winogradInputBackAVX512,
		winogradTwo: winogradTwoAVX512, winogradTwoBack: winogradTwoBackAVX512,
		winogradFour: winogradFourAVX512, winogradFourBack: winogradFourBackAVX512,
	},
}

var convolverAVX2 = convolver{
	width: Lanes, heights: []int{4, 1},
	convolve:      [3]convolveFunc{convolve1AVX2, convolve2AVX2, convolve3AVX2},
	correlateRows: 2, correlate: correlateAVX2,
	transforms: [transforms]transformFunc{
		winogradInput: winogradInputAVX2, winogradInputBack: winogradInputBackAVX2,
		winogradTwo: winogradTwoAVX2, winogradTwoBack: winogradTwoBackAVX2,
		winogradFour: winogradFourAVX2, winogradFourBack: winogradFourBackAVX2,
	},
}
