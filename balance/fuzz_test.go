package balance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
	"github.com/stretchr/testify/require"
)

// script is a source of random numbers of which the fuzzer gives the highest byte, one after another; the bits below and
// what comes behind the end are those of a fixed sequence.
type script struct {
	bytes []byte
	rest  *rand.PCG
}

func (s *script) Uint64() uint64 {
	x := s.rest.Uint64()
	if len(s.bytes) > 0 {
		x = uint64(s.bytes[0])<<56 | x>>8
		s.bytes = s.bytes[1:]
	}
	return x
}

// FuzzBalancer lets the input say which requests are acquired and released, and which nodes come and go, and compares the
// Balancer after each with the model of TestBalancerIsItsModel.
func FuzzBalancer(f *testing.F) {
	f.Fuzz(func(t *testing.T, factor float64, rule, about byte, in []byte) {
		opts := &hashring.Options{VirtualNodes: 1 + int(rule%32)}
		if rule >= 128 {
			opts = &hashring.Options{Placement: starving{}}
		}
		if !(factor >= 1) || factor > 1e300 { // see TestFactorsThatAreRefused
			return
		}
		ops := min(len(in), 500)
		againstModel(t, rand.New(&script{in, rand.NewPCG(1, 2)}), factor, opts, int(about), ops)
	})
}

// FuzzPartition partitions rings of any weights and factors, some with tokens that crowd and collide, some with nodes that
// have none: every partition is where the rule says, or the call is refused. So is what moves when a node leaves.
func FuzzPartition(f *testing.F) {
	f.Fuzz(func(t *testing.T, count int16, factor float64, rule byte, weights []byte) {
		opts := &hashring.Options{VirtualNodes: 1 + int(rule%32)}
		if rule >= 192 {
			opts = &hashring.Options{Placement: starving{}}
		}
		var nodes []hashring.Node
		for i, b := range weights[:min(len(weights), 20)] {
			n := hashring.Node{Name: fmt.Sprint(i), Weight: float64(1+b%16) / 4}
			if rule&0xc0 == 0x40 { // few positions, at both ends of the circle
				n.Tokens = []uint64{uint64(b % 4), ^uint64(b >> 4)}
			}
			nodes = append(nodes, n)
		}
		r := mustNew(t, nodes, opts)
		p, err := balance.Partition(r, int(count), factor)
		if count < 1 || !(factor >= 1) || math.IsInf(factor, 0) {
			require.ErrorIs(t, err, hashring.ErrOptions)
			require.Nil(t, p)
			return
		}
		require.NoError(t, err)
		if r.NumTokens() == 0 {
			_, ok := p.OwnerOf(0)
			require.False(t, ok)
			return
		}
		requireRule(t, r, int(count), factor, p)

		s, err := r.Without("0")
		require.NoError(t, err)
		q := mustPartition(t, s, int(count), factor)
		before, after := ownersOf(p), ownersOf(q)
		moves, err := balance.DiffPartitions(p, q)
		require.NoError(t, err)
		for _, m := range slices.Collect(moves) {
			require.Equal(t, balance.PartitionMove{Partition: m.Partition, From: before[m.Partition], To: after[m.Partition]}, m)
			require.NotEqual(t, m.From, m.To)
			before[m.Partition] = m.To
		}
		require.Equal(t, after, before)
	})
}
