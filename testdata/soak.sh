#!/bin/sh
# What CI does once, over and over with new random numbers, for some minutes on two cores: sh testdata/soak.sh 60. One
# lane runs the tests, plainly and under the race detector in turn, the other fuzzes each target and lets gossip live
# through random schedules. The first failure ends it. In the end it prints what was done, added up.
set -eu
minutes=$1
end=$(($(date +%s) + minutes * 60))
logs=$(mktemp -d)
export HASHRING_SEED=random
trap 'trap - EXIT INT TERM; kill 0' INT TERM

# run NAME COMMAND... keeps what the command prints, and tells the other lane if it fails.
run() {
	[ "$(date +%s)" -lt "$end" ] && [ ! -e "$logs/failed" ] || return 1
	log=$logs/$1.$(date +%s%N)
	shift
	if ! "$@" >"$log" 2>&1; then
		echo "$* fails:"
		tail -n 100 "$log"
		touch "$logs/failed"
		return 1
	fi
}

tests() {
	skip='^$' # at first nothing, then the small worlds, which are the same each time
	while
		for dir in . ./balance ./compat ./antientropy ./feed ./examples/...; do
			run test env HASHRING_SOAK=5 go test -count=1 -timeout 2h -skip "$skip" -v "$dir" || return 0
		done
		skip=SmallWorld
		for dir in . ./balance ./compat ./antientropy ./feed ./examples/...; do
			run race go test -race -shuffle=on -count=1 -timeout 2h -v "$dir" || return 0
		done
		(cd internal/history && run history env HASHRING_SOAK=20 go test -race -count=1 -v .) || return 0
	do :; done
}

fuzz() {
	while
		sh testdata/fuzztargets.sh >"$logs/targets"
		n=0
		while read -r dir target; do
			(cd "$dir" && run "fuzz-$target" go test -run '^$' -fuzz "^$target\$" -fuzztime 40s -fuzzminimizetime 10x -parallel 1 . </dev/null) || return 0
			[ $((n = (n + 1) % 3)) -ne 0 ] || (cd gossip && run gossip env GOSSIP_SCHEDULES=6 go test -run '^TestRandomSchedules$' -count=1 -timeout 2h -v . </dev/null) || return 0
		done <"$logs/targets"
	do :; done
}

tests &
fuzz &
wait

echo "in $minutes minutes on $(nproc) cores, with $(go version):"
echo "$(ls "$logs" | grep -c '^test\.') runs of the tests of a package, $(ls "$logs" | grep -c '^race\.') under the race detector"
# Lines that differ in their numbers alone are one line of sums.
grep -ho 'soak: .*' "$logs"/* | sed 's/^soak: //' | awk '{
	key = ""; at = 0
	for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { key = key "# "; numbers[++at] = $i } else key = key $i " "
	for (i = 1; i <= at; i++) sum[key, i] += numbers[i]
	keys[key]
} END {
	for (key in keys) {
		at = 0; out = ""; n = split(key, words, " ")
		for (i = 1; i <= n; i++) out = out (words[i] == "#" ? sprintf("%.0f", sum[key, ++at]) : words[i]) " "
		print out
	}
}' | sort -k 2
for target in $(ls "$logs" | sed -n 's/^fuzz-\(.*\)\..*/\1/p' | sort -u); do
	echo "$target: $(for log in "$logs/fuzz-$target".*; do sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$log" | tail -n 1; done | awk '{ n += $1 } END { print n + 0 }') executions"
done
[ ! -e "$logs/failed" ] || { echo "failed; the logs are in $logs"; exit 1; }
rm -r "$logs"
