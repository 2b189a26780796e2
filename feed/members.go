package feed

import (
	"slices"
	"time"

	"github.com/clockwise-go/hashring"
)

// member is what is known of one node.
type member struct {
	node    hashring.Node
	present bool      // the source has it
	on      bool      // it is on the ring
	wasOn   bool      // when it was lost last
	lostAt  time.Time // last
	losses  int       // each within memory of the one before
}

// members are all nodes that are present, or were lost not long ago, and what follows from that. Every method takes the
// time, so that there is no clock in here.
type members struct {
	opts     Options
	list     []*member // in the order of the source's last list; those that are not in it keep their places among the others
	byName   map[string]*member
	ordered  bool // order counts, since the ring has a Placement
	degraded bool

	runStart, runLast time.Time // the first and the last of the losses that are taken together; zero if a node came since
}

// newMembers takes the nodes of a ring for what the source said last.
func newMembers(opts Options, ring *hashring.Ring) *members {
	s := &members{opts: opts, byName: make(map[string]*member), ordered: ring.Options().Placement != nil}
	for _, n := range ring.Nodes() {
		m := &member{node: n, present: true, on: true}
		s.list = append(s.list, m)
		s.byName[n.Name] = m
	}
	return s
}

// update makes nodes, in which no name is twice, all that is present. It reports whether anything changed.
func (s *members) update(nodes []hashring.Node, now time.Time) (changed bool) {
	listed := make(map[*member]bool, len(nodes))
	list := make([]*member, 0, len(nodes))
	for _, n := range nodes {
		n.Tokens = slices.Clone(n.Tokens)
		m := s.byName[n.Name]
		if m == nil {
			m = new(member)
			s.byName[n.Name] = m
		}
		if !m.present {
			s.runLast = time.Time{} // who hears of nodes that come is not cut off
		}
		if !m.present || !same(m.node, n) {
			changed = true
		}
		m.node, m.present = n, true
		listed[m] = true
		list = append(list, m)
	}
	// The others stay behind those that they stood behind: in a list that has only lost some, all keep their places.
	var first []*member
	behind := make(map[*member][]*member)
	var last *member
	for _, m := range s.list {
		switch {
		case listed[m]:
			last = m
			continue
		case last == nil:
			first = append(first, m)
		default:
			behind[last] = append(behind[last], m)
		}
		changed = s.lose(m, now) || changed
	}
	next := first
	for _, m := range list {
		next = append(append(next, m), behind[m]...)
	}
	changed = changed || s.ordered && !slices.Equal(next, s.list)
	s.list = next
	return changed
}

func same(a, b hashring.Node) bool {
	return a.Name == b.Name && a.Weight == b.Weight && a.Zone == b.Zone && a.Label == b.Label && slices.Equal(a.Tokens, b.Tokens)
}

// lose notes that m is not present. It reports whether it was.
func (s *members) lose(m *member, now time.Time) bool {
	if !m.present {
		return false
	}
	if now.Sub(m.lostAt) >= memory {
		m.losses = 0
	}
	m.present, m.wasOn, m.lostAt = false, m.on, now
	m.losses++
	if m.on {
		if now.Sub(s.runLast) >= s.window() {
			s.runStart = now
		}
		s.runLast = now
	}
	return true
}

// remove forgets all about the node called name. It reports whether anything was known.
func (s *members) remove(name string) bool {
	m := s.byName[name]
	if m == nil {
		return false
	}
	delete(s.byName, name)
	s.list = slices.DeleteFunc(s.list, func(x *member) bool { return x == m })
	return true
}

// window is how long after a loss the next one is taken together with it.
func (s *members) window() time.Duration { return lossWindow + s.opts.FailGrace }

// counts reports whether m is one of those that were lost at once. While the state is degraded, time does not change that:
// a process that is cut off for an hour must not conclude that it is alone.
func (s *members) counts(m *member, now time.Time) bool {
	if m.present || !m.wasOn {
		return false
	}
	return s.degraded && m.on || now.Sub(s.runLast) < s.window() && !m.lostAt.Before(s.runStart)
}

// judge returns the nodes that belong on the ring, in order, and when that changes though nothing happens; zero if it
// does not.
func (s *members) judge(now time.Time) (nodes []hashring.Node, next time.Time) {
	present, lost := 0, 0
	for _, m := range s.list {
		if m.present {
			present++
		} else if s.counts(m, now) {
			lost++
		}
	}
	degraded := float64(lost) > s.opts.MaxLoss*float64(present+lost)
	until := func(t time.Time) bool {
		if !now.Before(t) {
			return false
		}
		if next.IsZero() || t.Before(next) {
			next = t
		}
		return true
	}
	s.list = slices.DeleteFunc(s.list, func(m *member) bool {
		on := false
		switch {
		case m.present:
			on = m.on || !until(m.lostAt.Add(s.opts.hold(m.losses)))
		case degraded && s.counts(m, now):
			on = true
		case m.wasOn && until(m.lostAt.Add(s.opts.FailGrace)):
			on = true
		case !until(m.lostAt.Add(memory)) && !s.counts(m, now):
			delete(s.byName, m.node.Name)
			return true
		}
		if on {
			nodes = append(nodes, m.node)
		}
		return false
	})
	s.degraded = degraded
	return nodes, next
}

// published notes which nodes are on the ring.
func (s *members) published(ring *hashring.Ring) {
	s.ordered = ring.Options().Placement != nil
	on := make(map[string]bool, ring.Len())
	for i := range ring.Len() {
		on[ring.Name(i)] = true
	}
	for _, m := range s.list {
		m.on = on[m.node.Name]
	}
}
