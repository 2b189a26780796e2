package feed

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/clockwise-go/hashring"
)

// Options say how fast a [Feed] follows its source, and how far it trusts bad news. The zero value is the defaults. A
// negative duration stands for 0 where 0 stands for a default.
type Options struct {
	// Settle is how long the source must have been quiet before its changes are published, all in one step, and MaxWait
	// how long they wait at most. 0 stands for 200 ms and 1 s.
	Settle, MaxWait time.Duration

	// FailGrace is how long a lost node stays on the ring. Meanwhile callers find it down, and use its next replica. 0:
	// not at all.
	FailGrace time.Duration

	// HoldDown is how long after a loss a node that is back stays off the ring, if it had gone from it. It doubles with
	// each loss that comes within 10 minutes of the one before, up to 5 minutes or HoldDown, if that is longer. 0 stands
	// for 5 s.
	HoldDown time.Duration

	// MaxLoss is the part of the nodes that may be lost at once: each less than a minute, and FailGrace, after the one
	// before, while none comes. If more are, it is more likely that this process is cut off from them, or that its source
	// is broken, than that they are all down: all stay on the ring, or go back to it, and the state is [Degraded] until
	// enough of them are back or have left. 0 stands for 0.5; 1 trusts any news, as is right for a source whose word is
	// law, such as a file that an operator edits.
	MaxLoss float64

	// OnChange is called after the ring has changed. Calls come one at a time, on a goroutine of their own, which waits for
	// nothing else and for which nothing else waits: it may take its time, or call any method of the Feed. Changes that come
	// meanwhile are put together: Old is always the New of the call before, at first the ring that the Live held when the
	// Feed was made. A change from one ring to another and back may be left out.
	OnChange func(hashring.Change)

	// Logger gets a line for each change to and from [Degraded], and for each list of nodes that the ring refuses. nil
	// stands for slog.Default().
	Logger *slog.Logger
}

const (
	lossWindow   = time.Minute      // between losses that are taken together, besides FailGrace
	memory       = 10 * time.Minute // of a loss
	longHoldDown = 5 * time.Minute  // the longest that doubling makes
)

// withDefaults returns o with the defaults filled in.
func (o Options) withDefaults() (Options, error) {
	if !(o.MaxLoss >= 0 && o.MaxLoss <= 1) { // NaN too
		return o, fmt.Errorf("feed: %w: MaxLoss is %v, not between 0 and 1", hashring.ErrOptions, o.MaxLoss)
	}
	if o.MaxLoss == 0 {
		o.MaxLoss = 0.5
	}
	o.Settle = orDefault(o.Settle, 200*time.Millisecond)
	o.MaxWait = orDefault(o.MaxWait, time.Second)
	o.FailGrace = max(0, o.FailGrace)
	o.HoldDown = orDefault(o.HoldDown, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return max(0, d)
}

// hold returns for how long a node that has been lost so many times in a row is held down.
func (o Options) hold(losses int) time.Duration {
	if losses == 0 {
		return 0
	}
	longest := max(longHoldDown, o.HoldDown)
	hold := math.Ldexp(float64(o.HoldDown), losses-1) // a float64, since this may be more than a Duration can hold
	return time.Duration(min(hold, float64(longest)))
}
