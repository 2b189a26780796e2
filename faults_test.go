package hashring_test

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// The tests called TestFault… each hold one fault that was reported in public against another consistent-hash library or
// program, with an input that shows it and the answer that is right here. The number is that of the case in our list of
// known faults of other libraries; the line above each test says what goes wrong there, and where it was reported.
//
//	faults_test.go             this list, helpers; widths and bytes (50-58), evenness (59-63)
//	faults_collision_test.go   equal tokens and the order of changes (1-18)
//	faults_names_test.go       names and identity (19-28)
//	faults_walk_test.go        search and walks (29-40)
//	faults_change_test.go      empty and degenerate rings (41-49), weights and movement (64-67), concurrency and cost (68-75)
//
// Cases that the root package cannot have, or not yet:
//
//	25                        which label ketama hashes: in compat/faults_test.go
//	30, 42, 46, 65 in part    the same, as far as they are about ketama; the native part is here
//	76, 79                    bounded loads: in balance/bounded_test.go
//	80, 81, 83-85             membership by gossip: in the module gossip; 85 holds here too, see 72
//	16, 53, 54 in part        other processes and architectures: stored vectors here, which CI runs on each of them
//	22 in part                a node without a name of its own cannot be written down: Node.Name is the identity

// faultTable is a hash that is a table: the position of a key is what the table says, and 0 for any other key.
type faultTable map[string]uint64

func (faultTable) Name() string              { return "table" }
func (h faultTable) Sum64(key string) uint64 { return h[key] }

// faultHash is a hash that is any function, as it is.
func faultHash(sum func(key string) uint64) hashring.Hash { return rawHash{"stub", sum} }

// faultPlacement gives the node of each name the tokens in the table, in the order of the list.
type faultPlacement map[string][]uint64

func (faultPlacement) Name() string        { return "table" }
func (faultPlacement) Hash() hashring.Hash { return nil }

func (p faultPlacement) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	for i, n := range nodes {
		for _, token := range p[n.Name] {
			if !emit(i, token) {
				return nil
			}
		}
	}
	return nil
}

// faultKetama is ketama's rule for equal weights, written down once more: 40 MD5 digests a node, four 32-bit words each.
type faultKetama struct{}

func (faultKetama) Name() string        { return "ketama" }
func (faultKetama) Hash() hashring.Hash { return faultKetamaKey{} }

func (faultKetama) Place(nodes []hashring.Node, emit func(node int, token uint64) bool) error {
	for i, n := range nodes {
		for _, token := range faultKetamaTokens(n.Name) {
			if !emit(i, token) {
				return nil
			}
		}
	}
	return nil
}

func faultKetamaTokens(label string) []uint64 {
	var tokens []uint64
	for k := range 40 {
		d := md5.Sum(fmt.Appendf(nil, "%s-%d", label, k))
		for word := range 4 {
			tokens = append(tokens, uint64(binary.LittleEndian.Uint32(d[4*word:]))<<32)
		}
	}
	return tokens
}

// faultKetamaKey is ketama's hash of keys: the first word of the MD5 digest.
type faultKetamaKey struct{}

func (faultKetamaKey) Name() string { return "ketama-key" }

func (faultKetamaKey) Sum64(key string) uint64 {
	d := md5.Sum([]byte(key))
	return uint64(binary.LittleEndian.Uint32(d[:])) << 32
}

// faultAt returns a node with explicit tokens: P(name) = {tokens}.
func faultAt(name string, tokens ...uint64) hashring.Node {
	return hashring.Node{Name: name, Tokens: tokens}
}

func faultRing(t *testing.T, opts *hashring.Options, nodes ...hashring.Node) *hashring.Ring {
	t.Helper()
	return mustNew(t, nodes, opts)
}

// faultNames returns n names: prefix and a number.
func faultNames(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}

// faultOrders returns all orders of nodes.
func faultOrders(nodes ...hashring.Node) (all [][]hashring.Node) {
	permutations(len(nodes), func(order []int) {
		var list []hashring.Node
		for _, i := range order {
			list = append(list, nodes[i])
		}
		all = append(all, list)
	})
	return all
}

func faultShuffled[T any](rng *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// faultToken is a token and the node that holds it.
type faultToken struct {
	pos  uint64
	node string
}

func (t faultToken) String() string { return fmt.Sprint(t.pos, ":", t.node) }

func faultTokens(r *hashring.Ring) []faultToken {
	tokens := []faultToken{}
	for pos, node := range r.Tokens() {
		tokens = append(tokens, faultToken{pos, node})
	}
	return tokens
}

// faultHolds checks that the tokens of r are these, ascending and the owner first, as in "10:a 10:b 20:a".
func faultHolds(t *testing.T, r *hashring.Ring, want string) {
	t.Helper()
	require.Equal(t, "["+want+"]", fmt.Sprint(faultTokens(r)))
}

// faultOwner returns the owner of pos by a scan over all tokens.
func faultOwner(r *hashring.Ring, pos uint64) string {
	first := ""
	for token, node := range r.Tokens() {
		if token >= pos {
			return node
		}
		if first == "" {
			first = node
		}
	}
	return first
}

// faultSame checks that two rings cannot be told apart: not by Equal or their tokens, nor by the owners of the positions
// 0 to 40, of the tokens, and of those on either side of them.
func faultSame(t *testing.T, want, got *hashring.Ring) {
	t.Helper()
	require.True(t, want.Equal(got), "%v and %v", want, got)
	require.True(t, got.Equal(want), "%v and %v", got, want)
	tokens := faultTokens(want)
	require.True(t, slices.Equal(tokens, faultTokens(got)), "the tokens differ")
	var at []uint64
	for pos := range uint64(41) {
		at = append(at, pos)
	}
	for _, token := range tokens {
		at = append(at, token.pos-1, token.pos, token.pos+1)
	}
	for _, pos := range at {
		a, okA := want.OwnerAt(pos)
		b, okB := got.OwnerAt(pos)
		if a != b || okA != okB {
			require.Failf(t, "the owners differ", "of %d: %q and %q", pos, a, b)
		}
	}
}

// faultMoved checks, arc by arc, that no key moves between two nodes neither of which is name, and returns the part of
// the circle that moves.
func faultMoved(t *testing.T, before, after *hashring.Ring, name string) float64 {
	t.Helper()
	requireOnlyTouchedMove(t, before, after, map[string]bool{name: true})
	return movedShare(before, after)
}

// faultPeaks returns the largest and the smallest of n loads, divided by their mean. A node that is not in loads has none.
func faultPeaks[T int | float64](loads map[string]T, n int) (peak, low float64) {
	low = math.Inf(1)
	sum := 0.0
	for _, l := range loads {
		sum += float64(l)
		peak, low = max(peak, float64(l)), min(low, float64(l))
	}
	if len(loads) < n {
		low = 0
	}
	return peak * float64(n) / sum, low * float64(n) / sum
}

// faultFold makes one number of many, in their order: a bijection of each.
func faultFold(acc, x uint64) uint64 { return acc*0x100000001b3 + x }

// A hash of the smallest signed number has no absolute value, so the index is negative: a panic or no owner.
// apache/rocketmq #2421, akka/akka-core #25034, Netflix/atlas #515, netease-im/camellia #487, apache/storm #5316
func TestFault50_PositionsThatAreNegativeWhenSigned(t *testing.T) {
	keys := faultTable{
		"zero": 0, "one": 1, "max31": 1<<31 - 1, "min32": 1 << 31, "max32": math.MaxUint32, "33": 1 << 32,
		"max63": 1<<63 - 1, "min64": 1 << 63, "min64+1": 1<<63 + 1, "max-1": math.MaxUint64 - 1, "max": math.MaxUint64,
	}
	opts := &hashring.Options{Hash: keys}
	for _, r := range []*hashring.Ring{
		faultRing(t, opts, hashring.Nodes("a", "b", "c")...),
		faultRing(t, opts, faultAt("a", 0, 1<<63), faultAt("b", 1<<31, math.MaxUint64), faultAt("c", 1<<63-1)),
		faultRing(t, opts, faultAt("a", 1<<63+1), faultAt("b", 1<<63-1), faultAt("c", 1<<31-1)),
	} {
		for key, pos := range keys {
			require.Equal(t, pos, r.Position(key))
			owner, ok := r.Owner(key)
			require.True(t, ok, key)
			require.Equal(t, faultOwner(r, pos), owner, key)
			require.Equal(t, owner, r.Name(r.IndexAt(pos)), key)
			require.Len(t, r.AppendReplicas(nil, key, 4), 3, key)
		}
	}
	r := faultRing(t, opts, faultAt("a", 0, 1<<63), faultAt("b", 1<<31, math.MaxUint64), faultAt("c", 1<<63-1))
	for key, want := range map[string]string{
		"zero": "a", "one": "b", "min32": "b", "max32": "c", "min64": "a", "min64+1": "b", "max": "b",
	} {
		owner, _ := r.Owner(key)
		require.Equal(t, want, owner, key)
	}
}

// faultRefused checks that New and With refuse nodes at once, for the tokens of the node with that index, and take no
// memory for them.
func faultRefused(t *testing.T, opts hashring.Options, index int, nodes ...hashring.Node) {
	t.Helper()
	held := faultRing(t, &opts, faultAt("old", 1))
	for _, build := range []func() (*hashring.Ring, error){
		func() (*hashring.Ring, error) { return hashring.New(nodes, &opts) },
		func() (*hashring.Ring, error) { return held.With(nodes...) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := build()
		runtime.ReadMemStats(&after)
		require.Nil(t, r)
		require.ErrorIs(t, err, hashring.ErrTooManyTokens)
		var at *hashring.NodeError
		require.True(t, errors.As(err, &at), "%v", err)
		require.Equal(t, index, at.Index)
		require.Equal(t, nodes[index].Name, at.Name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "bytes allocated")
	}
}

// The sum of the weights wraps in 32 bits, and the ring becomes of infinite size. grpc/grpc-go #9357,
// envoyproxy/envoy #10578, istio/istio #33570
func TestFault51_SumOfWeightsThatWraps(t *testing.T) {
	weights := func(weights ...float64) []hashring.Node {
		nodes := hashring.Nodes(faultNames("n", len(weights))...)
		for i, w := range weights {
			nodes[i].Weight = w
		}
		return nodes
	}
	faultRefused(t, hashring.Options{}, 0, weights(1<<31, 1<<31)...)
	faultRefused(t, hashring.Options{}, 0, weights(math.MaxUint32, 1)...)
	faultRefused(t, hashring.Options{}, 1, weights(1, math.MaxUint32)...)
	faultRefused(t, hashring.Options{}, 0, weights(math.MaxInt64, math.MaxInt64)...)

	// None is too many alone, and the sum is 0 in 31 and in 32 bits.
	most := hashring.Options{VirtualNodes: 1, MaxTokens: 1<<30 - 1}
	faultRefused(t, most, 1, weights(1<<29, 1<<29, 1<<29, 1<<29)...)
	faultRefused(t, most, 2, weights(1, 1<<30-3, 1<<30-3, 1<<30-3, 1<<30-3)...)
	faultRefused(t, hashring.Options{VirtualNodes: 1, MaxTokens: 10}, 3, weights(3, 3, 3, 3)...)
	r := faultRing(t, &hashring.Options{VirtualNodes: 1, MaxTokens: 12}, weights(3, 3, 3, 3)...)
	require.Equal(t, 12, r.NumTokens())
	_, err := r.With(hashring.Node{Name: "one more"})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens, "the ring is full")
	_, err = r.With(hashring.Node{Name: "n3", Weight: 4})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	require.Equal(t, 10, mustWith(t, r, hashring.Node{Name: "n3", Weight: 1}).NumTokens())
	require.Equal(t, 12, mustWith(t, r, hashring.Node{Name: "n3", Weight: 2}, hashring.Node{Name: "n4", Weight: 1},
		hashring.Node{Name: "n2", Weight: 3}).NumTokens())
}

// A huge weight takes gigabytes, or its product wraps and a buffer is too small. nginx/nginx #191 and #1582,
// apache/apisix #7042
func TestFault52_HugeWeight(t *testing.T) {
	faultRefused(t, hashring.Options{VirtualNodes: 160}, 0,
		hashring.Node{Name: "a", Weight: 3_000_000}, hashring.Node{Name: "b", Weight: 2})
	for _, w := range []float64{
		math.MaxInt64/160 + 1, math.MaxInt32/160 + 1, math.MaxUint32/160 + 1, 1 << 58, 1e19, 1e308, math.MaxFloat64,
	} {
		faultRefused(t, hashring.Options{}, 1, hashring.Node{Name: "light"}, hashring.Node{Name: "heavy", Weight: w})
	}
	for _, v := range []int{math.MaxInt32, math.MaxInt} {
		faultRefused(t, hashring.Options{VirtualNodes: v}, 0, hashring.Node{Name: "a"})
		faultRefused(t, hashring.Options{VirtualNodes: v}, 0, hashring.Node{Name: "a", Weight: math.MaxFloat64})
	}
	r := faultRing(t, &hashring.Options{VirtualNodes: math.MaxInt}, hashring.Node{Name: "a", Weight: math.SmallestNonzeroFloat64})
	require.Equal(t, 1, r.NumTokens())

	live := hashring.NewLive(faultRing(t, nil, hashring.Nodes("a")...))
	change, err := live.Add(hashring.Node{Name: "b", Weight: 3_000_000})
	require.ErrorIs(t, err, hashring.ErrTooManyTokens)
	require.Same(t, change.Old, change.New)
	owner, _ := live.Owner("key")
	require.Equal(t, "a", owner)
}

// The ring is another one where an int has 32 bits. replay/ngx_http_consistent_hash #2, destel/rill #105
func TestFault53_AnotherRingOn32Bit(t *testing.T) {
	r := faultRing(t, nil,
		hashring.Node{Name: "a"}, hashring.Node{Name: "b", Weight: 0.5}, hashring.Node{Name: "c", Weight: 2.25},
		hashring.Node{Name: "eu-west-1/cache-7.example.net:11211"})
	sum, top, bit31, count := uint64(0), 0, 0, make(map[string]int)
	for pos, node := range r.Tokens() {
		sum = faultFold(sum, pos)
		top += int(pos >> 63)
		bit31 += int(pos >> 31 & 1)
		count[node]++
	}
	require.Equal(t, uint64(0x5a56d5bc00bdd3e2), sum, "all tokens, in order")
	require.Equal(t, map[string]int{"a": 160, "b": 80, "c": 360, "eu-west-1/cache-7.example.net:11211": 160}, count)
	require.Equal(t, 401, top, "tokens that would be negative in 64 bits")
	require.Equal(t, 386, bit31, "tokens that would be negative in 32 bits")
	for key, want := range map[string]string{
		"": "b", "a": "eu-west-1/cache-7.example.net:11211", "user:42": "c", "0123456789abcdef": "c", "\x00\x7f\x80\xff": "c",
		"The quick brown fox jumps over the lazy dog": "eu-west-1/cache-7.example.net:11211",
	} {
		owner, ok := r.Owner(key)
		require.True(t, ok)
		require.Equal(t, want, owner, "%q", key)
	}
}

// The ring is another one on big-endian machines. hajimes/mmh3 #52, gluster/glusterfs #3970, google/highwayhash #35
func TestFault54_AnotherRingOnBigEndian(t *testing.T) {
	for _, want := range []struct {
		hash                        hashring.BuiltinHash
		short, long, first          uint64
		shortReplicas, longReplicas string
	}{
		{hashring.XXH64, 0xdc1fea7da8d2d1c2, 0x0b242d361fda71bc, 0x004eb601f2082234, "c b a e d", "e c b d a"},
		{hashring.Murmur3, 0xcd01081bf0aa3a68, 0xe34bbc7bbc071b6c, 0x0020845aced88ee7, "e d c b a", "d c a b e"},
		{hashring.FNV1a, 0x40a9a038e8d2b15d, 0xb369407b33a35157, 0x0090473e8012a213, "a e b c d", "e b d c a"},
		{hashring.SHA256, 0xea3fd43be1e57d62, 0xd7a8fbb307d78094, 0x0028cdbc031e4430, "b a c e d", "c d b a e"},
		{hashring.MD5, 0x56dadf1868c3ba34, 0x9e107d9d372bb682, 0x00c53f53ced8cbf4, "c d a b e", "c e d b a"},
		{hashring.CRC32, 0xe473296fff705b1d, 0x9075efcd1c72a817, 0x01312adc071da113, "e c d a b", "c b e d a"},
	} {
		r := faultRing(t, &hashring.Options{Hash: want.hash}, hashring.Nodes("a", "b", "c", "d", "e")...)
		short, long := "user:42", "The quick brown fox jumps over the lazy dog"
		require.Equal(t, want.short, r.Position(short), want.hash.Name())
		require.Equal(t, want.long, r.Position(long), want.hash.Name())
		for pos := range r.Tokens() {
			require.Equal(t, want.first, pos, want.hash.Name())
			break
		}
		require.Equal(t, want.shortReplicas, strings.Join(r.AppendReplicas(nil, short, 5), " "), want.hash.Name())
		require.Equal(t, want.longReplicas, strings.Join(r.AppendReplicas(nil, long, 5), " "), want.hash.Name())
	}
}

// A byte is shifted before it is made wider, so that 8 bits are left of 32. apache/dubbo-go #1267
func TestFault55_BitsThatAreAlwaysZero(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4_000
	}
	rng := rand.New(rand.NewPCG(55, 0))
	keys := make([]string, n)
	for i := range keys {
		key := make([]byte, 1+rng.IntN(40))
		for j := range key {
			key[j] = byte(rng.Uint32())
		}
		keys[i] = fmt.Sprint(i, ":", string(key))
	}
	requireSpread := func(what string, at []uint64) {
		var ones [64]int
		for _, pos := range at {
			for ; pos != 0; pos &= pos - 1 {
				ones[bits.TrailingZeros64(pos)]++
			}
		}
		for bit, count := range ones {
			require.InDelta(t, 0.5, float64(count)/float64(len(at)), 0.05, "%s: bit %d", what, bit)
		}
		slices.Sort(at)
		require.Greater(t, len(slices.Compact(at)), n*999/1000, what)
	}
	for _, h := range builtins {
		at := make([]uint64, n)
		for i, key := range keys {
			at[i] = h.Sum64(key)
		}
		requireSpread(h.Name(), at)
	}
	var at []uint64
	for pos := range faultRing(t, nil, hashring.Nodes(faultNames("node-", n/160+1)...)...).Tokens() {
		at = append(at, pos)
	}
	requireSpread("tokens", at)
}

// Bytes above 0x7f are taken as negative, or the tail of a key is read wrongly, so that one client of many places those
// keys elsewhere. apache/cassandra-gocql-driver #1033, cassandra-nodejs-driver #262, scylladb/scylla-rust-driver #96
func TestFault56_SignedBytesAndTails(t *testing.T) {
	for _, want := range []struct {
		hash hashring.BuiltinHash
		sum  uint64 // from other implementations of the hashes
	}{
		{hashring.XXH64, 0x5b971981fafc286e},
		{hashring.Murmur3, 0x29fa6c78230586ec},
		{hashring.FNV1a, 0x0b258fc2411b88c9},
		{hashring.SHA256, 0x30f974e81a226330},
		{hashring.MD5, 0x32825c246a83d427},
		{hashring.CRC32, 0x8fe16f1ec6d40d18},
	} {
		r := faultRing(t, &hashring.Options{Hash: want.hash}, hashring.Nodes("a")...)
		sum, differ := uint64(0), 0
		add := func(key []byte) {
			pos := want.hash.Sum64(string(key))
			if r.Position(string(key)) != pos || r.PositionBytes(key) != pos {
				differ++
			}
			sum = faultFold(sum, pos)
		}
		for n := range 65 {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(i*7 + 1)
			}
			add(key)
			for i, was := range key {
				for _, key[i] = range []byte{0x00, 0x7f, 0x80, 0xff} {
					add(key)
				}
				key[i] = was
			}
		}
		require.Equal(t, want.sum, sum, want.hash.Name())
		require.Zero(t, differ, "%s: keys of which Hash, Position and PositionBytes say different things", want.hash.Name())
	}
}

// The hash object keeps state from one key to the next, or starts without its seed. serialx/hashring #21, #17 and #18,
// cnblogs/EnyimMemcachedCore #208
func TestFault58_StateLeftInTheHash(t *testing.T) {
	keys := append(faultNames("key-", 100), "", strings.Repeat("long ", 100))
	for _, h := range []hashring.Hash{
		hashring.XXH64, hashring.Murmur3, hashring.FNV1a, hashring.SHA256, hashring.MD5, hashring.CRC32,
		hashring.NewHash("len", func(key string) uint64 { return uint64(len(key)) }),
	} {
		r := faultRing(t, &hashring.Options{Hash: h}, hashring.Nodes("a", "b", "c")...)
		want := make([]uint64, len(keys)) // the first hash ever of each key
		for i, key := range keys {
			want[i] = r.Position(key)
		}
		for i := len(keys) - 1; i >= 0; i-- { // now each after another one
			require.Equal(t, want[i], r.Position(keys[i]), h.Name())
			require.Equal(t, want[i], r.PositionBytes([]byte(keys[i])), h.Name())
		}
		var wait sync.WaitGroup
		for g := range 8 {
			wait.Go(func() {
				for i := range keys {
					i = (i + g*13) % len(keys)
					if got := h.Sum64(keys[i]); got != want[i] {
						t.Errorf("%s of %q is %d, then %d", h.Name(), keys[i], want[i], got)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	require.NotEqual(t, hashring.XXH64.Sum64("a"), hashring.XXH64.Sum64("b"))
}

// Names that differ in one digit, few points and CRC-32 put most keys on one server. stathat/consistent #10,
// twitter/twemproxy #175, golang/groupcache #29, zalando/skipper #1796
func TestFault59_SkewOfNamesThatDifferInOneDigit(t *testing.T) {
	names := make([]string, 10)
	for i := range names {
		names[i] = fmt.Sprintf("cache-%d.example:7000", i)
	}
	keys := faultNames("item-", 20_000)
	for _, h := range builtins {
		r := faultRing(t, &hashring.Options{Hash: h}, hashring.Nodes(names...)...)
		peak, low := faultPeaks(shares(r), len(names))
		require.Less(t, peak, 1.30, "%s: 4 standard deviations of a share", h.Name())
		require.Greater(t, low, 0.70, "%s: 4 standard deviations of a share", h.Name())

		loads := make(map[string]int)
		for _, key := range keys {
			owner, _ := r.Owner(key)
			loads[owner]++
		}
		peak, low = faultPeaks(loads, len(names))
		require.Less(t, peak, 1.35, h.Name())
		require.Greater(t, low, 0.65, h.Name())
	}
}

// FNV-1a alone hardly changes the top bits from one short key to the next, so that neighbouring
// keys stay together and nodes have up to six times their share. apache/druid #1450, cnblogs/EnyimMemcachedCore #208
func TestFault60_FNV1aWithoutAFinaliser(t *testing.T) {
	raw := func(key string) uint64 {
		h := uint64(0xcbf29ce484222325)
		for i := range len(key) {
			h = (h ^ uint64(key[i])) * 0x100000001b3
		}
		return h
	}
	keys := faultNames("item-", 50_000)
	measure := func(h hashring.Hash) (peak, low, together float64) {
		r := faultRing(t, &hashring.Options{Hash: h}, hashring.Nodes(faultNames("node", 50)...)...)
		loads, last := make(map[string]int), ""
		for _, key := range keys {
			owner, _ := r.Owner(key)
			loads[owner]++
			if owner == last {
				together++
			}
			last = owner
		}
		peak, low = faultPeaks(loads, 50)
		return peak, low, together / float64(len(keys))
	}
	for _, h := range []hashring.Hash{hashring.NewHash("fnv", raw), hashring.FNV1a} {
		peak, low, together := measure(h)
		require.Less(t, peak, 1.35, h.Name())
		require.Greater(t, low, 0.65, h.Name())
		require.Less(t, together, 0.04, "%s: keys that go where the key before them went, of 0.02", h.Name())
	}
	peak, _, together := measure(faultHash(raw)) // so these keys do tell
	require.Greater(t, peak, 1.4)
	require.Greater(t, together, 0.8)
}

// Above some number of nodes, some never get a key. google/guava #3539
func TestFault61_NodesThatNeverGetAKey(t *testing.T) {
	sizes := []int{1_000, 2_000}
	if testing.Short() {
		sizes = []int{300}
	}
	for _, n := range sizes {
		r := faultRing(t, nil, hashring.Nodes(faultNames("node-", n)...)...)
		met, left := make([]bool, n), n
		for i := 0; left > 0; i++ {
			if i == 1_000*n {
				require.Failf(t, "nodes without a key", "%d of %d", left, n)
			}
			node := r.IndexAt(r.Position(fmt.Sprint("key-", i)))
			if !met[node] {
				met[node] = true
				left--
			}
		}
	}
	if !testing.Short() {
		peak, low := faultPeaks(shares(faultRing(t, nil, hashring.Nodes(faultNames("node-", 5_000)...)...)), 5_000)
		require.Less(t, peak, 1.5)
		require.Greater(t, low, 0.5)
	}
}

// The deviation of the loads is taken to be that of the keys alone, though the points add theirs. temporalio/temporal #9702
func TestFault62_DeviationFollowsTheFormula(t *testing.T) {
	const n, k = 9, 4096
	for _, v := range []int{100, 500} {
		r := faultRing(t, &hashring.Options{VirtualNodes: v}, hashring.Nodes(faultNames("host-", n)...)...)
		loads := make(map[string]int)
		for _, key := range faultNames("shard-", k) {
			owner, _ := r.Owner(key)
			loads[owner]++
		}
		variance := 0.0
		for _, load := range loads {
			variance += (float64(load) - k/float64(n)) * (float64(load) - k/float64(n)) / n
		}
		mean := k / float64(n)
		want := math.Sqrt(mean*(1-1/float64(n)) + mean*mean*(n-1)/(n*float64(v)+1))
		require.Len(t, loads, n)
		require.Less(t, math.Sqrt(variance), 1.8*want, "%d virtual nodes", v) // 8 degrees of freedom: one in a thousand is above
		require.Greater(t, math.Sqrt(variance), 0.3*want, "%d virtual nodes", v)
	}
}

// With a token or two a node, a report claims balance. scylladb/scylladb #3994, datastax/cass-operator #205
func TestFault63_FewTokensAreNotEven(t *testing.T) {
	o := faultRing(t, &hashring.Options{VirtualNodes: 1}, hashring.Nodes("a", "b", "c")...).Ownership(hashring.Policy{})
	require.Greater(t, o.Owned.Peak, 1.5)
	require.Greater(t, o.Owned.Deviation, 0.3)
	require.InDelta(t, math.Sqrt(2.0/4), o.Theory, 1e-12, "what it is for random tokens: the deviation is no surprise")
	third := faultRing(t, nil, faultAt("a", 0), faultAt("b", math.MaxUint64/3), faultAt("c", math.MaxUint64/3*2)).Ownership(hashring.Policy{})
	require.InDelta(t, 1, third.Owned.Peak, 1e-12)
	require.InDelta(t, 0, third.Owned.Deviation, 1e-12)
}
