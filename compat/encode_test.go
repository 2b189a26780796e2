package compat

import (
	"fmt"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// A ring of any rule is encoded, and decoded by the rule that Named finds.
func TestEncodedRingsOfEveryRule(t *testing.T) {
	for _, r := range everyRule(t) {
		nodes := labelled(t, r, serversFor(5))
		for i := range nodes {
			nodes[i].Weight = 1
		}
		ring := ringUnder(t, r, nodes...)
		data, err := ring.MarshalBinary()
		require.NoError(t, err)
		same, err := Named(ring.Options().Placement.Name())
		require.NoError(t, err)
		decoded, err := hashring.Decode(data, &hashring.Options{Placement: same})
		require.NoError(t, err, r.Name())
		require.True(t, ring.Equal(decoded), r.Name())
		require.Equal(t, ring.Fingerprint(), decoded.Fingerprint())
	}
}

// What Diff says moves from a ring of any rule to a native one over its hash is what moves, key by key.
func TestDiffToANativeRing(t *testing.T) {
	for _, r := range everyRule(t) {
		from := ringUnder(t, r, labelled(t, r, serversFor(5))...)
		to, err := hashring.New(serversFor(5), &hashring.Options{Hash: r.Hash()})
		require.NoError(t, err)
		moves, err := hashring.Diff(from, to)
		require.NoError(t, err, r.Name())
		type owners struct{ from, to string }
		var ranges []hashring.Range
		var between []owners
		for m := range moves {
			ranges = append(ranges, m.Range)
			between = append(between, owners{m.From, m.To})
		}
		require.NotEmpty(t, ranges)
		for i := range 300 {
			key := fmt.Sprint(i)
			pos := from.Position(key)
			a, _ := from.Owner(key)
			b, _ := to.Owner(key)
			want := owners{a, b}
			got := owners{a, a}
			for j, moved := range ranges {
				if moved.Contains(pos) {
					got = between[j]
				}
			}
			require.Equal(t, want, got, "%s: %s", r.Name(), key)
		}
	}
}
