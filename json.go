package hashring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// jsonFormat names the format and its version.
const jsonFormat = "hashring/1"

// jsonRing is a ring in JSON. Numbers of 64 bits are strings, since many readers of JSON have but 53 bits.
type jsonRing struct {
	Format       string    `json:"format"`
	Hash         string    `json:"hash"`
	Placement    string    `json:"placement"`
	VirtualNodes int       `json:"virtualNodes,omitempty"` // none under a Placement
	Nodes        jsonNodes `json:"nodes"`
	Fingerprint  decimal   `json:"fingerprint"`
}

type jsonNodes []jsonNode

// jsonNode is a Node in JSON. A text that is not UTF-8 is in the second field of its pair, in base64.
type jsonNode struct {
	Name    string    `json:"name,omitempty"`
	Name64  []byte    `json:"name64,omitempty"`
	Weight  float64   `json:"weight"`
	Zone    string    `json:"zone,omitempty"`
	Zone64  []byte    `json:"zone64,omitempty"`
	Label   string    `json:"label,omitempty"`
	Label64 []byte    `json:"label64,omitempty"`
	Tokens  []decimal `json:"tokens,omitempty"`
}

// decimal is a number that is a string in JSON.
type decimal uint64

func (d decimal) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(d), 10), nil }

func (d *decimal) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*d = decimal(v)
	return err
}

// MarshalJSON returns r as a JSON object: what [Ring.AppendBinary] holds, for readers that have no use for bytes. It is
// canonical likewise, and [DecodeJSON] reads it.
func (r Ring) MarshalJSON() ([]byte, error) {
	opts := r.Options()
	out := jsonRing{jsonFormat, hashName(r.hash), placementName(opts.Placement), opts.VirtualNodes,
		make(jsonNodes, len(r.nodes)), decimal(r.Fingerprint())}
	for i, n := range r.nodes {
		j := &out.Nodes[i]
		j.Weight = n.Weight
		j.Name, j.Name64 = texts(n.Name)
		j.Zone, j.Zone64 = texts(n.Zone)
		j.Label, j.Label64 = texts(n.Label)
		for _, t := range n.Tokens {
			j.Tokens = append(j.Tokens, decimal(t))
		}
	}
	return json.Marshal(out)
}

// texts returns s as the fields of a pair.
func texts(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return "", []byte(s)
}

// UnmarshalJSON is [Ring.UnmarshalBinary] for JSON. It refuses null, which would else be an empty ring.
func (r *Ring) UnmarshalJSON(data []byte) error { return r.fill(DecodeJSON(data, nil)) }

// DecodeJSON is [Decode] for what [Ring.MarshalJSON] returns. Space and the order of fields do not matter; fields that
// are not known do.
func DecodeJSON(data []byte, opts *Options) (*Ring, error) {
	var in jsonRing
	if err := strictly(data, &in); err != nil {
		return nil, formatError("%w", err)
	}
	if in.Format != jsonFormat {
		return nil, formatError("%q is not %q", in.Format, jsonFormat)
	}
	s := saved{in.Hash, in.Placement, in.VirtualNodes, make([]Node, len(in.Nodes)), uint64(in.Fingerprint)}
	for i, j := range in.Nodes {
		n := &s.nodes[i]
		*n = Node{Name: j.Name + string(j.Name64), Weight: j.Weight, Zone: j.Zone + string(j.Zone64), Label: j.Label + string(j.Label64)}
		for _, t := range j.Tokens {
			n.Tokens = append(n.Tokens, uint64(t))
		}
	}
	return s.restore(opts)
}

// UnmarshalJSON gives up at the first node that is none. Package json may go on to the end of a list to find more faults, and
// a list of nothings would take memory for nodes.
func (l *jsonNodes) UnmarshalJSON(data []byte) error {
	*l = nil
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	switch first, err := d.Token(); {
	case err != nil || first == nil: // null
		return err
	case first != json.Delim('['):
		return errors.New("the nodes are not a list")
	}
	for d.More() {
		var n jsonNode
		if err := d.Decode(&n); err != nil {
			return err
		}
		if err := n.check(); err != nil {
			return err
		}
		*l = append(*l, n)
	}
	return nil
}

// check returns an error if n has no name, or both fields of a pair.
func (n *jsonNode) check() error {
	for _, pair := range []struct {
		field string
		text  string
		raw   []byte
	}{{"name", n.Name, n.Name64}, {"zone", n.Zone, n.Zone64}, {"label", n.Label, n.Label64}} {
		if pair.text != "" && pair.raw != nil {
			return fmt.Errorf("a node has both %s and %[1]s64", pair.field)
		}
	}
	if n.Name == "" && len(n.Name64) == 0 {
		return errors.New("a node has no name")
	}
	return nil
}

// strictly decodes one value, all of whose fields must be known, and nothing after it.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows the ring")
	}
	return nil
}
