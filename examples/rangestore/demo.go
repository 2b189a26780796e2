package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

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

	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "step\tcopied\tdropped\tfound\tpeak\tother owner")
	show := func(what string, do func() (Moved, error)) (Moved, error) {
		m, err := do()
		if err != nil {
			return m, err
		}
		found, err := find(s, items)
		fmt.Fprintf(table, "%s\t%6d\t%7d\t%5d\t%4.2f\t%s\n", what, m.copied(), m.dropped(), found, s.Peak(), m.handed())
		return m, err
	}
	for _, step := range steps {
		if _, err := show(step.what, step.do); err != nil {
			return err
		}
	}
	for balanced := false; !balanced; {
		m, err := show("the busiest gives", s.Rebalance)
		if err != nil {
			return err
		}
		balanced = m.Old == m.New
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

func demoItem(i int) (key, value string) {
	return fmt.Sprintf("user:%d", i), fmt.Sprintf("profile %d", i)
}

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
