package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/clockwise-go/hashring"
)

// Cluster starts nodes as processes and is the client of their store: it knows the ring, and sends each write to the
// replicas of its key.
type Cluster struct {
	View
	processes map[string]process
	version   uint64 // of the last write
}

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer // the process ends when that does
}

func NewCluster(replicas int) *Cluster {
	return &Cluster{
		View:      View{Ring: new(hashring.Ring), Addrs: make(map[string]string), Policy: hashring.Policy{N: replicas}},
		processes: make(map[string]process),
	}
}

// Start starts a process for each name, and puts them on the ring. It returns the ring before.
func (c *Cluster) Start(ctx context.Context, names ...string) (before *hashring.Ring, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		cmd := exec.Command(self, "-node", name)
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		c.processes[name] = process{cmd, stdin}
		addr, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("node %s has not said where it is: %w", name, err)
		}
		c.Addrs[name] = strings.TrimSpace(addr)
	}
	before = c.Ring
	c.Ring, err = before.With(hashring.Nodes(names...)...)
	if err != nil {
		return nil, err
	}
	for _, name := range c.names() {
		if err := c.node(name).call(ctx, "/view", c.View, nil); err != nil {
			return nil, err
		}
	}
	return before, nil
}

// Close ends all processes.
func (c *Cluster) Close() (err error) {
	for _, p := range c.processes {
		p.stdin.Close()
		err = errors.Join(err, p.cmd.Wait())
	}
	return err
}

func (c *Cluster) node(name string) client { return client(c.Addrs[name]) }

func (c *Cluster) names() []string { return slices.Sorted(maps.Keys(c.processes)) }

// Write sends e, as the latest write, to all replicas of its key but those named: that is how a write is lost here.
func (c *Cluster) Write(ctx context.Context, e Entry, lost ...string) error {
	c.version++
	e.Version = c.version
	for _, name := range c.Ring.AppendReplicas(nil, e.Key, c.Policy.N) {
		if slices.Contains(lost, name) {
			continue
		}
		if _, err := c.node(name).Apply(ctx, []Entry{e}); err != nil {
			return err
		}
	}
	return nil
}

// Repair lets each two nodes repair what they share, and returns their reports by the names of both.
func (c *Cluster) Repair(ctx context.Context) (reports map[[2]string]Report, err error) {
	reports = make(map[[2]string]Report)
	names := c.names()
	for i, a := range names {
		for _, b := range names[i+1:] {
			var report Report
			if err := c.node(a).call(ctx, "/repair", b, &report); err != nil {
				return nil, err
			}
			reports[[2]string{a, b}] = report
		}
	}
	return reports, nil
}

// Stale counts the replicas of the given entries that have not what is given, and the nodes that have of their keys what
// is not theirs to have.
func (c *Cluster) Stale(ctx context.Context, want map[string]Entry) (stale, stray int, err error) {
	for key, e := range want {
		replicas := c.Ring.AppendReplicas(nil, key, c.Policy.N)
		for _, name := range c.names() {
			got, ok, err := c.node(name).Get(ctx, key)
			if err != nil {
				return 0, 0, err
			}
			switch {
			case !slices.Contains(replicas, name):
				if ok {
					stray++
				}
			case got.Value != e.Value || got.Deleted != e.Deleted:
				stale++
			}
		}
	}
	return stale, stray, nil
}
