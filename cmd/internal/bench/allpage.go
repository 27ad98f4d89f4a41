//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func (r benchRun) machine() string {
	return fmt.Sprintf("%s, %d cores, kernels %s", r.Processor, r.Cores, r.Kernels)
}

func (r benchRun) title() string {
	var peers []string
	for _, peer := range slices.Sorted(maps.Keys(r.Peers)) {
		peers = append(peers, peer+" "+r.Peers[peer])
	}
	return fmt.Sprintf("Commit %s, %s; %s; %s; load before %s; beside %s", r.Commit, r.Date, r.machine(), r.Go, r.Load, strings.Join(peers, ", "))
}

// table has the figures of one run.
func (r benchRun) table() string {
	var text strings.Builder
	text.WriteString("| what | ours | unit | times as fast as |\n|---|---|---|---|\n")
	for _, f := range r.Figures {
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", f.What, short(f.Value), f.Unit, f.beside())
	}
	return text.String()
}

func (f benchFigure) beside() string {
	var all []string
	for _, peer := range slices.Sorted(maps.Keys(f.Peers)) {
		all = append(all, fmt.Sprintf("%s %.2f", peer, f.Peers[peer]))
	}
	return strings.Join(all, ", ")
}

// short is a number with about three digits.
func short(v float64) string {
	switch {
	case v >= 10_000:
		return fmt.Sprintf("%.0f,000", v/1000)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// writeBenchPage writes what stands between the marks of the page: for each kind of machine its runs,
// and each figure drawn over them.
func writeBenchPage(path string, runs []benchRun) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const begin, end = "<!-- not measured: speeds, which no test repeats; make bench-all -->", "<!-- end -->"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the figures: %s … %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n\n"+benchPage(runs)+end+after), 0o666)
}

func benchPage(runs []benchRun) string {
	var text strings.Builder
	for _, machine := range machines(runs) {
		fmt.Fprintf(&text, "### %s\n\n", machine)
		var here []benchRun
		for _, r := range runs {
			if r.machine() == machine {
				here = append(here, r)
				fmt.Fprintf(&text, "%d. %s\n", len(here), r.title())
			}
		}
		text.WriteString("\n| what | unit | 1 to " + fmt.Sprint(len(here)) + " | first | last | times as fast as, last |\n|---|---|---|---|---|---|\n")
		for _, f := range here[len(here)-1].Figures {
			var drawn []float64
			for _, r := range here {
				if i := slices.IndexFunc(r.Figures, func(g benchFigure) bool { return g.What == f.What && g.Unit == f.Unit }); i >= 0 {
					drawn = append(drawn, r.Figures[i].Value)
				}
			}
			fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", f.What, f.Unit, bars(drawn), short(drawn[0]), short(f.Value), f.beside())
		}
		text.WriteString("\n")
	}
	return text.String()
}

// machines are the kinds of machines, that of the newest run first.
func machines(runs []benchRun) (all []string) {
	for _, r := range slices.Backward(runs) {
		if !slices.Contains(all, r.machine()) {
			all = append(all, r.machine())
		}
	}
	return all
}

// bars draws numbers as bars, the largest of which is full.
func bars(values []float64) string {
	const heights = "▁▂▃▄▅▆▇█"
	most, text := slices.Max(values), []rune{}
	for _, v := range values {
		i := 0
		if most > 0 {
			i = min(7, max(0, int(8*v/most-0.5)))
		}
		text = append(text, []rune(heights)[i])
	}
	return string(text)
}
