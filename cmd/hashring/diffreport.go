package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeText writes rep as tables, for people.
func (rep *DiffReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s per unit of weight, keys by %s\n\n", count(int64(rep.VirtualNodes), "virtual node"), rep.Hash)
	t := table{left: 2}
	t.add("", "file", "nodes", "tokens", "fingerprint")
	t.add("old", rep.Old.File, strconv.Itoa(rep.Old.Nodes), strconv.Itoa(rep.Old.Tokens), hex(rep.Old.Fingerprint))
	t.add("new", rep.New.File, strconv.Itoa(rep.New.Nodes), strconv.Itoa(rep.New.Tokens), hex(rep.New.Fingerprint))
	t.write(&b)
	b.WriteByte('\n')
	for _, n := range rep.Nodes {
		n.write(&b)
	}
	if len(rep.Nodes) == 0 {
		b.WriteString("no node differs\n")
	}
	if len(rep.Flows) > 0 {
		b.WriteByte('\n')
		rep.writeFlows(&b)
	}
	if rep.Replicas != nil {
		b.WriteByte('\n')
		rep.Replicas.write(&b)
	}
	if len(rep.Moves) > 0 {
		b.WriteByte('\n')
		t := table{left: 4}
		t.add("after", "through", "from", "to")
		for _, m := range rep.Moves {
			t.add(hex(m.After), hex(m.Through), orNobody(m.From), orNobody(m.To))
		}
		t.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes in words how a node differs.
func (n NodeDiff) write(b *strings.Builder) {
	switch {
	case n.Old == nil:
		fmt.Fprintf(b, "%s joins, weight %s", n.Name, weight(n.New.Weight))
	case n.New == nil:
		fmt.Fprintf(b, "%s leaves", n.Name)
	case n.Old.Weight != n.New.Weight:
		fmt.Fprintf(b, "%s changes its weight, %s to %s", n.Name, weight(n.Old.Weight), weight(n.New.Weight))
	default:
		fmt.Fprintf(b, "%s changes its zone, %q to %q", n.Name, n.Old.Zone, n.New.Zone)
	}
	if n.Old != nil && n.New != nil && n.Old.Weight != n.New.Weight && n.Old.Zone != n.New.Zone {
		fmt.Fprintf(b, ", and its zone, %q to %q", n.Old.Zone, n.New.Zone)
	}
	b.WriteByte('\n')
}

func (rep *DiffReport) writeFlows(b *strings.Builder) {
	t := table{left: 2}
	row := func(from, to string, circle float64, keys int64) {
		cells := []string{from, to, percent(circle)}
		if rep.Keys != nil {
			cells = append(cells, strconv.FormatInt(keys, 10), percent(part(keys, rep.Keys.Total)))
		}
		t.add(cells...)
	}
	head := []string{"from", "to", "circle"}
	if rep.Keys != nil {
		head = append(head, "keys", "share")
	}
	t.add(head...)
	for _, f := range rep.Flows {
		var keys int64
		if f.Keys != nil {
			keys = *f.Keys
		}
		row(orNobody(f.From), orNobody(f.To), f.Circle, keys)
	}
	var moved int64
	if rep.Keys != nil {
		moved = rep.Keys.Moved
	}
	row("all", "", rep.Moved, moved)
	t.write(b)
	fmt.Fprintf(b, "\n%s of the circle moves between nodes that do not differ\n", percent(rep.Others))
	if rep.Keys != nil {
		fmt.Fprintf(b, "%s of %s move\n", strconv.FormatInt(rep.Keys.Moved, 10), count(rep.Keys.Total, "key"))
	}
}

func (rep *ReplicasReport) write(b *strings.Builder) {
	rep.writeTotal(b)
	if len(rep.Nodes) == 0 {
		return
	}
	t := table{left: 1}
	t.add("node", "gains", "loses")
	for _, n := range rep.Nodes {
		t.add(n.Node, percent(n.Gains), percent(n.Loses))
	}
	b.WriteByte('\n')
	t.write(b)
	if len(rep.Moves) > 0 {
		t := table{left: 6}
		t.add("after", "through", "gained", "kept", "lost", "departed")
		for _, m := range rep.Moves {
			t.add(hex(m.After), hex(m.Through), names(m.Gained), names(m.Kept), names(m.Lost), names(m.Departed))
		}
		b.WriteByte('\n')
		t.write(b)
	}
}

func (rep *ReplicasReport) writeTotal(b *strings.Builder) {
	across := ""
	if rep.Spread {
		across = " across zones"
	}
	fmt.Fprintf(b, "%s%s: the set changes on %s of the circle; to copy: %s of one copy of all keys\n",
		count(int64(rep.N), "replica"), across, percent(rep.Changed), percent(rep.Copied))
}

// names formats a list of nodes for a table.
func names(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ",")
}

func orNobody(node string) string { return cmp.Or(node, "(nobody)") }
