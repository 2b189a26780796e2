package docs_test

import (
	"fmt"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
)

func Example_virtualNodes() {
	nodes := hashring.Nodes("node-1", "node-2", "node-3", "node-4", "node-5", "node-6", "node-7", "node-8")
	v, err := hashring.VirtualNodesFor(len(nodes), 1.15, 0.99) // for 99 of 100 sets of eight names
	if err != nil {
		panic(err)
	}
	for _, n := range []int{40, 160, v} {
		ring, err := hashring.New(nodes, &hashring.Options{VirtualNodes: n})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d virtual nodes: the busiest has %.3f of the mean\n", n, ring.Ownership(hashring.Policy{}).Owned.Peak)
	}
	// Output:
	// 40 virtual nodes: the busiest has 1.278 of the mean
	// 160 virtual nodes: the busiest has 1.140 of the mean
	// 653 virtual nodes: the busiest has 1.074 of the mean
}

func Example_partitions() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d", "e"), nil)
	if err != nil {
		panic(err)
	}
	parts, err := balance.Partition(ring, 1000, 1.02) // at most 204 of 1,000 on each of five
	if err != nil {
		panic(err)
	}
	fullest := 0
	for load := range parts.Loads() {
		fullest = max(fullest, load.Count)
	}
	fmt.Printf("the ring alone: %.3f of the mean\n", ring.Ownership(hashring.Policy{}).Owned.Peak)
	fmt.Printf("its partitions: %.3f of the mean\n", float64(fullest)/200)
	// Output:
	// the ring alone: 1.111 of the mean
	// its partitions: 1.020 of the mean
}
