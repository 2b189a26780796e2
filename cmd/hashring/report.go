package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// round rounds all fractions. The last bits of a float64 depend on the architecture, as some fuse a product with a sum.
func (rep *Report) round() {
	for i := range rep.Nodes {
		n := &rep.Nodes[i]
		round(&n.Expected, &n.KeyShare, &n.KeyRatio, &n.CircleShare, &n.CircleRatio)
	}
	for _, e := range []*Evenness{rep.Balance.Keys, rep.Balance.Circle} {
		if e != nil {
			round(&e.Peak, &e.Deviation, &e.Theory)
		}
	}
	for i := range rep.Changes {
		c := &rep.Changes[i]
		round(&c.MovedShare, &c.Ideal)
		if c.Modulo != nil {
			round(&c.Modulo.MovedShare)
		}
	}
}

// writeText writes rep as tables, for people.
func (rep *Report) writeText(w io.Writer) error {
	var b strings.Builder
	rep.writeHead(&b)
	if len(rep.Nodes) > 0 {
		b.WriteByte('\n')
		rep.writeNodes(&b)
		b.WriteByte('\n')
		rep.writeBalance(&b)
	}
	if len(rep.Changes) > 0 && rep.Keys > 0 {
		b.WriteByte('\n')
		rep.writeChanges(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (rep *Report) writeHead(b *strings.Builder) {
	if len(rep.Nodes) == 0 {
		b.WriteString("no nodes: nothing owns a key\n")
	} else {
		fmt.Fprintf(b, "%s, %s (%s per unit of weight), keys by %s\n", count(int64(len(rep.Nodes)), "node"),
			count(int64(rep.Tokens), "token"), count(int64(rep.VirtualNodes), "virtual node"), rep.Hash)
	}
	switch {
	case rep.Keys == 0:
		b.WriteString("no keys\n")
	case rep.Unique:
		fmt.Fprintf(b, "%s, no two alike\n", count(rep.Keys, "key"))
	default:
		fmt.Fprintf(b, "%s, each counted as often as it came\n", count(rep.Keys, "key"))
	}
}

func (rep *Report) writeNodes(b *strings.Builder) {
	zones := false
	for _, n := range rep.Nodes {
		zones = zones || n.Zone != ""
	}
	t := table{left: 1}
	head := []string{"node"}
	if zones {
		t.left, head = 2, append(head, "zone")
	}
	t.add(append(head, "weight", "tokens", "expected", "keys", "share", "ratio", "circle", "ratio")...)
	for _, n := range rep.Nodes {
		row := []string{n.Name}
		if zones {
			row = append(row, n.Zone)
		}
		share, r := "-", "-"
		if rep.Keys > 0 {
			share, r = percent(n.KeyShare), ratio(n.KeyRatio)
		}
		t.add(append(row, weight(n.Weight), strconv.Itoa(n.Tokens), percent(n.Expected),
			strconv.FormatInt(n.Keys, 10), share, r, percent(n.CircleShare), ratio(n.CircleRatio))...)
	}
	t.write(b)
}

func (rep *Report) writeBalance(b *strings.Builder) {
	t := table{left: 1}
	t.add("balance", "peak/mean", "deviation", "theory", "")
	if e := rep.Balance.Keys; e != nil {
		note := "(if no key came twice)"
		if rep.Unique {
			note = ""
		}
		t.add("keys", ratio(e.Peak), percent(e.Deviation), percent(e.Theory), note)
	}
	e := rep.Balance.Circle
	t.add("circle", ratio(e.Peak), percent(e.Deviation), percent(e.Theory), "")
	t.write(b)
}

func (rep *Report) writeChanges(b *strings.Builder) {
	t := table{left: 1}
	t.add("what moves", "keys", "share", "ideal", "between others", "hash % N", "share")
	for _, c := range rep.Changes {
		moved, share := "-", "-"
		if c.Modulo != nil {
			moved, share = strconv.FormatInt(c.Modulo.Moved, 10), percent(c.Modulo.MovedShare)
		}
		t.add(describe(c.Change, c.Node, c.Weight), strconv.FormatInt(c.Moved, 10), percent(c.MovedShare), percent(c.Ideal),
			strconv.FormatInt(c.BetweenOthers, 10), moved, share)
	}
	t.write(b)
}
