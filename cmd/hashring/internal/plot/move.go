package plot

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Move draws two rings with the same hash of keys side by side. Arcs that have another owner in the one than in the
// other stand out in both; what stays is faded. It can show Colours nodes, of both rings together.
func Move(old, new *hashring.Ring, what string) (string, error) {
	moves, err := hashring.Diff(old, new)
	if err != nil {
		return "", err
	}
	class, names := colours(old, new)
	var all []hashring.Move
	var sum hashring.Share
	for m := range moves {
		all = append(all, m)
		sum = sum.Add(m.Share())
	}
	height := max(410, 130+float64(len(names))*24)
	title := fmt.Sprintf("%s: %s of all keys move", what, percent(sum.Fraction()))
	c := newCanvas(880, height, title, describeFlows(all))
	c.text(24, 34, "start", "fg head", title)
	c.text(24, 56, "start", "dim small", "what is faded stays where it was")
	for i, r := range []*hashring.Ring{old, new} {
		at := circle{x: 165 + 300*float64(i), y: 232, inner: 82, outer: 118}
		label := []string{"before", "after"}[i]
		c.text(at.x, at.y+5, "middle", "fg", label)
		c.face(at)
		c.open("g", "class", "faded")
		for i, path := range at.sectors(r, func(hashring.Range) bool { return true }) {
			c.leaf("path", "", "d", path, "class", class[r.Name(i)]+" on gap", "stroke-width", gap(r))
		}
		c.close("g")
		moved := make(map[string]string)
		for _, m := range all {
			owner := m.From
			if i == 1 {
				owner = m.To
			}
			moved[owner] += at.sector(m.Range)
		}
		for _, name := range names {
			if moved[name] != "" {
				c.leaf("path", "", "d", moved[name], "class", class[name]+" on gap", "stroke-width", gap(r))
			}
		}
		c.ticks(at, r, class)
	}
	c.leaf("path", "", "d", "M300 232h26m-8 -6l8 6l-8 6", "class", "mark", "fill", "none", "stroke-width", 1.6)

	const left = 620.0
	y := 88.0
	c.text(left+24, y, "start", "dim small", "node")
	c.text(left+184, y, "end", "dim small", "before")
	c.text(left+240, y, "end", "dim small", "after")
	before, after := shares(old), shares(new)
	for _, name := range names {
		y += 24
		c.leaf("rect", "", "x", left, "y", y-11, "width", 14, "height", 14, "rx", 3, "class", class[name]+" on")
		c.text(left+24, y, "start", "fg", fit(name, 112))
		c.text(left+184, y, "end", "dim num", cmp.Or(before[name], "–"))
		c.text(left+240, y, "end", "fg num", cmp.Or(after[name], "–"))
	}
	return c.end(), nil
}

// shares returns what each node owns.
func shares(r *hashring.Ring) map[string]string {
	shares := make(map[string]string)
	for _, n := range r.Ownership(hashring.Policy{}).Nodes {
		shares[n.Name] = percent(n.Owned().Fraction())
	}
	return shares
}

// describeFlows says in words what moves.
func describeFlows(all []hashring.Move) string {
	var parts []string
	for _, f := range hashring.Summary(func(yield func(hashring.Move) bool) {
		for _, m := range all {
			if !yield(m) {
				return
			}
		}
	}) {
		parts = append(parts, fmt.Sprintf("%s from %s to %s",
			percent(f.Share.Fraction()), cmp.Or(f.From, "nobody"), cmp.Or(f.To, "nobody")))
	}
	if len(parts) == 0 {
		return "Nothing moves."
	}
	return strings.Join(parts, "; ") + "."
}
