package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// child is a member in a process of its own.
type child struct {
	name, gossip, http string
	cmd                *exec.Cmd
}

// asChild in the environment makes this program's test binary the program.
const asChild = "HASHRING_NODE_CHILD=1"

var greeting = regexp.MustCompile(`gossips at (\S+) and answers at http://(\S+)`)

// startChild starts a member, and returns when it has joined.
func startChild(ctx context.Context, name, seeds string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"-name", name, "-rejoin", "2s", "-cut", "-min", "5"}
	if seeds != "" {
		args = append(args, "-seeds", seeds)
	}
	c := &child{name: name, cmd: exec.CommandContext(ctx, self, args...)}
	c.cmd.Env = append(os.Environ(), asChild)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := greeting.FindStringSubmatch(lines.Text()); found != nil {
			c.gossip, c.http = found[1], found[2]
			go io.Copy(io.Discard, out)
			return c, nil
		}
	}
	return nil, fmt.Errorf("member %s did not start: %w", name, c.cmd.Wait())
}

func (c *child) stop() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

func (c *child) post(path string, form url.Values) error {
	resp, err := http.PostForm("http://"+c.http+path, form)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s of %s: %s", path, c.name, resp.Status)
	}
	return nil
}

func (c *child) ring() (answer ringAnswer, err error) {
	resp, err := http.Get("http://" + c.http + "/ring")
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	return answer, json.NewDecoder(resp.Body).Decode(&answer)
}

// demonstration is the members that run, and where to tell of them.
type demonstration struct {
	members []*child
	out     io.Writer
}

// until waits until every member that runs has the nodes that nodes says for it, with ! if it is to be degraded. It prints
// what was done, how long that took, and the rings.
func (d *demonstration) until(ctx context.Context, what string, nodes func(member string) string) error {
	start := time.Now()
	for {
		var cells []string
		right := true
		for _, c := range d.members {
			r, err := c.ring()
			if err != nil {
				return err
			}
			have := ""
			for _, n := range r.Nodes {
				have += n.Name
			}
			if r.State == "degraded" {
				have += "!"
			}
			right = right && have == nodes(c.name)
			cells = append(cells, fmt.Sprintf("%s: %-6s %s", c.name, have, r.Fingerprint[:4]))
		}
		if right {
			_, err := fmt.Fprintf(d.out, "%-22s %4.1f s   %s\n", what, time.Since(start).Seconds(), strings.Join(cells, "   "))
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; %s", what, ctx.Err(), strings.Join(cells, ", "))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// part cuts the network between two groups of members, both ways.
func (d *demonstration) part(left string) error {
	var sides [2][]string
	side := func(c *child) int {
		if strings.Contains(left, c.name) {
			return 0
		}
		return 1
	}
	for _, c := range d.members {
		sides[side(c)] = append(sides[side(c)], c.gossip)
	}
	var errs []error
	for _, c := range d.members {
		errs = append(errs, c.post("/cut", url.Values{"from": {strings.Join(sides[1-side(c)], ",")}}))
	}
	return errors.Join(errs...)
}

// demo starts five members and shows what happens to their rings.
func demo(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	fmt.Fprint(out, "Five members. When they have settled, each one's ring: its nodes, and the first digits of its fingerprint.\n"+
		"With ! it has lost so many others that it takes itself for cut off, and keeps the ring that it had.\n\n")
	d := &demonstration{out: out}
	defer func() {
		for _, c := range d.members {
			c.stop()
		}
	}()
	start := func(names ...string) error {
		for _, name := range names {
			seeds := ""
			if len(d.members) > 0 {
				seeds = d.members[0].gossip
			}
			c, err := startChild(ctx, name, seeds)
			if err != nil {
				return err
			}
			d.members = append(d.members, c)
		}
		return nil
	}
	all := func(nodes string) func(string) string { return func(string) string { return nodes } }
	each := func(does func(*child) error) error {
		var errs []error
		for _, c := range d.members {
			errs = append(errs, does(c))
		}
		return errors.Join(errs...)
	}
	last := func() *child { return d.members[len(d.members)-1] }
	drop := func() { d.members = slices.Clip(d.members[:len(d.members)-1]) }

	for _, step := range []struct {
		what  string
		do    func() error
		nodes func(member string) string
	}{
		{"five start", func() error { return start("a", "b", "c", "d", "e") }, all("abcde")},
		{"e is killed", func() error { c := last(); drop(); c.stop(); return nil }, all("abcd")},
		{"e starts again", func() error { return start("e") }, all("abcde")},
		{"a b are cut from c d e", func() error { return d.part("ab") }, func(member string) string {
			if strings.Contains("ab", member) {
				return "abcde!"
			}
			return "cde"
		}},
		{"the cut heals", func() error { return each(func(c *child) error { return c.post("/heal", nil) }) }, all("abcde")},
		{"e leaves", func() error {
			c := last()
			drop()
			if err := c.post("/leave", nil); err != nil {
				return err
			}
			go c.cmd.Wait()
			return nil
		}, all("abcd")},
	} {
		if err := step.do(); err != nil {
			return err
		}
		if err := d.until(ctx, step.what, step.nodes); err != nil {
			return err
		}
	}
	return nil
}
