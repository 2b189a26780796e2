package main

import (
	"io"
	"strings"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/compat"
)

// foreignUsage describes the flag -as.
const foreignUsage = `  -as RULE         place as another program does, in place of -hash and -vnodes: nginx, libketama,
                   "twemproxy,hash=md5", "haproxy,hash=djb2,avalanche=true", ...; docs/compat.md has all.
                   Nodes are servers as that program's configuration has them, in its order
`

// foreign is the flag that makes a ring that of another program.
type foreign struct {
	*flags
	as string
}

func (f *flags) foreign() *foreign {
	a := foreign{flags: f}
	f.StringVar(&a.as, "as", "", "")
	return &a
}

// ring returns the ring of the nodes that m names, by -as if that is given, else as l says. It is good only if p has no
// problems.
func (a *foreign) ring(m *members, l *placing, stdin io.Reader, p *problems) *hashring.Ring {
	if !a.given["as"] {
		return m.ring(l, stdin, p)
	}
	for _, name := range []string{"hash", "vnodes"} {
		if a.given[name] {
			p.input("-"+name, "the program of -as decides that")
		}
	}
	rule, err := compat.Named(a.as)
	if err != nil {
		p.input("-as", "%s", strings.TrimPrefix(err.Error(), "compat: "+hashring.ErrOptions.Error()+": "))
	}
	list, ok := m.list(stdin, p)
	if !ok || err != nil {
		return nil
	}
	if program, _, _ := strings.Cut(a.as, ","); program == "haproxy" { // the node file has no ids, so those that it would give
		if list.nodes, err = compat.HAProxyIDs(list.nodes); err != nil {
			p.input("-as", "%v", cause(err))
		}
	}
	return list.ring(&hashring.Options{Placement: rule}, "-as", p)
}
