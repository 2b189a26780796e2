package gossip

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clockwise-go/hashring"
)

// peer is another member, as far as this one knows.
type peer struct {
	metadata
	gossip   string    // where it is to be reached by other members
	failedAt time.Time // zero while it is alive
	called   time.Time // when this member called it last since, in case it is there again
	print    uint64    // the fingerprint of its ring
	heard    time.Time // when it told that; zero if it has not
}

func (p *peer) alive() bool { return p.failedAt.IsZero() }

// view is what a member knows of the others. It does nothing but remember: no goroutine, no clock, no lock.
type view struct {
	self   string
	opts   hashring.Options // of the ring
	params uint64           // their fingerprint
	peers  map[string]*peer
	graves *graves
}

// admit returns why what is told of a member is not to be believed; nil if it is.
func (v *view) admit(name string, meta []byte) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%w: a name of %d bytes", errMeta, len(name))
	}
	m, err := decodeMeta(meta)
	switch {
	case err != nil:
		return err
	case !m.known:
		return nil
	case m.params != v.params:
		return fmt.Errorf("%w: %q has %016x, this member %016x", ErrParams, name, m.params, v.params)
	case v.graves.has(instance{name, m.boot}) && !(m.leaving && v.onlyLife(name, m.boot)):
		return fmt.Errorf("%q, boot id %016x, has left", name, m.boot)
	case v.opts.Placement == nil && m.weight*float64(v.opts.VirtualNodes) > float64(v.opts.MaxTokens):
		return fmt.Errorf("%w: weight %v makes more tokens than may be on a ring", errMeta, m.weight)
	}
	return nil
}

// onlyLife reports whether no other instance of the member called name is known.
func (v *view) onlyLife(name string, boot uint64) bool {
	p := v.peers[name]
	return p == nil || p.boot == boot
}

// put notes a member that was admitted. It reports whether that is leaving.
func (v *view) put(name string, meta []byte, gossip string, now time.Time) (left bool) {
	m, err := decodeMeta(meta)
	if err != nil || !m.leaving && v.graves.has(instance{name, m.boot}) {
		return false // not admitted, or not any more
	}
	p := v.peers[name]
	if p == nil {
		p = new(peer)
		v.peers[name] = p
	}
	if p.boot != m.boot {
		*p = peer{}
	}
	p.metadata, p.gossip, p.failedAt = m, gossip, time.Time{}
	if m.leaving {
		v.graves.bury(instance{name, m.boot}, now, now)
	}
	return m.leaving
}

// gone notes that a member is not alive any more. It reports whether it has left, and not failed.
//
// A member whose last life has left a moment ago has not failed either: it is word of that, on its way still, which
// memberlist takes for news of the next life until that has objected.
func (v *view) gone(name string, now time.Time) (left bool) {
	p := v.peers[name]
	if p == nil {
		return false
	}
	if p.leaving || v.graves.sawLeave(name, now.Add(-wordOfMouth)) {
		delete(v.peers, name)
		return true
	}
	p.failedAt = now
	return false
}

// merge takes in the graves that another member knows. It returns the peers that have left by those, and whether this
// member's own instance, of the given boot id, is among the dead.
func (v *view) merge(data []byte, boot uint64, now time.Time) (left []string, self bool, err error) {
	news, err := v.graves.merge(data, now)
	for _, i := range news {
		if i == (instance{v.self, boot}) {
			self = true
		}
		if p := v.peers[i.name]; p != nil && p.known && p.boot == i.boot {
			if p.leaving = true; !p.alive() {
				delete(v.peers, i.name) // else it is told when it goes, see gone
			}
			left = append(left, i.name)
		}
	}
	return left, self, err
}

// wordOfMouth is for how long news is on its way at most.
const wordOfMouth = 30 * time.Second

// maxFailed is how many members that have failed are remembered.
const maxFailed = 1000

// tidy forgets what is of no use any more.
func (v *view) tidy(now time.Time) {
	v.graves.expire(now)
	var failed []string
	for name, p := range v.peers {
		switch {
		case p.alive():
		case now.Sub(p.failedAt) >= v.graves.keep:
			delete(v.peers, name)
		default:
			failed = append(failed, name)
		}
	}
	if len(failed) > maxFailed {
		slices.SortFunc(failed, func(a, b string) int { return v.peers[a].failedAt.Compare(v.peers[b].failedAt) })
		for _, name := range failed[:len(failed)-maxFailed] {
			delete(v.peers, name)
		}
	}
}

// missing returns which of the seeds are not members alive, and some members that have failed, in turn: those that should
// be called now, in case they are there again.
func (v *view) missing(seeds []string, some int, now time.Time) []string {
	calls := make(map[string]bool)
	for _, addr := range seeds {
		calls[addr] = true
	}
	var failed []*peer
	for _, p := range v.peers { // in random order
		if p.alive() {
			delete(calls, p.gossip)
		} else {
			failed = append(failed, p)
		}
	}
	slices.SortFunc(failed, func(a, b *peer) int { return a.called.Compare(b.called) })
	for _, p := range failed[:min(some, len(failed))] {
		calls[p.gossip] = true
		p.called = now
	}
	return slices.Collect(maps.Keys(calls))
}

// nodes returns the nodes that the ring should have, by name: that order is the same on every member, should it count.
func (v *view) nodes(self metadata) []hashring.Node {
	var nodes []hashring.Node
	add := func(name string, m metadata) {
		if !m.observer && !m.leaving {
			nodes = append(nodes, hashring.Node{Name: name, Weight: m.weight, Zone: m.zone, Label: m.label})
		}
	}
	add(v.self, self)
	for name, p := range v.peers {
		if p.alive() {
			add(name, p.metadata)
		}
	}
	slices.SortFunc(nodes, func(a, b hashring.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// census counts the other members that are alive.
func (v *view) census() (owners, observers int) {
	for _, p := range v.peers {
		switch {
		case !p.alive() || p.leaving:
		case p.observer:
			observers++
		default:
			owners++
		}
	}
	return owners, observers
}

// agreement compares the rings that the others told of, since the own one became what it is, with that.
func (v *view) agreement(print uint64, since time.Time) (a Agreement) {
	for _, p := range v.peers {
		switch {
		case !p.alive() || p.leaving:
		case p.heard.IsZero() || p.heard.Before(since):
			a.Unheard++
		case p.print == print:
			a.Agree++
		default:
			a.Disagree++
		}
	}
	return a
}
