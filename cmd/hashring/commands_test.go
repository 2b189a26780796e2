package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

// TestCommandsGolden runs commands but sim, which TestGolden runs, on good input.
func TestCommandsGolden(t *testing.T) {
	const few = "-nodes a,b,c -vnodes 2"
	for _, tc := range []struct {
		name, stdin, args string
	}{
		{"owner", "", "owner -file testdata/nodes.txt user:1 user:2 user:3"},
		{"owner-spread", "user:1\r\n\nuser:\t2\nuser:\xff\nuser:\"4\"", "owner -file testdata/nodes.txt -replicas 3 -spread"},
		{"owner-json", "user:1\nuser:<2>\nuser:\xff\n", "owner -file testdata/nodes.txt -replicas 9 -json -keys -"},
		{"owner-dash", "", "owner -n 3 -hash md5 -- -h -n"},
		{"owner-as", "", "owner -as haproxy,hash=djb2 -nodes a,b,c -replicas 2 user:1 user:2 user:3"},
		{"check", "", "check -as nginx -file testdata/nginx.txt -vectors testdata/nginx.json"},
		{"check-json", "user:1\tcache-d\tcache-e\n\n\"user:\\xff\"\tcache-d\n", "check -file testdata/nodes.txt -json -vectors -"},
		{"diff", "", "diff -keys testdata/paths.txt testdata/nodes.txt testdata/new.txt"},
		{"diff-json", "user:1\nuser:2\nuser:3\n", "diff -keys - -json testdata/nodes.txt testdata/new.txt"},
		{"diff-same", "", "diff testdata/nodes.txt testdata/nodes.txt"},
		{"diff-moves", "a\nb\nc\n", "diff -vnodes 2 -moves testdata/nodes.txt -"},
		{"diff-replicas", "", "diff -vnodes 2 -replicas 2 -spread -moves testdata/nodes.txt testdata/new.txt"},
		{"diff-replicas-json", "cache-a\ncache-z 0.5 eu-3\n", "diff -vnodes 1 -replicas 2 -moves -json - testdata/nodes.txt"},
		{"diff-from-nobody", "", "diff -moves -vnodes 1 -keys testdata/nodes.txt - testdata/nodes.txt"},
		{"plan", "", "plan -file testdata/nodes.txt -join cache-f -joinweight 2 -leave cache-d -double cache-e"},
		{"plan-json", "", "plan " + few + " -json -replicas 2"},
		{"plan-many", "", "plan -n 20 -peak 1.1 -confidence 0.9 -replicas 3 -spread"},
		{"plan-one", "", "plan -n 1"},
		{"plan-nobody", "", "plan -n 0"},
		{"plan-nobody-json", "", "plan -n 0 -json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := hashringRun(tc.stdin, strings.Fields(tc.args)...)
			require.Empty(t, stderr)
			require.Equal(t, exitOK, status)
			require.NotContains(t, stdout, "NaN")
			require.NotContains(t, stdout, "Inf")
			for line := range strings.Lines(stdout) {
				require.LessOrEqual(t, utf8.RuneCountInString(line), 150)
				require.Equal(t, strings.TrimRight(line, " \n"), strings.TrimSuffix(line, "\n"), "spaces at the end")
			}
			requireGolden(t, tc.name+".golden", stdout)
		})
	}
}

// TestCommandsBadInput checks that every problem is reported, where it is, and that nothing is printed.
func TestCommandsBadInput(t *testing.T) {
	_, missing := os.Open("testdata/missing.txt")
	require.Error(t, missing)
	gone := "hashring: " + missing.Error() + "\n"
	for _, tc := range []struct {
		name, stdin, args string
		status            int
		stderr            string
	}{
		{"owner without nodes", "", "owner k", 2, "hashring owner: there are no nodes: give -file, -nodes or -n\n"},
		{"owner of nothing", "", "owner -n 0 k", 2, "hashring owner: there are no nodes, so nothing owns a key\n"},
		{"owner late flags", "", "owner -n 3 k -json -", 2,
			"hashring owner: \"-json\" comes after a key; flags come first, and \"--\" before a key that looks like one\n"},
		{"owner flags", "", "owner -n 3 -replicas 0 -vnodes 0 -hash x -keys f k", 2, "-replicas: 0 is less than 1\n" +
			"-vnodes: 0 is less than 1\n-hash: \"x\" is none of xxh64, murmur3, fnv1a, sha256, md5, crc32\n" +
			"hashring owner: give keys as arguments or by -keys, not both\n"},
		{"owner stdin twice", "", "owner -file -", 2, "hashring owner: nodes and keys cannot both come from standard input\n"},
		{"owner bad nodes", "a 0\n", "owner -file - k", 2, "stdin:1: weight 0 is not greater than 0; to drain a node, remove it\n"},
		{"owner no files", "", "owner -file testdata/missing.txt -keys testdata/missing.txt", 1, gone + gone},

		{"owner as", "", "owner -as nignx,x=1 -hash md5 -vnodes 1 -n 3 k", 2, "-hash: the program of -as decides that\n-vnodes: the program of -as decides that\n" +
			"-as: no program \"nignx\", but buraksezer-0.10, buraksezer-1, cache-memcached-fast, dubbo, envoy, groupcache, grpc, haproxy, " +
			"libketama, libmemcached, nginx, serialx, serialx-2019, stathat, twemproxy, uhashring, uhashring-ketama\n"},
		{"owner as with weights", "a 1\nb 1.5\nc 2.5\n", "owner -as nginx -file - k", 2,
			"stdin:2: node \"b\": invalid node: weight 1.5 is not a whole number from 1 to 2147483647, as nginx takes\n" +
				"stdin:3: node \"c\": invalid node: weight 2.5 is not a whole number from 1 to 2147483647, as nginx takes\n"},
		{"check flags", "", "check -n 3 z", 2, "hashring check: \"z\" is not a flag, and nothing else is expected\n" +
			"hashring check: there are no answers: give -vectors\n"},
		{"check stdin twice", "", "check -file - -vectors -", 2, "hashring check: nodes and answers cannot both come from standard input\n"},
		{"check no file", "", "check -n 1 -vectors testdata/missing.txt", 1, gone},
		{"check without answers", "\n", "check -n 1 -vectors -", 2, "-vectors: there are no answers in stdin\n"},
		{"check lines", "a node-0\n\"a\tnode-0\nk\tnode-9\nl\tnode-9\n", "check -n 1 -vectors -", 2, "stdin:1: there is no tab between a key and its node\n" +
			"stdin:2: the key \"a is not quoted as in Go\n-vectors: key \"k\" is on \"node-9\", which is none of the nodes\n"},
		{"check JSON of something else", "{\"a\": 1}", "check -n 1 -vectors -", 2, "stdin: json: cannot unmarshal number into Go value of type string\n"},
		{"check JSON cut off", "{\"a\": \"node-0\"", "check -n 1 -vectors -", 2, "stdin: unexpected EOF\n"},
		{"check JSON and more", "{\"a\": \"node-0\"} {}", "check -n 1 -vectors -", 2, "stdin: more follows the object\n"},

		{"diff without files", "", "diff", 2, "hashring diff: there are 0 files, not two, OLD and NEW\n"},
		{"diff of one file", "", "diff -keys testdata/missing.txt a", 2, "hashring diff: there are 1 file, not two, OLD and NEW\n" + gone},
		{"diff late flags", "", "diff a b -json", 2, "hashring diff: \"-json\" comes after a file; flags come first, " +
			"and \"--\" before a file that looks like one\nhashring diff: there are 3 files, not two, OLD and NEW\n"},
		{"diff stdin twice", "", "diff - -", 2, "hashring diff: both files cannot come from standard input\n"},
		{"diff stdin for keys", "a\n", "diff -keys - testdata/nodes.txt -", 2, "hashring diff: nodes and keys cannot both come from standard input\n"},
		{"diff bad nodes", "a\na\n", "diff -replicas -1 -vnodes 0 testdata/missing.txt -", 2,
			"-replicas: -1 is less than 1\n-vnodes: 0 is less than 1\n" + gone + "stdin:2: node \"a\" is on line 1 already\n"},
		{"diff too many", "a 1e6\n", "diff testdata/nodes.txt -", 2, "stdin:1: node \"a\": too many tokens: with its tokens there are more than 16777216\n"},

		{"plan flags", "", "plan -n 2 -peak 1 -confidence 1 -replicas 0 -joinweight 0 -join node-1 -leave x -double y z", 2,
			"hashring plan: \"z\" is not a flag, and nothing else is expected\n-peak: 1 is not above 1 and finite\n" +
				"-confidence: 1 is not between 0 and 1\n-replicas: 0 is less than 1\n" +
				"-joinweight: weight 0 is not greater than 0; to drain a node, remove it\n" +
				"-join: \"node-1\" is one of the nodes; give the one that joins another name\n" +
				"-leave: there is no node \"x\"\n-double: there is no node \"y\"\n"},
		{"plan no numbers", "", "plan -n 2 -peak NaN -confidence NaN", 2,
			"-peak: NaN is not above 1 and finite\n-confidence: NaN is not between 0 and 1\n"},
		{"plan infinite peak", "", "plan -n 2 -peak Inf -confidence 0", 2,
			"-peak: +Inf is not above 1 and finite\n-confidence: 0 is not between 0 and 1\n"},
		{"plan peak out of reach", "", "plan -n 2 -peak 1.000001", 2,
			"-peak: too many tokens: 2 nodes would need more than 1073741823 for a peak of 1.000001\n"},
		{"plan join too large", "", "plan -n 2 -joinweight 200000", 2,
			"-join: node \"joiner\": too many tokens: with its tokens there are more than 16777216\n"},

		{"bench flags", "", "bench -n 2 -replicas 0 -time 0 -vnodes 0 z", 2, "hashring bench: \"z\" is not a flag, and nothing else is expected\n" +
			"-replicas: 0 is less than 1\n-time: 0s is not between 1ms and 1h\n-vnodes: 0 is less than 1\n"},
		{"bench no time", "", "bench -time 5", 2, "hashring bench: invalid value \"5\" for flag -time: parse error\nRun 'hashring bench -h' for usage.\n"},
		{"bench of nothing", "", "bench -n 0", 2, "hashring bench: there are no nodes to look up\n"},
		{"bench without keys", "\n\n", "bench -n 1 -keys -", 2, "-keys: there are no keys in -\n"},
		{"bench stdin twice", "", "bench -file - -keys -", 2,
			"hashring bench: nodes and keys cannot both come from standard input\n"},
		{"bench no keys file", "", "bench -n 1 -keys testdata/missing.txt", 1, gone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := hashringRun(tc.stdin, strings.Fields(tc.args)...)
			require.Equal(t, tc.stderr, stderr)
			require.Equal(t, tc.status, status)
			require.Empty(t, stdout)
		})
	}
}

// TestBench runs bench against a clock that goes on by a quarter of a second each time that it is read, whatever has been
// done meanwhile.
func TestBench(t *testing.T) {
	m := Machine{"go9.9", "plan9", "mips", 1}
	for _, tc := range []struct{ name, stdin, args string }{
		{"bench", "", "-file testdata/nodes.txt"},
		{"bench-json", "one\ntwo\n", "-n 3 -keys - -replicas 1 -time 2s -json"},
	} {
		var out, err bytes.Buffer
		now := time.Unix(0, 0)
		clock := func() time.Time { now = now.Add(250 * time.Millisecond); return now }
		std := streams{strings.NewReader(tc.stdin), &out, &err}
		require.Equal(t, exitOK, bench(strings.Fields(tc.args), std, m, clock))
		require.Empty(t, err.String())
		requireGolden(t, tc.name+".golden", out.String())
	}
}

// TestNsPerOp measures an operation that takes 3 ms by the clock, each third run 1 ms more.
func TestNsPerOp(t *testing.T) {
	now := time.Unix(0, 0)
	runs := 0
	run := func(n int) {
		now = now.Add(time.Duration(n) * 3 * time.Millisecond)
		if runs++; runs%3 == 0 {
			now = now.Add(time.Millisecond)
		}
	}
	require.Equal(t, 3e6, nsPerOp(run, time.Second, func() time.Time { return now }))
	require.Greater(t, runs, benchRuns)
	require.Less(t, now.Sub(time.Unix(0, 0)), 2*time.Second)
}

// TestCommandsReadFails checks that what was read until an error is not taken for all there is. Owner has printed what it
// looked up by then; it never prints the line that was cut short.
func TestCommandsReadFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, tc := range []struct{ args, stdout string }{
		{"owner -n 1", "a\tnode-0\nb\tnode-0\n"},
		{"owner -file - k", ""},
		{"diff -keys - testdata/nodes.txt testdata/new.txt", ""},
		{"diff testdata/nodes.txt -", ""},
		{"plan -file -", ""},
		{"bench -n 1 -keys -", ""},
	} {
		var out, err bytes.Buffer
		in := iotest.DataErrReader(&failing{strings.NewReader("a\nb\nc"), broken})
		require.Equal(t, exitFailure, run(strings.Fields(tc.args), in, &out, &err), tc.args)
		require.Equal(t, "hashring: the disk is on fire\n", err.String(), tc.args)
		require.Equal(t, tc.stdout, out.String(), tc.args)
	}
}

// failing is a reader that ends with an error.
type failing struct {
	*strings.Reader
	err error
}

func (r *failing) Read(p []byte) (int, error) {
	if r.Len() == 0 {
		return 0, r.err
	}
	return r.Reader.Read(p)
}

func TestCommandsWriteFails(t *testing.T) {
	long := strings.Repeat("k\n", 9000)
	for _, args := range []string{
		"owner -n 2", "owner -n 2 -json", "owner -n 2 k", "plan -n 2", "plan -n 2 -json",
		"diff testdata/nodes.txt testdata/new.txt", "diff -json testdata/nodes.txt testdata/new.txt",
	} {
		var err bytes.Buffer
		status := run(strings.Fields(args), strings.NewReader(long), brokenWriter{errors.New("the pipe is closed")}, &err)
		require.Equal(t, exitFailure, status, args)
		require.Equal(t, "hashring: the pipe is closed\n", err.String(), args)
	}
}

// TestOwnerAgreesWithTheRing compares what owner prints with what the ring says, of keys of any bytes.
func TestOwnerAgreesWithTheRing(t *testing.T) {
	r := mustRing(t, numberedNodes(5).nodes, nil)
	keys := []string{"a", "\t", "\x00", "\xff\xfe", "ü", `"`, "<script>", strings.Repeat("x", 1<<17)}
	_, stdout, stderr := hashringRun(strings.Join(keys, "\n"), "owner", "-n", "5", "-replicas", "3", "-json")
	require.Empty(t, stderr)
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	for _, key := range keys {
		var o Owners
		require.NoError(t, dec.Decode(&o))
		require.Equal(t, utf8.ValidString(key), o.Key != nil)
		got := string(o.Key64)
		if o.Key != nil {
			got = *o.Key
		}
		require.Equal(t, key, got)
		require.Equal(t, r.Position(key), o.Position)
		require.Equal(t, r.AppendReplicas(nil, key, 3), o.Nodes)
	}
	require.False(t, dec.More())
}

// TestDiffReport checks that the shares of a report add up, and that no node that stays as it is gives to another.
func TestDiffReport(t *testing.T) {
	_, stdout, _ := hashringRun("", strings.Fields("diff -json -moves -replicas 3 -keys testdata/paths.txt testdata/nodes.txt testdata/new.txt")...)
	var rep DiffReport
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&rep))

	sum, keys := 0.0, int64(0)
	for _, f := range rep.Flows {
		sum += f.Circle
		keys += *f.Keys
	}
	require.InDelta(t, rep.Moved, sum, 1e-7)
	require.Equal(t, rep.Keys.Moved, keys)
	require.Zero(t, rep.Others)
	var exact hashring.Share
	for _, m := range rep.Moves {
		exact = exact.Add(hashring.Range{After: m.After, Through: m.Through}.Share())
	}
	require.InDelta(t, rep.Moved, exact.Fraction(), 1e-9)
	gains, loses := 0.0, 0.0
	for _, n := range rep.Replicas.Nodes {
		gains += n.Gains
		loses += n.Loses
	}
	require.InDelta(t, gains, loses, 1e-7, "as many replicas as before")
	require.InDelta(t, rep.Replicas.Copied, gains, 1e-7)
}

// TestOthersCounts checks that the share that is always 0 is added up: under names that differ all moves are others'.
func TestOthersCounts(t *testing.T) {
	f := newDiffFlags()
	_, done := f.parse([]string{"a", "b"}, "", streams{})
	require.False(t, done)
	a := mustRing(t, []hashring.Node{{Name: "a", Tokens: []uint64{1}}, {Name: "b", Tokens: []uint64{1 << 63}}}, nil)
	b := mustRing(t, []hashring.Node{{Name: "a", Tokens: []uint64{1 << 62}}, {Name: "b", Tokens: []uint64{1 << 63}}}, nil)
	rep, err := f.diff(a, b, nil)
	require.NoError(t, err)
	require.Empty(t, rep.Nodes, "they have the same weights and zones")
	require.Equal(t, 0.25, rep.Others)
}

// TestCheckDiffers checks that answers which are not those of the ring are counted, shown, and told by the status.
func TestCheckDiffers(t *testing.T) {
	status, stdout, stderr := hashringRun("", "check", "-file", "testdata/nginx.txt", "-vectors", "testdata/nginx.json")
	require.Equal(t, exitDiffers, status)
	require.Empty(t, stderr)
	requireGolden(t, "check-differs.golden", stdout)
	status, stdout, _ = hashringRun("\"\\x01\"\tnode-0\n\"\\x01\"\tnode-1\n", "check", "-n", "2", "-json", "-vectors", "-")
	require.Equal(t, exitDiffers, status)
	require.Contains(t, stdout, `"key": "\"\\x01\""`)
}

// TestCheckTakesWhatOwnerPrints checks that the lines of owner are answers with which check agrees, whatever is in a key.
func TestCheckTakesWhatOwnerPrints(t *testing.T) {
	keys := "a\n\"b\"\n\"\\x01\"\nc\td\n\xff\n\x01\n"
	status, lines, _ := hashringRun(keys, "owner", "-n", "5", "-replicas", "2")
	require.Equal(t, exitOK, status)
	status, stdout, stderr := hashringRun(lines, "check", "-n", "5", "-vectors", "-")
	require.Empty(t, stderr)
	require.Equal(t, exitOK, status)
	require.Equal(t, "6 of 6 keys agree\n", stdout)
}
