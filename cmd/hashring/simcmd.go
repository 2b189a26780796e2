package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/clockwise-go/hashring"
)

func runSim(args []string, std streams) int {
	f, fs := newSimFlags()
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(std.out, simUsage)
		return exitOK
	} else if err != nil {
		fmt.Fprintf(std.err, "hashring sim: %v\nRun 'hashring sim -h' for usage.\n", err)
		return exitInput
	}
	fs.Visit(func(fl *flag.Flag) { f.set[fl.Name] = true })

	var p problems
	for _, arg := range fs.Args() {
		p.input("hashring sim", "%q is not a flag, and nothing else is expected", arg)
	}
	ring, changes := f.build(std.in, &p)
	keys, done := f.source(std.in, &p)
	if p.status != exitOK {
		done()
		return p.report(std.err)
	}

	total := f.generate
	if f.set["keys"] {
		total = 0
	}
	rep := simulate(ring, changes, newProgress(std.err, total).watch(keys))
	rep.Unique = f.unique || !f.set["keys"] // those that are generated differ
	if done(); p.status != exitOK {
		return p.report(std.err) // the keys were cut short
	}
	write := rep.writeText
	if f.json {
		write = rep.writeJSON
	}
	if err := write(std.out); err != nil {
		p.failure(err)
	}
	return p.report(std.err)
}

// build returns the ring that the flags describe, and its changes. They are good only if p has no problems.
func (f *simFlags) build(stdin io.Reader, p *problems) (*hashring.Ring, []change) {
	opts := &hashring.Options{VirtualNodes: f.vnodes}
	if f.vnodes < 1 {
		p.input("-vnodes", "%d is less than 1", f.vnodes)
	}
	var names []string
	for h := hashring.XXH64; h <= hashring.CRC32; h++ {
		names = append(names, h.Name())
		if h.Name() == f.hash {
			opts.Hash = h
		}
	}
	if opts.Hash == nil {
		p.input("-hash", "%q is none of %s", f.hash, strings.Join(names, ", "))
	}
	joiner := hashring.Node{Name: f.join}
	var err error
	if joiner.Weight, err = parseWeight(f.joinWeight); err != nil {
		p.input("-joinweight", "%v", err)
	}

	list, ok := f.list(stdin, p)
	if ok {
		f.checkChanges(list, p)
	}
	if p.status != exitOK {
		return nil, nil
	}
	ring, err := hashring.New(list.nodes, opts)
	if err != nil {
		list.blame(err, p)
		return nil, nil
	}
	if ring.Len() == 0 {
		return ring, nil
	}
	return ring, f.changes(ring, joiner, p)
}

// checkChanges reports names that make no change of the nodes in list.
func (f *simFlags) checkChanges(list nodeList, p *problems) {
	has := func(name string) bool {
		return slices.ContainsFunc(list.nodes, func(n hashring.Node) bool { return n.Name == name })
	}
	switch why := unprintable(f.join); {
	case f.join == "":
		p.input("-join", "the name is empty")
	case why != "":
		p.input("-join", "the name %q %s", f.join, why)
	case has(f.join):
		p.input("-join", "%q is one of the nodes; give the one that joins another name", f.join)
	}
	if f.set["leave"] && !has(f.leave) {
		p.input("-leave", "there is no node %q", f.leave)
	}
	if f.set["double"] && !has(f.double) {
		p.input("-double", "there is no node %q", f.double)
	}
}

// changes returns the changes of ring, which has nodes.
func (f *simFlags) changes(ring *hashring.Ring, joiner hashring.Node, p *problems) []change {
	var changes []change
	add := func(kind string, node hashring.Node, after *hashring.Ring, err error) {
		if err != nil {
			p.input("-"+kind, "%v", cause(err))
		}
		changes = append(changes, change{kind, node, after})
	}
	chosen := func(flag, name string) hashring.Node {
		if !f.set[flag] {
			name = ring.Name(0)
		}
		node, _ := ring.Node(name)
		return node
	}
	after, err := ring.With(joiner)
	add(join, joiner, after, err)

	node := chosen(leave, f.leave)
	after, err = ring.Without(node.Name)
	add(leave, node, after, err)

	node = chosen(double, f.double)
	heavy := node
	heavy.Weight *= 2
	after, err = ring.With(heavy)
	add(double, node, after, err)
	return changes
}

// list returns the nodes that the flags name. ok is false if that is not known.
func (f *simFlags) list(stdin io.Reader, p *problems) (list nodeList, ok bool) {
	given := 0
	for _, name := range []string{"file", "nodes", "n"} {
		if f.set[name] {
			given++
		}
	}
	switch {
	case given == 0:
		p.input("hashring sim", "there are no nodes: give -file, -nodes or -n")
	case given > 1:
		p.input("hashring sim", "give only one of -file, -nodes and -n")
	case f.set["n"] && (f.n < 0 || f.n > maxNodes):
		p.input("-n", "%d is not between 0 and %d", f.n, maxNodes)
	case f.set["n"]:
		return numberedNodes(f.n), true
	case f.set["nodes"]:
		return splitNodes(f.nodes, p)
	default:
		r, name, err := openFile(f.file, stdin)
		if err != nil {
			p.failure(err)
			break
		}
		defer r.Close()
		return readNodes(r, name, p)
	}
	return nodeList{}, false
}

// source returns the keys that the flags name, and a function for when they have been read, which closes what they came
// from and reports what went wrong. They are good only if p has no problems.
func (f *simFlags) source(stdin io.Reader, p *problems) (keys iter.Seq[[]byte], done func()) {
	done = func() {}
	switch {
	case f.set["keys"] && f.set["generate"]:
		p.input("hashring sim", "give only one of -keys and -generate")
	case f.set["keys"] && f.keys == "-" && f.file == "-":
		p.input("hashring sim", "nodes and keys cannot both come from standard input")
	case f.set["keys"]:
		r, _, err := openFile(f.keys, stdin)
		if err != nil {
			p.failure(err)
			break
		}
		text := newLines(r)
		keys = text.keys()
		done = func() {
			if text.err != nil {
				p.failure(text.err)
			}
			r.Close() // nothing is lost if it fails: all was read
		}
	case f.generate < 0:
		p.input("-generate", "%d is less than 0", f.generate)
	default:
		keys = generated(f.generate)
	}
	if f.unique && keys != nil {
		keys = unique(keys)
	}
	return keys, done
}

// openFile opens the named file, or standard input for "-", and returns what to call it.
func openFile(name string, stdin io.Reader) (io.ReadCloser, string, error) {
	if name == "-" {
		return io.NopCloser(stdin), "stdin", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	return f, name, nil
}
