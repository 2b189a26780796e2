#!/bin/sh
# Runs the first Go program of README.md in a module of its own, pointed at this checkout as README.md says, and
# compares what it prints with the block that follows it.
set -eu
repo=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
block() { # block N: the contents of the Nth fenced block
	awk -v want="$1" '/^```/ { if (on) { on = 0; if (n == want) exit } else { on = 1; n++ } next } on && n == want' "$repo/README.md"
}
block 1 >"$dir/main.go"
block 2 >"$dir/want"
cd "$dir"
go mod init example.com/newcomer
go mod edit -require=github.com/clockwise-go/hashring@v0.0.0 -replace=github.com/clockwise-go/hashring="$repo"
go mod tidy
go run . >got
diff want got
echo "README.md prints what it says"
