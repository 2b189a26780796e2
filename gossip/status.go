package gossip

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
)

// State is how a member stands.
type State uint8

const (
	Settling State = iota // the ring is about to change
	Steady                // the ring is what this member knows
	Degraded              // so many members are lost that this one may be cut off: it keeps the ring that it had
	Conflict              // another member has this one's name, within the last minute
	Leaving               // Leave has been called
	Closed                // it is no member any more
)

func (s State) String() string {
	names := [...]string{"settling", "steady", "degraded", "conflict", "leaving", "closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Agreement counts the other members by what they said of their rings last, in answer to this member's probes: it probes
// one of them a second. What they said before this member's ring became what it is does not count.
type Agreement struct {
	Agree    int // their ring is this one's
	Disagree int // theirs is another: for a moment after a change, or until a partition heals
	Unheard  int // they have not said yet
}

// Status is how a member stands, at one moment.
type Status struct {
	State       State
	Owners      int    // members alive that own a part of the ring, this one included
	Observers   int    // members alive that follow it
	Fingerprint uint64 // of the ring
	Agreement   Agreement
	Health      int         // 0 is good; up to 7, the more this member's own probes go unanswered
	Feed        feed.Status // which nodes are lost or held down, when the ring changed last, and why it did not
}

// Status returns how the member stands. It costs O(N), and O(T) once after each change of the ring.
func (m *Member) Status() Status {
	s := Status{Fingerprint: m.fingerprint(), Feed: m.feed.Status(), Health: m.list.GetHealthScore()}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Owners, s.Observers = m.view.census()
	switch {
	case m.self.leaving:
	case m.self.observer:
		s.Observers++
	default:
		s.Owners++
	}
	s.Agreement = m.view.agreement(s.Fingerprint, s.Feed.Changed)
	switch {
	case m.stop.Err() != nil:
		s.State = Closed
	case m.self.leaving:
		s.State = Leaving
	case !m.clash.IsZero() && time.Since(m.clash) < clashMemory:
		s.State = Conflict
	case s.Feed.State == feed.Degraded:
		s.State = Degraded
	case s.Feed.State == feed.Steady:
		s.State = Steady
	}
	return s
}

// fingerprint returns the ring's, computed once a ring.
func (m *Member) fingerprint() uint64 {
	ring := m.live.Load()
	if s := m.sum.Load(); s != nil && s.ring == ring {
		return s.print
	}
	s := &sum{ring, ring.Fingerprint()}
	m.sum.Store(s)
	return s.print
}

// Addr returns where the member called name says that it serves: its Config.Addr. ok is false if no such member is known.
// One that has failed is known for as long as Config.Tombstone.
func (m *Member) Addr(name string) (addr string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == m.view.self {
		return m.self.addr, true
	}
	p, ok := m.view.peers[name]
	if !ok {
		return "", false
	}
	return p.addr, true
}

// Gossip returns where the others reach this member: a seed for them.
func (m *Member) Gossip() netip.AddrPort {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gossip
}

// Ready returns a channel that is closed once the ring has had MinMembers nodes, and then has not changed for twice the
// time that it settles.
func (m *Member) Ready() <-chan struct{} { return m.ready }

func (m *Member) awaitReady() {
	quiet := 2 * max(0, m.cfg.Feed.Settle)
	var ring *hashring.Ring
	since := time.Now()
	for {
		select {
		case <-m.stop.Done():
			return
		case <-time.After(max(quiet/4, 10*time.Millisecond)):
		}
		if now := m.live.Load(); now != ring {
			ring, since = now, time.Now()
		}
		if s := m.feed.Status(); s.State == feed.Steady && ring.Len() >= m.cfg.MinMembers && time.Since(since) >= quiet {
			close(m.ready)
			return
		}
	}
}

// Done returns a channel that is closed when the member has left, or is closed.
func (m *Member) Done() <-chan struct{} { return m.done }

// Err returns [ErrClosed] once Done is closed, and nil before.
func (m *Member) Err() error {
	select {
	case <-m.done:
		return ErrClosed
	default:
		return nil
	}
}
