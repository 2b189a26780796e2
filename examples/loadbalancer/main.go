// Loadbalancer is an HTTP reverse proxy that sends each user to the same backend every time, and to the next replica on
// the ring while that backend cannot be reached.
//
// The key of a request is a header, a cookie or the client's address, and a [hashring.Live] says whose it is. So a
// backend can keep what belongs to a user in memory: one that joins or leaves moves only the users it gains or loses,
// and when one dies its users go each to their second replica, and nobody else moves.
//
// It starts its backends itself, on loopback, so that it runs with no arguments:
//
//	go run ./examples/loadbalancer          # then try what it prints
//	go run ./examples/loadbalancer -demo    # sends the requests itself, and kills a backend
//	go run ./examples/loadbalancer -demo -bound 1.25    # sends most for a few users, and slows a backend down
//
// What to read: candidates in proxy.go is the choice of a backend, send below it the fail-over, update above it how
// backends come and go while requests are served.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

const defaultBy = "header:X-User,cookie:session,addr"

type config struct {
	listen, admin string
	backends      int
	by            string
	hold          time.Duration
	bound         float64
}

func main() {
	var cfg config
	flag.StringVar(&cfg.listen, "listen", "127.0.0.1:8080", "address of the proxy")
	flag.StringVar(&cfg.admin, "admin", "127.0.0.1:8081", "address to start, kill and remove backends at; empty for none")
	flag.IntVar(&cfg.backends, "backends", 3, "number of backends to start")
	flag.StringVar(&cfg.by, "by", defaultBy, "what to route by: a list of header:NAME, cookie:NAME and addr, of which the first that a request has counts")
	flag.DurationVar(&cfg.hold, "hold", 3*time.Second, "how long a backend that could not be reached is passed over")
	flag.Float64Var(&cfg.bound, "bound", 0,
		"how many times its part of the requests under way a backend may have, as 1.25; 0 for no bound")
	demonstrate := flag.Bool("demo", false,
		"send some requests, kill a backend, send them again, show who served whom; with -bound, send many, most of them for "+
			"a slow backend, with the bound and without; of the other flags only -backends counts")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait for requests to finish
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case *demonstrate && cfg.bound != 0:
		err = loadDemo(ctx, cfg.backends, cfg.bound, os.Stdout)
	case *demonstrate:
		err = demo(ctx, cfg.backends, os.Stdout)
	default:
		err = serve(ctx, cfg, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadbalancer:", err)
		os.Exit(1)
	}
}

// serve runs the backends, the proxy and the admin server until ctx is done, and then lets requests finish.
func serve(ctx context.Context, cfg config, out io.Writer) error {
	by, err := parseBy(cfg.by)
	if err != nil {
		return err
	}
	proxy, err := NewProxy(by, cfg.hold, cfg.bound, log.Default())
	if err != nil {
		return fmt.Errorf("-bound: %w", err)
	}
	fleet, err := startFleet(proxy, cfg.backends, sayName)
	if err != nil {
		return err
	}
	defer fleet.close()

	front, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return err
	}
	servers := map[*http.Server]net.Listener{newServer(proxy): front}
	fmt.Fprintf(out, "proxy on http://%s by %s, for %s\n\n", front.Addr(), cfg.by, strings.Join(fleet.names(), ", "))
	fmt.Fprintf(out, "  curl -H 'X-User: alice' http://%s/\n", front.Addr())
	fmt.Fprintf(out, "  curl -b session=7f3a http://%s/\n", front.Addr())
	if cfg.admin != "" {
		admin, err := net.Listen("tcp", cfg.admin)
		if err != nil {
			front.Close()
			return err
		}
		servers[newServer(fleet.admin())] = admin
		fmt.Fprintf(out, "  curl -X POST http://%s/admin/kill/backend-2      it crashes: its users fail over\n", admin.Addr())
		fmt.Fprintf(out, "  curl -X POST http://%s/admin/start/backend-2     it is back, and so are they\n", admin.Addr())
		fmt.Fprintf(out, "  curl -X POST http://%s/admin/remove/backend-2    it leaves the ring, then stops\n", admin.Addr())
	}

	failed := make(chan error, len(servers))
	for srv, ln := range servers {
		go func() { failed <- srv.Serve(ln) }()
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	for srv := range servers {
		err = errors.Join(err, shutdown(srv))
	}
	return err
}

// newServer returns a server of h that no client can hold up by being slow with a header. The bodies may take their
// time: a proxy does not know how long they are.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
}

// shutdown lets the requests that srv serves finish, for a few seconds.
func shutdown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return srv.Close()
	}
	return err
}
