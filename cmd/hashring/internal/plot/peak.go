package plot

import (
	"fmt"
	"math"
	"strings"
)

// Curve is how the peak of rings of so many nodes falls with the number of virtual nodes.
type Curve struct {
	Nodes    int
	Measured []Point // means over rings, ascending
	Bound    []Point // that hardly any ring exceeds, ascending
}

// Point is a peak, the largest share of a node divided by the mean, at so many virtual nodes.
type Point struct {
	VirtualNodes int
	Peak         float64
}

// MaxVirtualNodes is the most virtual nodes that Peaks shows.
const MaxVirtualNodes = 1600

// The rest of the part of the plane that Peaks shows.
const minVirtual, minPeak, maxPeak = 8.0, 1.0, 2.6

// Peaks draws curves over a logarithmic axis, measured ones solid and bounds dashed. It can show Colours curves.
func Peaks(curves []Curve, caption string) string {
	const left, right, top, bottom = 64.0, 736.0, 76.0, 372.0
	x := func(v int) float64 {
		return left + (right-left)*math.Log(float64(v)/minVirtual)/math.Log(MaxVirtualNodes/minVirtual)
	}
	y := func(peak float64) float64 { return bottom - (bottom-top)*(peak-minPeak)/(maxPeak-minPeak) }
	const title = "The busiest node against the number of virtual nodes"
	c := newCanvas(760, 440, title, describeCurves(curves))
	c.text(24, 34, "start", "fg head", title)
	c.text(24, 56, "start", "dim small", caption)
	for i := range 9 {
		peak := minPeak + 0.2*float64(i)
		c.line(left, y(peak), right, y(peak), "rule")
		c.text(left-10, y(peak)+4, "end", "dim small num", fmt.Sprintf("%.1f", peak))
	}
	for v := 10; v <= 1280; v *= 2 {
		c.line(x(v), bottom, x(v), bottom+5, "rule")
		c.text(x(v), bottom+21, "middle", "dim small num", fmt.Sprint(v))
	}
	c.text((left+right)/2, bottom+46, "middle", "dim small", "virtual nodes a node")
	c.leaf("path", "", "d", fmt.Sprintf("M%s %sV%s", num(x(160)), num(top), num(bottom)), "class", "mark",
		"stroke-width", 1, "stroke-dasharray", "2 3")
	c.text(x(160)+6, top+12, "start", "dim small", "the default")
	for i, curve := range curves {
		class := fmt.Sprintf("c%d edge", i%Colours)
		var solid, dashed strings.Builder
		for _, p := range curve.Measured {
			if p.Peak <= maxPeak {
				line(&solid, x(p.VirtualNodes), y(p.Peak))
			}
		}
		for _, p := range curve.Bound {
			if p.Peak <= maxPeak && p.VirtualNodes <= MaxVirtualNodes {
				line(&dashed, x(p.VirtualNodes), y(p.Peak))
			}
		}
		c.leaf("path", "", "d", dashed.String(), "class", class, "stroke-width", 1.4, "stroke-dasharray", "6 4")
		c.leaf("path", "", "d", solid.String(), "class", class, "stroke-width", 2.2)
		for _, p := range curve.Measured {
			if p.Peak <= maxPeak {
				c.leaf("circle", "", "cx", x(p.VirtualNodes), "cy", y(p.Peak), "r", 3, "class", fmt.Sprintf("c%d on", i%Colours))
			}
		}
		ly := top + 16 + 20*float64(i)
		c.leaf("path", "", "d", fmt.Sprintf("M%s %sh26", num(right-120), num(ly-4)), "class", class, "stroke-width", 2.2)
		c.text(right-86, ly, "start", "fg", fmt.Sprintf("%d nodes", curve.Nodes))
	}
	return c.end()
}

// line goes on to a point.
func line(b *strings.Builder, x, y float64) {
	command := "L"
	if b.Len() == 0 {
		command = "M"
	}
	b.WriteString(command + num(x) + " " + num(y))
}

// describeCurves says in words what was measured.
func describeCurves(curves []Curve) string {
	var parts []string
	for _, curve := range curves {
		for _, p := range curve.Measured {
			parts = append(parts, fmt.Sprintf("%d nodes with %d virtual nodes each: %.2f", curve.Nodes, p.VirtualNodes, p.Peak))
		}
	}
	return "Peak/mean. " + strings.Join(parts, "; ") + "."
}
