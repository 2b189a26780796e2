package hashring_test

import (
	"go/ast"
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
	for _, dir := range []string{"", "balance/", "compat/", "antientropy/", "feed/", "gossip/", "internal/history/"} {
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
	for _, file := range []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/design-notes.md", "docs/testing.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`\b(Test|Fuzz|Benchmark|Example)[A-Z]\w+`).FindAllString(string(text), -1) {
			named++
			require.True(t, strings.Contains(code.String(), "func "+name+"("), "%s names %s, which is not there", file, name)
		}
	}
	require.Greater(t, named, 20)
}
