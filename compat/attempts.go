package compat

import (
	"iter"

	"github.com/clockwise-go/hashring"
)

// Attempts yields the owners of one token after another, clockwise from key's position, each token once: where a program
// goes that tries the next point of its ring when it cannot have the owner. A node comes as often as it has tokens, also
// twice in a row.
//
//   - [Envoy]: attempt n of a request, the first being 0, goes to the n-th that is yielded, whichever that is.
//   - [GRPC]: passes over endpoints in TRANSIENT_FAILURE.
//   - [HAProxy]: passes over servers that are full or were tried. One that is down has left the ring: that is
//     [hashring.Ring.Without], and it splits what the server had anew.
//
// Programs that rebuild their ring from the servers that are left ([Libmemcached] and [Twemproxy] with auto-eject) are
// [hashring.Ring.Without] too. To get distinct nodes, as a program that has replicas does, use [hashring.Ring.Replicas].
func Attempts(r *hashring.Ring, key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, node := range r.TokensFrom(r.Position(key)) {
			if !yield(r.Name(node)) {
				return
			}
		}
	}
}

// NginxAttempts yields what nginx tries for key, on a ring of [Nginx]: the owners of up to 21 points, clockwise, equal
// points being one. The first that is not down, and was not tried for the request before, gets it; if none is left, or
// there are fewer points, nginx goes on by round robin, which is not to be predicted. (In nginx fewer points are gone round
// again, to the same servers.)
func NginxAttempts(r *hashring.Ring, key string) iter.Seq[string] {
	const most = 21 // the first, and 20 more: hp->tries
	return func(yield func(string) bool) {
		left := most
		for node := range distinctPoints(r, r.Position(key)) {
			if left--; !yield(r.Name(node)) || left == 0 {
				return
			}
		}
	}
}

// distinctPoints yields the owners of tokens clockwise from pos, and of equal tokens only that which owns them.
func distinctPoints(r *hashring.Ring, pos uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		before, any := uint64(0), false
		for token, node := range r.TokensFrom(pos) {
			if any && token == before {
				continue
			}
			if before, any = token, true; !yield(node) {
				return
			}
		}
	}
}
