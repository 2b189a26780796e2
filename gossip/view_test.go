package gossip

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/internal/seed"
	"github.com/stretchr/testify/require"
)

func newView(t testing.TB) *view {
	opts := new(hashring.Ring).Options()
	return &view{self: "self", opts: opts, params: 5, peers: map[string]*peer{}, graves: newGraves(24*time.Hour, 100)}
}

func encoded(t testing.TB, m metadata) []byte {
	if m.weight == 0 {
		m.weight = 1
	}
	b, err := m.encode()
	require.NoError(t, err)
	return b
}

func names(nodes []hashring.Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return strings.Join(out, " ")
}

func TestWhoIsAdmitted(t *testing.T) {
	v := newView(t)
	v.graves.bury(instance{"left", 1}, day, day)
	for _, ok := range []struct {
		name string
		meta metadata
	}{
		{"a", metadata{params: 5}},
		{strings.Repeat("n", maxName), metadata{params: 5}},
		{"left", metadata{params: 5, boot: 2}},
		{"left", metadata{params: 5, boot: 1, leaving: true}},
		{"heavy", metadata{params: 5, weight: 100_000}},
	} {
		require.NoError(t, v.admit(ok.name, encoded(t, ok.meta)))
	}
	require.NoError(t, v.admit("later", []byte{2}))
	v.put("left", encoded(t, metadata{params: 5, boot: 2}), "", day)
	require.ErrorContains(t, v.admit("left", encoded(t, metadata{params: 5, boot: 1, leaving: true})), "has left",
		"news of its last life does not take the next one off")
	for _, bad := range []struct {
		name, because string
		meta          metadata
	}{
		{"", "a name of 0 bytes", metadata{params: 5}},
		{strings.Repeat("n", maxName+1), "a name of 256 bytes", metadata{params: 5}},
		{"left", "has left", metadata{params: 5, boot: 1}},
		{"other", `"other" has 0000000000000006, this member 0000000000000005`, metadata{params: 6}},
		{"heavy", "more tokens than may be", metadata{params: 5, weight: 1e6}},
		{"heavy", "more tokens than may be", metadata{params: 5, weight: math.MaxFloat64}},
	} {
		require.ErrorContains(t, v.admit(bad.name, encoded(t, bad.meta)), bad.because)
	}
	require.ErrorIs(t, v.admit("other", encoded(t, metadata{params: 6})), ErrParams)
	require.ErrorIs(t, v.admit("garbage", []byte("garbage\x00")[7:]), errMeta)
}

func TestViewOfOneMember(t *testing.T) {
	v := newView(t)
	self := metadata{weight: 3, zone: "z"}
	put := func(name string, m metadata, at time.Time) bool {
		m.params = 5
		return v.put(name, encoded(t, m), name+":7946", at)
	}
	require.False(t, put("b", metadata{boot: 1, weight: 2, zone: "y", label: "l"}, day))
	require.False(t, put("a", metadata{boot: 1}, day))
	require.False(t, put("watcher", metadata{boot: 1, observer: true}, day))
	require.Equal(t, []hashring.Node{{Name: "a", Weight: 1}, {Name: "b", Weight: 2, Zone: "y", Label: "l"}, {Name: "self", Weight: 3, Zone: "z"}}, v.nodes(self))
	owners, observers := v.census()
	require.Equal(t, []int{2, 1}, []int{owners, observers})

	require.False(t, v.gone("a", day), "it has failed")
	require.False(t, v.gone("nobody", day))
	require.Equal(t, "b self", names(v.nodes(self)))
	require.False(t, put("a", metadata{boot: 1}, day), "and is back")
	require.Equal(t, "a b self", names(v.nodes(self)))

	require.True(t, put("a", metadata{boot: 1, leaving: true}, day))
	require.Equal(t, "b self", names(v.nodes(self)))
	require.False(t, put("a", metadata{boot: 1}, day), "hearsay")
	require.Equal(t, "b self", names(v.nodes(self)))
	require.True(t, v.gone("a", day), "it has left")
	require.False(t, put("a", metadata{boot: 1}, day))
	require.Equal(t, "b self", names(v.nodes(self)))
	require.False(t, put("a", metadata{boot: 2}, day), "its next life")
	require.Equal(t, "a b self", names(v.nodes(self)))

	require.True(t, v.gone("a", day.Add(wordOfMouth-1)), "word of its last life")
	require.False(t, put("a", metadata{boot: 2}, day), "to which it has objected")
	require.Equal(t, "a b self", names(v.nodes(self)))
	require.False(t, v.gone("a", day.Add(wordOfMouth)), "but later, it has failed")
	require.False(t, put("a", metadata{boot: 2}, day))

	self.observer = true
	require.Equal(t, "a b", names(v.nodes(self)))
	self = metadata{weight: 1, leaving: true}
	require.Equal(t, "a b", names(v.nodes(self)))
}

func TestViewMergesWhoLeft(t *testing.T) {
	v := newView(t)
	v.put("a", encoded(t, metadata{boot: 1}), "", day)
	v.put("b", encoded(t, metadata{boot: 1}), "", day)
	v.put("c", encoded(t, metadata{boot: 1}), "", day)
	v.gone("c", day)
	other := newGraves(time.Hour, 10)
	for _, i := range []instance{{"a", 1}, {"b", 2}, {"c", 1}, {"d", 1}} {
		other.bury(i, day, day)
	}
	left, self, err := v.merge(other.append(nil, day), 9, day)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", "c"}, left)
	require.False(t, self)
	require.Equal(t, "b self", names(v.nodes(metadata{})))
	require.Contains(t, v.peers, "a", "it has not gone yet")
	require.True(t, v.gone("a", day))
	require.NotContains(t, v.peers, "a")
	require.NotContains(t, v.peers, "c", "it was gone already")

	other.bury(instance{"self", 9}, day, day)
	left, self, err = v.merge(other.append(nil, day), 9, day)
	require.NoError(t, err)
	require.Empty(t, left)
	require.True(t, self)
	_, self, err = v.merge([]byte("\x01garbage"), 9, day)
	require.ErrorIs(t, err, errGraves)
	require.False(t, self)
}

func TestViewForgetsWhoFailedLongAgo(t *testing.T) {
	v := newView(t)
	for i := range maxFailed + 10 {
		name := fmt.Sprint("n", i)
		v.put(name, encoded(t, metadata{boot: 1}), name, day)
		if i > 0 {
			v.gone(name, day.Add(time.Duration(i)*time.Second))
		}
	}
	v.tidy(day.Add(time.Hour))
	require.Len(t, v.peers, maxFailed+1)
	require.Contains(t, v.peers, "n0", "it is alive")
	require.NotContains(t, v.peers, "n9", "the oldest failures go first")
	require.Contains(t, v.peers, "n10")
	v.tidy(day.Add(24*time.Hour + 1000*time.Second))
	require.Len(t, v.peers, 10)
}

func TestWhoIsMissing(t *testing.T) {
	v := newView(t)
	for i := range 10 {
		name := fmt.Sprint("n", i)
		v.put(name, encoded(t, metadata{boot: 1}), name+":1", day)
		if i >= 5 {
			v.gone(name, day)
		}
	}
	require.ElementsMatch(t, []string{"n7:1", "x:1"}, v.missing([]string{"n1:1", "n7:1", "x:1", "n2:1", "x:1"}, 0, day))
	require.Empty(t, v.missing([]string{"n1:1"}, 0, day))
	all := v.missing(nil, 100, day)
	require.ElementsMatch(t, []string{"n5:1", "n6:1", "n7:1", "n8:1", "n9:1"}, all)
	var before []string
	for i := range 20 {
		some := v.missing(nil, 3, day.Add(time.Duration(i+1)))
		require.Len(t, some, 3)
		if i > 0 {
			require.Subset(t, append(before, some...), all, "in turn: 3 and 3 are all 5")
		}
		before = some
	}
}

func TestAgreementCountsOnlyWhatWasSaidSince(t *testing.T) {
	v := newView(t)
	for i, p := range []struct {
		print uint64
		heard time.Time
	}{{7, day}, {7, day.Add(-1)}, {8, day}, {8, day.Add(1)}, {7, day.Add(1)}, {0, time.Time{}}} {
		name := fmt.Sprint("n", i)
		v.put(name, encoded(t, metadata{boot: 1}), "", day)
		v.peers[name].print, v.peers[name].heard = p.print, p.heard
	}
	require.Equal(t, Agreement{Agree: 2, Disagree: 2, Unheard: 2}, v.agreement(7, day))
	v.put("n0", encoded(t, metadata{boot: 1, weight: 2}), "", day)
	require.Equal(t, Agreement{Agree: 2, Disagree: 2, Unheard: 2}, v.agreement(7, day), "it is the same instance")
	v.put("n0", encoded(t, metadata{boot: 2}), "", day)
	require.Equal(t, Agreement{Agree: 1, Disagree: 2, Unheard: 3}, v.agreement(7, day), "its next life has said nothing yet")
	v.gone("n4", day)
	v.put("n3", encoded(t, metadata{boot: 1, leaving: true}), "", day)
	require.Equal(t, Agreement{Disagree: 1, Unheard: 3}, v.agreement(7, day))
}

// Whatever is heard, in whatever order, nobody who has left is on the ring, and what is on it was admitted.
func TestViewByRandomHearsay(t *testing.T) {
	random := seed.Random(t)
	for range 500 {
		v := newView(t)
		left := map[instance]bool{}
		told := newGraves(24*time.Hour, 100)
		for range 100 {
			i := instance{string(rune('a' + random.IntN(4))), uint64(random.IntN(3))}
			switch random.IntN(5) {
			case 0:
				m := encoded(t, metadata{boot: i.boot, leaving: true, params: 5})
				if v.admit(i.name, m) == nil {
					require.True(t, v.put(i.name, m, "", day))
					left[i] = true
				} else {
					require.True(t, left[i])
				}
			case 1:
				told.bury(i, day, day)
				_, _, err := v.merge(told.append(nil, day), 0, day)
				require.NoError(t, err)
				for j := range told.since {
					left[j] = true
				}
			case 2:
				v.gone(i.name, day)
			default:
				m := encoded(t, metadata{boot: i.boot, params: 5})
				err := v.admit(i.name, m)
				require.Equal(t, left[i], err != nil)
				v.put(i.name, m, "", day)
				if err == nil {
					require.Contains(t, names(v.nodes(metadata{})), i.name)
				}
			}
			for name, p := range v.peers {
				if left[instance{name, p.boot}] {
					require.NotContains(t, strings.Fields(names(v.nodes(metadata{}))), name)
				}
			}
			require.True(t, slices.IsSorted(strings.Fields(names(v.nodes(metadata{})))))
		}
	}
}

// FuzzAlive hands any metadata to all that looks at it.
func FuzzAlive(f *testing.F) {
	for _, m := range metas {
		b, err := m.encode()
		require.NoError(f, err)
		f.Add("a", b)
	}
	f.Fuzz(func(t *testing.T, name string, meta []byte) {
		v := newView(t)
		err := v.admit(name, meta)
		v.put(name, meta, "", day)
		nodes := v.nodes(metadata{observer: true})
		if err == nil && len(nodes) > 0 {
			_, err := hashring.New(nodes, &hashring.Options{VirtualNodes: 1})
			require.NoError(t, err, "what was admitted can be on a ring")
		}
	})
}
