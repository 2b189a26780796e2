package docs_test

import (
	"fmt"
	"sync/atomic"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
)

func Example_feed() {
	live := hashring.NewLive(nil)
	changes := make(chan hashring.Change)
	f, err := feed.New(live, &feed.Options{OnChange: func(c hashring.Change) { changes <- c }})
	if err != nil {
		panic(err)
	}
	defer f.Close()

	if err := f.Update(hashring.Nodes("a", "b", "c", "d")); err != nil { // all that there are
		panic(err)
	}
	fmt.Println((<-changes).New.Len(), "nodes")
	f.Leave("d") // one that goes of its own will
	fmt.Println((<-changes).New.Len(), "nodes")
	f.Fail("b") // one that the source takes for dead before its list says so
	fmt.Println((<-changes).New.Len(), "nodes")
	// Output:
	// 4 nodes
	// 3 nodes
	// 2 nodes
}

func Example_requests() {
	type view struct {
		ring        *hashring.Ring
		fingerprint uint64
	}
	var now atomic.Pointer[view] // of the servers
	changed := make(chan bool)
	f, err := feed.New(hashring.NewLive(nil), &feed.Options{OnChange: func(c hashring.Change) {
		now.Store(&view{c.New, c.New.Fingerprint()})
		changed <- true
	}})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	answer := func(self, key string, fingerprint uint64) string { // of the server that is self
		here := now.Load()
		owner, _ := here.ring.Owner(key)
		switch {
		case owner != self:
			return "not mine"
		case fingerprint != here.fingerprint:
			return "mine, on another ring"
		}
		return "mine"
	}

	client, err := hashring.New(hashring.Nodes("a", "b", "c"), nil) // that has not heard of d yet
	if err != nil {
		panic(err)
	}
	print := client.Fingerprint()
	for _, nodes := range [][]hashring.Node{hashring.Nodes("a", "b", "c"), hashring.Nodes("a", "b", "c", "d")} {
		if err := f.Update(nodes); err != nil {
			panic(err)
		}
		<-changed
		for _, key := range []string{"user:6", "user:7"} {
			node, _ := client.Owner(key)
			fmt.Printf("%d nodes: %s on %s is %s\n", len(nodes), key, node, answer(node, key, print))
		}
	}
	// Output:
	// 3 nodes: user:6 on c is mine
	// 3 nodes: user:7 on b is mine
	// 4 nodes: user:6 on c is mine, on another ring
	// 4 nodes: user:7 on b is not mine
}
