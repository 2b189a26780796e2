package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/clockwise-go/hashring/cmd/hashring/internal/page"
)

const serveUsage = `Serve shows a ring in the browser: add, remove and weigh nodes, type a key and see its walk, see what
moves. The page is in the program, and needs nothing else. What is changed there is seen by nobody else,
and gone with the page.

Usage:

  hashring serve [flags]

For example:

  hashring serve
  hashring serve -file nodes.txt -vnodes 160
  hashring serve -listen 127.0.0.1:0 -n 5

  -listen ADDR     the address to listen on (default 127.0.0.1:7373, which other machines cannot reach)

Nodes to begin with, one of (default four called cache-a to cache-d):

  -file FILE       one a line: name [weight [zone]]; # starts a comment; - is standard input
  -nodes A,B,...   names, each of weight 1
  -n N             N nodes of weight 1, called node-0, node-1, ...

The ring to begin with:

  -hash NAME       the hash of keys: xxh64, murmur3, fnv1a, sha256, md5 or crc32 (default xxh64)
  -vnodes N        virtual nodes per unit of weight (default 16: so few that one can see them)
`

// serveFlags are the flags of serve.
type serveFlags struct {
	*flags
	members *members
	placing *placing
	listen  string
}

func newServeFlags() *serveFlags {
	f := newFlags("serve")
	s := &serveFlags{flags: f, members: f.members(), placing: f.placing(16)}
	f.StringVar(&s.listen, "listen", "127.0.0.1:7373", "")
	return s
}

func runServe(args []string, std streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	return serve(ctx, args, std)
}

// serve is runServe until ctx is done.
func serve(ctx context.Context, args []string, std streams) int {
	f := newServeFlags()
	if status, done := f.parse(args, serveUsage, std); done {
		return status
	}
	var p problems
	f.refuseArgs(&p)
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		p.input("-listen", "%v", err)
	}
	start := f.start(std.in, &p)
	if p.status != exitOK {
		return p.report(std.err)
	}
	if err := listen(ctx, f.listen, page.Handler(start, host), std.out); err != nil {
		p.failure(err)
	}
	return p.report(std.err)
}

// start returns what the page shows at first. It is good only if p has no problems.
func (f *serveFlags) start(stdin io.Reader, p *problems) (start page.Start) {
	opts := f.placing.options(p)
	var list nodeList
	if f.given["file"] || f.given["nodes"] || f.given["n"] {
		list, _ = f.members.list(stdin, p)
	} else {
		list, _ = splitNodes("cache-a,cache-b,cache-c,cache-d", p)
	}
	if p.status != exitOK {
		return start
	}
	start, err := page.NewStart(list.nodes, opts.VirtualNodes, opts.Hash.Name())
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			p.input(f.where(), "%s", strings.TrimPrefix(strings.TrimSpace(line), "hashring: "))
		}
	}
	return start
}

// listen serves h until ctx is done, and then lets requests finish.
func listen(ctx context.Context, address string, h http.Handler, out io.Writer) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 15}
	if _, err := fmt.Fprintf(out, "http://%s/ shows the ring; interrupt to stop\n", l.Addr()); err != nil {
		l.Close()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err = srv.Shutdown(grace); errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	return err
}
