package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/clockwise-go/hashring"
)

// Describe writes to w who holds what: for each node, clockwise, the range that it owns, how many items are there, how
// many it holds in all, and which node has the copies of those that it owns.
func (s *Store) Describe(w io.Writer) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "node\tafter\tthrough\tshare\towns\tholds\tcopies on\n")
	for token, name := range s.ring.Tokens() {
		a, _ := s.rangeOf(name)
		holds := "down"
		if n := s.nodes[name]; !n.down {
			holds = fmt.Sprintf("%5d", len(n.shelf))
		}
		other := "-"
		for _, i := range copies.AppendAt(nil, s.ring, token)[1:] {
			other = s.ring.Name(i)
		}
		fmt.Fprintf(table, "%s\t%016x\t%016x\t%5.2f%%\t%5d\t%s\t%s\n",
			name, a.After, a.Through, 100*a.Share().Fraction(), s.load(name), holds, other)
	}
	return table.Flush()
}

// Peak returns how many items the busiest node owns, as a multiple of the mean, or 0 if there are none.
func (s *Store) Peak() float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	loads, sum := s.byLoad()
	if sum == 0 {
		return 0
	}
	return float64(loads[0].load) * float64(len(loads)) / float64(sum)
}

// rangeOf returns the range that a node owns: one, as it has one token.
func (s *Store) rangeOf(name string) (a hashring.Range, ok bool) {
	for a := range s.ring.Ranges(name) {
		return a, true
	}
	return hashring.Range{}, false
}

// owned returns the items that a node owns, clockwise and in parts, from a node that is up and has them.
func (s *Store) owned(name string) (parts [][]item) {
	if a, ok := s.rangeOf(name); ok {
		if up := s.up(a.Through); len(up) > 0 { // the nodes of the whole range
			return up[0].in(a)
		}
	}
	return parts
}

// load returns how many items a node owns.
func (s *Store) load(name string) (n int) {
	for _, part := range s.owned(name) {
		n += len(part)
	}
	return n
}

// nodeLoad is how many items a node owns.
type nodeLoad struct {
	name string
	load int
}

// byLoad returns the loads of all nodes, the largest first, equal ones by name, and their sum.
func (s *Store) byLoad() (loads []nodeLoad, sum int) {
	for _, n := range s.ring.Nodes() {
		load := s.load(n.Name)
		loads = append(loads, nodeLoad{n.Name, load})
		sum += load
	}
	slices.SortStableFunc(loads, func(a, b nodeLoad) int { return cmp.Compare(b.load, a.load) })
	return loads, sum
}
