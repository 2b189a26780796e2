package antientropy

import (
	"encoding/binary"
	"fmt"

	"github.com/clockwise-go/hashring"
)

// The messages are docs/antientropy.md in Go. A number is an unsigned varint, a fingerprint or a digest 8 bytes, the
// highest first.
//
//	request   'Q' version fan-out max-reply question...
//	question  gap extent parts fingerprint...        one for each part; none asks for the items
//	reply     'A' version state record...
//	record    skip 0 parts fingerprint...            one for each part of the part
//	          skip n+1 (gap digest)...               the n items of the part
//
// The gap of a question is from the end of the question before to its own After, that of an item from the position
// behind the item before. Skip is how many parts since the last record are equal on both sides; so nothing is said of
// those, nor, if the reply is complete, of the parts behind the last record.
const version = 1

const (
	complete = iota // the state of a reply: all is answered
	cutShort        // up to the part of the last record
	cutItems        // up to the last item of the last record
	numStates
)

// What parts of messages take at most, in bytes. The smallest reply has room for any one record that is not items, and for
// some items, so every reply gets on.
const (
	questionRoom = 3 * binary.MaxVarintLen64 // but for its fingerprints
	headRoom     = 3 * binary.MaxVarintLen32 // the numbers of a record
	itemRoom     = binary.MaxVarintLen64 + 8
	minItemRoom  = 1 + 8 // what an item takes at least
)

// question asks about a range: whether each of so many equal parts is the same with the peer, or for its items.
type question struct {
	hashring.Range
	parts int // 0: for the items
}

// answers returns how many records there can be about q: one for each part, or one with the items.
func (q question) answers() int { return max(1, q.parts) }

func appendRequest(b []byte, fanOut, maxReply int) []byte {
	b = append(b, 'Q', version)
	b = binary.AppendUvarint(b, uint64(fanOut))
	return binary.AppendUvarint(b, uint64(maxReply))
}

// appendQuestion appends q, with the fingerprints of its parts. The question before ends at last.
func appendQuestion(b []byte, last uint64, q question, parts []summary) []byte {
	b = binary.AppendUvarint(b, q.After-last)
	b = binary.AppendUvarint(b, extent(q.Range))
	b = binary.AppendUvarint(b, uint64(q.parts))
	return appendFingerprints(b, parts)
}

func appendFingerprints(b []byte, parts []summary) []byte {
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, p.fingerprint)
	}
	return b
}

// reader takes a message apart. After the first error it gives nothing but zeros.
type reader struct {
	what string // the message is
	rest []byte
	err  error
}

// readMessage returns a reader of what follows the kind and the version of a message.
func readMessage(what string, kind byte, msg []byte) *reader {
	r := &reader{what: what, rest: msg}
	switch {
	case len(msg) < 2 || msg[0] != kind:
		r.fail("it does not begin as one")
	case msg[1] != version:
		r.err = fmt.Errorf("antientropy: %s: %w: %d", what, ErrVersion, msg[1])
		r.rest = nil
	default:
		r.rest = msg[2:]
	}
	return r
}

func (r *reader) more() bool { return r.err == nil && len(r.rest) > 0 }

// number takes a number that is at most limit.
func (r *reader) number(limit uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	switch {
	case n <= 0:
		r.fail("it ends within a number, or the number is too long")
	case v > limit:
		r.fail("%d where %d is the most", v, limit)
	default:
		r.rest = r.rest[n:]
		return v
	}
	return 0
}

func (r *reader) count(limit int) int { return int(r.number(uint64(limit))) }

func (r *reader) fingerprint() uint64 {
	if len(r.rest) < 8 {
		r.fail("it ends within a fingerprint or a digest")
		return 0
	}
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// fail keeps the first error, and leaves nothing to take.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("antientropy: %s: %w: %s", r.what, ErrMessage, fmt.Sprintf(format, args...))
	}
	r.rest = nil
}

// question takes a question but for its fingerprints, which are there. The question before ends at last.
func (r *reader) question(last uint64) (q question) {
	q.After = last + r.number(1<<64-1)
	q.Through = q.After + 1 + r.number(1<<64-1)
	q.parts = r.count(atMost(q.Range, maxFanOut))
	if 8*q.parts > len(r.rest) {
		r.fail("%d parts and %d bytes for their fingerprints", q.parts, len(r.rest))
		return question{}
	}
	return q
}
