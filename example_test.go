package hashring_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"

	"github.com/clockwise-go/hashring"
)

func Example() {
	ring, err := hashring.New(hashring.Nodes("cache-a", "cache-b", "cache-c"), nil)
	if err != nil {
		panic(err)
	}
	for _, key := range []string{"user:1", "user:2", "user:3"} {
		owner, _ := ring.Owner(key)
		fmt.Println(key, "is on", owner)
	}
	// Output:
	// user:1 is on cache-b
	// user:2 is on cache-c
	// user:3 is on cache-a
}

// A load balancer sends each client to one of three instances, by its address. When an instance fails, its clients go
// to the others, and all other clients stay where they are.
func Example_loadBalancer() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("10.1.0.1:8080", "10.1.0.2:8080", "10.1.0.3:8080")...); err != nil {
		panic(err)
	}
	clients := make([]string, 3000)
	before := make(map[string]string)
	for i := range clients {
		clients[i] = fmt.Sprintf("203.0.%d.%d", 113+i/250, i%250)
		before[clients[i]], _ = live.Owner(clients[i])
	}

	change, err := live.Remove("10.1.0.2:8080")
	if err != nil {
		panic(err)
	}
	moved, astray := 0, 0
	for _, client := range clients {
		after, _ := change.New.Owner(client)
		if after != before[client] {
			moved++
			if before[client] != "10.1.0.2:8080" {
				astray++
			}
		}
	}
	fmt.Printf("%d of %d clients moved, %d of them from an instance that is up\n", moved, len(clients), astray)
	// Output:
	// 934 of 3000 clients moved, 0 of them from an instance that is up
}

// Accounts are kept on three shards of 150 virtual nodes each. A fourth takes about a quarter of them, and no account
// moves between two of the first three.
func Example_sharding() {
	opts := &hashring.Options{VirtualNodes: 150}
	three, err := hashring.New(hashring.Nodes("shard-1", "shard-2", "shard-3"), opts)
	if err != nil {
		panic(err)
	}
	four, err := three.With(hashring.Node{Name: "shard-4"})
	if err != nil {
		panic(err)
	}
	const accounts = 100_000
	moved, astray := 0, 0
	for number := range accounts {
		key := strconv.Itoa(40_000_000 + number)
		from, _ := three.Owner(key)
		to, _ := four.Owner(key)
		if from != to {
			moved++
			if to != "shard-4" {
				astray++
			}
		}
	}
	fmt.Printf("%.1f%% of the accounts moved to shard-4, %d elsewhere\n", 100*float64(moved)/accounts, astray)
	// Output:
	// 24.6% of the accounts moved to shard-4, 0 elsewhere
}

// A machine twice as big takes twice the keys.
func ExampleNode_weight() {
	ring, err := hashring.New([]hashring.Node{{Name: "small-1"}, {Name: "small-2"}, {Name: "big", Weight: 2}}, nil)
	if err != nil {
		panic(err)
	}
	count := make(map[string]int)
	for i := range 100_000 {
		owner, _ := ring.Owner(strconv.Itoa(i))
		count[owner]++
	}
	for _, n := range ring.Nodes() {
		fmt.Printf("%-8s %.0f%%\n", n.Name, float64(count[n.Name])/1000)
	}
	// Output:
	// big      48%
	// small-1  26%
	// small-2  26%
}

// Three replicas of each key, in three zones.
func ExampleRing_AppendSpread() {
	ring, err := hashring.New([]hashring.Node{
		{Name: "a1", Zone: "a"}, {Name: "a2", Zone: "a"}, {Name: "a3", Zone: "a"},
		{Name: "b1", Zone: "b"}, {Name: "b2", Zone: "b"},
		{Name: "c1", Zone: "c"},
	}, nil)
	if err != nil {
		panic(err)
	}
	replicas := make([]string, 0, 3) // used again for each key: no allocation
	for _, key := range []string{"order:1", "order:2", "order:3"} {
		replicas = ring.AppendSpread(replicas[:0], key, 3)
		fmt.Println(key, replicas)
	}
	// Output:
	// order:1 [b2 c1 a1]
	// order:2 [a3 b1 c1]
	// order:3 [c1 a3 b1]
}

// The first healthy node of a key's replicas: an unhealthy one is passed by, and takes its keys again when it is back.
func ExampleRing_Replicas() {
	ring, err := hashring.New(hashring.Nodes("a", "b", "c", "d"), nil)
	if err != nil {
		panic(err)
	}
	healthy := func(node string) bool { return node != "d" }
	for _, key := range []string{"k1", "k2", "k3", "k4"} {
		owner, _ := ring.Owner(key)
		for node := range ring.Replicas(key) {
			if !healthy(node) {
				continue
			}
			fmt.Printf("%s: owner %s, goes to %s\n", key, owner, node)
			break
		}
	}
	// Output:
	// k1: owner b, goes to b
	// k2: owner d, goes to a
	// k3: owner d, goes to b
	// k4: owner a, goes to a
}

// With and Without derive a ring, and leave the one they derive from as it was.
func ExampleRing_With() {
	two, err := hashring.New(hashring.Nodes("a", "b"), nil)
	if err != nil {
		panic(err)
	}
	three, err := two.With(hashring.Node{Name: "c"})
	if err != nil {
		panic(err)
	}
	again, err := three.Without("c")
	if err != nil {
		panic(err)
	}
	fmt.Println(two.Len(), three.Len(), again.Equal(two))
	// Output:
	// 2 3 true
}

// Readers ask a Live while its membership changes. They take no lock, and each answer is that of one membership.
func ExampleLive() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c")...); err != nil {
		panic(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := range 1000 {
				ring := live.Load() // one membership for both questions
				owner, _ := ring.Owner(strconv.Itoa(i))
				for first := range ring.Replicas(strconv.Itoa(i)) {
					if first != owner {
						panic("the first replica is not the owner")
					}
					break
				}
			}
		})
	}
	for _, change := range []func() (hashring.Change, error){
		func() (hashring.Change, error) { return live.Add(hashring.Node{Name: "d", Weight: 2}) },
		func() (hashring.Change, error) { return live.Remove("a") },
		func() (hashring.Change, error) { return live.Set(hashring.Nodes("b", "c", "d")) },
		func() (hashring.Change, error) { return live.Set(hashring.Nodes("d", "c", "b")) }, // no change
	} {
		c, err := change()
		if err != nil {
			panic(err)
		}
		fmt.Println(c.Old.NumTokens(), "->", c.New.NumTokens(), c.Old == c.New)
	}
	readers.Wait()
	// Output:
	// 480 -> 800 false
	// 800 -> 640 false
	// 640 -> 480 false
	// 480 -> 480 true
}

// Anyone who knows the hash can choose keys that all fall on one node. A hash with a secret seed takes that away, if it
// is one that does not leak the seed, as SHA-256 is. Its name carries an id of the seed, so that rings of different
// seeds are told apart, and not the seed itself, since names are logged and sent about.
func ExampleNewHash_seeded() {
	type seed struct {
		id    string
		value [32]byte // from a secret store, the same in every process
	}
	seeded := func(s seed) hashring.Hash {
		return hashring.NewHash("sha256-seed-"+s.id, func(key string) uint64 {
			sum := sha256.Sum256(append(s.value[:], key...))
			return binary.LittleEndian.Uint64(sum[:])
		})
	}
	ring, err := hashring.New(hashring.Nodes("a", "b"), &hashring.Options{Hash: seeded(seed{id: "2026-11", value: [32]byte{7, 1, 4}})})
	if err != nil {
		panic(err)
	}
	fmt.Println(ring)
	// Output:
	// hashring: 2 nodes, 320 tokens, keys by sha256-seed-2026-11, 160 virtual nodes by native/1
}

// A node error says which node of the list is at fault. All that are, are reported at once.
func ExampleNodeError() {
	_, err := hashring.New([]hashring.Node{{Name: "a"}, {Name: "b", Weight: -1}, {Name: "a"}}, nil)
	fmt.Println(err)
	// Output:
	// hashring: node 1 ("b"): invalid node: weight -1 is not a positive number
	// hashring: node 2 ("a"): duplicate node: the name is in the list more than once
}

// everyOther is a Placement: two nodes take the circle in turns.
type everyOther struct{}

func (everyOther) Name() string        { return "every-other" }
func (everyOther) Hash() hashring.Hash { return nil }
func (everyOther) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	for i := range uint64(256) {
		if !emit(int(i)%len(nodes), i<<56) {
			break
		}
	}
	return nil
}

func ExamplePlacement() {
	ring, err := hashring.New(hashring.Nodes("a", "b"), &hashring.Options{Placement: everyOther{}})
	if err != nil {
		panic(err)
	}
	fmt.Println(ring)
	owner, _ := ring.OwnerAt(1 << 56)
	fmt.Println(owner)
	// Output:
	// hashring: 2 nodes, 256 tokens, keys by xxh64, placed by every-other
	// b
}

// A membership that changes while requests are served.
func ExampleLive_Replicas() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d")...); err != nil {
		panic(err)
	}
	healthy := func(node string) bool { return node != "b" }
	for node := range live.Replicas("user:3") { // clockwise, the owner first
		if !healthy(node) {
			continue
		}
		fmt.Println("user:3 goes to", node)
		break
	}

	change, err := live.Remove("b") // one step for every reader
	if err != nil {
		panic(err)
	}
	owner, _ := change.New.Owner("user:3")
	fmt.Println("user:3 is on", owner)
	// Output:
	// user:3 goes to a
	// user:3 is on a
}
