package hashring_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
)

// What a node owns, exactly, and how even the ring is.
func ExampleRing_Ownership() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a", Zone: "eu"}, {Name: "b", Zone: "eu"}, {Name: "c", Zone: "us", Weight: 2},
	}, nil)
	if err != nil {
		panic(err)
	}
	o := ring.Ownership(hashring.Policy{N: 2, Spread: true}) // two replicas, in two zones
	for _, n := range o.Nodes {
		fmt.Printf("%s owns %.1f %% and holds %.1f %%\n", n.Name, 100*n.Owned().Fraction(), 100*n.Held().Fraction())
	}
	for _, z := range o.Zones {
		fmt.Printf("zone %s holds %.1f %%\n", z.Zone, 100*z.Held().Fraction())
	}
	fmt.Printf("peak/mean %.3f, deviation %.1f %%, of random tokens %.1f %%\n", o.Owned.Peak, 100*o.Owned.Deviation, 100*o.Theory)
	// Output:
	// a owns 23.5 % and holds 47.9 %
	// b owns 24.6 % and holds 52.1 %
	// c owns 51.9 % and holds 100.0 %
	// zone eu holds 100.0 %
	// zone us holds 100.0 %
	// peak/mean 1.039, deviation 4.3 %, of random tokens 6.0 %
}

// The ranges of a node on a small circle: quarters.
func ExampleRing_Ranges() {
	const quarter = 1 << 62
	ring, err := hashring.New([]hashring.Node{
		{Name: "a", Tokens: []uint64{0, quarter}}, {Name: "b", Tokens: []uint64{2 * quarter}},
	}, nil)
	if err != nil {
		panic(err)
	}
	for a := range ring.Ranges("a") {
		fmt.Printf("(%d, %d] quarters, %.0f %% of the circle\n", a.After/quarter, a.Through/quarter, 100*a.Share().Fraction())
		fmt.Println(a.Contains(2*quarter), a.Contains(2*quarter+1), a.Contains(0), a.Contains(quarter))
	}
	// Output:
	// (2, 1] quarters, 75 % of the circle
	// false true true true
}

func ExampleShare() {
	half := hashring.Range{After: 0, Through: 1 << 63}.Share()
	fmt.Println(half.Fraction(), half.Add(half), half.Add(half).Fraction())
	// Output:
	// 0.5 {1 0} 1
}

// What a join moves, range by range, and from whom.
func ExampleDiff() {
	old, err := hashring.New(hashring.Nodes("a", "b", "c"), &hashring.Options{VirtualNodes: 4})
	if err != nil {
		panic(err)
	}
	joined, err := old.With(hashring.Node{Name: "d"})
	if err != nil {
		panic(err)
	}
	moves, err := hashring.Diff(old, joined)
	if err != nil {
		panic(err)
	}
	for m := range moves {
		fmt.Printf("(%016x, %016x] from %s to %s: %.1f %%\n", m.After, m.Through, m.From, m.To, 100*m.Share().Fraction())
	}
	// Output:
	// (4389b00f60bda8bf, 6dc1e7ebfebe0f1b] from b to d: 16.5 %
	// (86fd6f63f3297d4b, 8d84c78745a39260] from c to d: 2.6 %
	// (ecfcd5930d05dd5a, ee9f6a4aca533ae9] from a to d: 0.6 %
}

// Who inherits what when a node leaves.
func ExampleSummary() {
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
	for _, f := range hashring.Summary(moves) {
		fmt.Printf("%s to %s: %.2f %%\n", f.From, f.To, 100*f.Share.Fraction())
	}
	// Output:
	// a to b: 7.65 %
	// a to d: 7.39 %
	// a to c: 7.14 %
}

// How many of your own keys another hash would move.
func ExampleDiffKeys() {
	nodes := hashring.Nodes("a", "b", "c")
	xx, err := hashring.New(nodes, nil)
	if err != nil {
		panic(err)
	}
	murmur, err := hashring.New(nodes, &hashring.Options{Hash: hashring.Murmur3})
	if err != nil {
		panic(err)
	}
	for m := range hashring.DiffKeys(xx, murmur, slices.Values([]string{"user:1", "user:2", "user:3", "user:4"})) {
		fmt.Println(m.Key, "moves from", m.From, "to", m.To)
	}
	// Output:
	// user:1 moves from c to a
	// user:3 moves from b to c
	// user:4 moves from c to a
}

// A node joins a store of two copies: what has to be copied, from where, and who may delete it then.
func ExampleDiffReplicas() {
	old, err := hashring.New(hashring.Nodes("a", "b", "c"), &hashring.Options{VirtualNodes: 1})
	if err != nil {
		panic(err)
	}
	joined, err := old.With(hashring.Node{Name: "d"})
	if err != nil {
		panic(err)
	}
	moves, err := hashring.DiffReplicas(old, joined, hashring.Policy{N: 2}, hashring.Policy{N: 2})
	if err != nil {
		panic(err)
	}
	for m := range moves {
		fmt.Printf("%.1f %%: to %v, from %v or %v, which deletes it\n", 100*m.Share().Fraction(), m.Gained, m.Kept, m.Lost)
	}
	// Output:
	// 39.8 %: to [d], from [a] or [b], which deletes it
	// 50.3 %: to [d], from [b] or [c], which deletes it
}

// Where to read and write while data moves.
func ExampleTransition() {
	old, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	next, err := old.With(hashring.Nodes("d", "e")...)
	if err != nil {
		panic(err)
	}
	t := hashring.Transition{Old: old, New: next, Policy: hashring.Policy{N: 2}}
	for _, key := range []string{"user:1", "user:3"} {
		fmt.Println(key, "read", t.AppendRead(nil, key), "write", t.AppendWrite(nil, key),
			"pending", t.AppendPending(nil, key), "leaving", t.AppendLeaving(nil, key))
	}
	// Output:
	// user:1 read [c a] write [c a e] pending [e] leaving [a]
	// user:3 read [b a] write [b a e] pending [e] leaving [a]
}

// A range ring: each node that joins takes half of the largest range.
func ExampleRing_SplitLargest() {
	ring, err := hashring.New([]hashring.Node{{Name: "a", Tokens: []uint64{0}}}, nil)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"b", "c", "d"} {
		token, _ := ring.SplitLargest()
		if ring, err = ring.With(hashring.Node{Name: name, Tokens: []uint64{token}}); err != nil {
			panic(err)
		}
	}
	for token, node := range ring.Tokens() {
		fmt.Printf("%016x %s\n", token, node)
	}
	// Output:
	// 0000000000000000 a
	// 4000000000000000 d
	// 8000000000000000 b
	// c000000000000000 c
}

// A hundred nodes, none of which may have more than 1.25 times the mean.
func ExampleVirtualNodesFor() {
	v, err := hashring.VirtualNodesFor(100, 1.25, 0.999999)
	if err != nil {
		panic(err)
	}
	fmt.Println(v)
	// Output:
	// 686
}

// Two processes hold the same ring if their fingerprints are equal; one sends it to the other.
func ExampleDecode() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	data, err := ring.MarshalBinary()
	if err != nil {
		panic(err)
	}
	received, err := hashring.Decode(data, &hashring.Options{MaxTokens: 100_000}) // no peer makes it take more
	if err != nil {
		panic(err)
	}
	fmt.Println(len(data), "bytes:", received)
	fmt.Println(received.Fingerprint() == ring.Fingerprint())
	// Output:
	// 74 bytes: hashring: 3 nodes, 480 tokens, keys by xxh64, 160 virtual nodes by native/1
	// true
}

func ExampleRing_MarshalJSON() {
	ring, err := hashring.New([]hashring.Node{{Name: "a", Zone: "eu"}, {Name: "b\xff", Tokens: []uint64{1 << 63}}}, nil)
	if err != nil {
		panic(err)
	}
	data, err := json.MarshalIndent(ring, "", " ")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
	// Output:
	// {
	//  "format": "hashring/1",
	//  "hash": "xxh64",
	//  "placement": "native/1",
	//  "virtualNodes": 160,
	//  "nodes": [
	//   {
	//    "name": "a",
	//    "weight": 1,
	//    "zone": "eu"
	//   },
	//   {
	//    "name64": "Yv8=",
	//    "weight": 1,
	//    "tokens": [
	//     "9223372036854775808"
	//    ]
	//   }
	//  ],
	//  "fingerprint": "6016158103908598669"
	// }
}

// Before a node joins, it compares the fingerprint of its options with that of the others.
func ExampleRing_Fingerprint() {
	ours, err := hashring.New(nil, &hashring.Options{VirtualNodes: 160})
	if err != nil {
		panic(err)
	}
	theirs, err := hashring.New(nil, &hashring.Options{VirtualNodes: 100})
	if err != nil {
		panic(err)
	}
	fmt.Println(ours.Fingerprint() == theirs.Fingerprint(), ours.Fingerprint() == new(hashring.Ring).Fingerprint())
	// Output:
	// false true
}

func ExampleHashNamed() {
	hash, ok := hashring.HashNamed("murmur3")
	fmt.Println(hash == hashring.Murmur3, ok)
	// Output:
	// true true
}

// A store whose items are sorted by position finds those of a range that goes round the end of the circle.
func ExampleRange_Intervals() {
	items := []uint64{3, 40, 1 << 63, 1<<64 - 5}
	for first, last := range (hashring.Range{After: 1 << 63, Through: 10}).Intervals() {
		from, _ := slices.BinarySearch(items, first)
		to := from
		for to < len(items) && items[to] <= last {
			to++
		}
		fmt.Println(items[from:to])
	}
	// Output:
	// [18446744073709551611]
	// [3]
}

// Who has what, of the whole circle.
func ExampleRing_AllRanges() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a", Tokens: []uint64{1 << 62}}, {Name: "b", Tokens: []uint64{3 << 62}},
	}, nil)
	if err != nil {
		panic(err)
	}
	for a, owner := range ring.AllRanges() {
		fmt.Printf("(%016x, %016x] %s\n", a.After, a.Through, owner)
	}
	// Output:
	// (4000000000000000, c000000000000000] b
	// (c000000000000000, 4000000000000000] a
}
