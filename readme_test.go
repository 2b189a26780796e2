package hashring_test

import (
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a fenced block of a Markdown file.
type block struct {
	language, text string
	line           int
}

func blocks(t *testing.T, file string) (all []block) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var open *block
	for i, line := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		switch {
		case !strings.HasPrefix(line, "```"):
			if open != nil {
				open.text += line + "\n"
			}
		case open == nil:
			open = &block{language: strings.TrimPrefix(line, "```"), line: i + 1}
		default:
			all = append(all, *open)
			open = nil
		}
	}
	require.Nil(t, open, "%s: a block is not closed", file)
	return all
}

// body returns the statements of fn as they stand in src, without the indent and the comment that says what it prints.
func body(fset *token.FileSet, src []byte, fn *ast.FuncDecl) string {
	text := string(src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset])
	text, _, _ = strings.Cut(text, "// Output:")
	return strings.TrimSpace(strings.ReplaceAll("\n"+text, "\n\t", "\n"))
}

// Every Go block of README.md, be it a program or statements, is an Example to the letter. So a test compiles it and
// runs it; and what the block behind it says it prints is what the Example prints.
func TestReadmeBlocksAreExamples(t *testing.T) {
	fset := token.NewFileSet()
	src, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	file, err := parser.ParseFile(fset, "example_test.go", src, parser.ParseComments)
	require.NoError(t, err)
	printed := make(map[string]string) // by name of the function
	for _, e := range doc.Examples(file) {
		printed["Example"+e.Name] = e.Output
	}
	example := make(map[string]string) // name by body
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Example") {
			example[body(fset, src, fn)] = fn.Name.Name
		}
	}
	require.NotEmpty(t, example)

	all, programs := blocks(t, "README.md"), 0
	for i, b := range all {
		if b.language != "go" {
			continue
		}
		programs++
		formatted, err := format.Source([]byte(b.text))
		require.NoError(t, err, "README.md:%d", b.line)
		require.Equal(t, string(formatted), b.text, "README.md:%d is not formatted", b.line)
		text := strings.TrimSpace(b.text)
		if strings.HasPrefix(text, "package ") {
			f, err := parser.ParseFile(fset, "README.md", b.text, parser.ParseComments)
			require.NoError(t, err, "README.md:%d", b.line)
			main, ok := f.Decls[len(f.Decls)-1].(*ast.FuncDecl)
			require.True(t, ok)
			text = body(fset, []byte(b.text), main)
		}
		name, ok := example[text]
		require.True(t, ok, "README.md:%d is no Example", b.line)
		require.Less(t, i+1, len(all))
		require.Equal(t, printed[name], all[i+1].text, "what %s at README.md:%d prints", name, b.line)
	}
	require.Positive(t, programs)
}

// The table in README.md is what the command prints, which a test of the command holds to this file.
func TestReadmeShowsWhatSimPrints(t *testing.T) {
	want, err := os.ReadFile("cmd/hashring/testdata/paths.golden")
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(blocks(t, "README.md"), func(b block) bool { return b.text == string(want) }))
}

// The tests that documents name exist.
func TestDocumentsNameRealTests(t *testing.T) {
	var code strings.Builder
	var files []string
	for _, dir := range []string{"", "balance/", "compat/", "antientropy/"} {
		more, err := filepath.Glob(dir + "*_test.go")
		require.NoError(t, err)
		files = append(files, more...)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		code.Write(src)
	}
	named := 0
	for _, file := range []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/design-notes.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`\b(Test|Fuzz|Benchmark|Example)[A-Z]\w+`).FindAllString(string(text), -1) {
			named++
			require.Contains(t, code.String(), "func "+name+"(", "%s names it", file)
		}
	}
	require.Greater(t, named, 20)
}
