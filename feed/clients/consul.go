package clients

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
	"github.com/hashicorp/consul/api"
)

// followConsul tells f which instances of a service pass all their checks, and returns when an answer is none, or older
// than the one before. Each question waits for a change of the last answer's index, for a minute. An agent that does not
// answer then, and half a minute later, is taken for hung.
func followConsul(ctx context.Context, f *feed.Feed, client *api.Client, service string) error {
	pace := time.NewTicker(100 * time.Millisecond) // for answers that do not wait
	defer pace.Stop()
	for index := uint64(0); ; <-pace.C {
		asking, stop := context.WithTimeout(ctx, 90*time.Second)
		opts := &api.QueryOptions{WaitIndex: index, WaitTime: time.Minute}
		instances, meta, err := client.Health().Service(service, "", true, opts.WithContext(asking))
		stop()
		if err != nil {
			return err
		}
		if meta.LastIndex < index {
			return fmt.Errorf("the index of %s went back from %d to %d", service, index, meta.LastIndex)
		}
		index = meta.LastIndex
		nodes := make([]hashring.Node, len(instances))
		for i, in := range instances { // an ID is unique to an agent, an agent's name to the datacenter
			nodes[i] = hashring.Node{Name: in.Node.Node + "/" + in.Service.ID, Zone: in.Node.Meta["zone"],
				Weight: float64(in.Service.Weights.Passing)}
		}
		slices.SortFunc(nodes, byName)
		if err := f.Update(nodes); err != nil {
			return err
		}
	}
}
