package hashring_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/spaolacci/murmur3"
	"github.com/stretchr/testify/require"
)

var builtins = []hashring.BuiltinHash{hashring.XXH64, hashring.Murmur3, hashring.FNV1a, hashring.SHA256, hashring.MD5, hashring.CRC32}

// rawFNV1a is FNV-1a as most code has it: without a finaliser.
func rawFNV1a(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// ringBy returns an empty ring whose keys are hashed by h.
func ringBy(t testing.TB, h hashring.Hash) *hashring.Ring {
	t.Helper()
	r, err := hashring.New(nil, &hashring.Options{Hash: h})
	require.NoError(t, err)
	return r
}

// testdata/hash.txt has every length from 0 to 64, and the bytes 00, 7f, 80 and ff, by an independent implementation.
func TestBuiltinHashVectors(t *testing.T) {
	f, err := os.Open("testdata/hash.txt")
	require.NoError(t, err)
	defer f.Close()
	rows, lengths := 0, make(map[int]bool)
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		fields := strings.Fields(s.Text())
		require.Len(t, fields, 1+len(builtins))
		if fields[0] == "-" {
			fields[0] = ""
		}
		key, err := hex.DecodeString(fields[0])
		require.NoError(t, err)
		for i, h := range builtins {
			want, err := strconv.ParseUint(fields[1+i], 16, 64)
			require.NoError(t, err)
			require.Equal(t, want, h.Sum64(string(key)), "%s of %x", h.Name(), key)
			r := ringBy(t, h)
			require.Equal(t, want, r.Position(string(key)), "position by %s of %x", h.Name(), key)
			require.Equal(t, want, r.PositionBytes(key), "position by %s of the bytes %x", h.Name(), key)
		}
		rows, lengths[len(key)] = rows+1, true
	}
	require.Greater(t, rows, 300)
	for n := range 65 {
		require.True(t, lengths[n], "no key of length %d", n)
	}
}

// Values that the functions' own specifications and test suites publish; of SplitMix64, its outputs from seed 1234567.
func TestBuiltinHashPublished(t *testing.T) {
	for _, c := range []struct {
		h    hashring.BuiltinHash
		key  string
		want uint64
	}{
		{hashring.XXH64, "", 0xef46db3751d8e999},
		{hashring.XXH64, "abc", 0x44bc2cf5ad770999},
		{hashring.XXH64, "Nobody inspects the spammish repetition", 0xfbcea83c8a378bf1},
		{hashring.Murmur3, "hello", 0xcbd8a7b341bd9b02},
		{hashring.Murmur3, "The quick brown fox jumps over the lazy dog", 0xe34bbc7bbc071b6c},
		{hashring.SHA256, "abc", 0xba7816bf8f01cfea},
		{hashring.MD5, "", 0xd41d8cd98f00b204},
		{hashring.FNV1a, "", splitMix(0xcbf29ce484222325)},
		{hashring.FNV1a, "foobar", splitMix(0x85944171f73967e8)},
		{hashring.CRC32, "123456789", splitMix(0xcbf43926)},
	} {
		require.Equal(t, c.want, c.h.Sum64(c.key), "%s of %q", c.h.Name(), c.key)
	}
	state := uint64(1234567)
	finalised := hashring.NewHash("state", func(string) uint64 { return state })
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		require.Equal(t, want, splitMix(state))
		require.Equal(t, want, finalised.Sum64(""))
		state += 0x9e3779b97f4a7c15
	}
}

// Every machine must agree on this one, whatever its byte order. Where the order is little-endian, so must the library
// that most Go programs use; elsewhere that loads its words the other way round.
func TestMurmur3OnEveryByteOrder(t *testing.T) {
	require.Equal(t, uint64(0x2e088f3b47fef53b), hashring.Murmur3.Sum64("0123456789abcdef0123456789abcdef0"))
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the other library's values are wrong on this machine")
	}
	rng := seed.Random(t)
	for n := range 600 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		require.Equal(t, murmur3.Sum64(key), hashring.Murmur3.Sum64(string(key)), "%x", key)
	}
}

func TestHashNames(t *testing.T) {
	names := make(map[string]bool)
	for _, h := range builtins {
		require.Regexp(t, `^[a-z0-9]+$`, h.Name())
		require.False(t, names[h.Name()], "%s twice", h.Name())
		names[h.Name()] = true
	}
	require.Equal(t, "xxh64", hashring.XXH64.Name())
	require.Equal(t, "BuiltinHash(6)", (hashring.CRC32 + 1).Name())
	require.Equal(t, "mine", hashring.NewHash("mine", rawFNV1a).Name())
}

// FNV1a is what NewHash makes of a plain FNV-1a, so the two are one function.
func TestNewHashFinalises(t *testing.T) {
	h := hashring.NewHash("fnv1a", rawFNV1a)
	for _, key := range []string{"", "a", "node-1", "node-2", strings.Repeat("x", 100)} {
		require.Equal(t, hashring.FNV1a.Sum64(key), h.Sum64(key))
		require.NotEqual(t, rawFNV1a(key), h.Sum64(key))
	}
}

// Flipping any bit of what sum64 returns flips each bit of the position in half of the cases. Each of the 64*64 rates is
// binomial over n random inputs; that one is off by 6.5 deviations has a probability of 8e-11, and that any is, 3e-7.
func TestFinaliserAvalanche(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 2_000
	}
	var in uint64
	h := hashring.NewHash("given", func(string) uint64 { return in })
	rng := rand.New(rand.NewPCG(1, 2))
	var flips [64][64]int
	for range n {
		x := rng.Uint64()
		in = x
		base := h.Sum64("")
		for bit := range 64 {
			in = x ^ 1<<bit
			for d := h.Sum64("") ^ base; d != 0; d &= d - 1 {
				flips[bit][bits.TrailingZeros64(d)]++
			}
		}
	}
	for bit, row := range flips {
		for out, f := range row {
			require.InDelta(t, 0.5, float64(f)/float64(n), 6.5*0.5/math.Sqrt(float64(n)), "input bit %d, output bit %d", bit, out)
		}
	}
}

// rawHash implements Hash itself, which leaves its values as they are.
type rawHash struct {
	name string
	sum  func(string) uint64
}

func (h rawHash) Name() string            { return h.name }
func (h rawHash) Sum64(key string) uint64 { return h.sum(key) }

func TestOwnHashIsUsedAsItIs(t *testing.T) {
	r := ringBy(t, rawHash{"length", func(key string) uint64 { return uint64(len(key)) }})
	require.Equal(t, uint64(5), r.Position("12345"))
	require.Equal(t, uint64(5), r.PositionBytes([]byte("12345")))
}

// A Hash of the caller's own gets a copy of a key in bytes, so one that keeps its argument does no harm.
func TestOwnerBytesDoesNotLendTheKey(t *testing.T) {
	var kept string
	r := ringBy(t, rawHash{"keeps", func(key string) uint64 { kept = key; return 1 }})
	key := []byte("before")
	r.PositionBytes(key)
	copy(key, "after!")
	require.Equal(t, "before", kept)
}

// The panics that are documented, and no others, are for programming errors.
func TestHashPanics(t *testing.T) {
	require.Panics(t, func() { hashring.NewHash("x", nil) })
	for _, h := range []hashring.BuiltinHash{hashring.CRC32 + 1, 255} {
		require.Panics(t, func() { h.Sum64("x") })
		_, err := hashring.New(nil, &hashring.Options{Hash: h})
		require.ErrorIs(t, err, hashring.ErrOptions)
		require.ErrorContains(t, err, h.Name()+" is not a built-in hash")
	}
}
