package balance_test

import (
	"fmt"
	"math"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
)

// Twenty requests for one page, all under way at once. Its owner takes what its bound allows, and the rest goes to the
// next nodes clockwise. When they are done, the page is its owner's again.
func ExampleBalancer() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d")...); err != nil {
		panic(err)
	}
	balancer, err := balance.New(live, 1.25)
	if err != nil {
		panic(err)
	}
	var leases []balance.Lease
	for range 20 {
		lease, ok := balancer.Acquire("/hot/page")
		if !ok {
			panic("the ring is empty")
		}
		leases = append(leases, lease) // one would send the request to lease.Node() here
	}
	for load := range balancer.Loads() {
		fmt.Println(load.Node, "has", load.Count)
	}
	for _, lease := range leases {
		lease.Release()
		lease.Release() // does nothing
	}
	owner, _ := live.Owner("/hot/page")
	lease, _ := balancer.Acquire("/hot/page")
	fmt.Println("owner:", owner, "next:", lease.Node(), "under way:", balancer.Total())
	// Output:
	// a has 6
	// b has 6
	// c has 1
	// d has 7
	// owner: d next: d under way: 1
}

// A request tries another node when one cannot be reached. The lease of each try is released before the next.
func ExampleBalancer_AcquireIf() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d")...); err != nil {
		panic(err)
	}
	balancer, err := balance.New(live, 1.25)
	if err != nil {
		panic(err)
	}
	send := func(node string) error {
		if node == "d" {
			return fmt.Errorf("%s cannot be reached", node)
		}
		fmt.Println("served by", node)
		return nil
	}
	tried := make(map[string]bool)
	for {
		lease, ok := balancer.AcquireIf("/hot/page", func(node string) bool { return !tried[node] })
		if !ok {
			fmt.Println("no node can be reached")
			return
		}
		err := send(lease.Node())
		lease.Release()
		if err == nil {
			return
		}
		fmt.Println(err)
		tried[lease.Node()] = true
	}
	// Output:
	// d cannot be reached
	// served by b
}

// A lease is released when the request ends, however it does.
func ExampleLease() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b")...); err != nil {
		panic(err)
	}
	balancer, err := balance.New(live, 1.25)
	if err != nil {
		panic(err)
	}
	serve := func(key string) {
		lease, ok := balancer.Acquire(key)
		if !ok {
			fmt.Println("no nodes")
			return
		}
		defer lease.Release()
		fmt.Println(key, "on", lease.Node(), "with", balancer.Total(), "under way")
	}
	serve("user:1")
	serve("user:2")
	fmt.Println(balancer.Total(), "under way")
	// Output:
	// user:1 on a with 1 under way
	// user:2 on a with 1 under way
	// 0 under way
}

// What to alert on: a node that is at its bound.
func ExampleLoad() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Node{Name: "small"}, hashring.Node{Name: "big", Weight: 3}); err != nil {
		panic(err)
	}
	balancer, err := balance.New(live, 1.25)
	if err != nil {
		panic(err)
	}
	for i := range 40 {
		if _, ok := balancer.Acquire(fmt.Sprint("user:", i)); !ok {
			panic("the ring is empty")
		}
	}
	for load := range balancer.Loads() {
		fmt.Printf("%s: %d of %d\n", load.Node, load.Count, load.Bound)
	}
	// Output:
	// big: 28 of 39
	// small: 12 of 13
}

// Loads that the nodes report themselves. One that is down reports none.
func ExampleBounds() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d"), nil)
	if err != nil {
		panic(err)
	}
	bounds, err := balance.NewBounds(ring, 1.25)
	if err != nil {
		panic(err)
	}
	queued := map[string]float64{"a": 3, "c": 2, "b": 17} // d is down
	load := func(node string) float64 {
		if n, up := queued[node]; up {
			return n
		}
		return math.Inf(1)
	}
	for node := range ring.Replicas("/hot/page") {
		fmt.Print(node, " ")
	}
	fmt.Println("clockwise")
	for node := range bounds.Walk("/hot/page", load) {
		fmt.Println("goes to", node)
		break
	}
	// Output:
	// d b a c clockwise
	// goes to a
}

// Sessions are kept in 1,024 partitions on four nodes, of which none has more than a quarter and 5 % of that. When a
// fifth joins, a fifth of the partitions moves to it, and a few move between the others.
func ExamplePartitions() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d"), nil)
	if err != nil {
		panic(err)
	}
	before, err := balance.Partition(ring, 1024, 1.05)
	if err != nil {
		panic(err)
	}
	owner, _ := before.Owner("session:7f3a")
	fmt.Println("session:7f3a is in partition", before.Of("session:7f3a"), "on", owner)
	for load := range before.Loads() {
		fmt.Printf("%s has %d of at most %d\n", load.Node, load.Count, load.Bound)
	}

	joined, err := ring.With(hashring.Node{Name: "e"})
	if err != nil {
		panic(err)
	}
	after, err := balance.Partition(joined, 1024, 1.05)
	if err != nil {
		panic(err)
	}
	moves, err := balance.DiffPartitions(before, after)
	if err != nil {
		panic(err)
	}
	toNew, between := 0, 0
	for move := range moves {
		if move.To == "e" {
			toNew++
		} else {
			between++
		}
	}
	fmt.Println(toNew, "partitions move to e,", between, "between others")
	// Output:
	// session:7f3a is in partition 890 on d
	// a has 233 of at most 269
	// b has 253 of at most 269
	// c has 269 of at most 269
	// d has 269 of at most 269
	// 216 partitions move to e, 16 between others
}

// What moves when a node leaves: all that it had, and here nothing else.
func ExampleDiffPartitions() {
	partition := func(names ...string) *balance.Partitions {
		ring, err := hashring.New(hashring.Nodes(names...), nil)
		if err != nil {
			panic(err)
		}
		p, err := balance.Partition(ring, 16, 1.25)
		if err != nil {
			panic(err)
		}
		return p
	}
	moves, err := balance.DiffPartitions(partition("a", "b", "c"), partition("a", "b"))
	if err != nil {
		panic(err)
	}
	for move := range moves {
		fmt.Printf("%d from %s to %s\n", move.Partition, move.From, move.To)
	}
	// Output:
	// 0 from c to b
	// 2 from c to b
	// 3 from c to a
	// 4 from c to a
	// 5 from c to b
	// 10 from c to b
	// 11 from c to a
}
