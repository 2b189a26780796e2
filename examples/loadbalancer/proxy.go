package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync/atomic"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/balance"
)

// Proxy is a reverse proxy that sends each request to the backend that owns its key, or to the next replica if that one
// cannot be reached or, with a bound, has more than its part of the requests. Backends come and go with Add and Remove
// while it serves.
type Proxy struct {
	by        []keySource
	hold      time.Duration
	log       *log.Logger
	now       func() time.Time
	transport http.RoundTripper
	handler   *httputil.ReverseProxy

	live     *hashring.Live
	table    atomic.Pointer[hashring.Table[*target]] // of the ring of live, or of the one that live is about to have
	balancer *balance.Balancer                       // nil without a bound
}

// target is where a backend is, and whether the proxy could reach it. A backend that is added anew is another target,
// so what a late request finds out about the old address is not held against the new one.
type target struct {
	name, addr string
	heldUntil  atomic.Pointer[time.Time] // nil before the first failure
}

func (t *target) held(now time.Time) bool {
	until := t.heldUntil.Load()
	return until != nil && now.Before(*until)
}

// NewProxy returns a Proxy without backends that routes by the first of by that a request has, else by client address,
// and passes over a backend for the time of hold when it could not be reached. A bound, of 1 at least, is how many
// times its part of the requests under way a backend may have; 0 is none.
func NewProxy(by []keySource, hold time.Duration, bound float64, logger *log.Logger) (*Proxy, error) {
	p := &Proxy{by: by, hold: hold, log: logger, now: time.Now, live: hashring.NewLive(nil)}
	p.table.Store(new(hashring.Table[*target]))
	if bound != 0 {
		var err error
		if p.balancer, err = balance.New(p.live, bound); err != nil {
			return nil, err
		}
	}
	p.transport = &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       time.Minute,
		ResponseHeaderTimeout: 30 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // what the client did not ask for is not the proxy's to add
	}
	p.handler = &httputil.ReverseProxy{
		Rewrite:      (*httputil.ProxyRequest).SetXForwarded,
		Transport:    roundTripFunc(p.send),
		ErrorHandler: p.fail,
		ErrorLog:     logger,
	}
	return p, nil
}

// exchange is what the proxy knows of one request. Its lease is of the backend that has it, if there is a bound.
type exchange struct {
	key   string
	lease balance.Lease
}

type exchangeKey struct{} // in the request's context

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The key comes from the request as it arrived: headers that concern one hop are not passed on.
	x := &exchange{key: p.key(r)}
	defer func() { x.lease.Release() }() // when the response has been passed on, or there is none
	p.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// Add adds the backend called name, or gives it a new address and a clean slate.
func (p *Proxy) Add(name, addr string) error {
	_, err := p.update(&target{name: name, addr: addr}, func(r *hashring.Ring) (*hashring.Ring, error) {
		return r.With(hashring.Node{Name: name})
	})
	return err
}

// Remove removes the backend called name, and reports whether there was one. Requests that it is serving go on.
func (p *Proxy) Remove(name string) (bool, error) {
	change, err := p.update(nil, func(r *hashring.Ring) (*hashring.Ring, error) { return r.Without(name) })
	if err != nil {
		return false, err
	}
	// Connections kept to it would delay its shutdown, in particular one that has not been used: a server waits for the
	// first request on it. Those kept to others are closed along with them, and dialled again.
	(&http.Client{Transport: p.transport}).CloseIdleConnections()
	return change.Old != change.New, nil
}

// update publishes the ring that derive makes of the current one, and the table of that just before it. The backend
// joins, if not nil, is new on the ring, or is there already and has moved.
func (p *Proxy) update(joins *target, derive func(*hashring.Ring) (*hashring.Ring, error)) (hashring.Change, error) {
	return p.live.Update(func(r *hashring.Ring) (*hashring.Ring, error) {
		next, err := derive(r)
		if err != nil {
			return nil, err
		}
		table, err := hashring.Bind(next, p.table.Load(), func(hashring.Node) (*target, error) { return joins, nil })
		if err != nil {
			return nil, err
		}
		if joins != nil {
			table, _ = table.With(joins.name, joins)
		}
		p.table.Store(table)
		return next, nil
	})
}

// candidates yields the backends to try for x, best first, but those held down: its replicas on the ring, or if there
// is a bound those of them that have room first. Then x has a lease of the one that is yielded, until the next.
func (p *Proxy) candidates(table *hashring.Table[*target], x *exchange) iter.Seq[*target] {
	return func(yield func(*target) bool) {
		if p.balancer == nil {
			for _, t := range table.Replicas(x.key) {
				if !t.held(p.now()) && !yield(t) {
					return
				}
			}
			return
		}
		var tried []string
		for {
			x.lease.Release()
			var ok bool
			x.lease, ok = p.balancer.AcquireIf(x.key, func(name string) bool {
				t, ok := table.Value(name) // not one that has joined since the table was loaded
				return ok && !t.held(p.now()) && !slices.Contains(tried, name)
			})
			if !ok {
				return
			}
			t, _ := table.Value(x.lease.Node())
			if !yield(t) {
				return
			}
			tried = append(tried, t.name)
		}
	}
}

// send is the RoundTripper under the reverse proxy. It tries the candidates until one can be reached. Once a connection
// stands there is no second try: the backend may have acted on what it was sent. And a response is the answer, whatever
// it says.
//
// A connection kept from earlier requests may turn out to be dead only when it is used. That case is http.Transport's,
// which dials again if the request may be repeated; here it shows as a failed dial or not at all.
func (p *Proxy) send(req *http.Request) (*http.Response, error) {
	table := p.table.Load() // once: all tries are on one membership
	if table.Ring().NumTokens() == 0 {
		return nil, &statusError{http.StatusServiceUnavailable, "there are no backends", nil}
	}
	body, err := newReplay(req)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, "the request body broke off", err}
	}
	x := req.Context().Value(exchangeKey{}).(*exchange)
	for t := range p.candidates(table, x) {
		out := req.WithContext(req.Context())
		u := *req.URL
		u.Scheme, u.Host = "http", t.addr
		out.URL = &u
		body.attach(out)
		resp, err := p.transport.RoundTrip(out)
		if err == nil {
			return resp, nil
		}
		// A client that goes away ends the dial too, which says nothing about the backend.
		if req.Context().Err() != nil || !dialFailed(err) {
			return nil, &statusError{http.StatusBadGateway, t.name + " failed before it answered", err}
		}
		now := p.now()
		until := now.Add(p.hold)
		if !t.held(now) { // else a request beside this one has said so
			p.log.Printf("%s is passed over for %v: %v", t.name, p.hold, err)
		}
		t.heldUntil.Store(&until)
		if !body.whole() {
			return nil, &statusError{http.StatusBadGateway, t.name + " cannot be reached", err}
		}
	}
	return nil, &statusError{http.StatusBadGateway, fmt.Sprintf("none of the %d backends can be reached", table.Ring().Len()), nil}
}

// dialFailed reports whether err says that there was no connection, so that nothing was sent.
func dialFailed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// statusError is why a request has no response, and what the client is told. The cause is for the log alone.
type statusError struct {
	status int
	text   string
	cause  error
}

func (e *statusError) Error() string {
	if e.cause == nil {
		return e.text
	}
	return e.text + ": " + e.cause.Error()
}

func (e *statusError) Unwrap() error { return e.cause }

func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *statusError
	if !errors.As(err, &e) {
		e = &statusError{http.StatusBadGateway, "the response could not be passed on", err}
	}
	if e.cause != nil && r.Context().Err() == nil { // else there is nobody to tell
		p.log.Printf("%s %q: %v", r.Method, r.URL.Path, e)
	}
	http.Error(w, e.text, e.status)
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
