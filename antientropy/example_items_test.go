package antientropy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/antientropy"
)

// A peer over HTTP: one request, one reply. A handler calls Respond on the other side; here it is called without a network.
func ExamplePeer() {
	var here, there antientropy.Set
	there.Put(hashring.XXH64.Sum64("user:1"), 1)
	respond := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply, err := there.Respond(request, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Write(reply)
	})

	var peer antientropy.Peer = func(ctx context.Context, request []byte) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://peer/compare", bytes.NewReader(request))
		if err != nil {
			return nil, err
		}
		w := httptest.NewRecorder() // for http.DefaultClient.Do(r)
		respond.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return nil, fmt.Errorf("peer: %d: %s", w.Code, w.Body)
		}
		return w.Body.Bytes(), nil
	}
	diff, err := antientropy.Compare(context.Background(), &here, []hashring.Range{{}}, peer, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(diff.There), "missing here, after", diff.RoundTrips, "round trip")
	// Output:
	// 1 missing here, after 1 round trip
}

// The items of a range, clockwise.
func ExampleItem() {
	var set antientropy.Set
	for _, item := range []antientropy.Item{{Position: 1 << 62, Digest: 3}, {Position: 5, Digest: 1}, {Position: 1 << 63, Digest: 2}} {
		set.Put(item.Position, item.Digest)
	}
	for item := range set.Items(hashring.Range{After: 1 << 61, Through: 10}) {
		fmt.Printf("%016x has digest %d\n", item.Position, item.Digest)
	}
	// Output:
	// 4000000000000000 has digest 3
	// 8000000000000000 has digest 2
	// 0000000000000005 has digest 1
}

// Digests that are versions say which side is behind.
func ExampleUnlike() {
	var here, there antientropy.Set
	pos := hashring.XXH64.Sum64("user:1")
	here.Put(pos, 2)
	there.Put(pos, 3)
	peer := func(_ context.Context, request []byte) ([]byte, error) { return there.Respond(request, nil) }
	diff, err := antientropy.Compare(context.Background(), &here, []hashring.Range{{}}, peer, nil)
	if err != nil {
		panic(err)
	}
	for _, u := range diff.Unlike {
		fmt.Println("behind here:", u.Here < u.There, "the position is that of user:1:", u.Position == pos)
	}
	// Output:
	// behind here: true the position is that of user:1: true
}
