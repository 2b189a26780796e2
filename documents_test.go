package hashring_test

import (
	"errors"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// functions returns the text of every function in the Go files of dir, without its comment, that a test there calls. They
// are read, not compiled: the module that they are in needs more than this one.
func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var tests strings.Builder
	texts := make(map[string]string) // by name
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			tests.Write(src)
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				texts[fn.Name.Name] = string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset])
			}
		}
	}
	called := make(map[string]bool)
	for name, text := range texts {
		called[text] = strings.Contains(tests.String(), name+"(")
	}
	return called
}

// Every Go block of README.md and of docs, be it a program or statements, is an Example to the letter. So a test compiles
// it and runs it; and the block behind it is what the Example prints. A block of whole functions has them from
// feed/clients, whose tests call them.
func TestGoBlocksAreExamples(t *testing.T) {
	fset := token.NewFileSet()
	printed := make(map[string]string) // by body of the Example
	for _, pattern := range []string{"example*_test.go", "docs/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, name := range files {
			src, err := os.ReadFile(name)
			require.NoError(t, err)
			file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
			require.NoError(t, err)
			outputs := make(map[string]string)
			for _, e := range doc.Examples(file) {
				outputs["Example"+e.Name] = e.Output
			}
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if output, ok := outputs[fn.Name.Name]; ok {
					printed[body(fset, src, fn)] = output
				}
			}
		}
	}

	tested := functions(t, "feed/clients")
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	blocksOf := make(map[string]int)
	for _, name := range append(files, "README.md") {
		name = filepath.ToSlash(name)
		all := blocks(t, name)
		for i, b := range all {
			if b.language != "go" {
				continue
			}
			blocksOf[name]++
			formatted, err := format.Source([]byte(b.text))
			require.NoError(t, err, "%s:%d", name, b.line)
			require.Equal(t, string(formatted), b.text, "%s:%d is not formatted", name, b.line)
			text := strings.TrimSpace(b.text)
			if strings.HasPrefix(text, "func ") {
				for fn := range strings.SplitSeq(text, "\n\nfunc ") {
					fn = "func " + strings.TrimPrefix(fn, "func ")
					require.True(t, tested[fn], "%s:%d is no function of feed/clients that a test calls:\n%s", name, b.line, fn)
				}
				continue
			}
			if strings.HasPrefix(text, "package ") {
				f, err := parser.ParseFile(fset, name, b.text, parser.ParseComments)
				require.NoError(t, err, "%s:%d", name, b.line)
				main, ok := f.Decls[len(f.Decls)-1].(*ast.FuncDecl)
				require.True(t, ok)
				text = body(fset, []byte(b.text), main)
			}
			output, ok := printed[text]
			require.True(t, ok, "%s:%d is no Example", name, b.line)
			require.Less(t, i+1, len(all))
			require.Equal(t, "text", all[i+1].language, "what is behind %s:%d", name, b.line)
			require.Equal(t, output, all[i+1].text, "what %s:%d prints", name, b.line)
		}
	}
	for _, name := range []string{"choosing", "compat", "membership", "migrating", "operating"} {
		require.Positive(t, blocksOf["docs/"+name+".md"], name)
	}
	require.Positive(t, blocksOf["README.md"])
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	link       = regexp.MustCompile(`\]\(([^()\s]+)\)|(?:src|srcset|href)="([^"\s]+)"`)
	heading    = regexp.MustCompile(`^#+ +(.*)$`)
)

// prose returns the lines of a Markdown file that are not in a fenced block.
func prose(t *testing.T, name string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	fenced := false
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	return lines
}

// anchors returns what may stand behind the # of a link to a Markdown file: its headings as GitHub spells them.
func anchors(t *testing.T, name string) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, line := range prose(t, name) {
		if m := heading.FindStringSubmatch(line); m != nil {
			all[strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
					return unicode.ToLower(r)
				}
				return -1
			}, m[1])] = true
		}
	}
	return all
}

// Every link from one file of the repository to another leads somewhere, in every Markdown file.
func TestLinksResolve(t *testing.T) {
	documents, links := 0, 0
	require.NoError(t, filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		documents++
		for _, line := range prose(t, name) {
			for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
				target, err := url.Parse(m[1] + m[2])
				require.NoError(t, err, name)
				if target.Scheme != "" || target.Host != "" {
					continue
				}
				links++
				file := name
				if target.Path != "" {
					file = filepath.Join(filepath.Dir(name), filepath.FromSlash(target.Path))
				}
				_, err = os.Stat(file)
				require.False(t, errors.Is(err, fs.ErrNotExist), "%s links to %s", name, target)
				require.NoError(t, err)
				if target.Fragment != "" && filepath.Ext(file) == ".md" {
					require.True(t, anchors(t, file)[target.Fragment], "%s links to %s", name, target)
				}
			}
		}
		return nil
	}))
	require.Greater(t, documents, 8)
	require.Greater(t, links, 20)
}
