package adapt

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestExperimentToy(t *testing.T) {
	if os.Getenv("EXP") == "" {
		t.Skip()
	}
	seeds, _ := strconv.Atoi(os.Getenv("SEEDS"))
	every, _ := strconv.Atoi(os.Getenv("EVERY"))
	for _, name := range strings.Fields(os.Getenv("EXP")) {
		var accs []string
		var curves [][]string
		start := time.Now()
		for seed := range uint64(seeds) {
			p, truth := toyProblem("mid", 8, [3]int{66, 17, 17}, seed)
			c, _ := Recipe("toy", []int{2}, ScheduleDefault)
			c.Method, _ = ParseMethod(name, 0)
			c.Estimate = estimators[name]
			c.Seed = seed
			if s := os.Getenv("SET"); s != "" {
				if err := json.Unmarshal([]byte(s), &c); err != nil {
					t.Fatal(err)
				}
			}
			var est time.Duration
			var curve []string
			c.OnEpoch = func(m EpochMetrics) error {
				est += m.EstimateTime
				if m.Reestimated && every > 0 {
					fmt.Printf("   %.3f est %v\n", m.Proportions, m.EstimateTime)
				}
				if every > 0 && m.Epoch%every == every-1 {
					curve = append(curve, fmt.Sprintf("%.3f", balancedAccuracy(Argmax(m.Model().Predict(p.Target)), truth, 3)))
				}
				return nil
			}
			m, err := Train(context.Background(), p, c)
			if err != nil {
				fmt.Println(err)
			}
			curves = append(curves, curve)
			accs = append(accs, fmt.Sprintf("%.3f", balancedAccuracy(Argmax(m.Predict(p.Target)), truth, 3)))
		}
		for _, c := range curves {
			fmt.Println(c)
		}
		fmt.Println(name, os.Getenv("SET"), accs, time.Since(start)/time.Duration(seeds))
	}
}
