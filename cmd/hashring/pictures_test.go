package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/cmd/hashring/internal/browser"
	"github.com/clockwise-go/hashring/cmd/hashring/internal/plot"
	"github.com/stretchr/testify/require"
)

// pictures returns the pictures of the documents, and the arguments that make each.
func pictures(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../docs/img/pictures.txt")
	require.NoError(t, err)
	all := make(map[string][]string)
	for line := range strings.Lines(string(data)) {
		file, args, ok := strings.Cut(line, ":")
		require.True(t, ok, line)
		all[file] = append([]string{"plot"}, strings.Fields(args)...)
	}
	return all
}

// TestPicturesAreUpToDate checks that the pictures of the documents are what the command makes today. To make them anew
// is "make pictures".
func TestPicturesAreUpToDate(t *testing.T) {
	all := pictures(t)
	files, err := filepath.Glob("../../docs/img/*.svg")
	require.NoError(t, err)
	require.Len(t, files, len(all))
	for file := range all {
		got, ok := allPictures(t)[file]
		if !ok {
			continue // too long for -short
		}
		want, err := os.ReadFile("../../docs/img/" + file)
		require.NoError(t, err)
		require.True(t, strings.ReplaceAll(string(want), "\r\n", "\n") == got, "%s is not what the command makes: run make pictures", file)
	}
}

// oddPictures are those that are harder to draw than the ones in the documents.
var oddPictures = map[string]struct{ stdin, args string }{
	"one-node":    {"", "-n 1 -vnodes 1 -replicas 2 ring a"},
	"one-token":   {"", "-n 1 -vnodes 1 -join b move"},
	"everything":  {"", "-n 12 -vnodes 160 -replicas 3 ring user:1 user:2 user:3"},
	"long-names":  {"", "-nodes " + strings.Repeat("W", 60) + ",日本語の長い名前の節点です日本語の長い名前,c -vnodes 4 -replicas 3 ring " + strings.Repeat("M", 80)},
	"markup":      {"", `-nodes </title><script>,&amp;"',b -vnodes 4 -join ]]><!-- move`},
	"leave":       {"", "-file testdata/nodes.txt -vnodes 40 -leave cache-d move"},
	"last-leaves": {"", "-n 1 -vnodes 3 -leave node-0 move"},
	"double":      {"", "-file testdata/nodes.txt -vnodes 10 -double cache-e move"},
	"keys":        {"", "-file testdata/nodes.txt -keys testdata/paths.txt load"},
	"hundred":     {"", "-n 100 load"},
	"uneven":      {"a 0.01\nb 1.01\n" + strings.Repeat("W", 60) + " 3\n", "-file - -vnodes 10 load"},
	"alone":       {"", "-n 1 load"},
	"small-rings": {"", "-sizes 2,3 peak"},
}

var drawn map[string]string // what allPictures returns

// allPictures returns the pictures of the documents and the odd ones, by the name of their file.
func allPictures(t *testing.T) map[string]string {
	t.Helper()
	if drawn != nil {
		return drawn
	}
	all := make(map[string]string)
	draw := func(file, stdin string, args []string) {
		if testing.Short() && args[len(args)-1] == "peak" {
			return // it builds rings of some million tokens together
		}
		status, stdout, stderr := hashringRun(stdin, args...)
		require.Empty(t, stderr, file)
		require.Equal(t, exitOK, status, file)
		all[file] = stdout
	}
	for file, args := range pictures(t) {
		draw(file, "", args)
	}
	for name, tc := range oddPictures {
		draw(name+".svg", tc.stdin, append([]string{"plot"}, strings.Fields(tc.args)...))
	}
	drawn = all
	return all
}

// TestPicturesAreXML checks that every picture is well formed, has nothing in it but drawing, and that it is safe to show
// whatever nodes and keys are called.
func TestPicturesAreXML(t *testing.T) {
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "style": true, "rect": true, "path": true, "g": true,
		"line": true, "text": true, "circle": true}
	for name, svg := range allPictures(t) {
		require.NotContains(t, svg, "NaN", name)
		require.NotContains(t, svg, "Inf", name)
		require.Contains(t, svg, "prefers-color-scheme:dark", name)
		dec := xml.NewDecoder(strings.NewReader(svg))
		depth, roots := 0, 0
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			switch e := token.(type) {
			case xml.StartElement:
				require.True(t, allowed[e.Name.Local], "%s: <%s>", name, e.Name.Local)
				for _, a := range e.Attr {
					require.False(t, strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href"), "%s: %s", name, a.Name.Local)
				}
				if depth == 0 {
					roots++
					require.Equal(t, "http://www.w3.org/2000/svg", e.Name.Space)
				}
				depth++
			case xml.EndElement:
				depth--
			}
		}
		require.Equal(t, 1, roots, name)
	}
}

// TestPicturesInABrowser looks at every picture in a browser, light and dark: no text may be cut off or lie on another.
// With HASHRING_SCREENSHOTS=DIR it leaves what it saw there, for eyes.
func TestPicturesInABrowser(t *testing.T) {
	b := browser.Start(t)
	all := allPictures(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		io.WriteString(w, all[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	defer srv.Close()
	for name := range all {
		t.Run(name, func(t *testing.T) {
			view := browser.View{Width: 900, Height: 700}
			p := b.Open(srv.URL+"/"+name, view)
			backgrounds := make(map[any]bool)
			for _, view.Dark = range []bool{false, true} {
				p.View(view)
				backgrounds[p.Eval(`getComputedStyle(document.querySelector("rect.bg")).fill`)] = true
				saveScreenshot(t, p, fmt.Sprintf("%s-dark=%t.png", strings.TrimSuffix(name, ".svg"), view.Dark))
			}
			require.Len(t, backgrounds, 2, "light and dark differ")
			require.Empty(t, p.Eval(`(() => {
			const wrong = [];
			const whole = document.documentElement.viewBox.baseVal;
			const texts = [...document.querySelectorAll("text")].map(e => [e.textContent, e.getBBox()]);
			for (const [i, [text, a]] of texts.entries()) {
				if (a.x < 8 || a.y < 8 || a.x + a.width > whole.width - 8 || a.y + a.height > whole.height - 4) wrong.push("cut off: " + text);
				for (const [other, b] of texts.slice(i + 1))
					if (a.x < b.x + b.width && b.x < a.x + a.width && a.y + 2 < b.y + b.height - 2 && b.y + 2 < a.y + a.height - 2)
						wrong.push("overlap: " + text + " and " + other);
			}
			return wrong.join("\n");
		})()`), name)
			require.Empty(t, p.Problems(), name)
		})
	}
}

// saveScreenshot leaves a picture of the page where the environment says, if it does.
func saveScreenshot(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	if dir := os.Getenv("HASHRING_SCREENSHOTS"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), p.Screenshot(), 0o666))
	}
}

// TestPlotLimits checks that what is just within the limits is drawn, and that no flag counts that was not given.
func TestPlotLimits(t *testing.T) {
	for _, args := range []string{"-n 8 -vnodes 512 ring a b c", "-n 11 move", "-nodes joiner,b ring", "-nodes joiner load", "-sizes 2,3,4,5,6 peak"} {
		if testing.Short() && strings.HasSuffix(args, "peak") {
			continue
		}
		status, stdout, stderr := hashringRun("", append([]string{"plot"}, strings.Fields(args)...)...)
		require.Empty(t, stderr, args)
		require.Equal(t, exitOK, status, args)
		require.True(t, strings.HasSuffix(stdout, "</svg>\n"), args)
	}
}

// TestPlotBadInput checks that every problem is reported, where it is, and that nothing is printed.
func TestPlotBadInput(t *testing.T) {
	for _, tc := range []struct{ name, stdin, args, stderr string }{
		{"no kind", "", "-n 3", "hashring plot: \"\" is no kind of picture; those are ring, move, load and peak\n"},
		{"unknown kind", "", "pie", "hashring plot: \"pie\" is no kind of picture; those are ring, move, load and peak\n"},
		{"late flags", "", "ring -n 3", "hashring plot: \"-n\" comes after a kind; flags come first, and \"--\" before a kind that looks like one\n" +
			"hashring plot: there are no nodes: give -file, -nodes or -n\n"},
		{"flags of another kind", "", "-n 3 -join a -sizes 3 -replicas 2 load user:1", "-join: load has no use for it\n-replicas: load has no use for it\n" +
			"-sizes: load has no use for it\nhashring plot: load has no use for the key \"user:1\"\n"},
		{"flags that peak has no use for", "", "-n 3 -vnodes 9 peak", "-n: peak has no use for it\n-vnodes: peak has no use for it\n"},
		{"nobody", "", "-n 0 ring", "hashring plot: there are no nodes to show\n"},
		{"too much", "", "-n 13 -vnodes 400 -replicas 0 ring a b c d", fmt.Sprintf("hashring plot: there are 13 nodes, but colours for %d\n", plot.Colours) +
			"hashring plot: there are 5200 tokens, more than the 4096 that can be seen; lower -vnodes\n" +
			"hashring plot: there are 4 keys; a picture has room for 3\n-replicas: 0 is less than 1\n"},
		{"one joins too much", "", "-n 12 move", "hashring plot: there are 13 nodes, but colours for 12\n"},
		{"move", "", "-n 2 -joinweight 0 -join node-1 -leave a move", "-joinweight: weight 0 is not greater than 0; to drain a node, remove it\n" +
			"-join: \"node-1\" is one of the nodes; give the one that joins another name\n-leave: there is no node \"a\"\n"},
		{"two moves", "", "-n 2 -leave node-0 -double node-1 move", "hashring plot: give only one of -join, -leave and -double\n"},
		{"move too large", "", "-n 2 -joinweight 1e6 move", "-join: node \"joiner\": too many tokens: with its tokens there are more than 16777216\n"},
		{"too many bars", "", "-n 101 load", "hashring plot: there are 101 nodes; a picture has room for 100\n"},
		{"no keys", "", "-n 2 -keys - load", "-keys: there are no keys in -\n"},
		{"stdin twice", "a\n", "-file - -keys - load", "hashring plot: nodes and keys cannot both come from standard input\n"},
		{"sizes", "", "-sizes 1,x,2001,7,7,8,9,10,11,12 peak", "-sizes: \"1\" is not a number from 2 to 2000\n-sizes: \"x\" is not a number from 2 to 2000\n" +
			"-sizes: \"2001\" is not a number from 2 to 2000\n-sizes: 7 is there more than once\n-sizes: there are 6 sizes; a picture has room for 5\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := hashringRun(tc.stdin, append([]string{"plot"}, strings.Fields(tc.args)...)...)
			require.Equal(t, tc.stderr, stderr)
			require.Equal(t, exitInput, status)
			require.Empty(t, stdout)
		})
	}
}

// TestPlotLoadShowsWhatSimPrints compares the picture with the report on the same keys.
func TestPlotLoadShowsWhatSimPrints(t *testing.T) {
	_, report, _ := hashringRun("", strings.Fields("sim -file testdata/nodes.txt -keys testdata/paths.txt -json")...)
	var rep Report
	require.NoError(t, json.Unmarshal([]byte(report), &rep))
	_, keys, _ := hashringRun("", strings.Fields("plot -file testdata/nodes.txt -keys testdata/paths.txt load")...)
	_, circle, _ := hashringRun("", strings.Fields("plot -file testdata/nodes.txt load")...)
	for _, n := range rep.Nodes {
		require.Contains(t, keys, ">"+ratio(n.KeyRatio)+"<")
		require.Contains(t, circle, ">"+ratio(n.CircleRatio)+"<")
	}
}

// TestPeaks checks that peaks fall with the number of virtual nodes, and stay below the bound.
func TestPeaks(t *testing.T) {
	curve, err := peaks(10)
	require.NoError(t, err)
	for i, p := range curve.Measured {
		require.Greater(t, p.Peak, 1.0)
		if i > 0 {
			require.Equal(t, 2*curve.Measured[i-1].VirtualNodes, p.VirtualNodes)
			require.Less(t, p.Peak, curve.Measured[i-1].Peak)
		}
		for _, bound := range curve.Bound {
			if bound.VirtualNodes <= p.VirtualNodes {
				require.Less(t, p.Peak, bound.Peak)
			}
		}
	}
	for i, p := range curve.Bound {
		v, err := hashring.VirtualNodesFor(10, p.Peak, peakConfidence)
		require.NoError(t, err)
		require.Equal(t, v, p.VirtualNodes)
		require.LessOrEqual(t, v, plot.MaxVirtualNodes)
		if i > 0 {
			require.Greater(t, p.VirtualNodes, curve.Bound[i-1].VirtualNodes)
		}
	}
	last := curve.Bound[len(curve.Bound)-1]
	require.Greater(t, last.VirtualNodes, plot.MaxVirtualNodes*8/10, "it goes on to the end of the axis")
}
