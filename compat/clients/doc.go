// Package clients holds the tests of compat's drop-in types with the clients that they are for: go-redis and gomemcache,
// against redis-server and memcached. It is a module of its own, so that nobody else depends on these, and is never tagged.
package clients
