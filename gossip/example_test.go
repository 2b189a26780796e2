//go:build !js && !wasip1

package gossip_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/gossip"
)

// join makes a member on this machine, for the examples.
func join(ctx context.Context, name string, observer bool, seeds ...string) (*hashring.Live, *gossip.Member) {
	live := hashring.NewLive(nil)
	m, err := gossip.Join(ctx, live, gossip.Config{
		Cluster:    "example",
		Node:       hashring.Node{Name: name},
		Observer:   observer,
		Addr:       name + ".example:8080",
		Bind:       netip.MustParseAddrPort("127.0.0.1:0"),
		Seeds:      gossip.Static(seeds...),
		MinMembers: 2,
		Logger:     slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	return live, m
}

// Two stores, and a load balancer that follows their ring. One of the stores leaves.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, a := join(ctx, "store-1", false)
	defer a.Close()
	_, b := join(ctx, "store-2", false, a.Gossip().String())
	defer b.Close()
	ring, lb := join(ctx, "lb", true, a.Gossip().String())
	defer lb.Close()

	<-lb.Ready() // there are two, and the ring has settled
	for _, key := range []string{"user:1", "user:2", "user:3"} {
		owner, _ := ring.Owner(key)
		addr, _ := lb.Addr(owner)
		fmt.Println(key, "is at", addr)
	}

	err := b.Leave(ctx, func(_ context.Context, moves []hashring.Move) error {
		fmt.Println("store-2 hands over to", moves[0].To)
		return nil
	})
	if err != nil {
		panic(err)
	}
	for ring.Load().Len() > 1 {
		time.Sleep(10 * time.Millisecond)
	}
	owner, _ := ring.Owner("user:1")
	fmt.Println("user:1 is on", owner)
	// Output:
	// user:1 is at store-1.example:8080
	// user:2 is at store-2.example:8080
	// user:3 is at store-2.example:8080
	// store-2 hands over to store-1
	// user:1 is on store-1
}

// A name can be had once.
func ExampleJoin_conflict() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, a := join(ctx, "a", false)
	defer a.Close()
	_, b := join(ctx, "b", false, a.Gossip().String())
	defer b.Close()

	_, err := gossip.Join(ctx, hashring.NewLive(nil), gossip.Config{
		Cluster: "example",
		Node:    hashring.Node{Name: "b"},
		Bind:    netip.MustParseAddrPort("127.0.0.1:0"),
		Seeds:   gossip.Static(a.Gossip().String()),
		Logger:  slog.New(slog.DiscardHandler),
	})
	fmt.Println(errors.Is(err, gossip.ErrConflict))
	// Output: true
}

func ExampleMember_Status() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ring, a := join(ctx, "a", false)
	defer a.Close()
	_, b := join(ctx, "b", false, a.Gossip().String())
	defer b.Close()

	<-a.Ready()
	s := a.Status()
	fmt.Println(s.State, s.Owners, s.Observers, s.Fingerprint == ring.Load().Fingerprint())
	for s.Agreement.Unheard > 0 { // each member probes one other a second
		time.Sleep(10 * time.Millisecond)
		s = a.Status()
	}
	fmt.Printf("%+v\n", s.Agreement)
	// Output:
	// steady 2 0 true
	// {Agree:1 Disagree:0 Unheard:0}
}

func ExampleMember_Rotate() {
	old, next := []byte("0123456789abcdef"), []byte("fedcba9876543210")
	m, err := gossip.Join(context.Background(), hashring.NewLive(nil), gossip.Config{
		Cluster: "example",
		Node:    hashring.Node{Name: "a"},
		Bind:    netip.MustParseAddrPort("127.0.0.1:0"),
		Keys:    [][]byte{old},
	})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	// Each step on all members, before the next one on any.
	for _, keys := range [][][]byte{{old, next}, {next, old}, {next}} {
		fmt.Println(m.Rotate(keys))
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
}
