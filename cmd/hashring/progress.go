package main

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"
)

const (
	progressDelay = time.Second // before a run is thought long
	progressEvery = 200 * time.Millisecond
	progressCheck = 1 << 10 // keys between two looks at the clock
)

// progress shows on a terminal how far a long run is, on one line that it erases at the end.
type progress struct {
	w     io.Writer
	total int64 // keys to come; 0 if that is not known
	now   func() time.Time
	due   time.Time // for the next line
	width int       // of the line that is there
}

// newProgress returns a progress that writes to w, or nil if w is no terminal: nothing but a person wants to see it.
func newProgress(w io.Writer, total int64) *progress {
	if !isTerminal(w) {
		return nil
	}
	return &progress{w: w, total: total, now: time.Now}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// watch yields keys, and shows how many have gone by. On a nil progress it is keys.
func (p *progress) watch(keys iter.Seq[[]byte]) iter.Seq[[]byte] {
	if p == nil {
		return keys
	}
	return func(yield func([]byte) bool) {
		defer p.erase()
		p.due = p.now().Add(progressDelay)
		var n int64
		for key := range keys {
			if !yield(key) {
				return
			}
			if n++; n%progressCheck == 0 {
				p.update(n)
			}
		}
	}
}

// update shows that n keys are done, if it is time.
func (p *progress) update(n int64) {
	now := p.now()
	if now.Before(p.due) {
		return
	}
	p.due = now.Add(progressEvery)
	line := fmt.Sprintf("%d keys", n)
	if p.total > 0 {
		line = fmt.Sprintf("%d of %d keys, %d %%", n, p.total, int(100*float64(n)/float64(p.total)))
	}
	p.show(line)
}

// step shows that the i-th of so many steps, from 0, is being done, if it is time. A nil progress does nothing.
func (p *progress) step(i, steps int, what string) {
	if p == nil {
		return
	}
	now := p.now()
	if i == 0 {
		p.due = now.Add(progressDelay)
	}
	if !now.Before(p.due) {
		p.show(fmt.Sprintf("%d of %d: %s", i+1, steps, what))
	}
}

func (p *progress) show(line string) {
	fmt.Fprintf(p.w, "\r%-*s", p.width, line)
	p.width = max(p.width, len(line))
}

// erase removes the line, with spaces: not every terminal knows a sequence that erases.
func (p *progress) erase() {
	if p != nil && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
