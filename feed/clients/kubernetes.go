package clients

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// followKubernetes tells f which pods of a service there are until ctx ends. client is the RESTClient of a clientset's
// DiscoveryV1. The informer lists, watches, and lists again when a watch is cut off or too old to go on; when it cannot,
// nothing is said, and the ring stays. While the server refuses connections it may take a minute to end: so long does
// client-go pause.
func followKubernetes(ctx context.Context, f *feed.Feed, client rest.Interface, namespace, service string) error {
	source := cache.NewFilteredListWatchFromClient(client, "endpointslices", namespace, func(o *metav1.ListOptions) {
		o.LabelSelector = discovery.LabelServiceName + "=" + service
	})
	informer := cache.NewSharedInformer(source, &discovery.EndpointSlice{}, 0)
	changed := make(chan struct{}, 1) // one is enough, since all slices are read each time
	note := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, now any) { note(now) }, DeleteFunc: note,
	}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer stop()

	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) // half of a list is not news
	for ctx.Err() == nil {
		if err := updatePods(f, informer.GetStore().List()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return ctx.Err()
}

// updatePods tells f which pods are ready, by all EndpointSlices of a service. A pod may be in several: one for each
// family of addresses, or two while it is moved from one to another.
func updatePods(f *feed.Feed, endpointSlices []any) error {
	ready := make(map[string]hashring.Node)
	leaving := make(map[string]bool)
	for _, s := range endpointSlices {
		for _, e := range s.(*discovery.EndpointSlice).Endpoints {
			switch {
			case e.TargetRef == nil: // an address that somebody wrote down
			case ptr.Deref(e.Conditions.Ready, true):
				ready[e.TargetRef.Name] = hashring.Node{Name: e.TargetRef.Name, Zone: ptr.Deref(e.Zone, "")}
			case ptr.Deref(e.Conditions.Terminating, false):
				leaving[e.TargetRef.Name] = true
			}
		}
	}
	for name := range leaving {
		if _, ok := ready[name]; !ok {
			f.Leave(name)
		}
	}
	return f.Update(slices.SortedFunc(maps.Values(ready), byName))
}
