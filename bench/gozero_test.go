package bench

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/core/hash"

	"github.com/clockwise-go/hashring"
)

// What docs/migrating.md says of go-zero: with its points as explicit tokens, and Murmur3 for keys, every key stays where
// go-zero has it, with weights and after a change.
func TestGoZeroByExplicitTokens(t *testing.T) {
	theirs := func(name string, points int) hashring.Node {
		n := hashring.Node{Name: name}
		for i := range points {
			n.Tokens = append(n.Tokens, hashring.Murmur3.Sum64(name+strconv.Itoa(i)))
		}
		return n
	}
	h := hash.NewConsistentHash()
	var nodes []hashring.Node
	for i, name := range nodeNames(12, 0) {
		weight := 100 - 5*i
		h.AddWithWeight(name, weight)
		nodes = append(nodes, theirs(name, weight))
	}
	ring, err := hashring.New(nodes, &hashring.Options{Hash: hashring.Murmur3})
	require.NoError(t, err)
	agree := func(ring *hashring.Ring) {
		t.Helper()
		keys := keySets()["random"][:20000:20000] // appending makes a copy: others use these keys
		for _, key := range append(keys, "") {
			want, ok := h.Get(key)
			require.True(t, ok)
			got, _ := ring.Owner(key)
			require.Equal(t, want, got, "%q", key)
		}
	}
	agree(ring)
	h.Remove(nodes[5].Name)
	ring, err = ring.Without(nodes[5].Name)
	require.NoError(t, err)
	agree(ring)
}
