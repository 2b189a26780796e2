package browser_test

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clockwise-go/hashring/cmd/hashring/internal/browser"
	"github.com/stretchr/testify/require"
)

// TestPage checks that the driver sees what happens: clicks, keys and text arrive, and what is wrong is told.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'")
		w.Write([]byte(`<!doctype html><title>A</title><link rel=icon href="data:,"><button onclick="n++">b</button><input>` +
			`<script>var n = 0, way = "";addEventListener("keydown", e => way += e.key + e.shiftKey)</script>`))
	}))
	defer srv.Close()

	p := b.Open(srv.URL, browser.View{Width: 300, Height: 200, Dark: true})
	if problems := p.Problems(); len(problems) > 0 { // the icon breaks the policy
		require.Contains(t, problems[0], "Content Security Policy")
	}
	before := len(p.Problems())
	require.Equal(t, true, p.Eval(`matchMedia("(prefers-color-scheme: dark)").matches`))
	p.Click("button")
	p.Wait("n === 1")
	p.Press("Tab")
	p.Type("text")
	require.Equal(t, "text", p.Eval(`document.querySelector("input").value`))
	p.Press("Shift+Tab")
	p.Press("Enter")
	p.Wait("n === 2")
	p.Press(" ")
	p.Wait("n === 3")
	require.Equal(t, "TabfalseTabtrueEnterfalse false", p.Eval("way"))
	require.Len(t, p.Problems(), before)

	p.View(browser.View{Width: 200, Height: 100})
	require.Equal(t, false, p.Eval(`matchMedia("(prefers-color-scheme: dark)").matches`))
	shot, err := png.Decode(bytes.NewReader(p.Screenshot()))
	require.NoError(t, err)
	require.Equal(t, 200, shot.Bounds().Dx())

	p.Eval(`console.error("bad"), fetch("/missing").then(r => r.status)`)
	p.Eval(`setTimeout(() => { throw new Error("thrown") })`)
	var problems string
	require.Eventually(t, func() bool {
		all := p.Problems()
		problems = strings.Join(all, "\n")
		return len(all) == before+3
	}, time.Minute, 10*time.Millisecond)
	for _, want := range []string{"bad", "404", "thrown"} {
		require.Contains(t, problems, want)
	}
}
