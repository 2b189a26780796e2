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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clockwise-go/hashring"
)

// Proxy is a reverse proxy that sends each request to the backend that owns its key, or to the next replica if that one
// cannot be reached. Backends come and go with Add and Remove while it serves.
type Proxy struct {
	by        []keySource
	hold      time.Duration
	log       *log.Logger
	now       func() time.Time
	transport http.RoundTripper
	handler   *httputil.ReverseProxy

	live    *hashring.Live
	targets sync.Map   // from name to *target: where the nodes of the ring are. A lookup takes no lock, like the ring's
	mu      sync.Mutex // of changes, so that they reach the ring and targets in one order
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
// and passes over a backend for the time of hold when it could not be reached.
func NewProxy(by []keySource, hold time.Duration, logger *log.Logger) *Proxy {
	p := &Proxy{by: by, hold: hold, log: logger, now: time.Now, live: hashring.NewLive(nil)}
	p.transport = &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       time.Minute,
		ResponseHeaderTimeout: 30 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // what the client did not ask for is not the proxy's to add
	}
	p.handler = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			// The key comes from the request as it arrived: headers that concern one hop are gone from Out.
			r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), keyContext{}, p.key(r.In)))
		},
		Transport:    roundTripFunc(p.send),
		ErrorHandler: p.fail,
		ErrorLog:     logger,
	}
	return p
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Add adds the backend called name, or gives it a new address and a clean slate.
func (p *Proxy) Add(name, addr string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.live.Update(func(r *hashring.Ring) (*hashring.Ring, error) {
		next, err := r.With(hashring.Node{Name: name})
		if err == nil { // before a request can see the name on the ring
			p.targets.Store(name, &target{name: name, addr: addr})
		}
		return next, err
	})
	return err
}

// Remove removes the backend called name, and reports whether there was one. Requests that it is serving go on.
func (p *Proxy) Remove(name string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change, err := p.live.Remove(name)
	if err == nil {
		p.targets.Delete(name)
		// Connections kept to it would delay its shutdown, in particular one that has not been used: a server waits
		// for the first request on it. Those kept to others are closed along with them, and dialled again.
		(&http.Client{Transport: p.transport}).CloseIdleConnections()
	}
	return change.Old != change.New, err
}

// candidates yields the backends to try for key, best first: its replicas on the ring, but those held down.
func (p *Proxy) candidates(ring *hashring.Ring, key string) iter.Seq[*target] {
	return func(yield func(*target) bool) {
		for name := range ring.Replicas(key) {
			v, ok := p.targets.Load(name)
			if !ok { // removed since the ring was loaded
				continue
			}
			t := v.(*target)
			if t.held(p.now()) {
				continue
			}
			if !yield(t) {
				return
			}
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
	ring := p.live.Load() // once: all tries are on one membership
	if ring.NumTokens() == 0 {
		return nil, &statusError{http.StatusServiceUnavailable, "there are no backends", nil}
	}
	body, err := newReplay(req)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, "the request body broke off", err}
	}
	key, _ := req.Context().Value(keyContext{}).(string)
	for t := range p.candidates(ring, key) {
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
	return nil, &statusError{http.StatusBadGateway, fmt.Sprintf("none of the %d backends can be reached", ring.Len()), nil}
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

// keyContext is the key of a request's key in its context.
type keyContext struct{}

// keySource returns what a request is routed by, or "" if the request does not have it.
type keySource func(*http.Request) string

// parseBy reads a list of header:NAME, cookie:NAME and addr.
func parseBy(list string) ([]keySource, error) {
	var by []keySource
	for s := range strings.SplitSeq(list, ",") {
		kind, name, named := strings.Cut(strings.TrimSpace(s), ":")
		switch {
		case kind == "header" && strings.EqualFold(name, "Host"): // net/http keeps it apart
			by = append(by, func(r *http.Request) string { return r.Host })
		case kind == "header" && name != "":
			by = append(by, func(r *http.Request) string { return r.Header.Get(name) })
		case kind == "cookie" && name != "":
			by = append(by, func(r *http.Request) string {
				c, err := r.Cookie(name)
				if err != nil {
					return ""
				}
				return c.Value
			})
		case kind == "addr" && !named:
			by = append(by, clientAddr)
		default:
			return nil, fmt.Errorf("-by: %q is none of header:NAME, cookie:NAME and addr", s)
		}
	}
	return by, nil
}

// key returns what r is routed by. Every request has a client address, so none is without a key.
func (p *Proxy) key(r *http.Request) string {
	for _, source := range p.by {
		if key := source(r); key != "" {
			return key
		}
	}
	return clientAddr(r)
}

// clientAddr returns the host at the other end of the connection. The port is another for each connection of a client.
// X-Forwarded-For does not count: anybody can send that.
func clientAddr(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
