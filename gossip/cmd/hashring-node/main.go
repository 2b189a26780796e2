// Hashring-node runs one member of a cluster whose ring is kept in agreement by gossip. It prints the ring whenever that
// changes, and answers who owns a key over HTTP:
//
//	hashring-node -name a -bind 127.0.0.1:7001 -http 127.0.0.1:8001
//	hashring-node -name b -bind 127.0.0.1:7002 -http 127.0.0.1:8002 -seeds 127.0.0.1:7001
//	curl 'http://127.0.0.1:8002/owner?key=user:42'
//
// An interrupt makes it leave, so that the others know at once. With -demo it starts five of itself, kills one, cuts the
// network in two, heals it, lets one leave, and shows what becomes of the rings.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/gossip"
	"github.com/hashicorp/memberlist"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait for the member to leave
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "hashring-node:", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	cfg   gossip.Config
	seeds string
	bind  string
	reach string
	keys  string
	http  string
	join  time.Duration
	cut   bool
	demo  bool
}

func parse(args []string, errs io.Writer) (flags, error) {
	var f flags
	set := flag.NewFlagSet("hashring-node", flag.ContinueOnError)
	set.SetOutput(errs)
	set.StringVar(&f.cfg.Node.Name, "name", "", "name of the node on the ring; required")
	set.StringVar(&f.cfg.Cluster, "cluster", "demo", "what the members have in common")
	set.Float64Var(&f.cfg.Node.Weight, "weight", 1, "share of the ring relative to the others")
	set.StringVar(&f.cfg.Node.Zone, "zone", "", "failure domain of the node")
	set.BoolVar(&f.cfg.Observer, "observer", false, "follow the ring, and own nothing of it")
	set.StringVar(&f.bind, "bind", "127.0.0.1:0", "where to gossip, on UDP and TCP")
	set.StringVar(&f.reach, "advertise", "", "where the others reach that, if it is somewhere else")
	set.StringVar(&f.seeds, "seeds", "", "where other members gossip: a list of host:port; none for the first")
	set.StringVar(&f.keys, "keys", "", "list of keys in hexadecimal, of 16, 24 or 32 bytes: the first encrypts, all decrypt")
	set.StringVar(&f.http, "http", "127.0.0.1:0", "where to answer over HTTP, as the others are told")
	set.IntVar(&f.cfg.MinMembers, "min", 1, "how many nodes there must be before /ready is OK")
	set.DurationVar(&f.join, "join", time.Minute, "how long to wait for a seed")
	set.DurationVar(&f.cfg.Rejoin, "rejoin", 30*time.Second, "how often to call members that are missing")
	set.BoolVar(&f.cut, "cut", false, "let POST /cut and /heal cut this member off from others, to try what happens")
	set.BoolVar(&f.demo, "demo", false, "start five members, and show what happens when things go wrong")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	var err error
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case f.demo:
		return f, nil
	case f.cfg.Node.Name == "":
		return f, errors.New("-name is required")
	case f.cfg.Node.Weight == 0:
		return f, errors.New("-weight 0: a node that is to own nothing is an -observer")
	}
	if f.cfg.Bind, err = netip.ParseAddrPort(f.bind); err != nil {
		return f, fmt.Errorf("-bind: %w", err)
	}
	if f.reach != "" {
		if f.cfg.Advertise, err = netip.ParseAddrPort(f.reach); err != nil {
			return f, fmt.Errorf("-advertise: %w", err)
		}
	}
	if f.seeds != "" {
		f.cfg.Seeds = gossip.Static(strings.Split(f.seeds, ",")...)
	}
	if f.keys != "" {
		for _, key := range strings.Split(f.keys, ",") {
			b, err := hex.DecodeString(key)
			if err != nil {
				return f, fmt.Errorf("-keys: %w", err)
			}
			f.cfg.Keys = append(f.cfg.Keys, b)
		}
	}
	return f, nil
}

// run is the program, until ctx ends.
func run(ctx context.Context, args []string, out, errs io.Writer) error {
	f, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.demo {
		return demo(ctx, out)
	}
	listener, err := net.Listen("tcp", f.http)
	if err != nil {
		return err
	}
	defer listener.Close()
	f.cfg.Addr = listener.Addr().String()
	f.cfg.Logger = slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	f.cfg.Feed.OnChange = func(c hashring.Change) { fmt.Fprintln(out, shares(c.New)) }
	var wires *wires
	if f.cut {
		f.cfg.Tune = func(conf *memberlist.Config) { wires, err = tap(conf) }
	}
	live := hashring.NewLive(nil)
	joining, cancel := context.WithTimeout(ctx, f.join)
	m, joinErr := gossip.Join(joining, live, f.cfg)
	cancel()
	if err := errors.Join(err, joinErr); err != nil {
		return err
	}
	defer m.Close()
	fmt.Fprintf(out, "%s gossips at %s and answers at http://%s\n", f.cfg.Node.Name, m.Gossip(), listener.Addr())

	leave := make(chan struct{}, 1)
	s := &server{name: f.cfg.Node.Name, live: live, member: m, wires: wires, leave: leave}
	srv := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	defer srv.Close()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	case <-leave:
	}
	leaving, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = m.Leave(leaving, func(_ context.Context, moves []hashring.Move) error {
		// Here a store would hand over its data. This program has none.
		fmt.Fprintf(out, "%s leaves, and %d ranges move\n", f.cfg.Node.Name, len(moves))
		return nil
	})
	return errors.Join(err, srv.Shutdown(leaving))
}

// shares is a ring in one line: its fingerprint, and what each node owns of it.
func shares(r *hashring.Ring) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ring %016x", r.Fingerprint())
	for _, n := range r.Ownership(hashring.Policy{N: 1}).Nodes {
		fmt.Fprintf(&b, "  %s %.1f%%", n.Name, 100*n.Owned().Fraction())
	}
	if r.Len() == 0 {
		b.WriteString("  empty")
	}
	return b.String()
}
