package kernel

// MaxPool2x2 takes the maximum of every 2×2 window of every plane. src holds
// planes×height×width values (planes is batch·channels), dst and argmax
// planes×(height/2)×(width/2); an odd last line or column is left out.
// argmax[i] is the place 0..3 of the maximum in its window, row by row, the
// first at a tie; NaN counts as the largest.
func MaxPool2x2(dst []float32, argmax []uint8, src []float32, planes, height, width int) {
	checkPool("MaxPool2x2", dst, argmax, src, planes, height, width)
	eachPooledPlane(planes, height, width, func(pooled, full int) {
		active.maxPool(dst[pooled:], argmax[pooled:], src[full:], width, height/2)
	})
}

// MaxPool2x2Backward sets dsrc (planes×height×width) to the gradient of the
// input of MaxPool2x2 from the gradient ddst of its output: every ddst[i] goes
// to the place that argmax names, the rest is 0.
func MaxPool2x2Backward(dsrc, ddst []float32, argmax []uint8, planes, height, width int) {
	checkPool("MaxPool2x2Backward", ddst, argmax, dsrc, planes, height, width)
	if height%2 != 0 || width%2 != 0 {
		clear(dsrc) // what no window covers
	}
	eachPooledPlane(planes, height, width, func(pooled, full int) {
		active.maxPoolBackward(ddst[pooled:], argmax[pooled:], dsrc[full:], width, height/2)
	})
}

// eachPooledPlane calls f with the indices where each plane begins in the
// pooled and in the full image, if there are windows at all.
func eachPooledPlane(planes, height, width int, f func(pooled, full int)) {
	if height < 2 || width < 2 {
		return
	}
	for p := range planes {
		f(p*(height/2)*(width/2), p*height*width)
	}
}

// maxPoolGo pools so many lines of windows.
func maxPoolGo(pooled []float32, argmax []uint8, full []float32, width, lines int) {
	poolColumns(pooled, argmax, full, width, 0, lines)
}

// poolColumns pools the windows from column first on, NaN being the largest.
func poolColumns(pooled []float32, argmax []uint8, full []float32, width, first, lines int) {
	for y := range lines {
		for x := first; x < width/2; x++ {
			at := 2*y*width + 2*x
			best, place := full[at], 0
			for k := 1; k < 4; k++ {
				v := full[at+k/2*width+k%2]
				if best == best && !(v <= best) {
					best, place = v, k
				}
			}
			pooled[y*(width/2)+x], argmax[y*(width/2)+x] = best, uint8(place)
		}
	}
}

// maxPoolBackwardGo spreads so many lines of windows.
func maxPoolBackwardGo(pooled []float32, argmax []uint8, full []float32, width, lines int) {
	spreadColumns(pooled, argmax, full, width, 0, lines)
}

// spreadColumns spreads the windows from column first on.
func spreadColumns(pooled []float32, argmax []uint8, full []float32, width, first, lines int) {
	for y := range lines {
		for x := first; x < width/2; x++ {
			at, i := 2*y*width+2*x, y*(width/2)+x
			full[at], full[at+1], full[at+width], full[at+width+1] = 0, 0, 0, 0
			full[at+int(argmax[i]>>1)*width+int(argmax[i]&1)] = pooled[i]
		}
	}
}

func checkPool(name string, pooled []float32, argmax []uint8, full []float32, planes, height, width int) {
	samePart(name, ": full planes", len(full), planes*height*width)
	samePart(name, ": pooled planes", len(pooled), planes*(height/2)*(width/2))
	samePart(name, ": argmax", len(argmax), len(pooled))
}
