package antientropy_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
)

// Two replicas compare what both have to have. One has missed a change and a new key, the other a deletion.
func Example() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	policy := hashring.Policy{N: 2}
	var a, b antientropy.Set
	names := make(map[uint64]string) // of keys, by position: a store has them in its data
	write := func(key string, version uint64, sets ...*antientropy.Set) {
		pos := ring.Position(key)
		names[pos] = key
		for _, set := range sets {
			set.Put(pos, version)
		}
	}
	for i := range 1000 {
		key := fmt.Sprint("user:", i)
		if replicas := ring.AppendReplicas(nil, key, 2); slices.Contains(replicas, "a") && slices.Contains(replicas, "b") {
			write(key, 1, &a, &b)
		}
	}
	write("user:3", 2, &b)  // a has missed a change
	write("user:10", 3, &a) // and b a deletion, whose tombstone is version 3
	write("user:1003", 1, &b)

	// In a program, send makes a request over the network, and the peer's handler calls Respond.
	send := func(_ context.Context, request []byte) ([]byte, error) { return b.Respond(request, nil) }
	ranges := slices.Collect(ring.SharedRanges(policy, "a", "b"))
	diff, err := antientropy.Compare(context.Background(), &a, ranges, send, nil)
	if err != nil {
		panic(err)
	}
	for _, it := range diff.There {
		fmt.Println(names[it.Position], "is missing here")
	}
	for _, it := range diff.Unlike {
		fmt.Println(names[it.Position], "has version", it.Here, "here and", it.There, "there")
	}
	// Output:
	// user:1003 is missing here
	// user:10 has version 3 here and 1 there
	// user:3 has version 1 here and 2 there
}

// A set that lacks everything is filled in steps, so that no step takes much memory.
func ExampleCompare_inSteps() {
	var here, there antientropy.Set
	for i := range 10_000 {
		there.Put(hashring.XXH64.Sum64(fmt.Sprint(i)), 1)
	}
	peer := func(_ context.Context, request []byte) ([]byte, error) { return there.Respond(request, nil) }
	for ranges := []hashring.Range{{}}; len(ranges) > 0; {
		diff, err := antientropy.Compare(context.Background(), &here, ranges, peer, &antientropy.Options{MaxKeys: 4000})
		if err != nil {
			panic(err)
		}
		for _, it := range diff.There { // copies of the data
			here.Put(it.Position, it.Digest)
		}
		fmt.Println(diff.Keys(), "keys copied")
		ranges = diff.Left
	}
	// Output:
	// 4000 keys copied
	// 4000 keys copied
	// 2000 keys copied
}

// The fingerprint of what a node owns tells in 8 bytes whether another has the same.
func ExampleSet_Fingerprint() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	var one, two antientropy.Set
	for i := range 1000 {
		key := fmt.Sprint("user:", i)
		one.Put(ring.Position(key), 1)
		two.Put(ring.Position(key), 1)
	}
	owned := func(set *antientropy.Set, node string) (sum uint64, n int) {
		for a := range ring.Ranges(node) {
			f, k := set.Fingerprint(a)
			sum, n = sum+f, n+k // of ranges that do not overlap they add up
		}
		return sum, n
	}
	first, n := owned(&one, "b")
	second, _ := owned(&two, "b")
	fmt.Println(n, "keys, the same:", first == second)
	two.Delete(ring.Position("user:3")) // one of b's
	second, _ = owned(&two, "b")
	fmt.Println("the same:", first == second)
	// Output:
	// 314 keys, the same: true
	// the same: false
}

// Two peers walk their trees from the root down, into what differs.
func ExampleSet_TreeNode() {
	var here, there antientropy.Set
	for i := range 200 {
		pos := hashring.XXH64.Sum64(fmt.Sprint("user:", i))
		here.Put(pos, 1)
		there.Put(pos, 1)
	}
	there.Put(hashring.XXH64.Sum64("user:7"), 2)
	var descend func(depth int, index uint64)
	descend = func(depth int, index uint64) {
		mine, _ := here.TreeNode(depth, index)
		yours, _ := there.TreeNode(depth, index) // over the network
		if mine.Hash == yours.Hash {
			return
		}
		if mine.Bucket || yours.Bucket {
			fmt.Printf("bucket %d at depth %d of %d items differs\n", index, depth, mine.Len)
			return
		}
		descend(depth+1, 2*index)
		descend(depth+1, 2*index+1)
	}
	descend(0, 0)
	// Output:
	// bucket 1 at depth 3 of 27 items differs
}
