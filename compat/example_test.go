package compat_test

import (
	"fmt"
	"net"
	"slices"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
)

// The pool of a PHP service: Memcached with OPT_LIBKETAMA_COMPATIBLE and three servers.
func Example() {
	rule, err := compat.Libmemcached("ketama_weighted", "")
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New([]hashring.Node{
		{Name: "10.0.1.1:11211"},
		{Name: "10.0.1.2:11211"},
		{Name: "10.0.1.3:11211", Weight: 2},
	}, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	fmt.Println(ring)
	for _, key := range []string{"user:1", "user:2", "user:3"} {
		server, _ := ring.Owner(key)
		fmt.Println(key, "is on", server)
	}
	// Output:
	// hashring: 3 nodes, 480 tokens, keys by md5-le32, placed by libmemcached,distribution=ketama_weighted,hash=md5
	// user:1 is on 10.0.1.1:11211
	// user:2 is on 10.0.1.3:11211
	// user:3 is on 10.0.1.3:11211
}

// What a program would refuse is an error that names the server.
func ExampleRule() {
	servers := []hashring.Node{{Name: "10.0.0.1:80", Weight: 1.5}, {Name: "10.0.0.2:80"}}
	_, err := hashring.New(servers, &hashring.Options{Placement: compat.Nginx()})
	fmt.Println(err)
	// Output:
	// hashring: node 0 ("10.0.0.1:80"): invalid node: weight 1.5 is not a whole number from 1 to 2147483647, as nginx takes
}

func ExampleNamed() {
	rule, err := compat.Named("twemproxy,hash=md5,hash_tag={}")
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("10.0.0.1:11211", "10.0.0.2:11211"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	cart, _ := ring.Owner("cart:{alice}")
	orders, _ := ring.Owner("orders:{alice}")
	fmt.Println(cart == orders)

	_, err = compat.Named("haproxy,hash=xxh3")
	fmt.Println(err)
	// Output:
	// true
	// compat: invalid options: haproxy has no hash "xxh3" here, but crc32, djb2, sdbm, wt6
}

func ExampleHAProxyIDs() {
	servers, err := compat.HAProxyIDs([]hashring.Node{
		{Name: "a", Label: "101"}, // server a 10.0.0.1:80 id 101
		{Name: "b"},
		{Name: "c", Label: "3"},
		{Name: "d"},
	})
	if err != nil {
		panic(err)
	}
	for _, s := range servers {
		fmt.Println(s.Name, s.Label)
	}
	rule, err := compat.HAProxy("crc32", true) // hash-type consistent crc32 avalanche
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(servers, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	server, _ := ring.Owner("/index.html")
	fmt.Println("/index.html is on", server)
	// Output:
	// a 101
	// b 2
	// c 3
	// d 4
	// /index.html is on c
}

func ExampleCassandraNode() {
	ring, err := hashring.New([]hashring.Node{
		compat.CassandraNode("10.0.0.1", -9223372036854775808),
		compat.CassandraNode("10.0.0.2", -3074457345618258603),
		compat.CassandraNode("10.0.0.3", 3074457345618258602),
	}, &hashring.Options{Hash: compat.Murmur3Partitioner()})
	if err != nil {
		panic(err)
	}
	key := "key-0" // of a table whose partition key is one text
	fmt.Println("token", compat.CassandraToken(ring.Position(key)))
	fmt.Println("replicas", ring.AppendReplicas(nil, key, 2))
	// Output:
	// token -3844545562556867695
	// replicas [10.0.0.2 10.0.0.3]
}

// Envoy's retries walk on along the ring, and may come to the same host again.
func ExampleAttempts() {
	rule, err := compat.Envoy(8, 8, "")
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	attempt := 0
	for host := range compat.Attempts(ring, "session-4") {
		fmt.Println(attempt, host)
		if attempt++; attempt == 4 {
			break
		}
	}
	// Output:
	// 0 10.0.0.2:80
	// 1 10.0.0.3:80
	// 2 10.0.0.1:80
	// 3 10.0.0.2:80
}

// Where nginx sends a request when two of four servers are down.
func ExampleNginxAttempts() {
	ring, err := hashring.New(hashring.Nodes("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"),
		&hashring.Options{Placement: compat.Nginx()})
	if err != nil {
		panic(err)
	}
	down := []string{"10.0.0.1:80", "10.0.0.2:80"}
	for server := range compat.NginxAttempts(ring, "/index.html") {
		if !slices.Contains(down, server) {
			fmt.Println(server)
			break
		}
	}
	// Output:
	// 10.0.0.4:80
}

// What it costs to move off a library.
func ExampleRule_movingOff() {
	rule := compat.Serialx()
	servers := hashring.Nodes("cache-a", "cache-b", "cache-c")
	old, err := hashring.New(servers, &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	native, err := hashring.New(servers, nil)
	if err != nil {
		panic(err)
	}
	keys := func(yield func(string) bool) {
		for i := range 10000 {
			if !yield(fmt.Sprint("user:", i)) {
				return
			}
		}
	}
	moved, fromAToB := 0, 0
	for m := range hashring.DiffKeys(old, native, keys) {
		moved++
		if m.From == "cache-a" && m.To == "cache-b" {
			fromAToB++
		}
	}
	fmt.Println(moved, "of 10000 keys move,", fromAToB, "of them from cache-a to cache-b")
	// Output:
	// 6714 of 10000 keys move, 109 of them from cache-a to cache-b
}

func ExampleBuraksezer() {
	rule, err := compat.Buraksezer1(20)
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("node-a", "node-b", "node-c"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	partitions, err := compat.NewBuraksezer(ring, 271, 1.25)
	if err != nil {
		panic(err)
	}
	member, _ := partitions.Owner("user:1")
	fmt.Println("user:1 is in partition", partitions.Partition("user:1"), "on", member)
	// Output:
	// user:1 is in partition 142 on node-b
}

// What go-redis calls NewConsistentHash with, and what it then asks.
func ExampleGetter() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	newConsistentHash := func(shards []string) interface{ Get(string) string } {
		getter, err := compat.NewGetter(ring, shards)
		if err != nil {
			panic(err) // ring and Addrs do not have the same names
		}
		return getter
	}
	fmt.Println(newConsistentHash([]string{"c", "a", "b"}).Get("user:2"))
	fmt.Println(newConsistentHash([]string{"b", "c"}).Get("user:2"))
	// Output:
	// a
	// c
}

// A selector for gomemcache: memcache.NewFromSelector(selector).
func ExampleSelector() {
	rule, err := compat.Libmemcached("ketama_weighted", "")
	if err != nil {
		panic(err)
	}
	ring, err := hashring.New(hashring.Nodes("10.0.0.1:11211", "10.0.0.2:11211"), &hashring.Options{Placement: rule})
	if err != nil {
		panic(err)
	}
	live := hashring.NewLive(ring)
	selector := compat.NewSelector(live)
	addr, err := selector.PickServer("user:1")
	fmt.Println(addr, err)

	if _, err := live.Add(hashring.Node{Name: "10.0.0.3:11211"}); err != nil {
		panic(err)
	}
	err = selector.Each(func(a net.Addr) error {
		fmt.Println("server", a)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 10.0.0.2:11211 <nil>
	// server 10.0.0.1:11211
	// server 10.0.0.2:11211
	// server 10.0.0.3:11211
	// <nil>
}
