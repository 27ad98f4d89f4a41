// Command lostnil finds functions that return nil where an error is not nil and nothing is done with it. nilerr
// (github.com/gostaticanalysis/nilerr) does not look into functions with a defer.
package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/singlechecker"
	"golang.org/x/tools/go/ast/inspector"
)

var analyzer = &analysis.Analyzer{
	Name:     "lostnil",
	Doc:      "finds functions that return nil where an error is not nil; //lint:ignore lostnil REASON before the return says that it is meant",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func main() { singlechecker.Main(analyzer) }

func run(pass *analysis.Pass) (any, error) {
	meant := map[string]map[int]bool{} // lines, by file, before which a comment says so
	for _, f := range pass.Files {
		lines := map[int]bool{}
		meant[pass.Fset.Position(f.Pos()).Filename] = lines
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//lint:ignore lostnil ") {
					lines[pass.Fset.Position(c.Pos()).Line+1] = true
				}
			}
		}
	}
	pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).WithStack([]ast.Node{(*ast.IfStmt)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		branch := n.(*ast.IfStmt)
		if !push || len(branch.Body.List) == 0 || !returnsError(pass, stack) {
			return true
		}
		last, ok := branch.Body.List[len(branch.Body.List)-1].(*ast.ReturnStmt)
		if !ok || len(last.Results) == 0 || !pass.TypesInfo.Types[last.Results[len(last.Results)-1]].IsNil() {
			return true
		}
		at := pass.Fset.Position(last.Pos())
		for _, err := range errorsIn(pass, branch.Cond) {
			if !uses(pass, branch.Body, err) && !meant[at.Filename][at.Line] {
				pass.Reportf(last.Pos(), "%s is not nil, and nil is returned", err.Name())
			}
		}
		return true
	})
	return nil, nil
}

func isError(t types.Type) bool {
	return types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// returnsError says whether the last result of the function that a statement is in is an error.
func returnsError(pass *analysis.Pass, stack []ast.Node) bool {
	for _, n := range slices.Backward(stack) {
		var of *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			of = n.Type
		case *ast.FuncLit:
			of = n.Type
		default:
			continue
		}
		return of.Results != nil && isError(pass.TypesInfo.TypeOf(of.Results.List[len(of.Results.List)-1].Type))
	}
	return false
}

// errorsIn are the variables of which a condition says that they are errors and not nil.
func errorsIn(pass *analysis.Pass, condition ast.Expr) (found []types.Object) {
	ast.Inspect(condition, func(n ast.Node) bool {
		if _, ok := n.(*ast.CallExpr); ok {
			return false
		}
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.NEQ || !pass.TypesInfo.Types[b.Y].IsNil() {
			return true
		}
		name, ok := b.X.(*ast.Ident)
		if ok && isError(pass.TypesInfo.TypeOf(name)) {
			found = append(found, pass.TypesInfo.Uses[name])
		}
		return true
	})
	return found
}

// uses says whether anything is done with a variable.
func uses(pass *analysis.Pass, body ast.Node, v types.Object) (used bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		used = used || ok && pass.TypesInfo.Uses[name] == v
		return !used
	})
	return used
}
