package hashring_test

import (
	"fmt"

	"github.com/clockwise-go/hashring"
)

// Two rings of the same nodes, of which the one with more virtual nodes is evener.
func ExampleBalance() {
	for _, v := range []int{40, 640} {
		ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d", "e"), &hashring.Options{VirtualNodes: v})
		if err != nil {
			panic(err)
		}
		balance := ring.Ownership(hashring.Policy{}).Owned
		fmt.Printf("%d virtual nodes: peak/mean %.2f, deviation %.1f %%\n", v, balance.Peak, 100*balance.Deviation)
	}
	// Output:
	// 40 virtual nodes: peak/mean 1.10, deviation 7.0 %
	// 640 virtual nodes: peak/mean 1.04, deviation 3.3 %
}

// Where a node of twice the weight is the owner, and where it is the second replica.
func ExampleNodeShare() {
	ring, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b"}, {Name: "c", Weight: 2}}, nil)
	if err != nil {
		panic(err)
	}
	for _, n := range ring.Ownership(hashring.Policy{N: 2}).Nodes {
		fmt.Printf("%s: first %.0f %%, second %.0f %%, ideally owns %.0f %%\n",
			n.Name, 100*n.Ranks[0].Fraction(), 100*n.Ranks[1].Fraction(), 100*n.Ideal)
	}
	// Output:
	// a: first 23 %, second 34 %, ideally owns 25 %
	// b: first 25 %, second 35 %, ideally owns 25 %
	// c: first 52 %, second 31 %, ideally owns 50 %
}

// Without Spread a zone may hold both copies of a key: shares of more than a circle are such keys.
func ExampleZoneShare() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a1", Zone: "a"}, {Name: "a2", Zone: "a"}, {Name: "a3", Zone: "a"}, {Name: "b1", Zone: "b"},
	}, nil)
	if err != nil {
		panic(err)
	}
	for _, spread := range []bool{false, true} {
		for _, z := range ring.Ownership(hashring.Policy{N: 2, Spread: spread}).Zones {
			fmt.Printf("spread %t: %d nodes of zone %s hold %.2f copies\n", spread, z.Nodes, z.Zone, z.Held().Fraction())
		}
	}
	// Output:
	// spread false: 3 nodes of zone a hold 1.48 copies
	// spread false: 1 nodes of zone b hold 0.52 copies
	// spread true: 3 nodes of zone a hold 1.00 copies
	// spread true: 1 nodes of zone b hold 1.00 copies
}

// The same number of replicas, and then one more, and then in distinct zones: each is a Policy, and a change of it is a
// change like any other.
func ExamplePolicy() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a1", Zone: "a"}, {Name: "a2", Zone: "a"}, {Name: "b1", Zone: "b"}, {Name: "b2", Zone: "b"},
	}, nil)
	if err != nil {
		panic(err)
	}
	now := hashring.Policy{N: 2}
	for _, then := range []hashring.Policy{{N: 2}, {N: 3}, {N: 2, Spread: true}} {
		moves, err := hashring.DiffReplicas(ring, ring, now, then)
		if err != nil {
			panic(err)
		}
		var changes hashring.Share
		for m := range moves {
			changes = changes.Add(m.Share())
		}
		fmt.Printf("%+v: user:1 on %v, %.0f %% of the circle changes\n", then, then.Append(nil, ring, "user:1"), 100*changes.Fraction())
	}
	// Output:
	// {N:2 Spread:false}: user:1 on [a2 a1], 0 % of the circle changes
	// {N:3 Spread:false}: user:1 on [a2 a1 b2], 100 % of the circle changes
	// {N:2 Spread:true}: user:1 on [a2 b2], 32 % of the circle changes
}

// A change that changes nothing leaves the same ring.
func ExampleChange() {
	live := hashring.NewLive(nil)
	for range 2 {
		change, err := live.Set(hashring.Nodes("a", "b"))
		if err != nil {
			panic(err)
		}
		fmt.Println(change.Old.Len(), "->", change.New.Len(), "the same:", change.Old == change.New)
	}
	// Output:
	// 0 -> 2 the same: false
	// 2 -> 2 the same: true
}
