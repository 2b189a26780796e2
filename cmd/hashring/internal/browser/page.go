package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Page is a tab.
type Page struct {
	b       *Browser
	session string

	mu       sync.Mutex
	problems []string
}

// View is how a page is looked at.
type View struct {
	Width, Height int
	Dark          bool // what prefers-color-scheme says
	Phone         bool // a screen that is touched
}

// Open opens a page and waits until it has been loaded.
func (b *Browser) Open(url string, v View) *Page {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{b: b, session: attached.SessionID}
	b.mu.Lock()
	b.events[p.session] = p.note
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", nil, nil)
	}
	p.View(v)
	var nav struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &nav)
	if nav.ErrorText != "" {
		b.t.Fatalf("%s: %s", url, nav.ErrorText)
	}
	p.Wait(`document.readyState === "complete" && location.href !== "about:blank"`)
	return p
}

func (p *Page) call(method string, params map[string]any, result any) {
	p.b.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	p.b.call(p.session, method, params, result)
}

// note keeps what is wrong: an uncaught exception, an error on the console, and what the browser itself logs as one, as it
// does for a breach of the Content-Security-Policy and for a request that failed.
func (p *Page) note(ev event) {
	problem := ""
	switch ev.Method {
	case "Runtime.exceptionThrown":
		problem = string(ev.Params)
	case "Runtime.consoleAPICalled":
		var c struct{ Type string }
		if json.Unmarshal(ev.Params, &c); c.Type == "error" || c.Type == "warning" || c.Type == "assert" {
			problem = string(ev.Params)
		}
	case "Log.entryAdded":
		var c struct {
			Entry struct{ Level, Text, URL string }
		}
		if json.Unmarshal(ev.Params, &c); c.Entry.Level == "error" || c.Entry.Level == "warning" {
			problem = fmt.Sprintf("%s: %s (%s)", c.Entry.Level, c.Entry.Text, c.Entry.URL)
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

// Problems returns what was wrong with the page so far.
func (p *Page) Problems() []string {
	p.Eval("0") // what was noted before is here now
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// View looks at the page in another way.
func (p *Page) View(v View) {
	p.b.t.Helper()
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	features := []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": features}, nil)
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height,
		"deviceScaleFactor": 1, "mobile": v.Phone}, nil)
}

// Eval returns the value of a JavaScript expression.
func (p *Page) Eval(expression string) any {
	p.b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		p.b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	return r.Result.Value
}

// Wait waits until an expression is true.
func (p *Page) Wait(expression string) {
	p.b.t.Helper()
	for deadline := time.Now().Add(patience); p.Eval(expression) != true; {
		if time.Now().After(deadline) {
			p.b.t.Fatalf("%s has not become true; problems: %s", expression, strings.Join(p.Problems(), "; "))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Click clicks in the middle of the first element that a CSS selector finds.
func (p *Page) Click(selector string) {
	p.b.t.Helper()
	quoted, _ := json.Marshal(selector)
	at, ok := p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		if (!e) return null;
		e.scrollIntoView({block: "center", behavior: "instant"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, quoted)).([]any)
	if !ok {
		p.b.t.Fatalf("there is no %s", selector)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1],
			"button": "left", "clickCount": 1}, nil)
	}
}

// Type types text into what has the focus.
func (p *Page) Type(text string) {
	p.b.t.Helper()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses a key: "Tab", "Enter", " " and so on; with Shift held if the name begins with "Shift+".
func (p *Page) Press(key string) {
	p.b.t.Helper()
	modifiers := 0
	if rest, ok := strings.CutPrefix(key, "Shift+"); ok {
		key, modifiers = rest, 8
	}
	code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "Backspace": 8, "Delete": 46}[key]
	if code == 0 {
		p.b.t.Fatalf("the key %q is not known", key)
	}
	text := map[string]string{"Enter": "\r", " ": " "}[key]
	down := "rawKeyDown"
	if text != "" {
		down = "keyDown"
	}
	for _, kind := range []string{down, "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
		if kind == "keyDown" {
			params["text"] = text
		}
		p.call("Input.dispatchKeyEvent", params, nil)
	}
}

// Screenshot returns a picture of all of the page, as PNG.
func (p *Page) Screenshot() []byte {
	p.b.t.Helper()
	var r struct{ Data []byte }
	p.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &r)
	return r.Data
}
