package clients

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// followEtcd tells f which nodes there are under prefix: their names are behind it, and their zones are the values. It
// reads all, then watches from the revision after that, so that nothing is missed between, and returns when that cannot go
// on: the watch was cut off, its revisions are compacted, or its member of the cluster has no leader. It also returns
// after a time, for there is one thing that a watch does not tell: an etcd that was restored from a backup counts
// revisions that the watch had already.
func followEtcd(ctx context.Context, f *feed.Feed, client *clientv3.Client, prefix string, atMost time.Duration) error {
	ctx, stop := context.WithTimeout(clientv3.WithRequireLeader(ctx), atMost)
	defer stop()
	all, err := client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	nodes := make(map[string]hashring.Node) // by key
	put := func(key, value []byte) {
		nodes[string(key)] = hashring.Node{Name: strings.TrimPrefix(string(key), prefix), Zone: string(value)}
	}
	for _, kv := range all.Kvs {
		put(kv.Key, kv.Value)
	}
	if err := f.Update(slices.SortedFunc(maps.Values(nodes), byName)); err != nil {
		return err
	}
	for r := range client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(all.Header.Revision+1)) {
		if err := r.Err(); err != nil {
			return err
		}
		for _, event := range r.Events {
			if event.Type == clientv3.EventTypeDelete {
				delete(nodes, string(event.Kv.Key))
			} else {
				put(event.Kv.Key, event.Kv.Value)
			}
		}
		if err := f.Update(slices.SortedFunc(maps.Values(nodes), byName)); err != nil {
			return err
		}
	}
	return nil
}

// registerEtcd holds key, with a lease of ttl seconds, and returns when ctx ends or the lease is lost. A process that
// crashes is gone after ttl, one whose ctx ends at once.
func registerEtcd(ctx context.Context, client *clientv3.Client, key, zone string, ttl int64) error {
	lease, err := client.Grant(ctx, ttl)
	if err != nil {
		return err
	}
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		client.Revoke(ctx, lease.ID) // an error means that the lease ends by itself, in ttl at most
	}()
	if _, err := client.Put(ctx, key, zone, clientv3.WithLease(lease.ID)); err != nil {
		return err
	}
	alive, err := client.KeepAlive(ctx, lease.ID)
	if err != nil {
		return err
	}
	for range alive { // ends with ctx, or with the lease
	}
	return nil
}
