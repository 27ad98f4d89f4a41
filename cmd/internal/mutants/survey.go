package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A mark is text that is put into a file so that it notes whether a broken line would make a difference there.
type mark struct {
	at, instead int // where, and how much of the file it takes the place of
	text        string
	order       int // of marks at the same place: ends of what is shorter first, then beginnings of what is longer
}

// beginnings is the order of a beginning of nothing: all files are shorter.
const beginnings = 1 << 30

// survey runs all tests once, in a tree that notes at which lines a broken one would make a difference at all: there two
// numbers were the same, or an error was returned, or the line was reached. It lists those at which no test would notice anything.
// That one is noted does not say that a test notices.
func survey(ctx context.Context) error {
	dir, err := copyTree(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := load(ctx, dir)
	if err != nil {
		return err
	}
	var sites []site
	nothing := 0
	for _, p := range all {
		for i, file := range p.Syntax {
			path, err := filepath.Rel(dir, p.CompiledGoFiles[i])
			if err != nil {
				return err
			}
			some, err := mutate(dir, path, file, p)
			if err != nil {
				return err
			}
			var marks []mark
			for _, s := range some {
				if listed, err := s.isAlike(dir); err != nil {
					return err
				} else if listed {
					nothing++
					continue
				}
				if of := s.marks(len(sites), file, p); of != nil {
					sites, marks = append(sites, s), append(marks, of...)
				}
			}
			if err := insert(filepath.Join(dir, path), marks); err != nil {
				return err
			}
		}
	}
	seen, err := newSeen(dir, len(sites))
	if err != nil {
		return err
	}
	defer os.Remove(seen.path)
	if out, err := command(ctx, dir, "go", "build", "./...").CombinedOutput(); err != nil {
		return fmt.Errorf("the tree does not build with its notes: %w\n%s", err, out)
	}
	noted := map[string][]byte{}
	run := []tests{goldenScripts, interrupted, allScripts}
	for _, p := range all {
		run = append(run, tests{p.PkgPath, ""})
	}
	for _, t := range run {
		if err := t.start(ctx, dir, slowLimit).Run(); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			fmt.Printf("some tests of %s fail in this tree\n", t.pkg)
		}
		if noted[t.pkg+t.run], err = seen.take(); err != nil {
			return err
		}
	}
	report(sites, noted)
	fmt.Printf("\n%d more lines change nothing that could be seen, as alike.tsv says\n", nothing)
	return nil
}

// report prints a table of kinds, and the lines at which no test would notice anything. What each of the tests has noted is by package and names.
func report(sites []site, noted map[string][]byte) {
	type counts struct{ lines, quick, anywhere int }
	kinds := map[string]*counts{}
	var list strings.Builder
	for i, s := range sites {
		if kinds[s.kind] == nil {
			kinds[s.kind] = &counts{}
		}
		k := kinds[s.kind]
		k.lines++
		if noted[s.pkg][i]+noted[goldenScripts.pkg+goldenScripts.run][i] == 0 {
			k.quick++
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(noted)), func(by []byte) bool { return by[i] != 0 }) {
			k.anywhere++
			fmt.Fprintf(&list, "| %s:%d | %s | `%s` | `%s` |\n", s.file, s.line, s.kind, oneLine(s.old), oneLine(s.new))
		}
	}
	fmt.Print("| kind | lines | no difference to the tests of their package or golden scripts | nor to any other test |\n|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		fmt.Printf("| %s | %d | %d | %d |\n", kind, k.lines, k.quick, k.anywhere)
	}
	fmt.Printf("\n| where | kind | was | became |\n|---|---|---|---|\n%s", &list)
}

// seen is the file in which tests note lines.
type seen struct {
	path  string
	lines int
}

// newSeen makes the file, and the package that notes in it.
func newSeen(dir string, lines int) (*seen, error) {
	f, err := os.CreateTemp("", "mars-seen-")
	if err != nil {
		return nil, err
	}
	s := &seen{f.Name(), lines}
	if err := f.Close(); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(filepath.Join(dir, "cmd/internal/mutants/brokenlines/brokenlines.go"))
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "brokenlines"), 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "brokenlines/brokenlines.go"), code, 0o666); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "brokenlines/file.go"), fmt.Appendf(nil, "package brokenlines\n\nconst file = %q\n", s.path), 0o666); err != nil {
		return nil, err
	}
	return s, s.clear()
}

func (s *seen) clear() error { return os.WriteFile(s.path, make([]byte, s.lines), 0o666) }

// take gives what has been noted, and forgets it.
func (s *seen) take() ([]byte, error) {
	noted, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	return noted, s.clear()
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// insert puts marks into a file. Its lines stay where they are.
func insert(path string, marks []mark) error {
	if len(marks) == 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out strings.Builder
	at := 0
	for _, m := range marks {
		out.Write(text[at:m.at])
		out.WriteString(m.text)
		at = m.at + m.instead
	}
	out.Write(text[at:])
	clause := packageClause.FindStringIndex(out.String())[1]
	return os.WriteFile(path, []byte(out.String()[:clause]+`; import "mars.dev/mars/brokenlines"`+out.String()[clause:]), 0o666)
}

// marks are what notes whether the line would make a difference if it were broken, or none where nothing can be put: among constants.
func (s site) marks(id int, file *ast.File, p *packages.Package) []mark {
	offset := func(at token.Pos) int { return p.Fset.Position(at).Offset }
	from, to := offset(s.node.Pos()), offset(s.node.End())
	around := func(before, after string) []mark {
		length := 2 * (to - from)
		if s.kind == "bound" {
			length-- // so that what else notes the same comparison is around it
		}
		return []mark{{at: from, text: before, order: beginnings - length}, {at: to, text: after, order: length}}
	}
	call := func(function string) []mark { return around(fmt.Sprintf("brokenlines.%s(%d, ", function, id), ")") }
	before := []mark{{at: from, text: fmt.Sprintf("brokenlines.Here(%d); ", id), order: beginnings / 2}}
	switch n := s.node.(type) {
	case *ast.BinaryExpr:
		if p.TypesInfo.Types[n].Value != nil {
			return nil
		}
		if s.kind == "bound" {
			function := map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast"}[n.Op]
			return append(call(function), mark{at: offset(n.OpPos), instead: len(n.Op.String()), text: ","})
		}
		return call("At")
	case *ast.ReturnStmt:
		last := n.Results[len(n.Results)-1]
		from, to = offset(last.Pos()), offset(last.End())
		return call("Err")
	case *ast.AssignStmt:
		switch of := s.parent.(type) {
		case *ast.BlockStmt, *ast.CaseClause:
			return before
		case *ast.CommClause:
			if of.Comm == n {
				return nil
			}
			return before
		}
		return around(fmt.Sprintf("func() { brokenlines.Here(%d); ", id), " }()")
	case *ast.BasicLit:
		if of, ok := s.parent.(ast.Expr); isConstant(file, n) || ok && p.TypesInfo.Types[of].Value != nil {
			return nil
		}
		t, ok := p.TypesInfo.TypeOf(n).(*types.Basic)
		if !ok {
			return nil
		}
		return call("At[" + types.Default(t).String() + "]")
	}
	if isConstant(file, s.node) {
		return nil
	}
	return call("At")
}

// isConstant says whether a node is among constants, or the length of an array.
func isConstant(file *ast.File, n ast.Node) (constant bool) {
	ast.Inspect(file, func(outer ast.Node) bool {
		if outer == nil || outer.Pos() > n.Pos() || outer.End() < n.End() {
			return false
		}
		switch o := outer.(type) {
		case *ast.GenDecl:
			constant = constant || o.Tok == token.CONST
		case *ast.ArrayType:
			constant = constant || o.Len != nil && o.Len.Pos() <= n.Pos() && n.End() <= o.Len.End()
		}
		return true
	})
	return constant
}
