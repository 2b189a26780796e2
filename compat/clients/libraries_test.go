package clients

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/golang/groupcache/consistenthash"
	serialx "github.com/serialx/hashring"
	"github.com/stretchr/testify/require"
)

// randomText returns up to 30 bytes of any kind.
func randomText(rng *rand.Rand) string {
	b := make([]byte, 1+rng.IntN(30))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

// The Go libraries that can be imported agree with their rules, on random nodes and keys.
func TestGroupcache(t *testing.T) {
	rng := seed.Random(t)
	for range 20 {
		replicas := 1 + rng.IntN(200)
		library := consistenthash.New(replicas, nil)
		var nodes []hashring.Node
		for i := range 1 + rng.IntN(30) {
			name := fmt.Sprint(randomText(rng), i)
			if rng.IntN(2) == 0 {
				name = strconv.Itoa(i) // whose points are those of others
			}
			nodes = append(nodes, hashring.Node{Name: name})
			library.Add(name)
		}
		rule, err := compat.Groupcache(replicas)
		require.NoError(t, err)
		ring, err := hashring.New(nodes, &hashring.Options{Placement: rule})
		require.NoError(t, err)
		for range 2000 {
			key := randomText(rng)
			if rng.IntN(4) == 0 {
				key = strconv.Itoa(rng.IntN(1000)) // which may be on a point
			}
			owner, _ := ring.Owner(key)
			require.Equal(t, library.Get(key), owner, "%q", key)
		}
	}
}

func TestSerialx(t *testing.T) {
	rng := seed.Random(t)
	for range 20 {
		weights := make(map[string]int)
		var nodes []hashring.Node
		for i := range 1 + rng.IntN(30) {
			n := hashring.Node{Name: fmt.Sprint(randomText(rng), i), Weight: float64(1 + rng.IntN(50))}
			nodes = append(nodes, n)
			weights[n.Name] = int(n.Weight)
		}
		library := serialx.NewWithWeights(weights)
		ring, err := hashring.New(nodes, &hashring.Options{Placement: compat.Serialx()})
		require.NoError(t, err)
		for range 2000 {
			key := randomText(rng)
			want, ok := library.GetNode(key)
			require.True(t, ok)
			owner, _ := ring.Owner(key)
			require.Equal(t, want, owner, "%q", key)
		}
	}
}
