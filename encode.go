package hashring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// The binary encoding is docs/format.md in Go. It holds options and nodes; tokens only where a node carries its own,
// since the rule makes the others anew, and the fingerprint tells whether it made the same.

// magic is what an encoding begins with: a name, and the version of the format.
const magic = "hashring\x01"

// AppendBinary appends the encoding of r to b and returns it. It is canonical: equal rings, in the sense of [Ring.Equal],
// have the same bytes on every architecture and in every release, and others have others. [Decode] reads it. The error is
// always nil. It costs what [Ring.Fingerprint] does; the size is that of the nodes, not of the tokens.
func (r Ring) AppendBinary(b []byte) ([]byte, error) {
	body := r.appendBody(nil)
	b = append(append(b, magic...), body...)
	return binary.BigEndian.AppendUint64(b, r.fingerprint(body)), nil
}

// MarshalBinary returns what [Ring.AppendBinary] appends. Like the other methods that encode it is one of a Ring too, not
// only of a pointer to one, so that a struct which has a Ring in it does not lose it.
func (r Ring) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// UnmarshalBinary sets r, which must be a zero Ring that no other goroutine uses, to what [Decode] makes of data without
// options. Into any other Ring it refuses to write, as that would change a ring under its readers.
func (r *Ring) UnmarshalBinary(data []byte) error {
	return r.fill(Decode(data, nil))
}

// fill sets r, a zero Ring, to s unless there is an error.
func (r *Ring) fill(s *Ring, err error) error {
	switch {
	case err != nil:
		return err
	case r.opts.MaxTokens != 0: // set in all but the zero Ring
		return errors.New("hashring: unmarshal into a Ring that is not the zero Ring")
	}
	*r = *s
	return nil
}

// Fingerprint returns a number that tells rings apart: equal rings, in the sense of [Ring.Equal], have the same in every
// process, on every architecture and in every release; of others, two in 2^64 share one by chance. It covers the options
// but for MaxTokens, the nodes with everything they are, the tokens with their owners, and the positions of three fixed
// keys. That of New(nil, opts) is the fingerprint of the options alone, which nodes can compare before they join.
//
// It is an XXH64, which is no protection from those who forge one. It costs O(T), about 3 ns a token. A program that
// needs it often keeps it beside the ring.
func (r *Ring) Fingerprint() uint64 { return r.fingerprint(r.appendBody(nil)) }

// fingerprint is Fingerprint for the ring with the given body.
func (r *Ring) fingerprint(body []byte) uint64 {
	d := xxhash.New()
	d.Write(body)
	buf := make([]byte, 0, 12*256)
	for i, t := range r.tokens[:r.NumTokens()] {
		buf = binary.BigEndian.AppendUint64(buf, t)
		buf = binary.BigEndian.AppendUint32(buf, r.owners[i])
		if len(buf) == cap(buf) {
			d.Write(buf)
			buf = buf[:0]
		}
	}
	for _, key := range probes {
		buf = binary.BigEndian.AppendUint64(buf, r.Position(key))
	}
	d.Write(buf)
	return d.Sum64()
}

// appendBody appends what is between the magic and the fingerprint.
func (r *Ring) appendBody(b []byte) []byte {
	opts := r.Options()
	b = appendText(b, hashName(r.hash))
	b = appendText(b, placementName(opts.Placement))
	b = binary.AppendUvarint(b, uint64(opts.VirtualNodes))
	b = binary.AppendUvarint(b, uint64(len(r.nodes)))
	for _, n := range r.nodes {
		b = appendText(b, n.Name)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(n.Weight))
		b = appendText(b, n.Zone)
		b = appendText(b, n.Label)
		b = binary.AppendUvarint(b, uint64(len(n.Tokens)))
		for _, t := range n.Tokens {
			b = binary.BigEndian.AppendUint64(b, t)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Decode returns the ring that data, from [Ring.AppendBinary], is the encoding of, and no other: it makes the tokens anew
// and compares fingerprints.
//
// opts, which may be nil, supplies what data only names: a Hash that is not built in, a Placement. Either is used if its
// name is that in data. MaxTokens holds as in [New]. VirtualNodes comes from data.
//
// Errors are [ErrFormat] for what is not an encoding, or of a version that this release does not know; [ErrHash] and
// [ErrPlacement] for one that is not at hand; [ErrFingerprint] if the ring is not the one that was encoded, as when a
// Hash or Placement of that name gives other values; and those of New. Memory and time are bounded by the length of data
// and by MaxTokens. The latter's default is far above what most programs need: one that decodes what others send sets it.
func Decode(data []byte, opts *Options) (*Ring, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		if n := len(magic) - 1; len(data) > n && string(data[:n]) == magic[:n] {
			return nil, formatError("version %d is not known", data[n])
		}
		return nil, formatError("it does not begin as the encoding of a ring does")
	}
	d := decoder{rest: rest}
	s := saved{hash: d.text(), placement: d.text(), virtualNodes: d.count(math.MaxInt)}
	for left := d.count(len(d.rest) / minNodeSize); left > 0 && d.err == nil; left-- {
		s.nodes = append(s.nodes, d.node())
	}
	s.fingerprint = d.uint64()
	if len(d.rest) > 0 {
		d.fail("%d bytes follow its end", len(d.rest))
	}
	if d.err != nil {
		return nil, d.err
	}
	r, err := s.restore(opts)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(r.appendBody(nil), rest[:len(rest)-8]) {
		return nil, formatError("it is not in canonical form")
	}
	return r, nil
}

// minNodeSize is the size of a node with a name of one byte, and no zone, label or tokens.
const minNodeSize = 2 + 8 + 1 + 1 + 1

// decoder takes fields off the front of rest. After the first that is not all there, every one is zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) node() Node {
	n := Node{Name: d.text(), Weight: math.Float64frombits(d.uint64()), Zone: d.text(), Label: d.text()}
	for left := d.count(len(d.rest) / 8); left > 0; left-- {
		n.Tokens = append(n.Tokens, d.uint64())
	}
	return n
}

func (d *decoder) text() string { return string(d.take(d.count(len(d.rest)))) }

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// count takes a number that is at most limit: of bytes or of things that are still to come, so memory for them is in
// proportion to what is there.
func (d *decoder) count(limit int) int {
	v, n := binary.Uvarint(d.rest)
	switch {
	case n <= 0:
		d.fail("it ends within a number, or the number is too long")
	case v > uint64(limit):
		d.fail("%d is more than can follow", v)
	default:
		d.rest = d.rest[n:]
		return int(v)
	}
	return 0
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.fail("it ends too early")
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// fail keeps the first error, and leaves nothing to take.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = formatError(format, args...)
	}
	d.rest = nil
}

func formatError(format string, args ...any) error {
	return fmt.Errorf("hashring: %w: %w", ErrFormat, fmt.Errorf(format, args...))
}
