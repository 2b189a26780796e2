package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clockwise-go/hashring/feed"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// event is what a watch gets of one change.
type event struct {
	Type     string `json:"type"`
	Object   any    `json:"object"`
	revision int
	service  string
}

// apiServer stands for that of Kubernetes: it lists and watches EndpointSlices, as the documentation of its API concepts
// says of resource versions, watches, bookmarks, and streaming lists.
type apiServer struct {
	noStreaming bool // of lists, as servers before 1.27

	mu        sync.Mutex
	revision  int
	compacted int // a watch from before this is too old
	slices    map[string]*discovery.EndpointSlice
	events    []event
	changed   chan struct{} // closed by the next change
	broken    bool          // all answers are errors
	lists     int           // and streamed lists
	expired   int           // watches that were too old
}

// set makes a slice of a service; without a slice it is deleted.
func (s *apiServer) set(name, service string, slice *discovery.EndpointSlice) {
	s.fault(func() {
		s.revision++
		old := s.slices[name]
		e := event{Type: "MODIFIED", revision: s.revision, service: service}
		switch {
		case slice == nil:
			e.Type = "DELETED"
			slice = old.DeepCopy()
			delete(s.slices, name)
		case old == nil:
			e.Type = "ADDED"
			fallthrough
		default:
			slice.TypeMeta = metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"}
			slice.Name, slice.Namespace, slice.UID = name, "prod", "1"
			slice.Labels = map[string]string{discovery.LabelServiceName: service}
			s.slices[name] = slice
		}
		slice.ResourceVersion = strconv.Itoa(s.revision)
		e.Object = slice
		s.events = append(s.events, e)
	})
}

// compact forgets all events, so that watches that want one of them are too old.
func (s *apiServer) compact() {
	s.fault(func() { s.revision++; s.compacted, s.events = s.revision, nil })
}

// fault changes how s behaves.
func (s *apiServer) fault(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	if s.changed != nil {
		close(s.changed)
	}
	s.changed = make(chan struct{})
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	service, ok := strings.CutPrefix(q.Get("labelSelector"), discovery.LabelServiceName+"=")
	fail := func(code int, reason metav1.StatusReason) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason),
		})
	}
	streaming := q.Get("sendInitialEvents") == "true"
	from, _ := strconv.Atoi(q.Get("resourceVersion"))
	switch {
	case s.broken:
		fail(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case !ok || r.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices":
		fail(http.StatusNotFound, metav1.StatusReasonNotFound)
	case q.Get("watch") == "":
		s.lists++
		s.list(w, service)
	case streaming && s.noStreaming:
		fail(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case !streaming && from < s.compacted:
		s.expired++
		fail(http.StatusGone, metav1.StatusReasonExpired)
	default:
		s.watch(w, r, service, from, streaming)
	}
}

func (s *apiServer) list(w http.ResponseWriter, service string) {
	all := discovery.EndpointSliceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSliceList"},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.revision)},
		Items:    []discovery.EndpointSlice{},
	}
	for _, slice := range s.slices {
		if slice.Labels[discovery.LabelServiceName] == service {
			all.Items = append(all.Items, *slice)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(all)
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, service string, from int, streaming bool) {
	seconds, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	ends := time.After(time.Duration(seconds) * time.Second)
	w.Header().Set("Content-Type", "application/json")
	send := json.NewEncoder(w)
	if streaming {
		s.lists++
		for _, slice := range s.slices {
			if slice.Labels[discovery.LabelServiceName] == service {
				send.Encode(event{Type: "ADDED", Object: slice})
			}
		}
		end := &discovery.EndpointSlice{TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"}}
		end.ResourceVersion = strconv.Itoa(s.revision)
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		send.Encode(event{Type: "BOOKMARK", Object: end})
		from = s.revision
	}
	for {
		for _, e := range s.events {
			if e.revision > from && e.service == service {
				send.Encode(e)
			}
		}
		from = s.revision
		w.(http.Flusher).Flush()
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ends:
		case <-r.Context().Done():
		}
		s.mu.Lock()
		select {
		case <-changed:
		default:
			return
		}
		if s.broken {
			return
		}
	}
}

// pod is an endpoint. It is ready unless told otherwise.
func pod(name string, conditions ...string) discovery.Endpoint {
	is := func(c string) *bool { return ptr.To(slices.Contains(conditions, c)) }
	return discovery.Endpoint{
		Addresses: []string{"10.0.0.1"},
		Conditions: discovery.EndpointConditions{
			Ready:       ptr.To(len(conditions) == 0),
			Serving:     ptr.To(len(conditions) == 0 || *is("serving")),
			Terminating: is("terminating"),
		},
		TargetRef: &core.ObjectReference{Kind: "Pod", Name: name},
		Zone:      ptr.To("zone of " + name),
	}
}

// slice is one of pods that are all ready.
func slice(names string) *discovery.EndpointSlice {
	s := &discovery.EndpointSlice{AddressType: discovery.AddressTypeIPv4}
	for _, name := range strings.Fields(names) {
		s.Endpoints = append(s.Endpoints, pod(name))
	}
	return s
}

// withKubernetes runs test beside a follower of the service cache in prod, once for servers that stream lists and once
// for others, and with a ring of the given nodes.
func withKubernetes(t *testing.T, names string, begin func(w *world, s *apiServer), test func(w *world, s *apiServer)) {
	for _, noStreaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("noStreaming=%v", noStreaming), func(t *testing.T) {
			s := &apiServer{noStreaming: noStreaming, slices: make(map[string]*discovery.EndpointSlice)}
			inWorld(t, s, names, func(w *world) {
				begin(w, s)
				scheme := runtime.NewScheme()
				require.NoError(t, discovery.AddToScheme(scheme))
				client, err := rest.RESTClientForConfigAndClient(&rest.Config{
					Host:    "http://kubernetes",
					APIPath: "/apis",
					ContentConfig: rest.ContentConfig{
						GroupVersion:         &discovery.SchemeGroupVersion,
						NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
					},
				}, w.client)
				require.NoError(t, err)
				stop := w.follow(func(ctx context.Context) error {
					return followKubernetes(ctx, w.f, client, "prod", "cache")
				})
				defer stop()
				test(w, s)
			})
		})
	}
}

func TestKubernetes(t *testing.T) {
	withKubernetes(t, "", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("cache-0 cache-1 cache-2"))
		s.set("cache-2", "cache", slice("cache-3"))
		s.set("other-1", "other", slice("other-0"))
	}, func(w *world, s *apiServer) {
		w.after(time.Second, "cache-0 cache-1 cache-2 cache-3")
		n, _ := w.live.Load().Node("cache-1")
		require.Equal(w.t, "zone of cache-1", n.Zone)

		s.set("cache-3", "cache", slice("cache-4"))
		s.set("other-2", "other", slice("other-1"))
		w.after(settled, "cache-0 cache-1 cache-2 cache-3 cache-4")
		s.set("cache-2", "cache", nil)
		w.after(settled, "cache-0 cache-1 cache-2 cache-4")
		s.set("cache-2", "cache", slice("cache-3"))
		w.after(4*time.Second, "cache-0 cache-1 cache-2 cache-4") // held down
		w.after(time.Second, "cache-0 cache-1 cache-2 cache-3 cache-4")
		require.Equal(w.t, 1, s.lists)
	})
}

// A watch that is cut off goes on where it was, so what changed meanwhile is not lost.
func TestKubernetesWatchIsCutOff(t *testing.T) {
	withKubernetes(t, "", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("a b c"))
	}, func(w *world, s *apiServer) {
		w.after(time.Second, "a b c")
		w.cut(true)
		w.after(time.Minute, "a b c")
		s.set("cache-1", "cache", slice("a c"))
		s.set("cache-2", "cache", slice("d"))
		w.after(time.Minute, "a b c")
		w.cut(false)
		w.after(5*time.Minute, "a c d")
		require.Equal(w.t, 1, s.lists)
		w.after(24*time.Hour, "a c d") // watches end by themselves
		s.set("cache-2", "cache", slice("d e"))
		w.after(2*time.Second, "a c d e")
	})
}

// A watch that would go on from a revision that is compacted is too old: all is listed again.
func TestKubernetesWatchIsTooOld(t *testing.T) {
	withKubernetes(t, "", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("a b c"))
	}, func(w *world, s *apiServer) {
		w.after(time.Second, "a b c")
		w.cut(true)
		s.set("cache-1", "cache", slice("a c"))
		s.set("cache-2", "cache", slice("d"))
		s.compact()
		w.after(time.Minute, "a b c")
		w.cut(false)
		w.after(5*time.Minute, "a c d")
		require.Equal(w.t, 1, s.expired)
		require.Equal(w.t, 2, s.lists)
		s.set("cache-2", "cache", slice("d e"))
		w.after(2*time.Second, "a c d e")
	})
}

// A server that fails says nothing, from the beginning or later.
func TestKubernetesFails(t *testing.T) {
	withKubernetes(t, "a x", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("a b c"))
		s.broken = true
	}, func(w *world, s *apiServer) {
		w.after(time.Hour, "a x")
		s.fault(func() { s.broken = false })
		w.after(5*time.Minute, "a b c")
		s.fault(func() { s.broken = true })
		w.after(time.Hour, "a b c")
		s.set("cache-1", "cache", slice("b c"))
		s.fault(func() { s.broken = false })
		w.after(5*time.Minute, "b c")
	})
}

// A server that cannot be reached is the one case in which the end has to wait: for client-go, which is pausing.
func TestKubernetesEndsWhileItIsDown(t *testing.T) {
	withKubernetes(t, "a b", func(w *world, _ *apiServer) {
		w.cut(true)
	}, func(w *world, _ *apiServer) {
		w.after(10*time.Minute, "a b")
		w.slack = time.Minute
	})
}

func TestKubernetesEmptyServiceDoesNotEmptyTheRing(t *testing.T) {
	withKubernetes(t, "", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("a b"))
		s.set("cache-2", "cache", slice("c"))
	}, func(w *world, s *apiServer) {
		w.after(time.Second, "a b c")
		s.set("cache-1", "cache", nil)
		s.set("cache-2", "cache", slice(""))
		w.after(time.Hour, "a b c")
		require.Equal(w.t, feed.Degraded, w.f.Status().State)
		s.set("cache-1", "cache", slice("a b c"))
		w.after(time.Second, "a b c")
		require.Equal(w.t, feed.Steady, w.f.Status().State)
	})
}

// A list of many slices is news when it is there as a whole.
func TestKubernetesHalfAListIsNoNews(t *testing.T) {
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf("cache-%03d", i))
	}
	withKubernetes(t, strings.Join(all, " "), func(w *world, s *apiServer) {
		w.f.Close()
		var err error
		w.f, err = feed.New(w.live, &feed.Options{Settle: -1, MaxLoss: 1}) // shows whatever it is told
		require.NoError(w.t, err)
		for _, name := range all {
			one := slice(name)
			one.Endpoints[0].Zone = nil
			s.set("slice-of-"+name, "cache", one)
		}
	}, func(w *world, s *apiServer) {
		defer w.f.Close()
		w.after(time.Minute, strings.Join(all, " "))
		require.Zero(w.t, w.f.Status().Changed)
		require.Equal(w.t, 1, s.lists)
	})
}

// Pods that are on their way out leave, so MaxLoss does not keep them on the ring, nor HoldDown off it when they are back
// under the same name. Pods that are not ready otherwise are lost.
func TestKubernetesRollingUpdate(t *testing.T) {
	withKubernetes(t, "", func(_ *world, s *apiServer) {
		s.set("cache-1", "cache", slice("a b c d"))
	}, func(w *world, s *apiServer) {
		w.after(time.Second, "a b c d")
		set := func(pods ...discovery.Endpoint) {
			s.set("cache-1", "cache", &discovery.EndpointSlice{AddressType: discovery.AddressTypeIPv4, Endpoints: pods})
		}
		set(pod("a"), pod("b"), pod("c"), pod("d", "serving", "terminating"))
		w.after(settled, "a b c")
		set(pod("a"), pod("b"), pod("c"), pod("d"))
		w.after(settled, "a b c d")
		set(pod("a"), pod("b", "terminating"), pod("c", "serving", "terminating"), pod("d", "terminating"))
		w.after(settled, "a")
		set(pod("a"))
		w.after(time.Hour, "a")
		require.Equal(w.t, feed.Steady, w.f.Status().State)
		set(pod("a"), pod("b"), pod("c"), pod("d"))
		w.after(settled, "a b c d")

		set(pod("a"), pod("b"), pod("c"), pod("d", "not ready"))
		w.after(settled, "a b c")
		set(pod("a"), pod("b"), pod("c"), pod("d"))
		w.after(settled, "a b c") // held down
		w.after(time.Hour, "a b c d")
		set(pod("a"), pod("b", "not ready"), pod("c", "not ready"), pod("d", "not ready"))
		w.after(time.Hour, "a b c d")
		require.Equal(w.t, feed.Degraded, w.f.Status().State)
	})
}

func TestKubernetesPods(t *testing.T) {
	ofIPv6 := slice("a b")
	ofIPv6.AddressType = discovery.AddressTypeIPv6
	unknown, address, noZone := pod("d"), pod("e"), pod("f")
	unknown.Conditions = discovery.EndpointConditions{}
	address.TargetRef = nil
	noZone.Zone = nil
	moved := slice("")
	moved.Endpoints = []discovery.Endpoint{pod("a", "terminating"), pod("c", "not ready"), unknown, address, noZone}
	inWorld(t, http.NotFoundHandler(), "", func(w *world) {
		require.NoError(w.t, updatePods(w.f, []any{slice("a b"), ofIPv6, moved}))
		w.after(settled, "a b d f")
		n, _ := w.live.Load().Node("f")
		require.Empty(w.t, n.Zone)

		w.f.Fail("a")
		w.after(settled, "b d f")
		require.NoError(w.t, updatePods(w.f, []any{slice("a b"), ofIPv6, moved}))
		w.after(4*time.Second, "b d f") // held down: to be on its way out in one slice is not to have left
		w.after(time.Second, "a b d f")
		w.f.Close()
		require.ErrorIs(w.t, updatePods(w.f, nil), feed.ErrClosed)
	})
}
