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
		rows: 12, wide: 32, narrow: 16, half: 8,
		wideTile: sgemmWideAVX512, narrowTile: sgemmNarrowAVX512, halfTile: sgemmHalfAVX512,
		lanes: 16, group: 4, transpose: stransposeAVX512, copy: scopyAVX512,
	}
	l.products64 = &tiling[float64]{
		rows: 12, wide: 16, narrow: 8, half: 4,
		wideTile: dgemmWideAVX512, narrowTile: dgemmNarrowAVX512, halfTile: dgemmHalfAVX512,
		lanes: 8, group: 2, transpose: dtransposeAVX512, copy: dcopyAVX512,
	}
})

var avx2 = derive("avx2", func(l *loops) {
	l.products32 = &tiling[float32]{
		rows: 6, wide: 16, narrow: 8,
		wideTile: sgemmWideAVX2, narrowTile: sgemmNarrowAVX2,
		lanes: 8, group: 4, transpose: stransposeAVX2, copy: scopyAVX2,
	}
	l.products64 = &tiling[float64]{
		rows: 6, wide: 8, narrow: 4,
		wideTile: dgemmWideAVX2, narrowTile: dgemmNarrowAVX2,
		lanes: 4, group: 2, transpose: dtransposeAVX2, copy: dcopyAVX2,
	}
})

// derive returns the generic level with some loops replaced.
func derive(name string, replace func(*loops)) loops {
	l := generic
	l.name = name
	replace(&l)
	return l
}
