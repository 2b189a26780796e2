package main

import (
	"io"

	"github.com/clockwise-go/hashring"
)

func runSim(args []string, std streams) int {
	f := newSimFlags()
	if status, done := f.parse(args, simUsage, std); done {
		return status
	}
	var p problems
	f.refuseArgs(&p)
	ring, changes := f.build(std.in, &p)
	keys, done := f.keys.open(std.in, f.members.file == "-", &p)
	if p.status != exitOK {
		done()
		return p.report(std.err)
	}

	rep := simulate(ring, changes, newProgress(std.err, f.keys.total()).watch(keys))
	rep.Unique = f.keys.unique || !f.given["keys"] // those that are generated differ
	if done(); p.status != exitOK {
		return p.report(std.err) // the keys were cut short
	}
	return writeReport(&rep, f.json, std, &p)
}

// build returns the ring that the flags describe, and its changes. They are good only if p has no problems.
func (f *simFlags) build(stdin io.Reader, p *problems) (*hashring.Ring, []change) {
	opts := f.placing.options(p)
	f.changing.read(p)
	list, ok := f.members.list(stdin, p)
	if ok {
		f.changing.check(list, p)
	}
	ring := list.ring(opts, f.where(), p)
	if p.status != exitOK || ring.Len() == 0 {
		return ring, nil
	}
	return ring, f.changing.of(ring, p, join, leave, double)
}
