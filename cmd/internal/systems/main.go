// Command systems checks the types of all packages and tests as other systems compile them. It takes seconds, as it
// makes no code, where go vet compiles all that is imported for each system.
//
// usage: systems GOOS/GOARCH[/TAG] ...
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := len(os.Args) < 2
	if failed {
		fmt.Fprintln(os.Stderr, "usage: systems GOOS/GOARCH[/TAG] ...")
	}
	for _, system := range os.Args[1:] {
		wrong, err := check(".", system)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, text := range wrong {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, text)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns what a compiler for a system would say of the packages of the module in dir.
func check(dir, system string) (wrong []string, err error) {
	parts := strings.Split(system, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return nil, fmt.Errorf("want GOOS/GOARCH or GOOS/GOARCH/TAG")
	}
	config := &packages.Config{
		Mode:      packages.LoadAllSyntax,
		Dir:       dir,
		Env:       append(os.Environ(), "GOOS="+parts[0], "GOARCH="+parts[1], "CGO_ENABLED=0"),
		Tests:     true,
		ParseFile: parse,
	}
	if len(parts) == 3 {
		config.BuildFlags = []string{"-tags=" + parts[2]}
	}
	found, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there are no packages")
	}
	for _, p := range found {
		for _, e := range p.Errors {
			wrong = append(wrong, e.Error())
		}
	}
	slices.Sort(wrong) // a package is there twice if it has tests
	return slices.Compact(wrong), nil
}

// parse leaves out the bodies of functions that others have written: only their types matter.
func parse(files *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil || !strings.Contains(name, "/pkg/mod/") && !strings.Contains(name, "/go/src/") {
		return file, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Type.TypeParams == nil {
			f.Body = &ast.BlockStmt{}
		}
	}
	return file, nil
}
