package main

import (
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// fleet is the backends that this process runs. Elsewhere they would be other machines, and what calls Proxy.Add and
// Proxy.Remove would be service discovery.
type fleet struct {
	proxy  *Proxy
	answer func(name string) http.Handler // what a backend serves

	mu      sync.Mutex
	running map[string]*backend
}

type backend struct {
	srv *http.Server
	ln  net.Listener
}

func newFleet(proxy *Proxy, answer func(name string) http.Handler) *fleet {
	return &fleet{proxy: proxy, answer: answer, running: make(map[string]*backend)}
}

// sayName is a backend that answers with its name.
func sayName(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })
}

// startFleet starts backend-1 to backend-n.
func startFleet(proxy *Proxy, n int, answer func(name string) http.Handler) (*fleet, error) {
	if n < 0 {
		return nil, fmt.Errorf("the number of backends is %d", n)
	}
	f := newFleet(proxy, answer)
	for i := range n {
		if err := f.start(fmt.Sprintf("backend-%d", i+1)); err != nil {
			f.close()
			return nil, err
		}
	}
	return f, nil
}

// start runs a backend on a free port and adds it to the ring. One that was killed comes back under its name, so to its
// keys, although its address is another.
func (f *fleet) start(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[name] != nil {
		return fmt.Errorf("%s is running", name)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b := &backend{newServer(f.answer(name)), ln}
	go func() {
		if err := b.srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("%s: %v", name, err)
		}
	}()
	// The backend listens before the ring knows it, so no request comes too early.
	if err := f.proxy.Add(name, ln.Addr().String()); err != nil {
		b.crash()
		return err
	}
	f.running[name] = b
	return nil
}

// kill ends a backend as a crash does: at once, and the ring is not told. The proxy finds out.
func (f *fleet) kill(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.running[name]
	if b == nil {
		return fmt.Errorf("%s is not running", name)
	}
	delete(f.running, name)
	b.crash()
	return nil
}

// crash ends all connections at once. It closes the listener itself too: a server that has not come to Serve yet does
// not know it, and until it does the system would go on accepting.
func (b *backend) crash() {
	b.srv.Close()
	b.ln.Close()
}

// remove ends a backend as an operator does: first it leaves the ring, so that new requests go elsewhere, and then it
// finishes those that it has. It may have been killed before.
func (f *fleet) remove(name string) error {
	f.mu.Lock()
	b := f.running[name]
	delete(f.running, name)
	known, err := f.proxy.Remove(name)
	f.mu.Unlock()
	if b != nil { // not under the lock: it may take seconds
		err = errors.Join(err, shutdown(b.srv))
		b.ln.Close() // as in crash
	} else if !known && err == nil {
		err = fmt.Errorf("there is no %s", name)
	}
	return err
}

// names returns the backends that run, in order.
func (f *fleet) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.running))
}

func (f *fleet) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, b := range f.running {
		b.crash()
		delete(f.running, name)
	}
}

// admin starts, kills and removes backends over HTTP. It asks nobody for a password, so it belongs on loopback; and
// since a browser on the same machine reaches that on behalf of any web page, it refuses requests from other origins.
func (f *fleet) admin() http.Handler {
	mux := http.NewServeMux()
	handle := func(verb string, do func(name string) error) {
		mux.HandleFunc("POST /admin/"+verb+"/{name}", func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.PathValue("name")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
				return
			}
			fmt.Fprintf(w, "running: %v\n%v\n", f.names(), f.proxy.live.Load())
		})
	}
	handle("start", f.start)
	handle("kill", f.kill)
	handle("remove", f.remove)
	return http.NewCrossOriginProtection().Handler(mux)
}
