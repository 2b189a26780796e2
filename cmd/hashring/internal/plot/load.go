package plot

import (
	"fmt"
	"math"
	"strconv"
)

// Load is how much a node has, divided by what its weight says.
type Load struct {
	Node      string
	Ratio     float64
	Mean      float64 // of Ratio, to be expected: 1 unless the weight was rounded to whole tokens
	Deviation float64 // its standard deviation
}

// Loads draws a bar for each node behind a band of two standard deviations, in which about 95 of 100 nodes are to be
// expected. Bars that end outside it have another colour. It can show MaxLoads nodes.
//
// The title says what is shown, unit what its ratios are of, and proviso, if there is one, what the band takes for granted.
func Loads(loads []Load, title, unit, proviso string) string {
	label, top, outside := 0.0, 1.0, 0
	for _, l := range loads {
		label = max(label, width(fit(l.Node, nameWidth)))
		top = max(top, l.Ratio, l.Mean+2*l.Deviation)
		if l.outside() {
			outside++
		}
	}
	left := 24 + label + 12
	step := 24.0
	if len(loads) > 40 {
		step = 16
	}
	const w = 760.0
	top = math.Ceil(top*1.03*10) / 10
	scale := (w - left - 70) / top
	first, bottom := 76.0, 76+float64(len(loads))*step
	caption := fmt.Sprintf("%d of %s outside the band, in which about 95 of 100 are to be expected%s",
		outside, count(len(loads), "node"), proviso)
	c := newCanvas(w, bottom+64, title, caption)
	c.text(24, 34, "start", "fg head", title)
	c.text(24, 56, "start", "dim small", caption)
	for i, l := range loads {
		y := first + float64(i)*step
		low, high := max(0, l.Mean-2*l.Deviation), min(top, l.Mean+2*l.Deviation)
		c.leaf("rect", "", "x", left+low*scale, "y", y, "width", (high-low)*scale, "height", step, "class", "band")
	}
	every := step125(top / 8)
	for i := 0; float64(i)*every <= top; i++ {
		v := float64(i) * every
		x := left + v*scale
		c.line(x, first, x, bottom+5, "rule")
		c.text(x, bottom+21, "middle", "dim small num", strconv.FormatFloat(v, 'f', 1, 64))
	}
	c.text(left+top*scale/2, bottom+44, "middle", "dim small", unit)
	for i, l := range loads {
		y := first + float64(i)*step
		class := "bar"
		if l.outside() {
			class = "out"
		}
		c.leaf("rect", "", "x", left, "y", y+step/5, "width", max(1, l.Ratio*scale), "height", step*3/5, "rx", 2,
			"class", class)
		c.text(left-10, y+step/2+4.5, "end", "fg", fit(l.Node, nameWidth))
		c.text(w-24, y+step/2+4.5, "end", "fg num", fmt.Sprintf("%.3f", l.Ratio))
	}
	c.line(left+scale, first-4, left+scale, bottom+5, "mark")
	return c.end()
}

// step125 returns the first of 0.1, 0.2, 0.5, 1, 2, 5 and so on that is at least x.
func step125(x float64) float64 {
	for tenths := 1.0; ; tenths *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if step := tenths * digit / 10; step >= x {
				return step
			}
		}
	}
}

// MaxLoads is how many bars fit a picture that one can look at.
const MaxLoads = 100

func (l Load) outside() bool { return math.Abs(l.Ratio-l.Mean) > 2*l.Deviation }
