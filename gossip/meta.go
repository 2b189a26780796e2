package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxMeta is the largest size of a member's metadata. memberlist would carry 512 bytes, but less is sooner everywhere.
const maxMeta = 200

// maxName is the longest name. Alive messages have to fit into one packet.
const maxName = 255

// Metadata is what a member tells of itself: nothing that its name does not already say, so no tokens. In bytes:
//
//	1   version, 1
//	1   flags: 1 it leaves, 2 it is an observer
//	8   boot id
//	8   weight, an IEEE 754 double
//	8   fingerprint of the ring's parameters
//	    zone, label, address: each its length as a uvarint, then its bytes
//
// Numbers are big-endian. There is one encoding of each value, and nothing may follow it.
type metadata struct {
	known    bool // the version is one that this release knows; if not, nothing else is
	leaving  bool
	observer bool
	boot     uint64
	weight   float64
	params   uint64
	zone     string
	label    string
	addr     string
}

const (
	metaVersion  = 1
	flagLeaving  = 1
	flagObserver = 2
)

var errMeta = errors.New("not a member's metadata")

// encode returns the encoding of m, or ErrMetaTooBig.
func (m metadata) encode() ([]byte, error) {
	flags := byte(0)
	if m.leaving {
		flags |= flagLeaving
	}
	if m.observer {
		flags |= flagObserver
	}
	b := []byte{metaVersion, flags}
	b = binary.BigEndian.AppendUint64(b, m.boot)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.weight))
	b = binary.BigEndian.AppendUint64(b, m.params)
	for _, s := range []string{m.zone, m.label, m.addr} {
		b = appendText(b, s)
	}
	if len(b) > maxMeta {
		return nil, fmt.Errorf("gossip: %w: %d bytes, more than %d: zone %d, label %d, address %d",
			ErrMetaTooBig, len(b), maxMeta, len(m.zone), len(m.label), len(m.addr))
	}
	return b, nil
}

// decodeMeta is the inverse of encode. It accepts any version, so that members of a later release, which may tell more,
// are members for this one: ones that own nothing.
func decodeMeta(b []byte) (metadata, error) {
	switch {
	case len(b) == 0 || b[0] == 0:
		return metadata{}, fmt.Errorf("%w: there is no version", errMeta)
	case b[0] != metaVersion:
		return metadata{observer: true}, nil
	case len(b) > maxMeta:
		return metadata{}, fmt.Errorf("%w: %d bytes, more than %d", errMeta, len(b), maxMeta)
	}
	d := decoder{rest: b[1:]}
	flags := d.byte()
	m := metadata{
		known:    true,
		leaving:  flags&flagLeaving != 0,
		observer: flags&flagObserver != 0,
		boot:     d.uint64(),
		weight:   math.Float64frombits(d.uint64()),
		params:   d.uint64(),
		zone:     d.text(maxMeta),
		label:    d.text(maxMeta),
		addr:     d.text(maxMeta),
	}
	switch {
	case d.bad:
		return metadata{}, fmt.Errorf("%w: it ends too early, or a length is not in its shortest form", errMeta)
	case len(d.rest) > 0:
		return metadata{}, fmt.Errorf("%w: %d bytes follow its end", errMeta, len(d.rest))
	case flags&^(flagLeaving|flagObserver) != 0:
		return metadata{}, fmt.Errorf("%w: flags %#x", errMeta, flags)
	case !(m.weight > 0) || math.IsInf(m.weight, 1):
		return metadata{}, fmt.Errorf("%w: weight %v is not a positive number", errMeta, m.weight)
	}
	return m, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder takes fields off the front of rest. After the first that is not all there, or not in its shortest form, it is
// bad, and every field is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || n > 1 && d.rest[n-1] == 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// text takes a text of at most limit bytes.
func (d *decoder) text(limit int) string {
	n := d.uvarint()
	if n > uint64(limit) {
		d.fail()
		return ""
	}
	return string(d.take(int(n)))
}

func (d *decoder) take(n int) []byte {
	if d.bad || n > len(d.rest) {
		d.fail()
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) fail() { d.bad, d.rest = true, nil }
