package main

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// maxBuffered is the size up to which request bodies are held in memory.
const maxBuffered = 64 << 10

// replay gives the body of one request to several tries. http.Transport closes the body of a request that fails, even
// if it did not read it, so the tries must not have the original.
//
// A body of a known length up to maxBuffered is read first; each try has a copy, and http.Transport, by way of GetBody,
// one more when a kept connection turns out to be dead. Others are streamed, as clients expect of an upload or a dialog;
// then a next try is possible only as long as nothing has been read.
type replay struct {
	small []byte
	large *unclosed
}

func newReplay(req *http.Request) (*replay, error) {
	r := new(replay)
	switch n := req.ContentLength; {
	case req.Body == nil || req.Body == http.NoBody:
	case n > 0 && n <= maxBuffered:
		r.small = make([]byte, n)
		if _, err := io.ReadFull(req.Body, r.small); err != nil {
			return nil, err
		}
	default:
		r.large = &unclosed{body: req.Body}
	}
	return r, nil
}

// attach gives out the body.
func (r *replay) attach(out *http.Request) {
	switch {
	case r.small != nil:
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.small)), nil }
		out.Body, _ = out.GetBody()
	case r.large != nil:
		out.Body = r.large
	}
}

// whole reports whether attach can give the whole body once more.
func (r *replay) whole() bool { return r.large == nil || !r.large.touched.Load() }

// unclosed is a body whose Close does nothing: the reverse proxy closes the original when it is done with the request.
type unclosed struct {
	body    io.Reader
	touched atomic.Bool
}

func (u *unclosed) Read(b []byte) (int, error) {
	u.touched.Store(true)
	return u.body.Read(b)
}

func (u *unclosed) Close() error { return nil }
