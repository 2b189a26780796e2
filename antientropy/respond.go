package antientropy

import (
	"encoding/binary"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Respond answers a request that [Compare] made on the side of a peer: a server hands it the bytes that arrive and sends
// back what it returns. A nil opts means the defaults, of which MaxReply is the one that counts here. It keeps nothing
// between requests, so any replica can answer each, and any number at the same time.
//
// The request may come from anyone: Respond only reads s, refuses what is not a request with [ErrMessage] or [ErrVersion],
// and never returns more than MaxReply bytes. A request of 1 MiB, the longest there is, costs the time of some 400,000
// fingerprints at most, and memory of a few times MaxReply. But whoever may ask learns positions and digests.
func (s *Set) Respond(request []byte, opts *Options) ([]byte, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := readMessage("request", 'Q', request)
	if len(request) > maxRequest {
		r.fail("%d bytes, of which %d are the most", len(request), maxRequest)
	}
	w := replyWriter{set: s, buf: []byte{'A', version, complete}}
	if w.fanOut = r.count(maxFanOut); w.fanOut < 2 {
		r.fail("it splits a range in %d", w.fanOut)
	}
	limit := r.number(1<<64 - 1)
	if limit < minReply {
		r.fail("replies of %d bytes at most, where %d are the least", limit, minReply)
	}
	w.limit = int(min(limit, uint64(o.MaxReply)))

	var last uint64 // where the question before ends
	for r.more() && w.state() == complete {
		q := r.question(last)
		switch {
		case r.err != nil:
		case q.parts == 0:
			_, n := s.Fingerprint(q.Range)
			w.list(q.Range, n)
		default:
			w.compare(q, r)
		}
		last = q.Through
	}
	if r.err != nil {
		return nil, r.err
	}
	return w.buf, nil
}

// replyWriter writes a reply. It is done when its state is not complete.
type replyWriter struct {
	set           *Set
	fanOut, limit int
	buf           []byte
	skip          int // parts since the last record that are equal

	asked, parts []summary // scratch, as the following
	items        []Item
	body         []byte
}

func (w *replyWriter) state() byte { return w.buf[2] }

// compare writes a record about each part of q that has another fingerprint here than r has.
func (w *replyWriter) compare(q question, r *reader) {
	w.asked = w.set.appendParts(w.asked[:0], q.Range, q.parts)
	for i, here := range w.asked {
		if r.fingerprint() == here.fingerprint {
			w.skip++
		} else if w.differs(part(q.Range, i, q.parts), here.n); w.state() != complete {
			return
		}
	}
}

// differs writes a record about a, a part that differs and has n items here.
func (w *replyWriter) differs(a hashring.Range, n int) {
	if n <= fewItems {
		w.list(a, n)
		return
	}
	p := numParts(a, n, w.fanOut)
	if len(w.buf)+headRoom+8*p > w.limit {
		w.buf[2] = cutShort
		return
	}
	w.parts = w.set.appendParts(w.parts[:0], a, p)
	w.head(0)
	w.buf = appendFingerprints(binary.AppendUvarint(w.buf, uint64(p)), w.parts)
}

// list writes a record with the items in a, about n, or as many of them as there is room for.
func (w *replyWriter) list(a hashring.Range, n int) {
	room := w.limit - len(w.buf) - headRoom
	if room < itemRoom {
		w.buf[2] = cutShort
		return
	}
	enough := room/minItemRoom + 1
	w.items = w.set.appendItems(slices.Grow(w.items[:0], min(n, enough)), a, enough)
	w.body = slices.Grow(w.body[:0], min(room, len(w.items)*itemRoom))
	listed, next := 0, uint64(0) // next: the offset behind the item before
	for _, it := range w.items {
		if len(w.body)+itemRoom > room {
			w.buf[2] = cutItems
			break
		}
		at := offset(a, it.Position)
		w.body = binary.AppendUvarint(w.body, at-next)
		w.body = binary.BigEndian.AppendUint64(w.body, it.Digest)
		next = at + 1
		listed++
	}
	w.head(1 + listed)
	w.buf = append(w.buf, w.body...)
}

func (w *replyWriter) head(n int) {
	w.buf = binary.AppendUvarint(w.buf, uint64(w.skip))
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
	w.skip = 0
}
