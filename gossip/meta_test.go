package gossip

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var metas = []metadata{
	{known: true, boot: 1, weight: 1, params: 2},
	{known: true, leaving: true, boot: math.MaxUint64, weight: math.SmallestNonzeroFloat64, zone: "eu-1", addr: "10.0.0.1:80"},
	{known: true, observer: true, weight: math.MaxFloat64, label: "\x00\xff", zone: strings.Repeat("z", 127)},
	{known: true, observer: true, leaving: true, weight: 2.5, params: math.MaxUint64, addr: strings.Repeat("a", 170)},
}

func TestMetadataRoundTrip(t *testing.T) {
	for _, m := range metas {
		b, err := m.encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), maxMeta)
		back, err := decodeMeta(b)
		require.NoError(t, err)
		require.Equal(t, m, back)
	}
}

// The bytes are what members of other versions read.
func TestMetadataBytes(t *testing.T) {
	m := metadata{known: true, leaving: true, boot: 0x0102030405060708, weight: 1, params: 0x1112131415161718, zone: "z", label: "", addr: "ab"}
	b, err := m.encode()
	require.NoError(t, err)
	require.Equal(t, "\x01\x01\x01\x02\x03\x04\x05\x06\x07\x08\x3f\xf0\x00\x00\x00\x00\x00\x00\x11\x12\x13\x14\x15\x16\x17\x18\x01z\x00\x02ab", string(b))
}

func TestMetadataTooBig(t *testing.T) {
	m := metadata{weight: 1, zone: strings.Repeat("z", 60), label: strings.Repeat("l", 60), addr: strings.Repeat("a", 51)}
	b, err := m.encode()
	require.NoError(t, err)
	require.Len(t, b, maxMeta)
	m.addr += "a"
	_, err = m.encode()
	require.ErrorIs(t, err, ErrMetaTooBig)
	require.ErrorContains(t, err, "zone 60, label 60, address 52")
}

func TestMetadataThatIsNone(t *testing.T) {
	good, err := metas[1].encode()
	require.NoError(t, err)
	for n := range good {
		_, err := decodeMeta(good[:n])
		require.ErrorIs(t, err, errMeta, "cut at %d", n)
	}
	set := func(at int, v ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], v)
		return b
	}
	weight := func(w float64) []byte {
		return set(10, binary.BigEndian.AppendUint64(nil, math.Float64bits(w))...)
	}
	for name, b := range map[string][]byte{
		"version 0":    set(0, 0),
		"flags":        set(1, 4),
		"longer":       append(bytes.Clone(good), 0),
		"longest":      append(bytes.Clone(good), make([]byte, 200)...),
		"weight 0":     weight(0),
		"weight -1":    weight(-1),
		"weight -0":    weight(math.Copysign(0, -1)),
		"weight NaN":   weight(math.NaN()),
		"weight inf":   weight(math.Inf(1)),
		"text too big": set(26, 0xff, 0x7f),
		"long uvarint": append(bytes.Clone(good[:26]), 0x80, 0x00, 0, 0),
	} {
		_, err := decodeMeta(b)
		require.ErrorIs(t, err, errMeta, name)
	}
}

// A later release may tell more in another way: its members are members, and own nothing here.
func TestMetadataOfALaterVersion(t *testing.T) {
	for _, b := range [][]byte{{2}, {255, 1, 2, 3}, append([]byte{7}, make([]byte, 500)...)} {
		m, err := decodeMeta(b)
		require.NoError(t, err)
		require.Equal(t, metadata{observer: true}, m)
	}
}

func FuzzMetadata(f *testing.F) {
	for _, m := range metas {
		b, err := m.encode()
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			require.ErrorIs(t, err, errMeta)
			require.Zero(t, m)
			return
		}
		if !m.known {
			require.Equal(t, metadata{observer: true}, m)
			return
		}
		again, err := m.encode()
		require.NoError(t, err)
		require.Equal(t, b, again, "there is one encoding of each value")
	})
}
