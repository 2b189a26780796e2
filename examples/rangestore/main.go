// Rangestore is a small key-value store in memory, partitioned as a classic range ring: each node has one token, chosen
// when it joins, and owns the range from the token before it through its own. Each item is on two nodes, so that either
// may die.
//
//	go run ./examples/rangestore
//
// puts some items, lets nodes join, die, leave and give to each other, and shows after each step what moved, and that
// nothing is lost.
//
// What to read: membership.go is where tokens come from, move.go how items follow the ring, shelf.go how a node finds
// those of a range, and store.go who is asked for a key.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	items := flag.Int("items", 10_000, "how many items to put")
	flag.Parse()
	err := fmt.Errorf("unexpected argument %q", flag.Arg(0))
	if flag.NArg() == 0 {
		err = demo(*items, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rangestore:", err)
		os.Exit(1)
	}
}

// demo runs a store through a life of changes, and writes to out what each moved, and who holds what in the end.
func demo(items int, out io.Writer) error {
	if items < 0 {
		return fmt.Errorf("the number of items is %d", items)
	}
	s := NewStore()
	type step struct {
		what string
		do   func() (Moved, error)
	}
	joins := func(name string) step {
		return step{name + " joins", func() (Moved, error) { return s.Join(name) }}
	}
	steps := []step{
		joins("n01"),
		{"the items are put", func() (Moved, error) { return Moved{}, put(s, items) }},
	}
	for i := range 16 {
		steps = append(steps, joins(fmt.Sprintf("n%02d", i+2)))
	}
	steps = append(steps,
		step{"n07 dies", func() (Moved, error) { return Moved{}, s.Kill("n07") }},
		step{"n07 is removed", func() (Moved, error) { return s.Remove("n07") }},
		step{"n11 and n12 leave", func() (Moved, error) { return s.Remove("n11", "n12") }},
		step{"n18 relieves the busiest", func() (Moved, error) { return s.Relieve("n18") }},
	)
	for range 3 {
		steps = append(steps, step{"the busiest gives", s.Rebalance})
	}

	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "step\tcopied\tdropped\tfound\tpeak\tother owner")
	for _, step := range steps {
		m, err := step.do()
		if err != nil {
			return err
		}
		found, err := find(s, items)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%6d\t%7d\t%5d\t%4.2f\t%s\n", step.what, m.copied(), m.dropped(), found, s.Peak(), m.handed())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return s.Describe(out)
}

// put puts so many items.
func put(s *Store, items int) error {
	for i := range items {
		if err := s.Put(demoItem(i)); err != nil {
			return err
		}
	}
	return nil
}

// find returns how many of the items that put has put are there.
func find(s *Store, items int) (found int, err error) {
	for i := range items {
		key, want := demoItem(i)
		value, err := s.Get(key)
		switch {
		case err == nil && value != want:
			return 0, fmt.Errorf("%q is %q, not %q", key, value, want)
		case err == nil:
			found++
		}
	}
	return found, nil
}

func demoItem(i int) (key, value string) { return fmt.Sprintf("user:%d", i), fmt.Sprintf("profile %d", i) }

// copied returns how many items were copied from one node to another.
func (m Moved) copied() (sum int) {
	for _, c := range m.Copied {
		sum += c.Items
	}
	return sum
}

// dropped returns how many items nodes threw away.
func (m Moved) dropped() (sum int) {
	for _, d := range m.Dropped {
		sum += d.Items
	}
	return sum
}

// handed says who handed how many items to whom, and how much of the circle that is.
func (m Moved) handed() string {
	var all []string
	for _, h := range m.Handed {
		if h.From != "" {
			all = append(all, fmt.Sprintf("%s to %s: %d (%.2f%%)", h.From, h.To, h.Items, 100*h.Share().Fraction()))
		}
	}
	return strings.Join(all, ", ")
}
