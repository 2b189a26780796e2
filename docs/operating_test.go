package docs_test

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/clockwise-go/hashring"
)

func Example_ramp() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d")...); err != nil {
		panic(err)
	}
	for _, weight := range []float64{0.25, 0.5, 1} { // with a pause between, until e is warm
		change, err := live.Add(hashring.Node{Name: "e", Weight: weight})
		if err != nil {
			panic(err)
		}
		moves, err := hashring.Diff(change.Old, change.New)
		if err != nil {
			panic(err)
		}
		var moved hashring.Share
		elsewhere := 0
		for m := range moves {
			moved = moved.Add(m.Share())
			if m.To != "e" {
				elsewhere++
			}
		}
		fmt.Printf("weight %.2f: %.1f %% of the keys move to e, %d ranges elsewhere\n", weight, 100*moved.Fraction(), elsewhere)
	}
	// Output:
	// weight 0.25: 7.8 % of the keys move to e, 0 ranges elsewhere
	// weight 0.50: 5.2 % of the keys move to e, 0 ranges elsewhere
	// weight 1.00: 9.2 % of the keys move to e, 0 ranges elsewhere
}

func Example_heirs() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d"), nil)
	if err != nil {
		panic(err)
	}
	without, err := ring.Without("a")
	if err != nil {
		panic(err)
	}
	moves, err := hashring.Diff(ring, without)
	if err != nil {
		panic(err)
	}
	share := make(map[string]float64)
	for _, n := range ring.Ownership(hashring.Policy{}).Nodes {
		share[n.Name] = n.Owned().Fraction()
	}
	for _, f := range hashring.Summary(moves) {
		fmt.Printf("%s would have %.0f %% more\n", f.To, 100*f.Share.Fraction()/share[f.To])
	}
	// Output:
	// b would have 32 % more
	// d would have 29 % more
	// c would have 25 % more
}

func Example_replace() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("cache-a", "cache-b")...); err != nil {
		panic(err)
	}
	table, err := hashring.Bind(live.Load(), nil, func(n hashring.Node) (string, error) {
		return "10.0.0.1:6379 as " + n.Name, nil // a connection
	})
	if err != nil {
		panic(err)
	}

	change, err := live.Add(hashring.Node{Name: "cache-b"}) // a new machine under the old name
	if err != nil {
		panic(err)
	}
	fmt.Println("the ring is the same:", change.Old == change.New)
	next, ok := table.With("cache-b", "10.0.0.9:6379 as cache-b")
	if !ok {
		panic("cache-b is not on the ring")
	}
	for name, connection := range table.Gone(next) {
		fmt.Println("close", name, "at", connection)
	}
	// Output:
	// the ring is the same: true
	// close cache-b at 10.0.0.1:6379 as cache-b
}

func Example_zones() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a1", Zone: "a"}, {Name: "a2", Zone: "a"}, {Name: "a3", Zone: "a"},
		{Name: "b1", Zone: "b"}, {Name: "b2", Zone: "b"}, {Name: "b3", Zone: "b"},
		{Name: "c1", Zone: "c"}, {Name: "c2", Zone: "c"},
	}, nil)
	if err != nil {
		panic(err)
	}
	o := ring.Ownership(hashring.Policy{N: 3, Spread: true})
	for _, z := range o.Zones {
		fmt.Printf("zone %s holds %.2f copies of everything, %.2f a node\n",
			z.Zone, z.Held().Fraction(), z.Held().Fraction()/float64(z.Nodes))
	}
	// Output:
	// zone a holds 1.00 copies of everything, 0.33 a node
	// zone b holds 1.00 copies of everything, 0.33 a node
	// zone c holds 1.00 copies of everything, 0.50 a node
}

func Example_move() {
	old, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	next, err := old.With(hashring.Node{Name: "d"})
	if err != nil {
		panic(err)
	}
	policy := hashring.Policy{N: 2}
	stores := map[string]map[string]int{"a": {}, "b": {}, "c": {}, "d": {}} // versions by key
	for i := range 1000 {
		key := fmt.Sprint("user:", i)
		for _, node := range policy.Append(nil, old, key) {
			stores[node][key] = 1
		}
	}

	step1 := hashring.Transition{Old: old, New: next, Policy: policy} // on all processes, before step 2
	for _, node := range step1.AppendWrite(nil, "user:7") {           // a write meanwhile
		stores[node]["user:7"] = 2
	}

	moves, err := hashring.DiffReplicas(old, next, policy, policy) // step 2
	if err != nil {
		panic(err)
	}
	plan := slices.Collect(moves)
	copied := 0
	for _, m := range plan {
		source := m.Sources()[0] // the first that can be reached
		for key, version := range stores[source] {
			for _, gains := range m.Gained {
				if m.Contains(old.Position(key)) && version > stores[gains][key] {
					stores[gains][key] = version
					copied++
				}
			}
		}
	}

	step3 := hashring.Transition{Old: next, New: old, Policy: policy} // on all processes, before step 4
	read := step3.AppendRead(nil, "user:7")[0]
	fmt.Println("user:7 has version", stores[read]["user:7"])

	dropped := 0
	for _, m := range plan { // step 4: next alone
		for _, loses := range m.Lost {
			before := len(stores[loses])
			maps.DeleteFunc(stores[loses], func(key string, _ int) bool { return m.Contains(old.Position(key)) })
			dropped += before - len(stores[loses])
		}
	}
	lost := 0
	for i := range 1000 {
		key := fmt.Sprint("user:", i)
		for _, node := range policy.Append(nil, next, key) {
			if stores[node][key] == 0 {
				lost++
			}
		}
	}
	fmt.Println(copied, "copied,", dropped, "dropped,", lost, "lost")
	// Output:
	// user:7 has version 2
	// 496 copied, 497 dropped, 0 lost
}

func Example_disagreement() {
	ours, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}, nil)
	if err != nil {
		panic(err)
	}
	theirs, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b", Weight: 2}}, nil)
	if err != nil {
		panic(err)
	}
	if ours.Fingerprint() != theirs.Fingerprint() {
		for d := range hashring.DiffNodes(ours, theirs) {
			fmt.Println(d)
		}
	}
	// Output:
	// "b": weight 1 and 2, other tokens
	// "c": in the old ring only
}

func Example_metrics() {
	report := func(c hashring.Change) {
		before, after := c.Old.Ownership(hashring.Policy{}), c.New.Ownership(hashring.Policy{})
		moves, err := hashring.Diff(c.Old, c.New)
		if err != nil {
			panic(err)
		}
		var moved hashring.Share
		for m := range moves {
			moved = moved.Add(m.Share())
		}
		ideal := make(map[string]float64) // what should move is half of what the nodes' ideal shares change by
		for _, n := range before.Nodes {
			ideal[n.Name] -= n.Ideal
		}
		for _, n := range after.Nodes {
			ideal[n.Name] += n.Ideal
		}
		expected := 0.0
		for _, change := range ideal {
			expected += math.Abs(change) / 2
		}
		fmt.Printf("%016x: peak/mean %.2f, deviation %.1f %% (random tokens: %.1f %%), moved %.1f %% (expected: %.1f %%)\n",
			c.New.Fingerprint(), after.Owned.Peak, 100*after.Owned.Deviation, 100*after.Theory, 100*moved.Fraction(), 100*expected)
	}
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d")...); err != nil {
		panic(err)
	}
	change, err := live.Add(hashring.Node{Name: "e"})
	if err != nil {
		panic(err)
	}
	report(change)
	if change, err = live.Remove("b", "c"); err != nil {
		panic(err)
	}
	report(change)
	// Output:
	// 03a301c9e839d5b7: peak/mean 1.11, deviation 7.7 % (random tokens: 7.1 %), moved 22.2 % (expected: 20.0 %)
	// 9957d6085f864e7b: peak/mean 1.06, deviation 7.3 % (random tokens: 6.4 %), moved 39.1 % (expected: 40.0 %)
}
