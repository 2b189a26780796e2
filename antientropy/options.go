package antientropy

import (
	"errors"
	"fmt"
)

// The causes of errors, for errors.Is.
var (
	ErrOptions = errors.New("invalid options")  // an option out of range
	ErrMessage = errors.New("invalid message")  // what a peer sent is no request, no reply, or no reply to the request
	ErrVersion = errors.New("unknown version")  // a message of a version of the protocol that this release does not know
	ErrPeer    = errors.New("peer not reached") // the function that calls the peer returned an error, which is wrapped too
)

// Options bound what a comparison costs. The zero value is the default. The peers need not have the same.
type Options struct {
	// FanOut is the number of parts into which a range that differs is split, 2 to 256; 0 is 16. For 1e6 items with a few
	// that differ, 16 takes three round trips and the fewest bytes, and 64 takes two and twice the bytes. It is the
	// comparing side's that counts.
	FanOut int

	// MaxReply is the largest reply in bytes, from 4096 to 1<<26; 0 is 1<<20. The smaller of both sides' holds. What does
	// not fit is asked for again.
	MaxReply int

	// MaxKeys is after how many differing keys [Compare] ends, and so bounds the memory that a Difference takes; 0 is
	// 1<<20. The responding side does not look at it.
	MaxKeys int
}

const (
	defaultFanOut, maxFanOut = 16, 256
	defaultReply             = 1 << 20
	minReply, maxReply       = 1 << 12, 1 << 26
	defaultKeys, maxKeys     = 1 << 20, 1<<31 - 1
	maxRequest               = 1 << 20 // bytes of a request; Compare sends no longer ones
	fewItems                 = 32      // a range with no more items is listed rather than split
)

// withDefaults returns o with the defaults filled in; nil stands for the zero value.
func (o *Options) withDefaults() (Options, error) {
	full := Options{}
	if o != nil {
		full = *o
	}
	var errs []error
	check := func(name string, v *int, whenZero, low, high int) {
		if *v == 0 {
			*v = whenZero
		}
		if *v < low || *v > high {
			errs = append(errs, fmt.Errorf("antientropy: %w: %s is %d, not between %d and %d", ErrOptions, name, *v, low, high))
		}
	}
	check("FanOut", &full.FanOut, defaultFanOut, 2, maxFanOut)
	check("MaxReply", &full.MaxReply, defaultReply, minReply, maxReply)
	check("MaxKeys", &full.MaxKeys, defaultKeys, 1, maxKeys)
	return full, errors.Join(errs...)
}
