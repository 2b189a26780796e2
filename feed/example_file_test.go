//go:build !js && !wasip1

package feed_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/feed"
)

// read reads a name a line. Empty lines and those that begin with # say nothing.
func read(file string) ([]hashring.Node, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var nodes []hashring.Node
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if name := strings.TrimSpace(lines.Text()); name != "" && name[0] != '#' {
			nodes = append(nodes, hashring.Node{Name: name})
		}
	}
	return nodes, nil
}

// followFile reads file again and again until ctx ends. A list that is as before costs next to nothing.
func followFile(ctx context.Context, f *feed.Feed, file string, every time.Duration) {
	for ticker := time.NewTicker(every); ; {
		nodes, err := read(file)
		if err == nil {
			err = f.Update(nodes)
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("membership", "file", file, "error", err)
		}
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
		}
	}
}

// The nodes are in a file that an operator edits, or a Kubernetes ConfigMap. It should be replaced by renaming, so that
// nobody reads half of it; if somebody does, MaxLoss is there.
func ExampleFeed_file() {
	dir, err := os.MkdirTemp("", "feed")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "nodes")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			panic(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			panic(err)
		}
	}
	write("# ours\ncache-a\ncache-b\ncache-c\n")

	changes := make(chan hashring.Change)
	f, err := feed.New(hashring.NewLive(nil), &feed.Options{OnChange: func(c hashring.Change) { changes <- c }})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { followFile(ctx, f, file, 10*time.Millisecond) })
	defer following.Wait()
	defer cancel()

	fmt.Println((<-changes).New)
	write("cache-a\ncache-b\ncache-c\ncache-d\n")
	fmt.Println((<-changes).New)
	// Output:
	// hashring: 3 nodes, 480 tokens, keys by xxh64, 160 virtual nodes by native/1
	// hashring: 4 nodes, 640 tokens, keys by xxh64, 160 virtual nodes by native/1
}
