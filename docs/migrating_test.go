package docs_test

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
	"github.com/clockwise-go/hashring/compat"
)

func Example_fromGroupcache() {
	rule, err := compat.Groupcache(50) // the argument of New
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("peer-a", "peer-b", "peer-c"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	peer, _ := ring.Owner("user:1")
	fmt.Println(peer)
	// Output:
	// peer-b
}

func Example_fromStathat() {
	rule, err := compat.Stathat(20, "crc32") // NumberOfReplicas, and "fnv32a" where UseFnv is set
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	server, _ := ring.Owner("user:1")
	two := ring.AppendReplicas(nil, "user:1", 2) // GetTwo
	fmt.Println(server, two)
	// Output:
	// c [c b]
}

func Example_fromSerialx() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a", Weight: 40}, {Name: "b", Weight: 80}, // NewWithWeights: a node's weight is its number of points
	}, &hashring.Options{Placement: compat.Serialx()})
	if err != nil {
		panic(err)
	}
	if ring, err = ring.With(hashring.Node{Name: "c", Weight: 40}); err != nil { // AddWeightedNode
		panic(err)
	}
	node, ok := ring.Owner("user:1") // GetNode
	fmt.Println(node, ok)
	// Output:
	// c true
}

func Example_fromBuraksezer() {
	rule, err := compat.Buraksezer1(20) // ReplicationFactor; Buraksezer010 for releases before 1.0.0
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("node-a", "node-b", "node-c"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	theirs, err := compat.NewBuraksezer(ring, 271, 1.25) // PartitionCount, Load
	if err != nil {
		panic(err)
	}
	member, _ := theirs.Owner("user:1") // LocateKey
	fmt.Println(theirs.Partition("user:1"), member)

	native, err := hashring.New(hashring.Nodes("node-a", "node-b", "node-c"), nil)
	if err != nil {
		panic(err)
	}
	ours, err := balance.Partition(native, 271, 1.25)
	if err != nil {
		panic(err)
	}
	member, _ = ours.Owner("user:1")
	fmt.Println(ours.Of("user:1"), member)
	// Output:
	// 142 node-b
	// 230 node-a
}

func Example_fromLafikl() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("host-a", "host-b", "host-c")...); err != nil {
		panic(err)
	}
	balancer, err := balance.New(live, 1.25)
	if err != nil {
		panic(err)
	}
	lease, ok := balancer.Acquire("/page") // GetLeast and Inc
	if !ok {
		panic("there are no hosts")
	}
	fmt.Println("served by", lease.Node())
	lease.Release() // Done
	// Output:
	// served by host-c
}

func Example_fromGoZero() {
	theirs := func(name string, points int) hashring.Node {
		n := hashring.Node{Name: name}
		for i := range points {
			n.Tokens = append(n.Tokens, hashring.Murmur3.Sum64(name+strconv.Itoa(i)))
		}
		return n
	}
	ring, err := hashring.New([]hashring.Node{
		theirs("a", 100),        // Add: 100 points, or the argument of NewCustomConsistentHash
		theirs("b", 100*50/100), // AddWithWeight(node, 50)
	}, &hashring.Options{Hash: hashring.Murmur3})
	if err != nil {
		panic(err)
	}
	node, ok := ring.Owner("user:1")
	fmt.Println(node, ok)
	// Output:
	// a true
}

func Example_fromGoRedis() {
	ring, err := hashring.New(hashring.Nodes("shard-a", "shard-b", "shard-c"), nil) // the names in Addrs
	if err != nil {
		panic(err)
	}
	newConsistentHash := func(shards []string) interface{ Get(string) string } { // redis.ConsistentHash
		getter, err := compat.NewGetter(ring, shards)
		if err != nil {
			panic(err) // a shard that the ring does not have
		}
		return getter
	}
	up := newConsistentHash([]string{"shard-a", "shard-c"}) // shard-b is down
	fmt.Println(up.Get("user:1"))
	// Output:
	// shard-a
}

func Example_movingOff() {
	rule, err := compat.Groupcache(50)
	if err != nil {
		panic(err)
	}
	nodes := hashring.Nodes("a", "b", "c")
	theirs, err := hashring.New(nodes, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	native, err := hashring.New(nodes, nil)
	if err != nil {
		panic(err)
	}
	keys := []string{"user:1", "user:2", "user:3", "user:4", "user:5"} // all that there are
	for m := range hashring.DiffKeys(theirs, native, slices.Values(keys)) {
		fmt.Println(m.Key, "from", m.From, "to", m.To)
	}
	both := hashring.Transition{Old: theirs, New: native} // while keys are copied
	fmt.Println("read", both.AppendRead(nil, "user:2"), "write", both.AppendWrite(nil, "user:2"))
	// Output:
	// user:2 from c to a
	// user:3 from a to b
	// user:4 from a to c
	// user:5 from c to a
	// read [c] write [c a]
}

func Example_oneCircle() {
	rule, err := compat.Groupcache(50)
	if err != nil {
		panic(err)
	}
	nodes := hashring.Nodes("a", "b", "c")
	theirs, err := hashring.New(nodes, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	native, err := hashring.New(nodes, &hashring.Options{Hash: rule.Hash()}) // positions stay, tokens are native
	if err != nil {
		panic(err)
	}
	moves, err := hashring.Diff(theirs, native)
	if err != nil {
		panic(err)
	}
	var moved hashring.Share
	for m := range moves {
		moved = moved.Add(m.Share())
	}
	fmt.Printf("%.1f %% of the circle moves, once; ", 100*moved.Fraction())
	fmt.Printf("peak/mean goes from %.2f to %.2f\n",
		theirs.Ownership(hashring.Policy{}).Owned.Peak, native.Ownership(hashring.Policy{}).Owned.Peak)
	// Output:
	// 69.5 % of the circle moves, once; peak/mean goes from 1.45 to 1.03
}
