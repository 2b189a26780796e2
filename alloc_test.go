package hashring_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// Every operation that promises not to allocate, on small and large rings and with each built-in hash.
func TestNoAllocs(t *testing.T) {
	zoned := func(n, zones int) (nodes []hashring.Node) {
		for i := range n {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("node-", i), Zone: strconv.Itoa(i % zones)})
		}
		return nodes
	}
	var (
		sink  int
		names = make([]string, 0, 64)
		idx   = make([]int, 0, 64)
		key   = "user:4711:a key of some length, longer than a block of any of the hashes"
		bytes = []byte(key)
	)
	for _, size := range []struct{ nodes, zones int }{{1, 1}, {10, 3}, {100, 16}, {1024, 16}, {3000, 3}} {
		for _, h := range builtins {
			r := mustNew(t, zoned(size.nodes, size.zones), &hashring.Options{Hash: h, VirtualNodes: 10})
			l := hashring.NewLive(r)
			tr := hashring.Transition{Old: r, New: mustWithout(t, r, "node-0"), Policy: hashring.Policy{N: 3}}
			zoned := hashring.Transition{Old: tr.Old, New: tr.New, Policy: hashring.Policy{N: 3, Spread: true}}
			pos := r.Position(key)
			for name, f := range map[string]func(){
				"Owner":            func() { o, _ := r.Owner(key); sink += len(o) },
				"OwnerBytes":       func() { o, _ := r.OwnerBytes(bytes); sink += len(o) },
				"OwnerAt":          func() { o, _ := r.OwnerAt(pos); sink += len(o) },
				"IndexAt":          func() { sink += r.IndexAt(pos) },
				"Position":         func() { sink += int(r.Position(key)) },
				"PositionBytes":    func() { sink += int(r.PositionBytes(bytes)) },
				"Name":             func() { sink += len(r.Name(r.Len() - 1)) },
				"Node":             func() { n, _ := r.Node("node-0"); sink += len(n.Name) },
				"Len":              func() { sink += r.Len() + r.NumTokens() },
				"AppendReplicas":   func() { sink += len(r.AppendReplicas(names[:0], key, 16)) },
				"AppendReplicasAt": func() { sink += len(r.AppendReplicasAt(idx[:0], pos, 16)) },
				"AppendSpread":     func() { sink += len(r.AppendSpread(names[:0], key, 3)) },
				"AppendSpreadAt":   func() { sink += len(r.AppendSpreadAt(idx[:0], pos, 3)) },
				"AppendRead":       func() { sink += len(tr.AppendRead(names[:0], key)) },
				"AppendWrite":      func() { sink += len(tr.AppendWrite(names[:0], key)) },
				"AppendPending":    func() { sink += len(tr.AppendPending(names[:0], key)) },
				"AppendLeaving":    func() { sink += len(zoned.AppendLeaving(names[:0], key)) },
				"Ranges": func() {
					for a := range r.Ranges("node-0") {
						sink += int(a.After)
					}
				},
				"Live.Load":  func() { sink += l.Load().Len() },
				"Live.Owner": func() { o, _ := l.Owner(key); sink += len(o) },
				"a key on the stack, in bytes": func() {
					var buf [24]byte
					o, _ := r.OwnerBytes(strconv.AppendInt(buf[:0], int64(sink), 10))
					sink += len(o)
				},
				"a key on the stack, its position": func() {
					var buf [24]byte
					sink += int(r.PositionBytes(strconv.AppendInt(buf[:0], int64(sink), 10)))
				},
				"Replicas, 3": func() {
					n := 0
					for name := range r.Replicas(key) {
						sink += len(name)
						if n++; n == 3 {
							break
						}
					}
				},
				"Live.Replicas, 3": func() {
					n := 0
					for name := range l.Replicas(key) {
						sink += len(name)
						if n++; n == 3 {
							break
						}
					}
				},
				"Spread, 3": func() {
					n := 0
					for name := range r.Spread(key) {
						sink += len(name)
						if n++; n == 3 {
							break
						}
					}
				},
				"WalkAt, 3": func() {
					n := 0
					for i := range r.WalkAt(pos) {
						sink += i
						if n++; n == 3 {
							break
						}
					}
				},
				"SpreadAt, 3": func() {
					n := 0
					for i := range r.SpreadAt(pos) {
						sink += i
						if n++; n == 3 {
							break
						}
					}
				},
				"Nodes": func() {
					for i, n := range r.Nodes() {
						sink += i + len(n.Name)
					}
				},
				"Tokens": func() {
					for token, name := range r.Tokens() {
						sink += int(token) + len(name)
					}
				},
				"TokensFrom": func() {
					for token, i := range r.TokensFrom(pos) {
						sink += int(token) + i
					}
				},
			} {
				require.Zero(t, testing.AllocsPerRun(5, f), "%s, %d nodes, %s", name, size.nodes, h.Name())
			}
			allowed := 0.0 // for a whole walk
			if size.nodes > 1024 {
				allowed = 1
			}
			require.LessOrEqual(t, testing.AllocsPerRun(5, func() {
				for name := range r.Replicas(key) {
					sink += len(name)
				}
			}), allowed, "Replicas, %d nodes", size.nodes)
		}
	}
	// One zone of one node against one of all others: most of the walk can be in no set of three, and is not kept.
	lopsided := zoned(1000, 1)
	lopsided[500].Zone = "far"
	r := mustNew(t, lopsided, &hashring.Options{VirtualNodes: 10})
	for pos := range uint64(64) {
		require.Zero(t, testing.AllocsPerRun(1, func() { sink += len(r.AppendSpreadAt(idx[:0], pos<<58, 3)) }))
	}
	require.NotZero(t, sink)
}

// A hash of the caller's own costs a copy of a key in bytes and nothing else.
func TestAllocsOfOwnHash(t *testing.T) {
	r := mustNew(t, hashring.Nodes("a", "b"), &hashring.Options{Hash: hashring.NewHash("fnv", func(key string) uint64 {
		h := uint64(14695981039346656037)
		for i := range len(key) {
			h = (h ^ uint64(key[i])) * 1099511628211
		}
		return h
	})})
	key := []byte("some key that is too long for a small buffer of the runtime's")
	require.Zero(t, testing.AllocsPerRun(10, func() { r.Owner("key") }))
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { r.OwnerBytes(key) }), 1.0)
}

// A change makes a number of allocations that does not grow with the nodes.
func TestAllocsOfAChange(t *testing.T) {
	var counts []float64
	for _, n := range []int{10, 1000} {
		var nodes []hashring.Node
		for i := range n {
			nodes = append(nodes, hashring.Node{Name: fmt.Sprint("node-", i)})
		}
		r := mustNew(t, nodes, nil)
		counts = append(counts, testing.AllocsPerRun(3, func() { _, _ = r.With(hashring.Node{Name: "new"}) }),
			testing.AllocsPerRun(3, func() { _, _ = r.Without("node-5") }))
	}
	require.LessOrEqual(t, slices.Max(counts), 20.0, "%v", counts)
	require.InDeltaSlice(t, counts[:2], counts[2:], 2, "a join and a leave at 10 nodes, and at 1,000")
}
