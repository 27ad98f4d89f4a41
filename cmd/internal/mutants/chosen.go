package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

var (
	// allScripts run the programs as users do. Those of golden compare all that is said and written with what it was.
	allScripts    = tests{"./cmd/mars", "TestScripts"}
	goldenScripts = tests{"./cmd/mars", "TestScripts/^golden"}
	// interrupted ends commands wherever they ask for an interruption.
	interrupted = tests{"./cmd/internal/cli", "TestInterruptedAnywhere"}
)

// choose chooses n mutants at random of the packages that do the work, all kinds alike
// probable. They compile: that one does not says nothing of the tests. Nor are those of alike chosen. It gives the slow tests that may
// notice them by file: of the packages that import theirs, of flags, of answers that are kept, and all scripts.
func choose(ctx context.Context, dir string, seed uint64, n int) (some []mutant, slow map[string][]tests, err error) {
	if n == 0 {
		return nil, nil, nil
	}
	kinds := map[string][]mutant{}
	all, err := load(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	slow = map[string][]tests{}
	for _, p := range all {
		run := []tests{interrupted, {"./cmd/internal/cli", "TestWiring|TestAnswersHaveVersions"}, allScripts}
		for _, other := range all {
			if other.Imports[p.PkgPath] != nil {
				run = append(run, tests{other.PkgPath, ""})
			}
		}
		for i, file := range p.Syntax {
			path, err := filepath.Rel(dir, p.CompiledGoFiles[i])
			if err != nil {
				return nil, nil, err
			}
			slow[path] = run
			sites, err := mutate(dir, path, file, p)
			if err != nil {
				return nil, nil, err
			}
			for _, s := range sites {
				s.mutant.tests = []tests{{p.PkgPath, ""}, goldenScripts}
				kinds[s.kind] = append(kinds[s.kind], s.mutant)
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	names := slices.Sorted(maps.Keys(kinds))
	for len(some) < n {
		of := kinds[names[rng.IntN(len(names))]]
		m := of[rng.IntN(len(of))]
		if slices.ContainsFunc(some, m.overlaps) {
			continue
		}
		if listed, err := m.isAlike(dir); err != nil {
			return nil, nil, err
		} else if listed {
			fmt.Printf("| %s | `%s` | `%s` | changes nothing that could be seen, and is not tried |\n", m.place(dir), oneLine(m.old), oneLine(m.new))
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

// load reads the packages that do the work, with types.
func load(ctx context.Context, dir string) (some []*packages.Package, err error) {
	const need = packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	all, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Mode: need}, "./stages/...", "./pipeline/...", "./arrowio/...")
	for _, p := range all {
		for _, wrong := range p.Errors {
			err = errors.Join(err, wrong)
		}
		if p.Name != "main" && !strings.Contains(p.PkgPath, "test") && !strings.HasSuffix(p.PkgPath, "simulate") {
			some = append(some, p)
		}
	}
	return some, err
}

var (
	anError = regexp.MustCompile(`^(err$|errors\.New\(|fmt\.Errorf\()`)

	// One value more in a comparison, and the opposite of one.
	bounds    = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	opposites = map[token.Token]string{token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<", token.EQL: "!=", token.NEQ: "=="}
	inverses  = map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}
)

// A site is where a line of a kind can be broken.
type site struct {
	mutant
	kind         string
	node, parent ast.Node
	pkg          string
	line         int
}

// mutate finds the mutants of a file. Their kinds are: bound (a comparison of whole numbers holds for one more value
// or one less; numbers with fractions are hardly ever the same), turn (a comparison, but for one with nil, holds where it did not), invert (+ and −, × and ÷),
// truth (true and false), drop (what is assigned is not), swallow (an error is not returned), count (a whole number that is
// computed or compared with is one more). Nobody looks at what is beside an error or beside false, and no memory that is made too large shows, nor a limit of it (1 << 27), nor how often it is asked whether there was an interruption.
func mutate(dir, path string, file *ast.File, p *packages.Package) (sites []site, err error) {
	text, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return nil, err
	}
	offset := func(at token.Pos) int { return p.Fset.Position(at).Offset }
	source := func(n ast.Node) string { return string(text[offset(n.Pos()):offset(n.End())]) }
	var parent ast.Node
	add := func(kind string, n ast.Node, becomes string) {
		sites = append(sites, site{mutant{file: path, old: source(n), new: becomes, at: offset(n.Pos())}, kind, n, parent, p.PkgPath, p.Fset.Position(n.Pos()).Line})
	}
	is := func(e ast.Expr, info types.BasicInfo) bool {
		b, ok := p.TypesInfo.TypeOf(e).Underlying().(*types.Basic)
		return ok && b.Info()&info != 0
	}
	astutil.Apply(file, func(c *astutil.Cursor) bool {
		parent = c.Parent()
		switch n := c.Node().(type) {
		case *ast.BinaryExpr:
			if n.Op == token.LAND && strings.Contains(source(n.X), "%") && strings.HasSuffix(source(n), "ctx.Err() != nil") {
				return false
			}
			with := func(operator string) string { return source(n.X) + " " + operator + " " + source(n.Y) }
			if other, ok := bounds[n.Op]; ok && is(n.X, types.IsInteger) && is(n.Y, types.IsInteger) {
				add("bound", n, with(other))
			}
			if other, ok := opposites[n.Op]; ok && source(n.Y) != "nil" { // nothing survives that an error is taken for none
				add("turn", n, with(other))
			}
			if other, ok := inverses[n.Op]; ok && is(n, types.IsNumeric) && p.TypesInfo.Types[n].Value == nil {
				add("invert", n, with(other))
			}
		case *ast.Ident:
			if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
				add("truth", n, other)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN {
				nothing := strings.Join(slices.Repeat([]string{"_"}, len(n.Lhs)), ", ")
				add("drop", n, nothing+" "+string(text[offset(n.TokPos):offset(n.End())]))
			} else if n.Tok != token.DEFINE {
				add("drop", n, "_ = "+source(n.Rhs[0]))
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				break
			}
			last := source(n.Results[len(n.Results)-1])
			if last == "err" {
				add("swallow", n, strings.TrimSuffix(source(n), last)+"nil")
			}
			if last == "false" && len(n.Results) > 1 {
				add("truth", n.Results[len(n.Results)-1], "true")
				return false
			}
			return !anError.MatchString(last)
		case *ast.CallExpr:
			return source(n.Fun) != "make" && source(n.Fun) != "slices.Grow"
		case *ast.BasicLit:
			switch of := c.Parent().(type) {
			case *ast.BinaryExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.AssignStmt, *ast.RangeStmt, *ast.ValueSpec:
				if e, ok := of.(*ast.BinaryExpr); ok && e.Op == token.SHL && p.TypesInfo.Types[e].Value != nil {
					break // a limit of memory
				}
				if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
					add("count", n, strconv.Itoa(v+1))
				}
			}
		}
		return true
	}, nil)
	return sites, nil
}
