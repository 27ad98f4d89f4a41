package kernel

// MaxPool2x2 takes the maximum of every 2×2 window of every plane. src holds
// planes×height×width values (planes is batch·channels), dst and argmax
// planes×(height/2)×(width/2); an odd last line or column is left out.
// argmax[i] is the place 0..3 of the maximum in its window, row by row, the
// first at a tie; NaN counts as the largest.
func MaxPool2x2(dst []float32, argmax []uint8, src []float32, planes, height, width int) {
	checkPool("MaxPool2x2", dst, argmax, src, planes, height, width)
	outHeight, outWidth := height/2, width/2
	for p := range planes {
		for y := range outHeight {
			out := (p*outHeight + y) * outWidth
			in := (p*height + 2*y) * width
			maxPoolLine(dst[out:out+outWidth], argmax[out:out+outWidth], src[in:in+width], src[in+width:in+2*width])
		}
	}
}

// MaxPool2x2Backward sets dsrc (planes×height×width) to the gradient of the
// input of MaxPool2x2 from the gradient ddst of its output: every ddst[i] goes
// to the place that argmax names, the rest is 0.
func MaxPool2x2Backward(dsrc, ddst []float32, argmax []uint8, planes, height, width int) {
	checkPool("MaxPool2x2Backward", ddst, argmax, dsrc, planes, height, width)
	outHeight, outWidth := height/2, width/2
	clear(dsrc)
	for p := range planes {
		for y := range outHeight {
			out := (p*outHeight + y) * outWidth
			in := (p*height + 2*y) * width
			for x, place := range argmax[out : out+outWidth] {
				dsrc[in+int(place>>1)*width+2*x+int(place&1)] = ddst[out+x]
			}
		}
	}
}

// maxPoolLine pools two neighbouring input lines into one output line.
func maxPoolLine(dst []float32, argmax []uint8, upper, lower []float32) {
	for x := range dst {
		window := [4]float32{upper[2*x], upper[2*x+1], lower[2*x], lower[2*x+1]}
		best, place := window[0], 0
		for k, v := range window[1:] {
			if v > best || (v != v && best == best) {
				best, place = v, k+1
			}
		}
		dst[x], argmax[x] = best, uint8(place)
	}
}

func checkPool(name string, pooled []float32, argmax []uint8, full []float32, planes, height, width int) {
	sameLength(name+": full planes", len(full), planes*height*width)
	sameLength(name+": pooled planes", len(pooled), planes*(height/2)*(width/2))
	sameLength(name+": argmax", len(argmax), len(pooled))
}
