package hashring_test

import (
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documented is what a package shows of itself: its doc comments, and its Examples.
func documented(t *testing.T, dir string) *doc.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, "github.com/clockwise-go/hashring/"+filepath.ToSlash(dir))
	require.NoError(t, err)
	return pkg
}

// libraries are the directories of this module's packages: the root, and those below it that are no module of their own.
func libraries(t *testing.T) []string {
	t.Helper()
	dirs := []string{"."}
	docs, err := filepath.Glob("*/doc.go")
	require.NoError(t, err)
	for _, name := range docs {
		dir := filepath.Dir(name)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	require.Subset(t, dirs, []string{"antientropy", "balance", "compat"})
	return dirs
}

// Every exported identifier has a doc comment: a constant or variable its own, or one for its group. Fields are explained
// beside them or by the comment of their type.
func TestEverythingExportedIsDocumented(t *testing.T) {
	for _, dir := range libraries(t) {
		pkg, seen := documented(t, dir), 0
		check := func(name, comment string) {
			seen++
			require.NotEmpty(t, strings.TrimSpace(comment), "%s: %s has no doc comment", dir, name)
		}
		values := func(all []*doc.Value) {
			for _, v := range all {
				for _, spec := range v.Decl.Specs {
					s := spec.(*ast.ValueSpec)
					for _, name := range s.Names {
						if name.IsExported() {
							check(name.Name, v.Doc+s.Doc.Text()+s.Comment.Text())
						}
					}
				}
			}
		}
		funcs := func(all []*doc.Func) {
			for _, f := range all {
				check(f.Recv+"."+f.Name, f.Doc)
			}
		}
		check("package", pkg.Doc)
		values(pkg.Consts)
		values(pkg.Vars)
		funcs(pkg.Funcs)
		for _, typ := range pkg.Types {
			check(typ.Name, typ.Doc)
			values(typ.Consts)
			values(typ.Vars)
			funcs(typ.Funcs)
			funcs(typ.Methods)
		}
		require.Greater(t, seen, 8, dir)
	}
}

// Every exported type is shown in use. There is an Example of it, of one of its methods, or of a function or method that
// returns or yields it; or one that names it, or a constant of it.
func TestEveryTypeHasAnExample(t *testing.T) {
	for _, dir := range libraries(t) {
		pkg := documented(t, dir)
		shown := make(map[string]bool) // names of types
		note := func(node ast.Node) {
			ast.Inspect(node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					shown[id.Name] = true
				}
				return true
			})
		}
		code := func(examples []*doc.Example) {
			for _, e := range examples {
				require.True(t, e.Output != "" || e.EmptyOutput, "%s: Example%s is not run", dir, e.Name)
				ast.Inspect(e.Code, func(n ast.Node) bool {
					sel, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg.Name {
						shown[sel.Sel.Name] = true
					}
					return true
				})
			}
		}
		funcs := func(all []*doc.Func) {
			for _, f := range all {
				code(f.Examples)
				if len(f.Examples) > 0 && f.Decl.Type.Results != nil {
					note(f.Decl.Type.Results)
				}
			}
		}
		code(pkg.Examples)
		funcs(pkg.Funcs)
		for _, typ := range pkg.Types {
			code(typ.Examples)
			funcs(typ.Funcs)
			funcs(typ.Methods)
			methods := func(f *doc.Func) bool { return len(f.Examples) > 0 }
			if len(typ.Examples) > 0 || slices.ContainsFunc(typ.Methods, methods) {
				shown[typ.Name] = true
			}
		}
		require.NotEmpty(t, shown, dir)
		for _, typ := range pkg.Types {
			byConstant := false
			for _, v := range typ.Consts {
				byConstant = byConstant || slices.ContainsFunc(v.Names, func(name string) bool { return shown[name] })
			}
			require.True(t, shown[typ.Name] || byConstant, "%s: no Example shows %s", dir, typ.Name)
		}
	}
}
