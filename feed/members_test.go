package feed

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

// history is what happened, all of it, and says from the definitions alone what a ring may be.
type history struct {
	opts    Options
	present map[string]bool
	losses  map[string][]time.Time // since the node left last
	ring    []string
}

// check requires that next may follow h.ring.
func (h *history) check(t *testing.T, s *members, next []string, now time.Time) {
	last := func(name string) time.Time { return h.losses[name][len(h.losses[name])-1] }
	for name := range h.present {
		on, was, lost := slices.Contains(next, name), slices.Contains(h.ring, name), len(h.losses[name]) > 0
		switch {
		case h.present[name] && (was || !lost):
			require.True(t, on, "%s is present, and was on the ring or never lost", name)
		case h.present[name] && now.Sub(last(name)) >= longHoldDown:
			require.True(t, on, "%s is present, and no hold-down is that long", name)
		case h.present[name]:
			if now.Sub(last(name)) < h.opts.HoldDown {
				require.False(t, on, "%s is held down", name)
			}
		case s.degraded && was:
			require.True(t, on, "%s is not believed to be lost", name)
		case !s.degraded && now.Sub(last(name)) >= h.opts.FailGrace:
			require.False(t, on, "%s is lost", name)
		case !s.degraded && was:
			require.True(t, on, "%s is in grace", name)
		}
	}
	for _, name := range next {
		_, known := h.present[name]
		require.True(t, known, "%s left", name)
	}
	lost := 0
	for name, is := range h.present {
		if !is && slices.Contains(next, name) {
			lost++
		}
	}
	if s.degraded {
		require.Positive(t, lost)
	}
	for _, name := range h.ring {
		if _, known := h.present[name]; known && !slices.Contains(next, name) {
			require.False(t, s.degraded, "nothing is taken from the ring while degraded")
		}
	}
	h.ring = next
}

func TestMembersFollowTheDefinitions(t *testing.T) {
	random := seed.Random(t)
	steps, degraded := 0, 0
	for range 300 {
		opts, err := Options{FailGrace: time.Duration(random.IntN(3)*10) * time.Second, MaxLoss: []float64{0, 0.3, 1}[random.IntN(3)]}.withDefaults()
		require.NoError(t, err)
		s := newMembers(opts, new(hashring.Ring))
		h := &history{opts: opts, present: map[string]bool{}, losses: map[string][]time.Time{}}
		now := time.Unix(0, 0)
		lose := func(name string) {
			if h.present[name] {
				h.present[name] = false
				h.losses[name] = append(h.losses[name], now)
			}
		}
		var next time.Time
		judge := func(at time.Time) {
			var nodes []hashring.Node
			now = at
			nodes, next = s.judge(now)
			h.publish(t, s, nodes, now)
			require.True(t, next.IsZero() || next.After(now))
			if s.degraded {
				degraded++
			}
			steps++
		}
		pass := func(d time.Duration) {
			then := now.Add(d)
			for !next.IsZero() && !next.After(then) {
				due := next
				if due.Sub(now) > 1 { // until then nothing changes by itself
					ring := h.ring
					judge(due.Add(-1)) // which may find that nothing is due, now that the state is degraded
					require.Equal(t, ring, h.ring)
				}
				judge(due)
			}
			now = then
		}
		for range 200 {
			pass(time.Duration(random.ExpFloat64() * float64(10*time.Second)))
			name := fmt.Sprint(random.IntN(6))
			switch random.IntN(4) {
			case 0:
				if m := s.byName[name]; m != nil {
					s.lose(m, now)
				}
				lose(name)
			case 1:
				s.remove(name)
				delete(h.present, name)
				delete(h.losses, name)
			default:
				var list []hashring.Node
				for i := range 6 {
					if random.IntN(4) > 0 {
						list = append(list, hashring.Node{Name: fmt.Sprint(i)})
					}
				}
				random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				s.update(list, now)
				for known := range h.present {
					if !slices.ContainsFunc(list, func(n hashring.Node) bool { return n.Name == known }) {
						lose(known)
					}
				}
				for _, n := range list {
					h.present[n.Name] = true
				}
			}
			judge(now)
		}
		// In the end the ring is what is present, unless that is not believed.
		pass(time.Hour)
		judge(now)
		if !s.degraded {
			var present []string
			for name, is := range h.present {
				if is {
					present = append(present, name)
				}
			}
			require.ElementsMatch(t, present, h.ring)
			require.Len(t, s.list, len(present), "the lost are forgotten")
		}
		require.Len(t, s.byName, len(s.list))
	}
	t.Logf("%d of %d steps degraded", degraded, steps)
	require.Positive(t, degraded)
}

func (h *history) publish(t *testing.T, s *members, nodes []hashring.Node, now time.Time) {
	h.check(t, s, names(nodes), now)
	ring, err := hashring.New(nodes, &hashring.Options{VirtualNodes: 1})
	require.NoError(t, err)
	s.published(ring)
}

func names(nodes []hashring.Node) []string {
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return out
}
