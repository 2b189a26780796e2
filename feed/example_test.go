package feed_test

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
)

// A source says which nodes there are, and the ring follows.
func Example() {
	live := hashring.NewLive(nil)
	changes := make(chan hashring.Change)
	f, err := feed.New(live, &feed.Options{OnChange: func(c hashring.Change) { changes <- c }})
	if err != nil {
		panic(err)
	}
	defer f.Close()

	for _, list := range [][]hashring.Node{
		hashring.Nodes("cache-a", "cache-b", "cache-c"),
		hashring.Nodes("cache-a", "cache-c"),
	} {
		if err := f.Update(list); err != nil {
			panic(err)
		}
		c := <-changes
		moves, err := hashring.Diff(c.Old, c.New)
		if err != nil {
			panic(err)
		}
		for _, flow := range hashring.Summary(moves) {
			fmt.Printf("%4.1f%% from %q to %q\n", 100*flow.Share.Fraction(), flow.From, flow.To)
		}
	}
	// Output:
	// 33.9% from "" to "cache-c"
	// 33.4% from "" to "cache-a"
	// 32.7% from "" to "cache-b"
	// 16.7% from "cache-b" to "cache-a"
	// 16.0% from "cache-b" to "cache-c"
}

// One node fails and is taken off; then its network fails, and all nodes seem to be gone. That is not believed.
func ExampleStatus() {
	live := hashring.NewLive(nil)
	if _, err := live.Add(hashring.Nodes("a", "b", "c", "d", "e")...); err != nil {
		panic(err)
	}
	changes := make(chan hashring.Change)
	f, err := feed.New(live, &feed.Options{
		Settle:   time.Millisecond,
		Logger:   slog.New(slog.DiscardHandler),
		OnChange: func(c hashring.Change) { changes <- c },
	})
	if err != nil {
		panic(err)
	}
	defer f.Close()

	f.Fail("b")
	<-changes
	fmt.Println(f.Status().State, live.Load().Len())

	if err := f.Update(nil); err != nil {
		panic(err)
	}
	<-changes
	s := f.Status()
	fmt.Println(s.State, live.Load().Len(), s.Lost)
	// Output:
	// steady 4
	// degraded 5 [a b c d e]
}
