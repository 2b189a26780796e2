package main

import (
	"fmt"
	"io"
	"iter"

	"github.com/clockwise-go/hashring"
)

const diffUsage = `Diff compares the rings of two files of nodes: which part of the circle, and how many of given keys,
moves from which node to which.

Usage:

  hashring diff [flags] OLD NEW

For example:

  hashring diff old.txt new.txt
  hashring diff -keys keys.txt old.txt new.txt
  hashring diff -replicas 3 -spread -moves -json old.txt new.txt

A file has a node a line: name [weight [zone]]; # starts a comment; - is standard input.

  -keys FILE       count those of its keys that move; one a line; - is standard input
  -moves           list every range of the circle that moves, (after, through], in hexadecimal

The rings:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 160)

Replicas, to see what has to be copied besides:

  -replicas N      how many nodes have a key (default 1)
  -spread          put them into as many zones as there are

Output:

  -json            print the report as JSON
`

// diffFlags are the flags of diff.
type diffFlags struct {
	*flags
	placing     *placing
	replication *replication
	keys        string
	moves, json bool
}

func newDiffFlags() *diffFlags {
	f := newFlags("diff")
	d := &diffFlags{flags: f, placing: f.placing(160), replication: f.replication()}
	f.StringVar(&d.keys, "keys", "", "")
	f.BoolVar(&d.moves, "moves", false, "")
	f.BoolVar(&d.json, "json", false, "")
	return d
}

// DiffReport is what diff found, and with -json what it prints. Its field names do not change. Shares are parts of 1,
// rounded to 9 digits, which makes them the same on every architecture.
type DiffReport struct {
	Hash         string          `json:"hash"`          // of keys
	VirtualNodes int             `json:"virtual_nodes"` // per unit of weight
	Old          RingReport      `json:"old"`
	New          RingReport      `json:"new"`
	Nodes        []NodeDiff      `json:"nodes"`                      // that differ, by name
	Moved        float64         `json:"moved_share"`                // of the circle: what has another owner
	Others       float64         `json:"moved_between_others_share"` // between two nodes that do not differ: always 0
	Keys         *KeysReport     `json:"keys"`                       // null without -keys
	Flows        []FlowReport    `json:"flows"`                      // the largest first
	Replicas     *ReplicasReport `json:"replicas"`                   // null without -replicas and -spread
	Moves        []MoveReport    `json:"moves,omitempty"`            // with -moves, clockwise
}

// RingReport is one of the rings.
type RingReport struct {
	File        string `json:"file"`
	Nodes       int    `json:"nodes"`
	Tokens      int    `json:"tokens"`
	Fingerprint uint64 `json:"fingerprint,string"`
}

// NodeDiff is a node that is not the same in both rings. Old or New is null where it is not there.
type NodeDiff struct {
	Name string     `json:"name"`
	Old  *NodeState `json:"old"`
	New  *NodeState `json:"new"`
}

// NodeState is what may differ of a node.
type NodeState struct {
	Weight float64 `json:"weight"`
	Zone   string  `json:"zone"`
}

// MoveReport is a [hashring.Move].
type MoveReport struct {
	After   uint64 `json:"after,string"`
	Through uint64 `json:"through,string"`
	From    string `json:"from"`
	To      string `json:"to"`
}

func runDiff(args []string, std streams) int {
	f := newDiffFlags()
	if status, done := f.parse(args, diffUsage, std); done {
		return status
	}
	var p problems
	f.replication.check(&p)
	rings, keys, done := f.open(std.in, &p)
	if p.status != exitOK {
		done()
		return p.report(std.err)
	}
	rep, err := f.diff(rings[0], rings[1], newProgress(std.err, 0).watch(keys))
	if done(); err != nil {
		p.failure(err)
	}
	if p.status != exitOK {
		return p.report(std.err) // the keys were cut short
	}
	return writeReport(rep, f.json, std, &p)
}

// open returns both rings, and the keys as keySource.open does, or no keys. All are good only if p has no problems.
func (f *diffFlags) open(stdin io.Reader, p *problems) (rings [2]*hashring.Ring, keys iter.Seq[[]byte], done func()) {
	opts := f.placing.options(p)
	f.refuseLateFlags("file", p)
	var lists [2]nodeList
	taken := false // standard input
	if f.NArg() != 2 {
		p.input(f.where(), "there are %s, not two, OLD and NEW", count(int64(f.NArg()), "file"))
	} else {
		if taken = f.Arg(0) == "-" || f.Arg(1) == "-"; f.Arg(0) == f.Arg(1) && taken {
			p.input(f.where(), "both files cannot come from standard input")
			return rings, nil, func() {}
		}
		for i := range lists {
			lists[i], _ = openNodes(f.Arg(i), stdin, p)
		}
	}
	for i := range rings {
		rings[i] = lists[i].ring(opts, f.where(), p)
	}
	if !f.given["keys"] {
		return rings, nil, func() {}
	}
	keys, done = openKeys(f.keys, f.where(), stdin, taken, p)
	return rings, keys, done
}

// diff returns the report on two rings, and on those of keys that move, if there are any.
func (f *diffFlags) diff(old, new *hashring.Ring, keys iter.Seq[[]byte]) (*DiffReport, error) {
	opts := old.Options()
	rep := &DiffReport{
		Hash:         opts.Hash.Name(),
		VirtualNodes: opts.VirtualNodes,
		Old:          RingReport{f.Arg(0), old.Len(), old.NumTokens(), old.Fingerprint()},
		New:          RingReport{f.Arg(1), new.Len(), new.NumTokens(), new.Fingerprint()},
		Nodes:        nodeDiffs(old, new),
	}
	var err error
	if rep.Flows, rep.Moved, err = flows(old, new); err != nil {
		return nil, err
	}
	differs := make(map[string]bool)
	for _, n := range rep.Nodes {
		differs[n.Name] = true
	}
	for _, flow := range rep.Flows {
		if !differs[flow.From] && !differs[flow.To] {
			rep.Others += flow.Circle
		}
	}
	if f.given["keys"] {
		rep.Keys = countKeys(old, new, keys, rep.Flows)
	}
	if f.replication.wanted() {
		if rep.Replicas, err = replicas(old, new, f.replication.policy, f.moves); err != nil {
			return nil, err
		}
	}
	if f.moves {
		moves, err := hashring.Diff(old, new)
		if err != nil {
			return nil, err
		}
		for m := range moves {
			rep.Moves = append(rep.Moves, MoveReport{m.After, m.Through, m.From, m.To})
		}
	}
	rep.round()
	return rep, nil
}

// nodeDiffs returns the nodes that differ between two rings whose nodes are sorted by name: it is one merge.
func nodeDiffs(old, new *hashring.Ring) []NodeDiff {
	diffs := []NodeDiff{}
	state := func(n hashring.Node, ok bool) *NodeState {
		if !ok {
			return nil
		}
		return &NodeState{n.Weight, n.Zone}
	}
	for i, j := 0, 0; i < old.Len() || j < new.Len(); {
		name := ""
		if i < old.Len() {
			name = old.Name(i)
		}
		if j < new.Len() && (name == "" || new.Name(j) < name) {
			name = new.Name(j)
		}
		a, inOld := old.Node(name)
		b, inNew := new.Node(name)
		if inOld {
			i++
		}
		if inNew {
			j++
		}
		if inOld != inNew || a.Weight != b.Weight || a.Zone != b.Zone {
			diffs = append(diffs, NodeDiff{name, state(a, inOld), state(b, inNew)})
		}
	}
	return diffs
}

func (rep *DiffReport) round() {
	round(&rep.Moved, &rep.Others)
	for i := range rep.Flows {
		round(&rep.Flows[i].Circle)
	}
	if rep.Keys != nil {
		round(&rep.Keys.MovedShare)
	}
	if rep.Replicas != nil {
		rep.Replicas.round()
	}
}

func hex(pos uint64) string { return fmt.Sprintf("%016x", pos) }
