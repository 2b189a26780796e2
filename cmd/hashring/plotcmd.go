package main

import (
	"io"
	"maps"
	"slices"

	"github.com/clockwise-go/hashring"
)

const plotUsage = `Plot draws a ring, or how rings behave, as an SVG picture on standard output. Each picture suits a light
and a dark page.

Usage:

  hashring plot [flags] KIND [KEY...]

For example:

  hashring plot -nodes a,b,c -vnodes 8 -replicas 2 ring user:1 > ring.svg
  hashring plot -file nodes.txt -vnodes 8 -leave cache-a move > move.svg
  hashring plot -file nodes.txt -keys keys.txt load > load.svg
  hashring plot -sizes 10,100,1000 peak > peak.svg

The kinds are:

  ring   the arcs of each node and its tokens, and the way from the keys to their owners
  move   a ring before and after a change: the arcs that move stand out
  load   how much each node has beside what its weight says, and the band in which theory has it
  peak   how far the busiest node is above the mean, against the number of virtual nodes

Nodes, of all kinds but peak, one of:

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring, of all kinds but peak:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

Of one kind:

  -replicas N      ring: how many nodes the way from a key goes to (default 1)
  -join NAME       move: the node that joins (default joiner)
  -joinweight W    move: its weight (default 1)
  -leave NAME      move: the node that leaves
  -double NAME     move: the node that doubles its weight
  -keys FILE       load: count these keys; one a line; - is standard input (without it, the circle)
  -sizes N,...     peak: how many nodes rings have (default 10,100,1000)
`

// plotFlags are the flags of plot.
type plotFlags struct {
	*flags
	members     *members
	placing     *placing
	changing    *changing
	keys, sizes string
	replicas    int
}

func newPlotFlags() *plotFlags {
	f := newFlags("plot")
	s := &plotFlags{flags: f, members: f.members(), placing: f.placing(160), changing: f.changing()}
	f.StringVar(&s.keys, "keys", "", "")
	f.StringVar(&s.sizes, "sizes", "10,100,1000", "")
	f.IntVar(&s.replicas, "replicas", 1, "")
	return s
}

// plotKind is a kind of picture.
type plotKind struct {
	ring  bool     // it shows the ring that flags describe
	flags []string // that it has a use for besides
	draw  func(f *plotFlags, ring *hashring.Ring, std streams, p *problems) (svg string)
}

var plotKinds = map[string]plotKind{
	"ring": {true, []string{"replicas"}, (*plotFlags).drawRing},
	"move": {true, []string{join, "joinweight", leave, double}, (*plotFlags).drawMove},
	"load": {true, []string{"keys"}, (*plotFlags).drawLoad},
	"peak": {false, []string{"sizes"}, (*plotFlags).drawPeak},
}

func runPlot(args []string, std streams) int {
	f := newPlotFlags()
	if status, done := f.parse(args, plotUsage, std); done {
		return status
	}
	var p problems
	f.refuseLateFlags("kind", &p)
	kind, ok := plotKinds[f.Arg(0)]
	if !ok {
		p.input(f.where(), "%q is no kind of picture; those are ring, move, load and peak", f.Arg(0))
		return p.report(std.err)
	}
	kind.check(f, &p)
	var ring *hashring.Ring
	if kind.ring {
		ring = f.ring(std.in, &p)
	}
	svg := ""
	if p.status == exitOK {
		svg = kind.draw(f, ring, std, &p)
	}
	if p.status == exitOK {
		if _, err := io.WriteString(std.out, svg); err != nil {
			p.failure(err)
		}
	}
	return p.report(std.err)
}

// check reports flags and arguments that the kind has no use for: they would change nothing, and who gave them would not
// notice.
func (kind plotKind) check(f *plotFlags, p *problems) {
	useful := slices.Clone(kind.flags)
	if kind.ring {
		useful = append(useful, "file", "nodes", "n", "hash", "vnodes")
	}
	for _, name := range slices.Sorted(maps.Keys(f.given)) {
		if !slices.Contains(useful, name) {
			p.input("-"+name, "%s has no use for it", f.Arg(0))
		}
	}
	if f.Arg(0) != "ring" {
		for _, arg := range f.Args()[1:] {
			p.input(f.where(), "%s has no use for the key %q", f.Arg(0), arg)
		}
	}
}

// ring returns the ring that the flags describe. It is good only if p has no problems.
func (f *plotFlags) ring(stdin io.Reader, p *problems) *hashring.Ring {
	opts := f.placing.options(p)
	f.changing.read(p)
	list, ok := f.members.list(stdin, p)
	if ok && f.Arg(0) == "move" {
		f.changing.check(list, p)
	}
	ring := list.ring(opts, f.where(), p)
	if p.status == exitOK && ring.Len() == 0 {
		p.input(f.where(), "there are no nodes to show")
	}
	return ring
}
