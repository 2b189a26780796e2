package bench

import (
	"unsafe"

	"github.com/authzed/consistent/hashring"
	"github.com/cespare/xxhash/v2"
)

// authzedPeer has the hash that its README recommends, XXH64. It has a lock of its own.
var authzedPeer = peer{
	name:   "authzed",
	kind:   ring,
	make:   func(nodes []string) placer { return newAuthzed(nodes) },
	shared: func(nodes []string) changer { return newAuthzed(nodes) },
	slow:   true,
}

type authzedMember string

func (m authzedMember) Key() string { return string(m) }

type authzed struct{ r *hashring.Ring }

func newAuthzed(nodes []string) changer {
	var a changer = authzed{hashring.MustNew(xxhash.Sum64, points)}
	for _, node := range nodes {
		a = a.With(node)
	}
	return a
}

// find takes a key in bytes without copying it, since the library's keys are bytes and its users have them so.
func (a authzed) find(key string, n int) []hashring.Member {
	return must(a.r.FindN(unsafe.Slice(unsafe.StringData(key), len(key)), uint8(n)))
}

func (a authzed) Owner(key string) string { return a.find(key, 1)[0].Key() }

func (a authzed) AppendReplicas(dst []string, key string, n int) []string {
	for _, m := range a.find(key, n) {
		dst = append(dst, m.Key())
	}
	return dst
}

func (a authzed) With(node string) changer {
	if err := a.r.Add(authzedMember(node)); err != nil {
		panic(err)
	}
	return a
}

func (a authzed) Without(node string) changer {
	if err := a.r.Remove(authzedMember(node)); err != nil {
		panic(err)
	}
	return a
}
