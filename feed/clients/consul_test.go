package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/clockwise-go/hashring/feed"
	"github.com/hashicorp/consul/api"
	"github.com/stretchr/testify/require"
)

// consul stands for an agent of Consul, which Debian does not have: it answers GET /v1/health/service/cache as Consul's
// documentation of blocking queries and of that call says.
type consul struct {
	mu        sync.Mutex
	index     uint64
	instances []*api.ServiceEntry
	changed   chan struct{} // closed by the next change
	status    int           // of every answer, if not 0
	hung      bool          // no answer at all
	hasty     bool          // answers at once, whatever the index
	questions int
	fresh     int // questions that did not wait
}

// asked returns how often c was asked.
func (c *consul) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.questions
}

// set changes what there is, and with it the index.
func (c *consul) set(index uint64, instances ...*api.ServiceEntry) {
	c.fault(func() { c.index, c.instances = index, instances })
}

// fault changes how c behaves.
func (c *consul) fault(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	if c.changed != nil {
		close(c.changed)
	}
	c.changed = make(chan struct{})
}

func (c *consul) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions++
	q := r.URL.Query()
	if r.URL.Path != "/v1/health/service/cache" || !q.Has("passing") {
		http.NotFound(w, r)
		return
	}
	index, _ := strconv.ParseUint(q.Get("index"), 10, 64)
	if index == 0 {
		c.fresh++
	}
	wait, _ := time.ParseDuration(q.Get("wait"))
	waited := time.After(wait + wait/16)
	for expired := false; c.hung || c.status == 0 && !c.hasty && index > 0 && c.index <= index && !expired; {
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-waited:
			expired = true
		case <-r.Context().Done():
		}
		c.mu.Lock()
		if r.Context().Err() != nil {
			return
		}
	}
	if c.status != 0 {
		http.Error(w, "No cluster leader", c.status)
		return
	}
	passing := []*api.ServiceEntry{}
	for _, e := range c.instances {
		if e.Checks.AggregatedStatus() == api.HealthPassing {
			passing = append(passing, e)
		}
	}
	w.Header().Set("X-Consul-Index", strconv.FormatUint(c.index, 10))
	w.Header().Set("X-Consul-KnownLeader", "true")
	w.Header().Set("X-Consul-LastContact", "0")
	json.NewEncoder(w).Encode(passing)
}

// instance is one of the service on an agent.
func instance(agent, status string) *api.ServiceEntry {
	return &api.ServiceEntry{
		Node:    &api.Node{Node: agent, Datacenter: "dc1", Meta: map[string]string{"zone": "zone of " + agent}},
		Service: &api.AgentService{ID: "cache", Service: "cache", Weights: api.AgentWeights{Passing: 1, Warning: 1}},
		Checks:  api.HealthChecks{{Status: api.HealthPassing}, {Status: status}},
	}
}

func passing(agents ...string) (all []*api.ServiceEntry) {
	for _, a := range agents {
		all = append(all, instance(a, api.HealthPassing))
	}
	return all
}

// withConsul runs test beside a follower that asks c, and a ring of the given nodes.
func withConsul(t *testing.T, c *consul, names string, test func(w *world)) {
	inWorld(t, c, names, func(w *world) {
		c.fault(func() {})
		client, err := api.NewClient(&api.Config{Address: "consul", HttpClient: w.client})
		require.NoError(w.t, err)
		stop := w.follow(func(ctx context.Context) error { return followConsul(ctx, w.f, client, "cache") })
		defer stop()
		test(w)
	})
}

func TestConsul(t *testing.T) {
	c := &consul{index: 7, instances: passing("b", "d", "c", "a")}
	c.instances[2].Service.Weights.Passing = 3
	withConsul(t, c, "", func(w *world) {
		w.after(settled, "a/cache b/cache c/cache d/cache") // one ID, on four agents
		n, _ := w.live.Load().Node("c/cache")
		require.Equal(w.t, "zone of c", n.Zone)
		require.EqualValues(w.t, 3, n.Weight)

		c.set(9, append(passing("a", "c", "d"), instance("b", api.HealthCritical))...)
		w.after(settled+100*time.Millisecond, "a/cache c/cache d/cache")
		c.set(10, passing("a", "b", "c", "d")...)
		w.after(4*time.Second, "a/cache c/cache d/cache") // held down
		w.after(time.Second, "a/cache b/cache c/cache d/cache")
		c.set(11, append(passing("a", "b", "c"), instance("d", api.HealthWarning))...)
		w.after(time.Second, "a/cache b/cache c/cache")
	})
	require.Equal(t, 5, c.asked()) // and once for each change
}

// A question without news is asked again after a minute or a little more, and changes nothing.
func TestConsulWithoutNews(t *testing.T) {
	c := &consul{index: 7, instances: passing("a", "b")}
	withConsul(t, c, "", func(w *world) {
		w.after(time.Hour, "a/cache b/cache")
		require.WithinRange(w.t, w.f.Status().Changed, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour+time.Second))
		require.InDelta(w.t, 57, c.asked(), 2)
		c.set(8, passing("a", "b", "c")...)
		w.after(settled+100*time.Millisecond, "a/cache b/cache c/cache")
	})
}

// An empty answer is what a token without the right to read gets, or a Consul that has just lost everything.
func TestConsulEmptyAnswerDoesNotEmptyTheRing(t *testing.T) {
	c := &consul{index: 7, instances: passing("a", "b")}
	withConsul(t, c, "", func(w *world) {
		w.after(settled, "a/cache b/cache")
		c.set(8)
		w.after(time.Hour, "a/cache b/cache")
		require.Equal(w.t, feed.Degraded, w.f.Status().State)
		c.set(9, passing("a", "b")...)
		w.after(time.Second, "a/cache b/cache")
		require.Equal(w.t, feed.Steady, w.f.Status().State)
	})
}

func TestConsulErrorsSayNothing(t *testing.T) {
	for name, fault := range map[string]func(c *consul, w *world, on bool){
		"no leader": func(c *consul, _ *world, on bool) {
			c.fault(func() { c.status = map[bool]int{true: http.StatusInternalServerError}[on] })
		},
		"refused": func(_ *consul, w *world, on bool) { w.cut(on) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &consul{index: 7, instances: passing("a", "b", "c")}
			withConsul(t, c, "", func(w *world) {
				w.after(settled, "a/cache b/cache c/cache")
				fault(c, w, true)
				w.after(10*time.Minute, "a/cache b/cache c/cache")
				require.LessOrEqual(w.t, c.asked(), 602) // once a second
				c.set(8, passing("a", "c", "d")...)
				w.after(time.Minute, "a/cache b/cache c/cache")
				fault(c, w, false)
				w.after(soon, "a/cache c/cache d/cache")
			})
		})
	}
}

// A Consul that lost its state counts from the beginning, and so does who asks it.
func TestConsulIndexGoesBackwards(t *testing.T) {
	c := &consul{index: 7000, instances: passing("a", "b", "c")}
	withConsul(t, c, "", func(w *world) {
		w.after(settled, "a/cache b/cache c/cache")
		c.set(5, passing("a", "b", "c")...)
		w.after(2*time.Minute, "a/cache b/cache c/cache")
		c.set(6, passing("a", "b", "c", "d")...)
		w.after(settled+100*time.Millisecond, "a/cache b/cache c/cache d/cache")
		require.Equal(w.t, 2, c.fresh)
	})
}

// An agent that hangs takes a connection and never answers.
func TestConsulHangs(t *testing.T) {
	c := &consul{index: 7, instances: passing("a", "b", "c")}
	withConsul(t, c, "", func(w *world) {
		w.after(settled, "a/cache b/cache c/cache")
		c.fault(func() { c.hung = true })
		w.after(10*time.Minute, "a/cache b/cache c/cache")
		require.InDelta(w.t, 8, c.asked(), 1)
	})
	withConsul(t, &consul{hung: true}, "x y", func(w *world) { w.after(time.Hour, "x y") }) // from the beginning
}

// An agent, or a cache before it, that does not wait is asked ten times a second at most. So is one whose index is 0.
func TestConsulDoesNotWait(t *testing.T) {
	for _, index := range []uint64{0, 7} {
		c := &consul{index: index, instances: passing("a", "b"), hasty: true}
		withConsul(t, c, "", func(w *world) {
			w.after(time.Minute, "a/cache b/cache")
			require.Greater(w.t, c.asked(), 50)
			require.LessOrEqual(w.t, c.asked(), 601)
		})
	}
}

// A ring that was there before loses nothing but what the first answer lacks.
func TestConsulBeginsWithARing(t *testing.T) {
	c := &consul{index: 7, instances: passing("a", "b")}
	withConsul(t, c, "a/cache b/cache x", func(w *world) {
		w.after(settled/2, "a/cache b/cache x")
		w.after(settled, "a/cache b/cache")
	})
}
