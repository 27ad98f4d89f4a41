module mars.dev/mars/stages/algorithms/internal/kernel/bench

go 1.26.0

require (
	gonum.org/v1/gonum v0.17.0
	gonum.org/v1/netlib v0.0.0-20190313105609-8cb42192e0e0
	mars.dev/mars v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace mars.dev/mars => ../../../../..
