// Package clients holds the tests of compat with what it must not depend on: its drop-in types with go-redis and gomemcache,
// against redis-server and memcached, and its rules with the Go libraries that they are from, groupcache and
// serialx/hashring. It is a module of its own, and never tagged.
package clients
