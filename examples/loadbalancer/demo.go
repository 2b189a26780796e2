package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"
)

// listen serves h on loopback until stop is called.
func listen(h http.Handler) (url string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := newServer(h)
	go srv.Serve(ln)
	return "http://" + ln.Addr().String(), func() { srv.Close() }, nil
}

// ask sends a request of user and returns the answer, which has to be one of success.
func ask(ctx context.Context, url, user string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("X-User", user)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the request of %s: %s: %s", user, resp.Status, answer)
	}
	return strings.TrimSpace(string(answer)), nil
}

var users = []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "kim", "leo"}

// demo sends one request a user, kills the backend of the first, sends them again, starts it again, sends them again,
// and writes to out who served whom. Everything goes over real connections; only the ports differ from run to run.
func demo(ctx context.Context, backends int, out io.Writer) error {
	if backends < 2 {
		return errors.New("the demo kills a backend, so it takes two at least")
	}
	by, err := parseBy("header:X-User")
	if err != nil {
		return err
	}
	// An hour outlasts the demo: the killed backend is back because it joins again, not because time has passed.
	proxy, err := NewProxy(by, time.Hour, 0, log.New(io.Discard, "", 0))
	if err != nil {
		return err
	}
	fleet, err := startFleet(proxy, backends, sayName)
	if err != nil {
		return err
	}
	defer fleet.close()
	url, stop, err := listen(proxy)
	if err != nil {
		return err
	}
	defer stop()

	askAll := func() ([]string, error) {
		served := make([]string, len(users))
		for i, user := range users {
			if served[i], err = ask(ctx, url, user); err != nil {
				return nil, err
			}
		}
		return served, nil
	}
	before, err := askAll()
	if err != nil {
		return err
	}
	victim := before[0]
	if err := fleet.kill(victim); err != nil {
		return err
	}
	down, err := askAll()
	if err != nil {
		return err
	}
	if err := fleet.start(victim); err != nil {
		return err
	}
	back, err := askAll()
	if err != nil {
		return err
	}

	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "user\tall up\t%s killed\t%s back\treplicas on the ring\n", victim, victim)
	for i, user := range users {
		mark := ""
		if down[i] != before[i] {
			mark = " *"
		}
		replicas := proxy.live.Load().AppendReplicas(nil, user, 2)
		fmt.Fprintf(table, "%s\t%s\t%s%s\t%s\t%s\n", user, before[i], down[i], mark, back[i], strings.Join(replicas, ", "))
	}
	return table.Flush()
}
