package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/clockwise-go/hashring"
)

// View is what a node has to know of the others: the ring, where they are, and how many replicas a key has.
type View struct {
	Ring   *hashring.Ring
	Addrs  map[string]string // by name
	Policy hashring.Policy
}

// Node is one process: a store, and the HTTP handlers by which others reach it.
//
//	POST /view                a View: from now on that is the ring
//	POST /apply               entries: those that are newer are taken. A write, or the repair by a peer
//	POST /at                  positions: the entries there
//	GET  /get?key=            what the node has of a key, if anything
//	POST /compare             a request of antientropy.Compare, as it is
//	POST /repair              the name of a peer: compare what both are replicas of, and repair both
//	POST /join                a ring: the one before. Take what this node has gained since, and nothing else
//	POST /drop                a ring: the one before. Drop what this node has lost since
type Node struct {
	name  string
	store *Store
	view  atomic.Pointer[View]
}

// maxBody bounds what a request may hold: more than a batch of entries, and than a request of a comparison.
const maxBody = 4 << 20

func NewNode(name string) *Node {
	n := &Node{name: name, store: NewStore()}
	n.view.Store(&View{Ring: new(hashring.Ring)})
	return n
}

func (n *Node) position(key string) uint64 { return n.view.Load().Ring.Position(key) }

// Handler returns the handlers of the node.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /view", handle(func(_ context.Context, view View) (any, error) {
		if view.Ring == nil {
			return nil, errors.New("a view without a ring")
		}
		n.view.Store(&view)
		return nil, nil
	}))
	mux.Handle("POST /apply", handle(func(_ context.Context, entries []Entry) (any, error) {
		newer := 0
		for _, e := range entries {
			if n.store.Apply(n.position(e.Key), e) {
				newer++
			}
		}
		return newer, nil
	}))
	mux.Handle("POST /at", handle(func(_ context.Context, positions []uint64) (any, error) {
		return n.store.At(positions...), nil
	}))
	mux.HandleFunc("GET /get", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		e, ok := n.store.Get(n.position(key), key)
		if !ok {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(e)
	})
	mux.HandleFunc("POST /compare", func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			request, err = n.store.Set().Respond(request, nil)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Write(request)
	})
	mux.Handle("POST /repair", handle(func(ctx context.Context, peer string) (any, error) { return n.repairWith(ctx, peer) }))
	mux.Handle("POST /join", handle(func(ctx context.Context, before hashring.Ring) (any, error) { return n.join(ctx, &before) }))
	mux.Handle("POST /drop", handle(func(_ context.Context, before hashring.Ring) (any, error) { return n.drop(&before) }))
	return mux
}

// repairWith repairs what both n and the node called peer are replicas of.
func (n *Node) repairWith(ctx context.Context, peer string) (Report, error) {
	view := n.view.Load()
	ranges := slices.Collect(view.Ring.SharedRanges(view.Policy, n.name, peer))
	report, err := repair(ctx, n.store, view.Ring.Position, ranges, client(view.Addrs[peer]))
	report.With = peer
	return report, err
}

// join takes what n has become a replica of since the ring before, and compares nothing else: each range with one of the
// nodes that had it.
func (n *Node) join(ctx context.Context, before *hashring.Ring) (reports []Report, err error) {
	view := n.view.Load()
	moves, err := hashring.DiffReplicas(before, view.Ring, view.Policy, view.Policy)
	if err != nil {
		return nil, err
	}
	from := make(map[string][]hashring.Range)
	for m := range moves {
		if !slices.Contains(m.Gained, n.name) {
			continue
		}
		sources := m.Sources()
		if len(sources) > 0 { // else nobody had it
			from[sources[0]] = append(from[sources[0]], m.Range)
		}
	}
	for source, ranges := range from {
		report, err := repair(ctx, n.store, view.Ring.Position, ranges, client(view.Addrs[source]))
		if err != nil {
			return nil, err
		}
		report.With = source
		reports = append(reports, report)
	}
	slices.SortFunc(reports, func(a, b Report) int { return cmp.Compare(a.With, b.With) })
	return reports, nil
}

// drop drops what n is no replica of any longer, and returns how many entries that were.
func (n *Node) drop(before *hashring.Ring) (dropped int, err error) {
	view := n.view.Load()
	moves, err := hashring.DiffReplicas(before, view.Ring, view.Policy, view.Policy)
	if err != nil {
		return 0, err
	}
	for m := range moves {
		if slices.Contains(m.Lost, n.name) {
			dropped += n.store.Drop(m.Range)
		}
	}
	return dropped, nil
}

// handle returns a handler that decodes what it is sent, and encodes what f returns.
func handle[T any](f func(context.Context, T) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in T
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := f(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(out)
	})
}

// client reaches the node at an address.
type client string

var httpClient = &http.Client{Timeout: 30 * time.Second}

// Respond is the transport of a comparison: all that antientropy needs of HTTP.
func (c client) Respond(ctx context.Context, request []byte) ([]byte, error) {
	return c.post(ctx, "/compare", request)
}

func (c client) At(ctx context.Context, positions []uint64) (entries []Entry, err error) {
	err = c.call(ctx, "/at", positions, &entries)
	return entries, err
}

func (c client) Apply(ctx context.Context, entries []Entry) (newer int, err error) {
	err = c.call(ctx, "/apply", entries, &newer)
	return newer, err
}

// call posts in as JSON and decodes the answer to out, unless that is nil.
func (c client) call(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := c.post(ctx, path, body)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

func (c client) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+string(c)+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return do(req)
}

// Get returns what the node has of key; ok is false if that is nothing.
func (c client) Get(ctx context.Context, key string) (e Entry, ok bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+string(c)+"/get", nil)
	if err != nil {
		return Entry{}, false, err
	}
	query := req.URL.Query()
	query.Set("key", key)
	req.URL.RawQuery = query.Encode()
	answer, err := do(req)
	if status := new(statusError); errors.As(err, status) && status.code == http.StatusNotFound {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, err
	}
	err = json.Unmarshal(answer, &e)
	return e, true, err
}

type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

func do(req *http.Request) ([]byte, error) {
	resp, err := httpClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4*maxBody))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, statusError{resp.StatusCode, string(bytes.TrimSpace(answer))}
	}
	return answer, nil
}

// serve runs the node called name on a free port of loopback, says on out where, and ends when in does: so it outlives
// its parent by no more than a moment.
func serve(name string, in io.Reader, out io.Writer) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: NewNode(name).Handler(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	fmt.Fprintln(out, ln.Addr())
	go func() {
		io.Copy(io.Discard, in)
		srv.Close()
	}()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
