package antientropy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/clockwise-go/hashring"
)

// Peer sends a request to the replica that a set is compared with, whose [Set.Respond] answers it, and returns the reply.
// It is all that a comparison needs of a transport: an HTTP POST, an RPC. Time-outs are its own, besides ctx, and so are
// retries: a request changes nothing, so it may be sent again.
type Peer func(ctx context.Context, request []byte) (reply []byte, err error)

// Difference is what differs between a set and that of a peer.
type Difference struct {
	Here   []Item // only the set has a position
	There  []Item // only the peer has it
	Unlike []Unlike

	// Left are the ranges in which keys may differ that are not in the lists, since Options.MaxKeys were found, or the peer
	// failed. To go on is to compare these. What is in the lists is right without that.
	Left []hashring.Range

	RoundTrips     int // requests that were answered
	Sent, Received int // bytes of requests and of replies
}

// Unlike is a position that both sides have with another digest each.
type Unlike struct{ Position, Here, There uint64 }

// Keys returns how many positions differ.
func (d Difference) Keys() int { return len(d.Here) + len(d.There) + len(d.Unlike) }

// Compare finds what differs, within ranges, between s and the set of a peer: the positions that only one of them has,
// and those of which they have another digest, each list in ascending order. It changes neither set. Ranges may overlap;
// {} is the whole circle. A nil opts means the defaults.
//
// Both sides must place keys by the same hash and make digests by the same rule, else everything differs.
//
// Sets that are equal cost one request of 150 bytes, or of 18 to 27 a range if there are many, and a reply of 3. Of 1e6
// items, one that differs costs three round trips and 0.9 kB, a thousand scattered ones 0.4 MB, and no number of them costs
// more than 1.1 times the items of the larger set, at 16 bytes each, with the default options.
//
// Both sets may change meanwhile, and neither is locked while a message is under way. What is put or deleted during the
// comparison is then reported as different or not; all else is as if nothing had changed. So the repair of a key looks at
// what either side has of it by then, and takes the newer.
//
// The peer's messages are not trusted. One that is no reply to what was asked is [ErrMessage], and nothing of it is taken.
// A peer that lies costs a Difference of up to MaxKeys wrong items, memory in proportion to that and to s, and no more
// time than ctx has.
//
// Errors are [ErrOptions], and together with the Difference that was found before: [ErrMessage], [ErrVersion], [ErrPeer]
// with the error of the function peer, and that of ctx.
func Compare(ctx context.Context, s *Set, ranges []hashring.Range, peer Peer, opts *Options) (Difference, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return Difference{}, err
	}
	c := comparison{set: s, opts: o}
	ranges = union(ranges)
	for _, a := range ranges {
		_, n := s.Fingerprint(a)
		c.queue = append(c.queue, question{a, numParts(a, n, max(1, o.FanOut/len(ranges)))})
	}
	for err == nil && len(c.queue) > 0 && !c.full() {
		err = c.exchange(ctx, peer)
	}
	return c.finish(), err
}

// comparison is the state of a Compare: questions that are to be asked, and what has been found.
type comparison struct {
	set   *Set
	opts  Options
	queue []question
	batch int // how many questions a request may have; 0 is any number
	diff  Difference
	parts []summary // scratch
}

func (c *comparison) full() bool { return c.diff.Keys() >= c.opts.MaxKeys }

// exchange sends one request and takes the reply. If there is an error nothing has changed.
func (c *comparison) exchange(ctx context.Context, peer Peer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	request, n := c.request()
	reply, err := peer(ctx, request)
	if err != nil {
		return fmt.Errorf("antientropy: %w: %w", ErrPeer, err)
	}
	if len(reply) > c.opts.MaxReply {
		return fmt.Errorf("antientropy: reply: %w: %d bytes, of which %d are the most", ErrMessage, len(reply), c.opts.MaxReply)
	}
	answers, rest, err := readReply(reply, c.queue[:n], c.opts.FanOut)
	if err != nil {
		return err
	}
	c.diff.RoundTrips++
	c.diff.Sent += len(request)
	c.diff.Received += len(reply)
	if len(rest) > 0 { // which was sent in vain; of the next request little should be
		c.batch = 1 + max(0, n-len(rest))*9/8
	} else if c.batch *= 2; c.batch > maxRequest {
		c.batch = 0
	}
	c.queue = append(rest, c.queue[n:]...)
	for _, a := range answers {
		switch {
		case c.full():
			c.diff.Left = append(c.diff.Left, a.Range)
		case a.split != nil:
			c.split(a)
		default:
			c.merge(a)
		}
	}
	return nil
}

// request returns a request with as many of the queue's questions as it has room for, and their number.
func (c *comparison) request() (request []byte, n int) {
	request = appendRequest(nil, c.opts.FanOut, c.opts.MaxReply)
	var last uint64
	for _, q := range c.queue {
		if len(request)+questionRoom+8*q.parts > maxRequest || n > 0 && n == c.batch {
			break
		}
		c.parts = c.set.appendParts(c.parts[:0], q.Range, q.parts)
		request = appendQuestion(request, last, q, c.parts)
		last = q.Through
		n++
	}
	return request, n
}

// split asks about those parts of a that are not the same here: for the items of a part that has few here, so that the
// peer's can be few only or such as are not here.
func (c *comparison) split(a answer) {
	c.parts = c.set.appendParts(c.parts[:0], a.Range, len(a.split))
	for i, here := range c.parts {
		if here.fingerprint == a.split[i] {
			continue
		}
		q := question{Range: part(a.Range, i, len(a.split))}
		if here.n > fewItems {
			q.parts = numParts(q.Range, here.n, c.opts.FanOut)
		} else if last := len(c.queue) - 1; last >= 0 && c.queue[last].parts == 0 && c.queue[last].Through == q.After {
			c.queue[last].Through = q.Through // one list instead of two
			continue
		}
		c.queue = append(c.queue, q)
	}
}

// merge compares the items of a with those here.
func (c *comparison) merge(a answer) {
	ended := func(pos uint64) bool { // by the key at pos
		rest, more := behind(a.Range, pos)
		if c.full() && more {
			c.diff.Left = append(c.diff.Left, rest)
		}
		return c.full()
	}
	there := a.items
	for here := range c.set.Items(a.Range) {
		for len(there) > 0 && offset(a.Range, there[0].Position) < offset(a.Range, here.Position) {
			c.diff.There = append(c.diff.There, there[0])
			if ended(there[0].Position) {
				return
			}
			there = there[1:]
		}
		if len(there) == 0 || there[0].Position != here.Position {
			c.diff.Here = append(c.diff.Here, here)
		} else {
			if there[0].Digest != here.Digest {
				c.diff.Unlike = append(c.diff.Unlike, Unlike{here.Position, here.Digest, there[0].Digest})
			}
			there = there[1:]
		}
		if ended(here.Position) {
			return
		}
	}
	for _, it := range there {
		c.diff.There = append(c.diff.There, it)
		if ended(it.Position) {
			return
		}
	}
}

// finish returns what has been found.
func (c *comparison) finish() Difference {
	for _, q := range c.queue {
		c.diff.Left = append(c.diff.Left, q.Range)
	}
	c.diff.Left = union(c.diff.Left)
	byPosition := func(a, b Item) int { return cmp.Compare(a.Position, b.Position) }
	slices.SortFunc(c.diff.Here, byPosition)
	slices.SortFunc(c.diff.There, byPosition)
	slices.SortFunc(c.diff.Unlike, func(a, b Unlike) int { return cmp.Compare(a.Position, b.Position) })
	return c.diff
}
