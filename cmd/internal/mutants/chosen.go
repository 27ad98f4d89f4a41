package main

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// allScripts run the programs as users do. Those of golden compare all that is said and written with what it was.
	allScripts    = tests{"./cmd/mars", "TestScripts"}
	goldenScripts = tests{"./cmd/mars", "TestScripts/^golden"}
)

// choose chooses n mutants at random of the packages that do the work, all kinds alike
// probable. They compile: that one does not says nothing of the tests. It gives the slow tests that may notice them by
// file: of the packages that import theirs, of flags, of answers that are kept, and all scripts.
func choose(ctx context.Context, dir string, seed uint64, n int) (some []mutant, slow map[string][]tests, err error) {
	kinds := map[string][]mutant{}
	packages, err := listPackages(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	slow = map[string][]tests{}
	for _, p := range packages {
		run := []tests{{"./cmd/internal/cli", "TestWiring|TestAnswersHaveVersions"}, allScripts}
		for _, other := range packages {
			if slices.Contains(other.Imports, p.ImportPath) {
				run = append(run, tests{other.ImportPath, ""})
			}
		}
		for _, file := range p.GoFiles {
			path, err := filepath.Rel(dir, filepath.Join(p.Dir, file))
			if err != nil {
				return nil, nil, err
			}
			slow[path] = run
			if err := mutate(dir, path, []tests{{p.ImportPath, ""}, goldenScripts}, kinds); err != nil {
				return nil, nil, err
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	names := []string{"compare", "add", "truth", "drop", "swallow", "count"}
	for len(some) < n {
		of := kinds[names[rng.IntN(len(names))]]
		m := of[rng.IntN(len(of))]
		if slices.ContainsFunc(some, m.overlaps) {
			continue
		}
		var built error
		if err := broken(dir, []mutant{m}, func() error {
			built = command(ctx, dir, "go", "build", "./"+filepath.Dir(m.file)).Run()
			return ctx.Err()
		}); err != nil {
			return nil, nil, err
		}
		if built == nil {
			some = append(some, m)
		}
	}
	return some, slow, nil
}

// overlaps says whether two mutants are in the same text, so that not both can be there.
func (m mutant) overlaps(other mutant) bool {
	return m.file == other.file && m.at < other.at+len(other.old) && other.at < m.at+len(m.old)
}

type goPackage struct {
	Name, Dir, ImportPath string
	GoFiles, Imports      []string
}

func listPackages(ctx context.Context, dir string) (packages []goPackage, err error) {
	out, err := command(ctx, dir, "go", "list", "-json=Name,Dir,ImportPath,GoFiles,Imports", "./stages/...", "./pipeline", "./arrowio/...").Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if p.Name != "main" && !strings.Contains(p.Dir, "test") && !strings.HasSuffix(p.Dir, "simulate") {
			packages = append(packages, p)
		}
	}
}

var anError = regexp.MustCompile(`^(err$|errors\.New\(|fmt\.Errorf\()`)

// mutate adds the mutants of a file to those of their kinds.
func mutate(dir, path string, run []tests, kinds map[string][]mutant) error {
	text, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, 0)
	if err != nil {
		return err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	add := func(kind string, from, to token.Pos, becomes string) {
		kinds[kind] = append(kinds[kind], mutant{file: path, old: string(text[offset(from):offset(to)]), new: becomes, at: offset(from), tests: run})
	}
	source := func(n ast.Node) string {
		return string(text[offset(n.Pos()):offset(n.End())])
	}
	swaps := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.ADD: "-", token.SUB: "+"}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok {
				kind := map[bool]string{true: "add", false: "compare"}[n.Op == token.ADD || n.Op == token.SUB]
				add(kind, n.Pos(), n.End(), source(n.X)+" "+other+" "+source(n.Y))
			}
		case *ast.Ident:
			if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
				add("truth", n.Pos(), n.End(), other)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN {
				nothing := slices.Repeat([]string{"_"}, len(n.Lhs))
				add("drop", n.Pos(), n.End(), strings.Join(nothing, ", ")+strings.TrimPrefix(source(n), string(text[offset(n.Pos()):offset(n.TokPos)])))
			} else if n.Tok != token.DEFINE {
				add("drop", n.Pos(), n.End(), "_ = "+source(n.Rhs[0]))
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				break
			}
			last := n.Results[len(n.Results)-1]
			if source(last) == "err" {
				add("swallow", n.Pos(), n.End(), strings.TrimSuffix(source(n), source(last))+"nil")
			}
			if anError.MatchString(source(last)) {
				return false // nobody looks at what is beside an error
			}
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				add("count", n.Pos(), n.End(), strconv.Itoa(v+1))
			}
		}
		return true
	})
	return nil
}
