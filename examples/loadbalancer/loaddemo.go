package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"text/tabwriter"
	"time"
)

// What the load demo sends: requests of users of whom few send most. Time is counted in requests, so that each run shows
// the same: a request is done when the 10th behind it is sent, and at the slow backend when the 40th is.
const (
	loadRequests = 1000
	loadUsers    = 200
	takes        = 10
	takesSlow    = 40
)

// loadDemo sends the same requests without a bound and with it, and writes to out how many each backend served, and
// how many it had at once. The slow backend is that of the busiest user. Everything goes over real connections.
func loadDemo(ctx context.Context, backends int, bound float64, out io.Writer) error {
	if backends < 2 {
		return errors.New("the demo shifts load between backends, so it takes two at least")
	}
	bounded, err := runLoad(ctx, backends, bound)
	if err != nil {
		return err
	}
	free, err := runLoad(ctx, backends, 0)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "backend\tserved\tat once\tserved with a bound of %v\tat once\n", bound)
	row := func(shown, name string) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n",
			shown, free.served[name], free.peak[name], bounded.served[name], bounded.peak[name])
	}
	for _, name := range free.names {
		if name == free.slow {
			row(name+" (slow)", name)
		} else {
			row(name, name)
		}
	}
	row("all", "")
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nWith the bound %d %% of the requests were served by the owner of their user.\n", 100*bounded.own/loadRequests)
	return err
}

// loadResult is what came of one run, by backend, and under "" for all together.
type loadResult struct {
	names        []string
	slow         string
	served, peak map[string]int
	own          int // requests served by the owner of their user
}

// arrival is a request that has come to a backend and stays until it is let go.
type arrival struct {
	backend string
	letGo   chan struct{}
}

func runLoad(ctx context.Context, backends int, bound float64) (*loadResult, error) {
	by, err := parseBy("header:X-User")
	if err != nil {
		return nil, err
	}
	proxy, err := NewProxy(by, time.Hour, bound, log.New(io.Discard, "", 0))
	if err != nil {
		return nil, err
	}
	arrived := make(chan arrival)
	fleet, err := startFleet(proxy, backends, func(name string) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			a := arrival{name, make(chan struct{})}
			select {
			case arrived <- a:
			case <-r.Context().Done():
				return
			}
			select {
			case <-a.letGo:
			case <-r.Context().Done():
			}
		})
	})
	if err != nil {
		return nil, err
	}
	defer fleet.close()
	done := make(chan struct{}) // gets one when the proxy is done with a request
	url, stop, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxy.ServeHTTP(w, r)
		select {
		case done <- struct{}{}:
		case <-r.Context().Done():
		}
	}))
	if err != nil {
		return nil, err
	}
	defer stop()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	send := func(user string) {
		if _, err := ask(ctx, url, user); err != nil {
			select {
			case failed <- err:
			default:
			}
		}
	}

	res := &loadResult{names: fleet.names(), served: make(map[string]int), peak: make(map[string]int)}
	const busiest = "user-0"
	res.slow, _ = proxy.live.Owner(busiest)
	underWay := make(map[string]int)
	due := make(map[int][]arrival) // by the number of the request at whose arrival they are done
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, loadUsers-1)
	for n := range loadRequests {
		for _, a := range due[n] {
			close(a.letGo)
			select {
			case <-done:
			case err := <-failed:
				return nil, err
			}
			underWay[a.backend]--
			underWay[""]--
		}
		delete(due, n)
		user := fmt.Sprint("user-", zipf.Uint64())
		go send(user)
		var a arrival
		select {
		case a = <-arrived:
		case err := <-failed:
			return nil, err
		}
		time := takes
		if a.backend == res.slow {
			time = takesSlow
		}
		due[n+time] = append(due[n+time], a)
		for _, name := range []string{a.backend, ""} {
			res.served[name]++
			underWay[name]++
			res.peak[name] = max(res.peak[name], underWay[name])
		}
		if owner, _ := proxy.live.Owner(user); owner == a.backend {
			res.own++
		}
	}
	return res, nil
}
