#!/bin/sh
# Prints the directory and the name of every fuzz target, of the nested modules too.
cd "$(dirname "$0")/.."
grep -r --include='*_test.go' '^func Fuzz' . |
	sed -n 's|^\(.*\)/[^/]*_test\.go:func \(Fuzz[A-Za-z0-9]*\)(f \*testing\.F).*|\1 \2|p' | sort
