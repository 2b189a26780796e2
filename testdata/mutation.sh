#!/bin/sh
# Changes one operator after the other in the files that place keys, and sees whether a test notices, in half an hour. What
# docs/testing.md says of those that nobody notices is from here.
#
# gremlins gives a run of the tests a multiple of the time that they took it without a change. So nothing here may be in the
# cache, and only this package is there: it would wait for the tests of all.
set -eu
gremlins="go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash --workers 1 --timeout-coefficient 8
	--invert-logical --invert-loopctrl --invert-assignments --invert-bitwise --remove-self-assignments"
repo=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GOCACHE="$dir/cache"

# mutate DIR FILE TESTS: the tests are those that can notice, so that one change takes seconds.
mutate() {
	others=$(cd "$1" && find . -maxdepth 1 -name '*.go' ! -name '*_test.go' ! -name "$2.go" | sed 's/^\.\///; s/\.go$//' | paste -sd'|' -)
	go clean -testcache
	echo "== $1/$2.go"
	GOFLAGS="-short -vet=off -run=$3" $gremlins -E / -E "^($others)\.go" "$1" | grep -v KILLED
}

git -C "$repo" archive HEAD | tar -x -C "$dir"
cd "$dir"
for file in bounded bounds partition; do
	mutate ./balance "$file" .
done
rm -r antientropy balance bench cmd compat examples feed gossip internal/history api_test.go documents_test.go docs/*_test.go
while read -r file tests; do
	mutate . "$file" "$tests" </dev/null
done <<'END'
search Arrange|Merge|Locate|Index|SmallWorld|Model|Walks
circle Arrange|Merge|Locate|Index|SmallWorld|SizeOf|ChangeOfZone|BytesPerToken
ring Model|SmallWorld|Order|Equal|Zero|Empty|Invalid|Errors|MaxTokens|Tokens|Alias|Same|String|Options|Placement|Fault|Fuzz
vnode Model|SmallWorld|MaxTokens|TokenCount|Placement|Native|Weight|Vectors
replicas Model|SmallWorld|Walks|SizeOf|Alloc|Replica
spread Spread|SmallWorld|Model|Walks|Alloc
range Range|Share|Interval|Ownership|Diff|SmallWorld|Split
sweep Diff|Summary|SmallWorld|Ownership|Shared
diff Diff|Summary|SmallWorld
diffreplicas Diff|Summary|SmallWorld
ownership Ownership|VirtualNodes|Theory|Summary|SmallWorld
encode Encod|Decode|Fingerprint|Golden|Unmarshal|Damaged
transition Transition
split Split
shared Shared
END
