package main

import (
	"fmt"
	"io"
)

// maxProblems is how many problems a command reports one by one.
const maxProblems = 16

// problems collects what is wrong with the input, so that all of it can be reported at once.
type problems struct {
	kept   []string
	more   int
	status int // the exit status that they amount to
}

// input adds something that is not right in a file or a flag, which where names.
func (p *problems) input(where, format string, args ...any) {
	p.status = exitInput
	p.add(where + ": " + fmt.Sprintf(format, args...))
}

// failure adds something that the system refused. It does not hide that the input is wrong besides.
func (p *problems) failure(err error) {
	p.status = max(p.status, exitFailure)
	p.add("hashring: " + err.Error())
}

func (p *problems) add(s string) {
	if len(p.kept) < maxProblems {
		p.kept = append(p.kept, s)
	} else {
		p.more++
	}
}

// report writes the problems to w and returns the exit status.
func (p *problems) report(w io.Writer) int {
	for _, s := range p.kept {
		fmt.Fprintln(w, s)
	}
	switch {
	case p.more == 1:
		fmt.Fprintln(w, "and 1 more problem")
	case p.more > 1:
		fmt.Fprintf(w, "and %d more problems\n", p.more)
	}
	return p.status
}
