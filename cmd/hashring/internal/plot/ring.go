package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/clockwise-go/hashring"
)

// nameWidth is how wide a name may be, in pixels.
const nameWidth = 150

// Ring draws a ring: which arcs are whose, where the tokens are, and for each of keys the way from its position to the
// owner's token and on to those of its other replicas, so many in all. It can show Colours nodes and three keys.
func Ring(r *hashring.Ring, keys []string, replicas int) string {
	class, names := colours(r)
	o := r.Ownership(hashring.Policy{})
	at := circle{x: 215, y: 245, inner: 112, outer: 150}
	height := max(450, 130+float64(len(names))*24+float64(len(keys))*24)
	title := fmt.Sprintf("%s with %s on a circle of 2⁶⁴ positions", count(r.Len(), "node"), count(r.NumTokens(), "token"))
	c := newCanvas(760, height, title, describe(r, o, keys, replicas))
	c.text(24, 34, "start", "fg head", title)
	c.face(at)

	for i, path := range at.sectors(r, func(hashring.Range) bool { return true }) {
		c.open("path", "d", path, "class", class[r.Name(i)]+" on gap", "stroke-width", gap(r))
		c.leaf("title", fmt.Sprintf("%s: %s of the circle", r.Name(i), percent(o.Nodes[i].Owned().Fraction())))
		c.close("path")
	}
	c.ticks(at, r, class)

	const left = 450.0
	y := 88.0
	c.text(left+24, y, "start", "dim small", "node")
	c.text(left+220, y, "end", "dim small", "tokens")
	c.text(left+286, y, "end", "dim small", "share")
	for _, n := range o.Nodes {
		y += 24
		c.leaf("rect", "", "x", left, "y", y-11, "width", 14, "height", 14, "rx", 3, "class", class[n.Name]+" on")
		c.text(left+24, y, "start", "fg", fit(n.Name, nameWidth))
		c.text(left+220, y, "end", "dim num", fmt.Sprint(n.Tokens))
		c.text(left+286, y, "end", "fg num", percent(n.Owned().Fraction()))
	}
	y += 16
	for i, key := range keys {
		y += 24
		c.key(at, r, key, i, replicas, class)
		c.text(left+7, y, "middle", "dim", fmt.Sprint(i+1))
		c.text(left+24, y, "start", "fg", sentence(r, key, replicas))
	}
	return c.end()
}

// gap returns how wide a line parts two arcs: none where they are narrow.
func gap(r *hashring.Ring) float64 {
	if r.NumTokens() > 200 {
		return 0
	}
	return 1
}

// key draws the walk from a key: inside the circle, each on a way of its own, a mark on every token where it meets a node.
func (c *canvas) key(at circle, r *hashring.Ring, key string, i, replicas int, class map[string]string) {
	pos := r.Position(key)
	radius := at.inner - 14 - 18*float64(i)
	seen := make(map[int]bool)
	end := pos
	var met strings.Builder
	for token, node := range r.TokensFrom(pos) {
		if seen[node] {
			continue
		}
		seen[node], end = true, token
		x1, y1 := at.at(token, radius)
		x2, y2 := at.at(token, at.inner-2)
		fmt.Fprintf(&met, "M%s %sL%s %s", num(x1), num(y1), num(x2), num(y2))
		if len(seen) >= replicas {
			break
		}
	}
	way := hashring.Range{After: pos, Through: end}.Share().Fraction()
	if end == pos { // the key is where the token is
		way = 0
	}
	large := "0"
	if way > 0.5 {
		large = "1"
	}
	x1, y1 := at.at(pos, radius)
	x2, y2 := at.turn(fraction(pos)+math.Min(way, 0.999), radius)
	d := fmt.Sprintf("M%s %sA%s %s 0 %s 1 %s %s", num(x1), num(y1), num(radius), num(radius), large, num(x2), num(y2))
	c.leaf("path", "", "d", d+met.String(), "class", "mark", "fill", "none", "stroke-width", 1.6)
	c.leaf("circle", "", "cx", x1, "cy", y1, "r", 4.5, "class", "fg")
	lx, ly := at.at(pos, radius-13)
	c.text(lx, ly+4, "middle", "fg small", fmt.Sprint(i+1))
}

// sentence says where a key is.
func sentence(r *hashring.Ring, key string, replicas int) string {
	return fit(fit(key, nameWidth)+" → "+strings.Join(r.AppendReplicas(nil, key, replicas), ", "), 262)
}

// describe says in words what the picture shows.
func describe(r *hashring.Ring, o hashring.Ownership, keys []string, replicas int) string {
	var parts []string
	for _, n := range o.Nodes {
		parts = append(parts, fmt.Sprintf("%s owns %s", n.Name, percent(n.Owned().Fraction())))
	}
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("key %s is on %s", key, strings.Join(r.AppendReplicas(nil, key, replicas), ", ")))
	}
	return strings.Join(parts, "; ") + "."
}
