package plot

import (
	"math"
	"strconv"
	"strings"

	"github.com/clockwise-go/hashring"
)

// circle is where a ring is drawn. Position 0 is at the top, and the others follow clockwise.
type circle struct{ x, y, inner, outer float64 }

// at returns the point at a position of the ring, seen from the circle's middle at distance r.
func (c circle) at(pos uint64, r float64) (x, y float64) { return c.turn(fraction(pos), r) }

// turn is at for a part of the way round.
func (c circle) turn(part, r float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * part)
	return c.x + float64(r*sin), c.y - float64(r*cos)
}

// fraction returns how far round the circle pos is.
func fraction(pos uint64) float64 { return math.Ldexp(float64(pos), -64) }

// sector returns the path of the part of the circle that a is.
func (c circle) sector(a hashring.Range) string {
	start, length := fraction(a.After), a.Share().Fraction()
	if length < 0.999 {
		return c.band(start, start+length)
	}
	// An arc whose ends are one point is none.
	return c.band(start, start+length/2) + c.band(start+length/2, start+length)
}

// band returns the path between two parts of the way round.
func (c circle) band(start, end float64) string {
	large := " 0 0 "
	if end-start > 0.5 {
		large = " 0 1 "
	}
	var b strings.Builder
	point := func(command string, part, r float64) {
		x, y := c.turn(part, r)
		b.WriteString(command + num(x) + " " + num(y))
	}
	outer, inner := "A"+num(c.outer)+" "+num(c.outer)+large+"1 ", "A"+num(c.inner)+" "+num(c.inner)+large+"0 "
	point("M", start, c.outer)
	point(outer, end, c.outer)
	point("L", end, c.inner)
	point(inner, start, c.inner)
	b.WriteString("Z")
	return b.String()
}

// sectors returns a path for each node of r, of the ranges that it owns and which keep says.
func (c circle) sectors(r *hashring.Ring, keep func(hashring.Range) bool) []string {
	paths := make([]string, r.Len())
	for i := range paths {
		for a := range r.Ranges(r.Name(i)) {
			if keep(a) {
				paths[i] += c.sector(a)
			}
		}
	}
	return paths
}

// face draws what every ring has: where positions begin, and which way they go.
func (c *canvas) face(at circle) {
	c.line(at.x, at.y-at.outer-5, at.x, at.y-at.outer-15, "mark")
	c.text(at.x, at.y-at.outer-20, "middle", "dim small", "0")
	x, y := at.turn(0.055, at.outer+14)
	c.leaf("path", "", "class", "mark", "fill", "none", "d",
		"M"+num(at.x+5)+" "+num(at.y-at.outer-14)+"A"+num(at.outer+14)+" "+num(at.outer+14)+" 0 0 1 "+num(x)+" "+num(y)+
			"m-7 -0.5l7 0.5l-2 -6.5")
}

// ticks draws the tokens of r: a short line outside the circle for each, in the colour of its node.
func (c *canvas) ticks(at circle, r *hashring.Ring, colour map[string]string) {
	paths := make(map[string]string)
	for token, node := range r.Tokens() {
		x1, y1 := at.at(token, at.outer+1.5)
		x2, y2 := at.at(token, at.outer+8)
		paths[node] += "M" + num(x1) + " " + num(y1) + "L" + num(x2) + " " + num(y2)
	}
	for _, n := range r.Nodes() {
		c.leaf("path", "", "d", paths[n.Name], "class", colour[n.Name]+" edge", "stroke-width", 1.6)
	}
}

// colours gives each node of the rings a class, in the order of first appearance.
func colours(rings ...*hashring.Ring) (class map[string]string, names []string) {
	class = make(map[string]string)
	for _, r := range rings {
		for _, n := range r.Nodes() {
			if _, ok := class[n.Name]; !ok {
				class[n.Name] = "c" + strconv.Itoa(len(names)%Colours)
				names = append(names, n.Name)
			}
		}
	}
	return class, names
}
