package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are what was measured, in the order in which it came.
type results struct {
	rows  []row
	peers []peer
	cells map[cell][]float64 // as many as -count says
}

// row is a thing measured, as "Lookup, 10 nodes, random keys" in ns/op.
type row struct{ what, unit string }

type peer struct{ kind, name string }

type cell struct {
	row  row
	peer string
}

// reference is the peer that the others are compared with.
const reference = "hashring"

// benchmark matches the name of a result, without the number of processors at its end.
var benchmark = regexp.MustCompile(`^Benchmark(.*)/kind=(\w+)/peer=(.*?)(?:-\d+)?$`)

// parse reads the output of go test -bench. It fails if that says so, since half a run gives half a table.
func parse(in io.Reader) (*results, error) {
	r := &results{cells: make(map[cell][]float64)}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic:") {
			return nil, fmt.Errorf("line %d: the run failed: %s", n, line)
		}
		fields := strings.Fields(line)
		if len(fields) < 4 { // a name, a count, and at least one value with its unit
			continue
		}
		name := benchmark.FindStringSubmatch(fields[0])
		if name == nil {
			continue
		}
		p := peer{kind: name[2], name: name[3]}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number", n, fields[i])
			}
			r.add(row{name[1], fields[i+1]}, p, value)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.rows) == 0 {
		return nil, errors.New("no results of benchmarks in the input")
	}
	return r, nil
}

func (r *results) add(at row, p peer, value float64) {
	if at.unit == "B/op" { // allocs/op and time say it
		return
	}
	if !slices.Contains(r.rows, at) {
		r.rows = append(r.rows, at)
	}
	if !slices.Contains(r.peers, p) {
		r.peers = append(r.peers, p)
	}
	c := cell{at, p.name}
	r.cells[c] = append(r.cells[c], value)
}
