package hashring_test

import (
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// FuzzChanges makes changes of its input, in a world that the first byte picks, and compares the ring with the model
// after each, and what moved with both. Every two bytes are one node: what becomes of it, with which weight and zone or
// which tokens, and whether it goes into one call with the next.
func FuzzChanges(f *testing.F) {
	all := worlds()
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || len(in) > 40 {
			return
		}
		w := all[int(in[0])%len(all)]
		policy := policies[int(in[0])/len(all)%len(policies)]
		r := mustNew(t, nil, &w.opts)
		var nodes, call []hashring.Node
		at := newNaive(nodes, w.place).positions()
		for in = in[1:]; len(in) >= 2; in = in[2:] {
			n := hashring.Node{Name: string(rune('a' + in[0]%8)), Weight: float64(in[1]%16) / 4, Zone: zoneNames[in[1]>>4%4]}
			if w.opts.Placement == nil && in[0]&0x20 != 0 {
				n.Tokens = []uint64{uint64(in[1] % 5), -uint64(in[1]%3) - 5}
			}
			if call = append(call, n); in[0]&0x10 != 0 {
				continue
			}
			before := r
			if in[0] >= 0xc0 {
				var names []string
				for _, n := range call {
					names = append(names, n.Name)
				}
				nodes = slices.DeleteFunc(slices.Clone(nodes), func(n hashring.Node) bool { return slices.Contains(names, n.Name) })
				r = mustWithout(t, r, names...)
			} else if more, err := r.With(call...); twice(call) {
				require.ErrorIs(t, err, hashring.ErrDuplicateNode)
				require.Nil(t, more)
			} else {
				require.NoError(t, err)
				nodes, r = w.add(nodes, call...), more
			}
			call = nil
			m := newNaive(nodes, w.place)
			requireModel(t, m, r, m.positions())
			requireDiff(t, before, r, append(at, m.positions()...))
			at = m.positions()
		}
		requireSame(t, r, mustNew(t, nodes, &w.opts))
		requireSame(t, r, must(hashring.Decode(must(r.MarshalBinary()), &w.opts)))
		requireOwnership(t, r, policy)
	})
}

// twice reports whether two of nodes have one name.
func twice(nodes []hashring.Node) bool {
	seen := make(map[string]bool)
	for _, n := range nodes {
		if seen[n.Name] {
			return true
		}
		seen[n.Name] = true
	}
	return false
}

// FuzzNew gives New nodes of any shape: it returns a ring that holds them, or an error and no ring, and never panics.
func FuzzNew(f *testing.F) {
	f.Add("a", 1.0, "b", -1.0, uint64(3), uint64(3), 160)
	f.Add("", 0.0, "a", 1e300, uint64(0), uint64(1<<63), 0)
	f.Add("same", 2.0, "same", 2.0, uint64(0), ^uint64(0), -1)
	f.Fuzz(func(t *testing.T, name1 string, w1 float64, name2 string, w2 float64, t1, t2 uint64, virtualNodes int) {
		nodes := []hashring.Node{{Name: name1, Weight: w1}, {Name: name2, Weight: w2, Tokens: []uint64{t1, t2}}}
		r, err := hashring.New(nodes, &hashring.Options{VirtualNodes: virtualNodes, MaxTokens: 10_000})
		if err != nil {
			require.Nil(t, r)
			return
		}
		require.Equal(t, 2, r.Len())
		require.LessOrEqual(t, r.NumTokens(), 10_000)
		require.Len(t, r.AppendReplicas(nil, "key", 3), 2)
		require.True(t, mustWithout(t, r, name1).Equal(mustNew(t, nodes[1:], &hashring.Options{VirtualNodes: virtualNodes})))
	})
}

// FuzzDecode gives Decode any bytes: an error, or a ring whose encoding they are.
func FuzzDecode(f *testing.F) {
	fuzzDecode(f, hashring.Decode, func(r *hashring.Ring) []byte { return must(r.MarshalBinary()) }, func(t *testing.T, in, again []byte) {
		require.Equal(t, in, again)
	})
}

// FuzzDecodeJSON does the same with JSON, of which many texts give one ring.
func FuzzDecodeJSON(f *testing.F) {
	fuzzDecode(f, hashring.DecodeJSON, func(r *hashring.Ring) []byte { return must(r.MarshalJSON()) }, func(*testing.T, []byte, []byte) {})
}

func fuzzDecode(f *testing.F, decode func([]byte, *hashring.Options) (*hashring.Ring, error), encode func(*hashring.Ring) []byte,
	requireSame func(t *testing.T, in, again []byte)) {
	opts := &hashring.Options{MaxTokens: 5_000, Hash: hashring.NewHash("own", rawFNV1a), Placement: colliding{mod: 7}}
	for _, r := range []*hashring.Ring{
		new(hashring.Ring),
		mustNew(f, []hashring.Node{{Name: "a", Zone: "z", Label: "l"}, {Name: "b\xff", Weight: 0.5}}, &hashring.Options{VirtualNodes: 3}),
		mustNew(f, []hashring.Node{{Name: "a", Tokens: []uint64{1, 2}}, {Name: "b", Tokens: []uint64{1, 1 << 63}}}, &hashring.Options{Hash: hashring.CRC32}),
		mustNew(f, hashring.Nodes("a", "b"), &hashring.Options{Hash: opts.Hash, VirtualNodes: 2}),
		mustNew(f, []hashring.Node{{Name: "b", Weight: 3}, {Name: "a", Weight: 4}}, &hashring.Options{Placement: opts.Placement}),
	} {
		f.Add(encode(r))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := decode(in, opts)
		if err != nil {
			require.Nil(t, r)
			requireKnown(t, err)
			return
		}
		require.LessOrEqual(t, r.NumTokens(), opts.MaxTokens)
		again := encode(r)
		requireSame(t, in, again)
		back, err := decode(again, opts)
		require.NoError(t, err)
		require.True(t, back.Equal(r))
		require.Len(t, r.AppendReplicas(nil, "key", 2), min(2, len(set(r, hashring.Policy{N: 2}, 0))))
	})
}
