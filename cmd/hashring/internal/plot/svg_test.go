package plot

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func TestNum(t *testing.T) {
	for x, want := range map[float64]string{0: "0", -0.001: "0", 1: "1", 1.005: "1", 2.999: "3", -2.5: "-2.5", 1234567: "1234567", 0.126: "0.13"} {
		require.Equal(t, want, num(x))
	}
}

func TestFit(t *testing.T) {
	require.Equal(t, "short", fit("short", 100))
	require.Equal(t, "", fit("", 0))
	require.Equal(t, "…", fit("something", 0))
	for _, text := range []string{strings.Repeat("a", 99), strings.Repeat("W", 99), strings.Repeat("語", 99), "a" + strings.Repeat("語", 99)} {
		for pixels := 20.0; pixels < 200; pixels += 7 {
			cut := fit(text, pixels)
			require.LessOrEqual(t, width(cut), pixels)
			require.True(t, strings.HasSuffix(cut, "…"))
			require.True(t, strings.HasPrefix(text, strings.TrimSuffix(cut, "…")))
			require.Greater(t, width(cut), pixels-14, "no more is cut off than has to be")
		}
	}
}

// TestEscape checks that what a canvas is given as text comes out of a reader of XML as it was, but for what XML has not.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		`</text><script>"'&amp;`: `</text><script>"'&amp;`, "]]>": "]]>", "<!--": "<!--", "a\x00\x1bb\xff": "a��b�", "日本": "日本",
	} {
		c := newCanvas(1, 1, text, text)
		c.leaf("text", text, "class", text)
		var doc struct {
			Title string `xml:"title"`
			Desc  string `xml:"desc"`
			Text  struct {
				Class string `xml:"class,attr"`
				Text  string `xml:",chardata"`
			} `xml:"text"`
		}
		require.NoError(t, xml.Unmarshal([]byte(c.end()), &doc))
		for _, got := range []string{doc.Title, doc.Desc, doc.Text.Class, doc.Text.Text} {
			require.Equal(t, want, got)
		}
	}
}

// TestCircle checks where positions are: clockwise from the top.
func TestCircle(t *testing.T) {
	c := circle{x: 100, y: 200, inner: 5, outer: 10}
	for pos, want := range map[uint64][2]float64{0: {100, 190}, 1 << 62: {110, 200}, 1 << 63: {100, 210}, 3 << 62: {90, 200}} {
		x, y := c.at(pos, 10)
		require.InDelta(t, want[0], x, 1e-9)
		require.InDelta(t, want[1], y, 1e-9)
	}
	quarter := c.sector(hashring.Range{After: 0, Through: 1 << 62})
	require.Equal(t, "M100 190A10 10 0 0 1 110 200L105 200A5 5 0 0 0 100 195Z", quarter)
	most := c.sector(hashring.Range{After: 1 << 62, Through: 0})
	require.Equal(t, "M110 200A10 10 0 1 1 100 190L100 195A5 5 0 1 0 105 200Z", most)
	whole := c.sector(hashring.Range{After: math.MaxUint64, Through: math.MaxUint64})
	require.Equal(t, c.band(1, 1.5)+c.band(1.5, 2), whole, "two halves")
	require.Equal(t, "M100 190A10 10 0 0 1 100 210L100 205A5 5 0 0 0 100 195Z", c.band(1, 1.5))
}

func TestStep125(t *testing.T) {
	for x, want := range map[float64]float64{0: 0.1, 0.1: 0.1, 0.11: 0.2, 0.3: 0.5, 0.7: 1, 1.5: 2, 3: 5, 7: 10, 400: 500} {
		require.Equal(t, want, step125(x))
	}
}

// TestLoadsOutside checks that bars are marked that end outside their band, and counted.
func TestLoadsOutside(t *testing.T) {
	svg := Loads([]Load{{"in", 1.19, 1, 0.1}, {"over", 1.21, 1, 0.1}, {"under", 0.79, 1, 0.1}, {"rounded", 4, 4, 0}}, "title", "unit", "")
	require.Contains(t, svg, "2 of 4 nodes outside the band")
	require.Equal(t, 2, strings.Count(svg, `class="out"`))
	require.Equal(t, 2, strings.Count(svg, `class="bar"`))
}

// TestMove checks that arcs that stay are faded and those that move are not, in both rings.
func TestMove(t *testing.T) {
	old, err := hashring.New([]hashring.Node{{Name: "a", Tokens: []uint64{0, 1 << 62}}, {Name: "b", Tokens: []uint64{1 << 63}}}, nil)
	require.NoError(t, err)
	new, err := old.With(hashring.Node{Name: "c", Tokens: []uint64{3 << 61}})
	require.NoError(t, err)
	svg, err := Move(old, new, "c joins")
	require.NoError(t, err)
	require.Contains(t, svg, "c joins: 12.5 % of all keys move")
	require.Contains(t, svg, "12.5 % from b to c.")
	_, rest, _ := strings.Cut(svg, `<g class="faded">`)
	left, right, _ := strings.Cut(rest, `<g class="faded">`)
	bright := func(half string) []string {
		_, after, _ := strings.Cut(half, "</g>")
		var classes []string
		for _, path := range strings.Split(after, "<path ") {
			if _, class, ok := strings.Cut(path, `Z" class="`); ok {
				class, _, _ = strings.Cut(class, `"`)
				classes = append(classes, class)
			}
		}
		return classes
	}
	require.Equal(t, []string{"c1 on gap"}, bright(left), "what b gives")
	require.Equal(t, []string{"c2 on gap"}, bright(right), "what c takes")

	md5, err := hashring.New(hashring.Nodes("a"), &hashring.Options{Hash: hashring.MD5})
	require.NoError(t, err)
	_, err = Move(old, md5, "")
	require.ErrorIs(t, err, hashring.ErrHash)
}
