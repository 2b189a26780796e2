package antientropy_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
	"github.com/stretchr/testify/require"
)

// seeds returns the messages of some comparisons.
func seeds() (requests, replies [][]byte) {
	here := filled(3000)
	for _, n := range []int{0, 1, 30, 2000} {
		there := filled(3000)
		scattered(n)(there)
		for _, ranges := range [][]hashring.Range{{{}}, arcs(5)} {
			antientropy.Compare(context.Background(), here, ranges, func(_ context.Context, request []byte) ([]byte, error) {
				reply, err := there.Respond(request, &antientropy.Options{MaxReply: 4096})
				requests, replies = append(requests, slices.Clone(request)), append(replies, slices.Clone(reply))
				return reply, err
			}, nil)
		}
	}
	return requests, replies
}

// FuzzRespond gives Respond requests of any kind: it answers within the limit, or refuses with one of two errors, and
// takes no memory beyond a multiple of what it may send.
func FuzzRespond(f *testing.F) {
	requests, replies := seeds()
	for _, msg := range slices.Concat(requests, replies) {
		f.Add(msg)
	}
	f.Add(request(askAll, askAll))
	s := filled(3000)
	opts := &antientropy.Options{MaxReply: 8192}
	f.Fuzz(func(t *testing.T, request []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reply, err := s.Respond(request, opts)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<10))
		if err != nil {
			require.True(t, errors.Is(err, antientropy.ErrMessage) || errors.Is(err, antientropy.ErrVersion), "%v", err)
			require.Nil(t, reply)
			return
		}
		require.LessOrEqual(t, len(reply), opts.MaxReply)
		again, err := s.Respond(request, opts)
		require.NoError(t, err)
		require.Equal(t, reply, again)
	})
}

// FuzzReply gives Compare any reply, at a round trip that the first byte tells, from a peer that is honest else. It ends,
// with one of two errors or with a difference that is in order and no larger than allowed, and takes no memory beyond what
// that and the messages take.
func FuzzReply(f *testing.F) {
	_, replies := seeds()
	for i, reply := range replies {
		f.Add(append([]byte{byte(i % 3)}, reply...))
	}
	here, there := filled(3000), filled(3000)
	scattered(300)(there)
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		calls := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := antientropy.Compare(t.Context(), here, []hashring.Range{{}}, func(_ context.Context, request []byte) ([]byte, error) {
			if calls++; calls == 1+int(in[0]) || in[0] > 200 {
				return in[1:], nil
			}
			return there.Respond(request, nil)
		}, &antientropy.Options{MaxKeys: 1000})
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
		require.LessOrEqual(t, calls, 4000)
		require.LessOrEqual(t, d.Keys(), 1000)
		if err != nil {
			require.True(t, errors.Is(err, antientropy.ErrMessage) || errors.Is(err, antientropy.ErrVersion), "%v", err)
			require.NotEmpty(t, d.Left)
		}
		for _, list := range [][]antientropy.Item{d.Here, d.There} {
			for i := range list {
				require.True(t, i == 0 || list[i-1].Position < list[i].Position)
			}
		}
		require.True(t, slices.IsSortedFunc(d.Unlike, unlikeByPosition))
	})
}

// FuzzSet makes changes of its input, in a world of few positions, and compares the set with the model after each.
func FuzzSet(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x81, 0x82, 1, 1, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		m, s := model{}, new(antientropy.Set)
		for i, b := range in {
			for j := range uint64(1 + b%7*5) { // some at a time, lest it takes long inputs to split a leaf
				pos := uint64(b%64)<<58 + j*j
				if b < 0x80 {
					m[pos] = uint64(i)
					s.Put(pos, uint64(i))
				} else {
					delete(m, pos)
					s.Delete(pos)
				}
			}
			requireSet(t, m, s, hashring.Range{After: uint64(b) << 56, Through: uint64(in[0]) << 56})
		}
		requireSet(t, m, s, hashring.Range{})
	})
}
