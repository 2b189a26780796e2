package page

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/cmd/hashring/internal/browser"
	"github.com/stretchr/testify/require"
)

var (
	desk  = browser.View{Width: 1200, Height: 900}
	phone = browser.View{Width: 360, Height: 740, Phone: true}
)

// open opens the page with nodes.
func open(t *testing.T, v browser.View, nodes ...hashring.Node) *browser.Page {
	t.Helper()
	b := browser.Start(t)
	srv := httptest.NewServer(Handler(mustStart(t, nodes...), ""))
	t.Cleanup(srv.Close)
	p := b.Open(srv.URL, v)
	p.Wait(`document.documentElement.dataset.ready === "yes"`)
	return p
}

// shoot leaves a picture of the page where HASHRING_SCREENSHOTS says, if it does, for eyes.
func shoot(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	if dir := os.Getenv("HASHRING_SCREENSHOTS"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), p.Screenshot(), 0o666))
	}
}

const (
	rows  = `document.querySelectorAll("#nodes tr").length`
	arcs  = `[...document.querySelectorAll("#ring .arcs path")].map(e => e.getAttribute("d")).join()`
	moved = `document.querySelector("#moved").textContent`
	owner = `document.querySelector("#owner").textContent`
)

// overlaps lists texts of the ring that lie on one another.
const overlaps = `(() => {
	const texts = [...document.querySelectorAll("#ring text")].map(e => [e.textContent, e.getBBox()]);
	return texts.flatMap(([text, a], i) => texts.slice(i + 1).filter(([, b]) =>
		a.x < b.x + b.width && b.x < a.x + a.width && a.y + 3 < b.y + b.height - 3 && b.y + 3 < a.y + a.height - 3).map(([other]) => text + " on " + other)).join();
})()`

func zoned() []hashring.Node {
	return []hashring.Node{{Name: "cache-a", Zone: "eu-1"}, {Name: "cache-b", Zone: "eu-1"}, {Name: "cache-c", Zone: "eu-2"}, {Name: "cache-d", Zone: "eu-3"}}
}

// TestPageByMouse adds, weighs and removes nodes, and checks that the page shows what the library says.
func TestPageByMouse(t *testing.T) {
	p := open(t, desk, zoned()...)
	ring, err := hashring.New(zoned(), &hashring.Options{VirtualNodes: 16})
	require.NoError(t, err)
	require.EqualValues(t, 4, p.Eval(rows))
	require.EqualValues(t, 4, p.Eval(`document.querySelectorAll("#ring .arcs path").length`))
	require.Contains(t, p.Eval(moved), "Nothing yet")
	shown := func(key string, r *hashring.Ring, policy hashring.Policy) string {
		text := key + " → "
		for i, name := range policy.Append(nil, r, key) {
			if i > 0 {
				text += ", "
			}
			text += name
		}
		return text
	}
	require.Equal(t, shown("user:42", ring, hashring.Policy{N: 3}), p.Eval(owner))

	before := p.Eval(arcs)
	p.Click("#name")
	p.Type("cache-e")
	p.Click("#add button")
	p.Wait(rows + " === 5")
	require.NotEqual(t, before, p.Eval(arcs), "the ring has changed")
	grown, err := ring.With(hashring.Node{Name: "cache-e"})
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d\x{00a0}% of all keys moved`, p.Eval(moved))
	flows, err := hashring.Diff(ring, grown)
	require.NoError(t, err)
	require.EqualValues(t, len(hashring.Summary(flows)), p.Eval(`document.querySelectorAll("#flows li").length`))
	require.Equal(t, "", p.Eval(`document.querySelector("#name").value`))
	shoot(t, p, "page-light.png")
	require.Equal(t, "", p.Eval(overlaps))

	p.Click("#spread")
	p.Wait(owner + " === " + quoted(shown("user:42", grown, hashring.Policy{N: 3, Spread: true})))
	p.Click("#key")
	p.Type("0")
	p.Wait(owner + " === " + quoted(shown("user:420", grown, hashring.Policy{N: 3, Spread: true})))

	before = p.Eval(arcs)
	p.Click(`[aria-label="Remove cache-a"]`)
	p.Wait(rows + " === 4")
	require.NotEqual(t, before, p.Eval(arcs))
	p.Click("#undo")
	p.Wait(rows + " === 5")
	require.Equal(t, before, p.Eval(arcs), "undone")

	p.Click(`[aria-label="Weight of cache-b"]`)
	p.Press("Backspace")
	p.Type("4")
	p.Press("Enter")
	p.Wait(`document.querySelector("[aria-label='Weight of cache-b']").value === "4" && ` + arcs + " !== " + quoted(before.(string)))
	heavier, err := grown.With(hashring.Node{Name: "cache-b", Weight: 4, Zone: "eu-1"})
	require.NoError(t, err)
	require.Contains(t, p.Eval(`document.querySelector("#facts").textContent`), fingerprint(heavier))

	p.View(browser.View{Width: desk.Width, Height: desk.Height, Dark: true})
	shoot(t, p, "page-dark.png")
	require.Empty(t, p.Problems())
}

// TestPageByKeyboard does everything without a mouse.
func TestPageByKeyboard(t *testing.T) {
	p := open(t, desk, hashring.Nodes("a", "b")...)
	focused := func(what string) {
		t.Helper()
		const limit = 40
		for range limit {
			p.Press("Tab")
			if p.Eval(`document.activeElement.id || document.activeElement.getAttribute("aria-label")`) == what {
				// It can be seen where the focus is.
				require.NotEqual(t, "none", p.Eval(`getComputedStyle(document.activeElement).outlineStyle`))
				return
			}
		}
		require.Fail(t, "not to be reached by Tab", what)
	}
	focused("key")
	p.Type("0")
	p.Wait(owner + `.startsWith("user:420 → ") || ` + owner + `.startsWith("0 → ")`)
	focused("name")
	p.Type("c")
	p.Press("Enter")
	p.Wait(rows + " === 3")
	require.Equal(t, "name", p.Eval(`document.activeElement.id`))
	focused("Weight of b")
	p.Type("3")
	p.Press("Enter")
	p.Wait(`document.querySelector("[aria-label='Weight of b']").value === "3" && /of all keys moved/.test(` + moved + ")")
	require.Equal(t, "Weight of b", p.Eval(`document.activeElement.getAttribute("aria-label")`), "the focus stays where it was")
	focused("Remove c")
	p.Press(" ")
	p.Wait(rows + " === 2")
	require.Equal(t, "name", p.Eval(`document.activeElement.id`), "the focus is somewhere")
	focused("undo")
	p.Press("Enter")
	p.Wait(rows + " === 3")
	p.Press("Shift+Tab")
	require.NotEqual(t, "undo", p.Eval(`document.activeElement.id`))
	require.Empty(t, p.Problems())
}

// TestPageAtPhoneWidth checks that nothing sticks out of a narrow screen, and that what is to be touched is large enough.
func TestPageAtPhoneWidth(t *testing.T) {
	nodes := append(zoned(), hashring.Node{Name: "a-node-with-a-name-that-is-longer-than-a-phone-is-wide.example.com:11211", Weight: 2})
	p := open(t, phone, nodes...)
	require.EqualValues(t, phone.Width, p.Eval(`document.documentElement.scrollWidth`))
	require.Equal(t, true, p.Eval(`[...document.querySelectorAll("button, input:not([type=checkbox]), select")].every(e => e.getBoundingClientRect().height >= 32)`))
	require.Equal(t, true, p.Eval(`[...document.querySelectorAll("button, input, select")].every(e => e.getBoundingClientRect().right <= innerWidth)`))
	require.Equal(t, "", p.Eval(overlaps))
	shoot(t, p, "page-phone-light.png")
	v := phone
	v.Dark = true
	p.View(v)
	shoot(t, p, "page-phone-dark.png")
	require.Empty(t, p.Problems())
}

// TestPageShowsMarkupAsText checks that neither names, zones nor keys can be anything but text, wherever they come from.
func TestPageShowsMarkupAsText(t *testing.T) {
	const evil = `"'><img src=x onerror="window.pwned=1"><script>window.pwned=2</script>`
	p := open(t, desk, hashring.Node{Name: evil, Zone: evil}, hashring.Node{Name: "</title></svg><script>window.pwned=3</script>"}, hashring.Node{Name: "__proto__"})
	p.Click("#key")
	p.Type(evil)
	p.Wait(owner + `.includes("onerror")`)
	p.Click("#name")
	p.Type("<svg onload=window.pwned=4>" + evil)
	p.Click("#zone")
	p.Type(evil)
	p.Press("Enter")
	p.Wait(rows + " === 4")
	p.Click("#nodes tr:first-child button")
	p.Wait(rows + " === 3")
	p.Eval(`new Promise(done => setTimeout(done, 100))`) // an image would have failed to load by now
	require.Nil(t, p.Eval("window.pwned"))
	require.EqualValues(t, 0, p.Eval(`document.querySelectorAll("img, iframe, svg svg, body script, [onerror], [onload]").length`))
	require.EqualValues(t, 1, p.Eval(`document.querySelectorAll("script").length`))
	require.Empty(t, p.Problems())
	// Not even the page itself can make markup of text.
	require.Equal(t, "TypeError", p.Eval(`(() => { try { document.createElement("p").innerHTML = "<b>"; return "made" } catch (e) { return e.name } })()`))
}

// TestPageSaysWhatIsWrong checks that what the library refuses changes nothing and is said, as is the loss of the server.
func TestPageSaysWhatIsWrong(t *testing.T) {
	b := browser.Start(t)
	srv := httptest.NewServer(Handler(mustStart(t, hashring.Nodes("a", "b")...), ""))
	p := b.Open(srv.URL, desk)
	p.Wait(`document.documentElement.dataset.ready === "yes"`)
	before := p.Eval(arcs)
	const problems = `document.querySelector("#problems").textContent`
	p.Click(`[aria-label="Weight of a"]`)
	p.Press("Backspace")
	p.Type("0")
	p.Press("Enter")
	p.Wait(problems + ` === 'node "a": weight 0 is not between 0.001 and 1000'`)
	require.Equal(t, "1", p.Eval(`document.querySelector("[aria-label='Weight of a']").value`), "it is what it was")
	require.Equal(t, before, p.Eval(arcs))
	require.Equal(t, true, p.Eval(`document.querySelector("#undo").disabled`))
	p.Click(`[aria-label="Remove a"]`)
	p.Wait(rows + " === 1 && " + problems + ` === ""`)
	p.Click(`[aria-label="Remove b"]`)
	p.Wait(rows + " === 0")
	require.Equal(t, "Nothing owns a key.", p.Eval(owner))
	srv.Close()
	p.Click("#undo")
	p.Wait(problems + `.startsWith("The server does not answer")`)
}

// quoted returns text as a JavaScript literal.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // no string fails
	}
	return string(b)
}

func fingerprint(r *hashring.Ring) string { return fmt.Sprintf("%016x", r.Fingerprint()) }
