package cli

import (
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/featurize/shift"
)

// A meaning is what flags of some names mean in every command that has them. Their types,
// defaults and help stand where they are registered. A flag without a meaning changes the
// result, and comes first in the help.
type meaning struct {
	names  string
	role   pipeline.Role
	learnt bool      // its file is read when the rows come: the stage before in a pipe may have saved it
	values completer // what a shell offers; nil: the choices of its type, files if it names one, or else nothing
	python string    // type of the keyword in Python, if not that of the flag; none for no keyword

	heading int // which of meanings it is under
}

// none is the type of a keyword that the Python package does not have: it has another name for
// the flag, or sets it itself, or the flag makes sense in a shell alone.
const none = "none"

// meanings are those of all flags by the headings of the help of commands with many flags. The
// first, those that most need, have no heading.
var meanings = []struct {
	heading string
	flags   []meaning
}{
	{"", []meaning{
		{names: "source target", role: pipeline.InputFile, python: none},
		{names: "model", role: pipeline.InputFile, learnt: true, values: files("safetensors", "arrow", "onnx"), python: none},
		{names: "load", role: pipeline.LoadFile, learnt: true, values: files("arrow", "safetensors")},
		{names: "init", role: pipeline.InputFile, learnt: true, values: files("safetensors")},
		{names: "after sums", role: pipeline.InputFile, learnt: true, python: none},
		{names: "labels parts", role: pipeline.InputFile, python: none},
		{names: "reference", role: pipeline.InputFile, python: none},
		{names: "reference-labels", role: pipeline.InputFile},
		{names: "alert follow late bad-rows", python: none}, // of what a program waits for
		{names: "output", role: pipeline.RowsFile, python: none},
		{names: "save", role: pipeline.StateFile, values: files("arrow", "safetensors"), python: "Path"},
		{names: "save-model", role: pipeline.StateFile, python: none},
		{names: "metrics", role: pipeline.MetricsFile, values: files("arrow", "arrows")},
		{names: "table", role: pipeline.PageFile, values: files("csv", "md", "txt")},
		{names: "pipeline", role: pipeline.PageFile, values: files("toml")},
		{names: "metrics-file", role: pipeline.PageFile},
		{names: "summary", role: pipeline.PageFile, python: none},
		{names: "checkpoint", role: pipeline.Checkpoint, python: none},
		{names: "checkpoint-every", role: pipeline.NoEffect},
		{names: "resume", role: pipeline.Resume},
		{names: "cache", values: folders},
		{names: "arch", values: offer(append([]string{"auto", "mlp:"}, architectures...)...)},
		{names: "setting", values: offer("low", "mid", "high", "0", "1", "2", "3", "4", "5", "6")},
		{names: "keep", values: lists(columnNames("target", "source")), python: "Names"},
		{names: "label", values: columnNames("source", "reference", "target"), python: none},
		{names: "id time", values: columnNames("source", "target")},
		{names: "levels", values: lists(columnNames("source"))},
		{names: "tree", role: pipeline.InputFile, python: "Path"},
		{names: "columns exclude", values: lists(columnNames("source", "target"))},
		{names: "for json details passes", python: none},
		{names: "each-target", values: columnNames("target"), python: none},
		{names: "quiet", role: pipeline.Quiet, python: none},
		{names: "help", role: pipeline.Reserved, python: none},
	}},
	{"Tables", []meaning{
		{names: "source-labels target-labels", role: pipeline.InputFile, python: "Paths"},
		{names: "domain-column batch-column", values: columnNames("source", "target")},
		{names: "label-from-file missing-labels source-domain target-domain file-column batch-files classes"},
	}},
	{"What columns become", []meaning{
		{names: "categorical", values: lists(columnNames("source", "target"))},
		{names: "max-categories missing missing-indicator hash-features"},
		{names: "explain", role: pipeline.Reserved, python: none},
	}},
	{"How files are written", []meaning{{names: "separator decimal thousands comment skip-lines no-header encoding compensate"}}},
	{"Images", []meaning{
		{names: "image-column", values: columnNames("source", "target")},
		{names: "bad-images shape raw grey resize source-resize target-resize crop pad source-pad target-pad source-binarise target-binarise colour"},
		{names: "source-photographs target-photographs", role: pipeline.InputFile, values: folders, python: "Path"},
		{names: "augment-preview", role: pipeline.PageFile, values: files("png")},
		{names: "augment", values: offer(append(augment.Presets(), augment.Names()...)...)},
	}},
	{"Which rows are drawn", []meaning{
		{names: "source-proportions target-proportions", values: offer(shift.Random), python: "Shares"},
		{names: "source-fractions target-fractions source-rows target-rows max-source-rows max-target-rows disjoint"},
	}},
	{"How it is done", []meaning{
		{names: "method log1p arcsinh standardize scale classifier decision unknown confidence epochs level bootstrap"},
		{names: "seed", role: pipeline.Seed},
	}},
	{"Output", []meaning{
		{names: "report", role: pipeline.PageFile},
		{names: "compression", role: pipeline.Encoding, python: none},
		{names: "format spreadsheet force log-format", role: pipeline.Reserved, python: none},
		{names: cachedFlag, role: pipeline.Reserved, values: folders, python: none},
	}},
	{"Columns of a stream", []meaning{{names: "domain features embedding prediction predicted-class probability typicality", python: none}}},
	{"Memory and threads", []meaning{
		{names: "memory memory-limit max-classes", role: pipeline.NoEffect},
		{names: "jobs", role: pipeline.Threads},
	}},
}

// meaningOf is what a flag of each name means.
var meaningOf = sync.OnceValue(func() map[string]meaning {
	known := map[string]meaning{}
	for i, group := range meanings {
		for _, m := range group.flags {
			m.heading = i
			for _, name := range strings.Fields(m.names) {
				known[name] = m
			}
		}
	}
	return known
})

// roleOf is what a flag of that name means to a pipeline beside its effect on the result.
func roleOf(name string) pipeline.Role { return meaningOf()[name].role }

// A completer gives what a flag's value may be.
type completer = cobra.CompletionFunc

func offer(values ...string) completer {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

func files(extensions ...string) completer {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
