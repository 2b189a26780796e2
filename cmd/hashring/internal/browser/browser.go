// Package browser drives a headless Chromium over the DevTools protocol, for tests. It speaks through a pipe, so that it
// needs no port and no WebSocket: messages are JSON, each ended by a zero byte.
//
// See https://chromedevtools.github.io/devtools-protocol/ for the methods and events that are named here.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"
)

// patience is how long a browser may take to answer before it is thought hung. No test waits that long if all is well.
const patience = time.Minute

// Browser is a running Chromium.
type Browser struct {
	t    testing.TB
	send io.WriteCloser

	mu      sync.Mutex
	last    int                       // id of a call
	waiting map[int]chan answer       // by id
	events  map[string]func(ev event) // by session
}

// answer is what comes back from a call.
type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// event is what comes without a call.
type event struct {
	Method string
	Params json.RawMessage
}

// Start starts a Chromium that ends with the test. Where there is none that can be talked to, it skips the test, or fails
// it if the environment says HASHRING_BROWSER=require. Otherwise HASHRING_BROWSER may say which program it is.
func Start(t testing.TB) *Browser {
	t.Helper()
	switch runtime.GOOS {
	case "windows", "js", "wasip1":
		t.Skipf("on %s a program cannot be given a pipe to talk through", runtime.GOOS)
	}
	none := t.Skip
	if os.Getenv("HASHRING_BROWSER") == "require" {
		none = t.Fatal
	}
	program, err := find()
	if err != nil {
		none(err)
	}
	dir, err := os.MkdirTemp("", "hashring-browser-")
	if err != nil {
		t.Fatal(err)
	}
	theirIn, send, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	receive, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Without a sandbox it runs as root and in containers too. It sees no page but those of the tests.
	cmd := exec.Command(program, "--headless", "--remote-debugging-pipe", "--user-data-dir="+dir, "--no-sandbox",
		"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--force-color-profile=srgb", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // its descriptors 3 and 4
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		none(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{t: t, send: send, waiting: make(map[int]chan answer), events: make(map[string]func(event))}
	read := make(chan error, 1)
	go func() { read <- b.read(receive) }()
	t.Cleanup(func() {
		send.Close() // it ends then
		kill := time.AfterFunc(patience/4, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		if readErr := <-read; t.Failed() {
			t.Logf("the browser ended: %v; %v; %s", err, readErr, complaints.Bytes())
		}
		receive.Close()
		os.RemoveAll(dir)
	})
	if _, err := b.ask("", "Browser.getVersion", nil); err != nil {
		none(fmt.Sprintf("%s does not talk: %v", program, err))
	}
	return b
}

func find() (string, error) {
	names := []string{"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "chrome"}
	if name := os.Getenv("HASHRING_BROWSER"); name != "" && name != "require" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium to look at pages with")
}

// read gives answers and events to who waits for them, until the browser ends.
func (b *Browser) read(r io.Reader) error {
	buf := bufio.NewReader(r)
	for {
		data, err := buf.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = nil
			b.mu.Unlock()
			return err
		}
		var m struct {
			ID        int
			SessionID string
			answer
			event
		}
		if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
			return fmt.Errorf("%w in %s", err, data)
		}
		b.mu.Lock()
		c, handle := b.waiting[m.ID], b.events[m.SessionID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case c != nil:
			c <- m.answer
		case m.Method != "" && handle != nil:
			handle(m.event)
		}
	}
}

// call calls a method and decodes its result, unless that is nil. It fails the test if the browser does not answer.
func (b *Browser) call(session, method string, params, result any) {
	b.t.Helper()
	data, err := b.ask(session, method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(data, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// ask calls a method and returns its result.
func (b *Browser) ask(session, method string, params any) (json.RawMessage, error) {
	c := make(chan answer, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	if b.waiting != nil {
		b.waiting[id] = c
	} else {
		close(c)
	}
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	data, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if _, err := b.send.Write(append(data, 0)); err != nil {
		return nil, err
	}
	select {
	case a, ok := <-c:
		switch {
		case !ok:
			return nil, errors.New("the browser has ended")
		case a.Error != nil:
			return nil, errors.New(a.Error.Message)
		}
		return a.Result, nil
	case <-time.After(patience):
		return nil, errors.New("no answer")
	}
}
