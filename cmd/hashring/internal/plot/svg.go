// Package plot draws rings and their figures as SVG: one text for light and for dark, by prefers-color-scheme, the same
// on every architecture.
package plot

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Colours is how many nodes have colours that can be told apart.
const Colours = len(palette)

// palette has the colours of nodes on a light and on a dark ground. The first eight also differ to the colour-blind.
var palette = [...]struct{ light, dark string }{
	{"#2463b4", "#5b8ff0"}, // blue
	{"#e8a200", "#f2b233"}, // amber
	{"#c8381e", "#f0593f"}, // red
	{"#3aa76d", "#4fbf85"}, // green
	{"#d97fb3", "#ff9fcb"}, // pink
	{"#5ab4e6", "#9bd3ff"}, // sky
	{"#23374d", "#eef2f7"}, // navy, white
	{"#8d9410", "#e3ec7c"}, // olive
	{"#7d3fc4", "#a974f5"}, // violet
	{"#8a5a3c", "#b5835f"}, // brown
	{"#16857d", "#2fa39a"}, // teal
	{"#8b929c", "#8b929c"}, // grey
}

// theme has the colours of everything else.
var theme = []struct{ class, property, light, dark string }{
	{"bg", "fill", "#ffffff", "#12161c"},
	{"gap", "stroke", "#ffffff", "#12161c"},
	{"fg", "fill", "#1c2430", "#e8edf3"},
	{"dim", "fill", "#5a6675", "#9fabb9"},
	{"rule", "stroke", "#c6ced8", "#3a4450"},
	{"mark", "stroke", "#1c2430", "#e8edf3"},
	{"band", "fill", "#dfe6f0", "#2a3442"},
	{"bar", "fill", "#2463b4", "#5b8ff0"},
	{"out", "fill", "#c8381e", "#f0593f"},
}

// canvas is a picture that is being drawn.
type canvas struct{ b strings.Builder }

// newCanvas begins a picture of that size. Its title and description are what a reader who cannot see it gets.
func newCanvas(width, height float64, title, description string) *canvas {
	c := new(canvas)
	c.open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %s %s", num(width), num(height)),
		"width", width, "height", height, "role", "img", "aria-labelledby", "title description")
	c.leaf("title", title, "id", "title")
	c.leaf("desc", description, "id", "description")
	c.leaf("style", style())
	c.leaf("rect", "", "width", width, "height", height, "rx", 8, "class", "bg")
	return c
}

// style returns all rules.
func style() string {
	var light, dark strings.Builder
	for _, t := range theme {
		fmt.Fprintf(&light, ".%s{%s:%s}\n", t.class, t.property, t.light)
		fmt.Fprintf(&dark, ".%s{%s:%s}\n", t.class, t.property, t.dark)
	}
	return `
text{font:13px system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
.head{font-size:16px;font-weight:600}
.small{font-size:11.5px}
.num{font-variant-numeric:tabular-nums}
.on{fill:currentColor}
.edge{stroke:currentColor;fill:none}
.faded{opacity:.22}
` + rules(light.String(), dark.String()) + ColourRules()
}

// ColourRules returns the rules of CSS that give the classes c0, c1 and so on, as many as Colours, the colours of nodes.
func ColourRules() string {
	var light, dark strings.Builder
	for i, p := range palette {
		fmt.Fprintf(&light, ".c%d{color:%s}\n", i, p.light)
		fmt.Fprintf(&dark, ".c%d{color:%s}\n", i, p.dark)
	}
	return rules(light.String(), dark.String())
}

// rules returns those of light, and those of dark where that is preferred.
func rules(light, dark string) string {
	return light + "@media (prefers-color-scheme:dark){\n" + dark + "}\n"
}

// end returns the picture.
func (c *canvas) end() string {
	c.close("svg")
	return c.b.String()
}

// open opens an element with attributes, each a name and a value: a text or a number.
func (c *canvas) open(name string, attributes ...any) {
	c.b.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(&c.b, ` %s="`, attributes[i])
		switch v := attributes[i+1].(type) {
		case string:
			c.escape(v)
		case int:
			c.b.WriteString(strconv.Itoa(v))
		case float64:
			c.b.WriteString(num(v))
		}
		c.b.WriteByte('"')
	}
	c.b.WriteByte('>')
	if name == "svg" || name == "g" {
		c.b.WriteByte('\n')
	}
}

func (c *canvas) close(name string) { c.b.WriteString("</" + name + ">\n") }

// leaf adds an element with nothing but text in it.
func (c *canvas) leaf(name, text string, attributes ...any) {
	c.open(name, attributes...)
	c.escape(text)
	c.close(name)
}

// text adds text at a point. Its anchor, the side of it that is there, is "start", "middle" or "end".
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.leaf("text", text, "x", x, "y", y, "text-anchor", anchor, "class", class)
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.leaf("line", "", "x1", x1, "y1", y1, "x2", x2, "y2", y2, "class", class)
}

// escape writes text so that it is text and nothing else, whatever is in it.
func (c *canvas) escape(text string) {
	_ = xml.EscapeText(&c.b, []byte(text)) // a strings.Builder takes all
}

// num formats a coordinate. Two digits are more than an eye sees, and fewer than those in which architectures differ.
func num(x float64) string {
	x = math.Round(x*100) / 100
	if x == 0 {
		return "0" // and not -0
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// percent formats a part of 1.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// count formats a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// fit cuts text down so that it is about so many pixels wide at most.
func fit(text string, pixels float64) string {
	if width(text) <= pixels {
		return text
	}
	w := width("…")
	for i, r := range text {
		if w += width(string(r)); w > pixels {
			return text[:i] + "…"
		}
	}
	return text
}

// width returns about how wide text of 13 pixels is, rather too wide: fonts differ.
func width(text string) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 0x2e80, strings.ContainsRune("MWmw@%…—", r): // Chinese, Japanese and Korean, and what is wide in Latin
			w += 13.5
		case r >= 'A' && r <= 'Z':
			w += 10
		default:
			w += 7.6
		}
	}
	return w
}
