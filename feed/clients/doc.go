// Package clients holds what feed must not depend on: sources of membership that need the clients of Kubernetes, etcd and
// Consul. They are for copying, and docs/membership.md shows them. It is a module of its own, and never tagged.
package clients
