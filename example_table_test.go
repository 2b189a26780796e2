package hashring_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/clockwise-go/hashring"
)

// pool stands for a pool of connections to one node. Closing it waits for those who use it, and tells those who come
// later, as they may with a table that they loaded before.
type pool struct {
	node   string
	mu     sync.RWMutex // read-locked while in use
	closed bool
}

func (p *pool) get(key string) (answer string, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return key + " from " + p.node, !p.closed
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// A client of a sharded cache, with a pool of connections for each node, beside a Live. A change makes the next table
// in Update, so that no reader finds a node on the ring that has no pool yet; if a pool cannot be opened the change
// fails, and nothing is different.
func ExampleTable() {
	live := hashring.NewLive(nil)
	var table atomic.Pointer[hashring.Table[*pool]]
	table.Store(new(hashring.Table[*pool])) // of the empty ring
	dial := func(n hashring.Node) (*pool, error) {
		fmt.Println("opened", n.Name)
		return &pool{node: n.Name}, nil
	}
	set := func(names ...string) error {
		var old, fresh *hashring.Table[*pool]
		_, err := live.Update(func(*hashring.Ring) (*hashring.Ring, error) { // calls take turns
			old = table.Load()
			next, err := hashring.New(hashring.Nodes(names...), nil)
			if err != nil {
				return nil, err
			}
			if fresh, err = hashring.Bind(next, old, dial); err != nil {
				return nil, err
			}
			table.Store(fresh)
			return next, nil
		})
		if err != nil {
			return err
		}
		for node, p := range old.Gone(fresh) {
			p.close() // when the last who uses it is done
			fmt.Println("closed", node)
		}
		return nil
	}
	get := func(key string) string {
		for {
			p, ok := table.Load().Get(key)
			if !ok {
				return "no nodes"
			}
			if answer, ok := p.get(key); ok {
				return answer
			} // else the pool was closed after the table was loaded, so there is another
		}
	}

	if err := set("cache-a", "cache-b", "cache-c"); err != nil {
		panic(err)
	}
	fmt.Println(get("user:1"))
	if err := set("cache-a", "cache-c", "cache-d"); err != nil {
		panic(err)
	}
	fmt.Println(get("user:1"))
	// Output:
	// opened cache-a
	// opened cache-b
	// opened cache-c
	// user:1 from cache-b
	// opened cache-d
	// closed cache-b
	// user:1 from cache-d
}

// A node that is at another address now: the ring is the same, and its value is another.
func ExampleTable_With() {
	ring, err := hashring.New(hashring.Nodes("a", "b"), nil)
	if err != nil {
		panic(err)
	}
	addresses, err := hashring.Bind(ring, nil, func(n hashring.Node) (string, error) { return n.Name + ".example:6379", nil })
	if err != nil {
		panic(err)
	}
	next, ok := addresses.With("b", "10.0.0.7:6379")
	if !ok {
		panic("b is not on the ring")
	}
	for node, addr := range addresses.Gone(next) {
		fmt.Println("close what goes to", node, "at", addr)
	}
	for node, addr := range next.All() {
		fmt.Println(node, "at", addr)
	}
	// Output:
	// close what goes to b at b.example:6379
	// a at a.example:6379
	// b at 10.0.0.7:6379
}

// When one of several cannot be opened, what was opened until then is the caller's to close.
func ExampleBindError() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c"), nil)
	if err != nil {
		panic(err)
	}
	_, err = hashring.Bind(ring, nil, func(n hashring.Node) (*pool, error) {
		if n.Name == "b" {
			return nil, errors.New("connection refused")
		}
		return &pool{node: n.Name}, nil
	})
	var failed *hashring.BindError[*pool]
	if errors.As(err, &failed) {
		for _, p := range failed.Opened {
			p.close()
			fmt.Println("closed", p.node)
		}
	}
	fmt.Println(err)
	// Output:
	// closed a
	// hashring: node 1 ("b"): connection refused
}
