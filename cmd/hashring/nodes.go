package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clockwise-go/hashring"
)

// nodeList is a list of nodes that remembers where each came from, for errors.
type nodeList struct {
	nodes []hashring.Node
	where []string // nodes.txt:3, or the flag
}

func (l *nodeList) add(n hashring.Node, where string) {
	l.nodes, l.where = append(l.nodes, n), append(l.where, where)
}

// ring returns the ring of the nodes. It is good only if p has no problems; what is the nodes' fault is blamed on where
// they came from, and the rest on the command.
func (l *nodeList) ring(opts *hashring.Options, command string, p *problems) *hashring.Ring {
	if p.status != exitOK {
		return nil
	}
	ring, err := hashring.New(l.nodes, opts)
	if err != nil {
		for _, err := range each(err) {
			where := command
			if at := new(hashring.NodeError); errors.As(err, &at) && at.Index >= 0 {
				where = l.where[at.Index]
			}
			p.input(where, "%v", cause(err))
		}
	}
	return ring
}

// each returns the errors that err joins, or err.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.As(err, new(*hashring.NodeError)) {
		return joined.Unwrap()
	}
	return []error{err}
}

// cause returns what a ring says about a node, without the node's index, which means nothing to who wrote a file.
func cause(err error) error {
	if at := new(hashring.NodeError); errors.As(err, &at) {
		return fmt.Errorf("node %q: %w", at.Name, at.Err)
	}
	return err
}

// openNodes reads the named file of nodes, or standard input for "-".
func openNodes(file string, stdin io.Reader, p *problems) (list nodeList, ok bool) {
	r, name, err := openFile(file, stdin)
	if err != nil {
		p.failure(err)
		return nodeList{}, false
	}
	defer r.Close()
	return readNodes(r, name, p)
}

// readNodes reads a file of nodes, one "name [weight [zone]]" a line. A "#" comments the rest of a line out where a word
// could start: names may have one inside. ok is false if the file could not be read to its end.
func readNodes(r io.Reader, file string, p *problems) (list nodeList, ok bool) {
	first := make(map[string]int) // line of a name
	text := newLines(r)
	for number, line := range text.all() {
		where := file + ":" + strconv.Itoa(number)
		fields := strings.Fields(string(line))
		for i, f := range fields {
			if strings.HasPrefix(f, "#") {
				fields = fields[:i]
				break
			}
		}
		if len(fields) == 0 {
			continue
		}
		if len(fields) > 3 {
			p.input(where, `there are %d words on the line, which has the form "name [weight [zone]]"`, len(fields))
			fields = fields[:1]
		}
		node := hashring.Node{Name: fields[0], Weight: 1}
		if why := unprintable(node.Name); why != "" {
			p.input(where, "the name %q %s", node.Name, why)
		}
		if line, dup := first[node.Name]; dup {
			p.input(where, "node %q is on line %d already", node.Name, line)
		} else {
			first[node.Name] = number
		}
		if len(fields) > 1 {
			var err error
			if node.Weight, err = parseWeight(fields[1]); err != nil {
				p.input(where, "%v", err)
			}
		}
		if len(fields) > 2 {
			node.Zone = fields[2]
			if why := unprintable(node.Zone); why != "" {
				p.input(where, "the zone %q %s", node.Zone, why)
			}
		}
		list.add(node, where)
	}
	if text.err != nil {
		p.failure(text.err)
	}
	return list, text.err == nil
}

// splitNodes returns the nodes of a -nodes flag. ok is false if it does not name any.
func splitNodes(s string, p *problems) (list nodeList, ok bool) {
	const where = "-nodes"
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		p.input(where, "this is a list of names, not a count; for %d nodes use -n %d", n, n)
		return nodeList{}, false
	}
	seen := make(map[string]bool)
	for i, name := range strings.Split(s, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			p.input(where, "name %d of the list is empty", i+1)
			continue
		}
		if why := unprintable(name); why != "" {
			p.input(where, "the name %q %s", name, why)
		}
		if seen[name] {
			p.input(where, "node %q is in the list more than once", name)
		}
		seen[name] = true
		list.add(hashring.Node{Name: name, Weight: 1}, where)
	}
	return list, true
}

// maxNodes is how many nodes a ring can have at most, with a token each.
const maxNodes = 1 << 24

// numberedNodes returns n nodes called node-0, node-1 and so on.
func numberedNodes(n int) nodeList {
	var list nodeList
	for i := range n {
		list.add(hashring.Node{Name: "node-" + strconv.Itoa(i), Weight: 1}, "-n")
	}
	return list
}

// The least and the greatest weight. They are far beyond any use, and keep the squares of ratios of weights finite.
const (
	minWeight = 1e-9
	maxWeight = 1e9
)

// parseWeight returns the weight that s says. In Go a weight of 0 means none was given, but here one was.
func parseWeight(s string) (float64, error) {
	w, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), w != w:
		return 0, errors.New("weight " + strconv.Quote(s) + " is not a number")
	case w <= 0:
		return 0, errors.New("weight " + s + " is not greater than 0; to drain a node, remove it")
	case w < minWeight || w > maxWeight:
		return 0, errors.New("weight " + s + " is not between 1e-9 and 1e9")
	}
	return w, nil
}

// unprintable says why a name can be in no table, and perhaps not in JSON, or nothing if it can.
func unprintable(name string) string {
	if !utf8.ValidString(name) {
		return "is not UTF-8"
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "has control characters"
	}
	return ""
}
