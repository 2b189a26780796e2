package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/clockwise-go/hashring/cmd/hashring/testdata/accesslog"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the files in testdata that the tests compare with")

// hashringRun runs the program on standard input, if that is text, and returns what it did.
func hashringRun(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// requireGolden checks that got is what the file in testdata has.
func requireGolden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s; if that is meant, run the tests with -update", file)
}

func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		name, stdin, args string
	}{
		{"paths", "", "-file testdata/nodes.txt -keys testdata/paths.txt"},
		{"unique", "", "-file testdata/nodes.txt -keys testdata/paths.txt -unique -hash murmur3"},
		{"json", "", "-file testdata/nodes.txt -keys testdata/paths.txt -json"},
		{"changes", "", "-file testdata/nodes.txt -generate 5000 -join cache-f -joinweight 0.5 -leave cache-d -double cache-e -vnodes 40"},
		{"flat", "", "-n 10 -generate 20000"},
		{"stdin", "one\r\ntwo\n\nthree", "-nodes a,b,c -keys -"},
		{"one-node", "", "-n 1 -generate 1000"},
		{"one-token", "", "-n 1 -vnodes 1 -generate 1000"},
		{"rounded", "# 0.1 and 10.1 tokens\na 0.01\nb 1.01\n", "-file - -vnodes 10 -generate 1000"},
		{"no-keys", "", "-file testdata/nodes.txt -keys -"},
		{"no-keys-json", "", "-nodes a,b -generate 0 -json"},
		{"no-nodes", "# nobody\n", "-file - -generate 1000"},
		{"no-nodes-json", "", "-n 0 -generate 1000 -json"},
		{"nothing", "", "-n 0 -keys -"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := hashringRun(tc.stdin, append([]string{"sim"}, strings.Fields(tc.args)...)...)
			require.Empty(t, stderr)
			require.Equal(t, exitOK, status)
			require.NotContains(t, stdout, "NaN")
			require.NotContains(t, stdout, "Inf")
			for line := range strings.Lines(stdout) {
				require.LessOrEqual(t, utf8.RuneCountInString(line), 101)
				require.Equal(t, strings.TrimRight(line, " \n"), strings.TrimSuffix(line, "\n"), "spaces at the end")
			}
			requireGolden(t, tc.name+".golden", stdout)
		})
	}
}

// TestPaths checks that the keys are those that testdata/mkpaths makes.
func TestPaths(t *testing.T) {
	var log, paths bytes.Buffer
	require.NoError(t, accesslog.Write(&log, 20_000))
	require.NoError(t, accesslog.Paths(&paths, &log))
	require.Equal(t, 20_000, strings.Count(paths.String(), "\n"))
	requireGolden(t, "paths.txt", paths.String())
}

// TestBadInput checks that every problem is reported, where it is, and that nothing is printed.
func TestBadInput(t *testing.T) {
	_, missing := os.Open("testdata/missing.txt")
	require.Error(t, missing)
	const usage = "Run 'hashring sim -h' for usage.\n"
	for _, tc := range []struct {
		name, stdin, args string
		status            int
		stderr            string
	}{
		{"no nodes given", "", "", 2, "hashring sim: there are no nodes: give -file, -nodes or -n\n"},
		{"nodes twice", "", "-n 3 -nodes a,b", 2, "hashring sim: give only one of -file, -nodes and -n\n"},
		{"a count for -nodes", "", "-nodes 10", 2, "-nodes: this is a list of names, not a count; for 10 nodes use -n 10\n"},
		{"empty -nodes", "", "-nodes=", 2, "-nodes: name 1 of the list is empty\n"},
		{"bad -nodes", "", "-nodes a,,b,a,\x01,\xff", 2, "-nodes: name 2 of the list is empty\n" +
			"-nodes: node \"a\" is in the list more than once\n" +
			"-nodes: the name \"\\x01\" has control characters\n-nodes: the name \"\\xff\" is not UTF-8\n"},
		{"negative counts", "", "-n -1 -generate -2 -vnodes -3", 2,
			"-vnodes: -3 is less than 1\n-n: -1 is not between 0 and 16777216\n-generate: -2 is less than 0\n"},
		{"too many nodes", "", "-n 16777217", 2, "-n: 16777217 is not between 0 and 16777216\n"},
		{"written-out zero", "", "-n 3 -vnodes 0 -joinweight 0", 2,
			"-vnodes: 0 is less than 1\n-joinweight: weight 0 is not greater than 0; to drain a node, remove it\n"},
		{"hash", "", "-n 3 -hash XXH64", 2, "-hash: \"XXH64\" is none of xxh64, murmur3, fnv1a, sha256, md5, crc32\n"},
		{"keys twice", "", "-n 3 -keys - -generate 5", 2, "hashring sim: give only one of -keys and -generate\n"},
		{"stdin twice", "", "-file - -keys -", 2, "hashring sim: nodes and keys cannot both come from standard input\n"},
		{"changes", "", "-nodes a,b -join b -leave c -double d", 2,
			"-join: \"b\" is one of the nodes; give the one that joins another name\n" +
				"-leave: there is no node \"c\"\n-double: there is no node \"d\"\n"},
		{"join without a name", "", "-nodes a -join= -leave=", 2, "-join: the name is empty\n-leave: there is no node \"\"\n"},
		{"unprintable join", "", "-nodes a -join \x1b[2J", 2, "-join: the name \"\\x1b[2J\" has control characters\n"},
		{"default joiner", "joiner\n", "-file -", 2, "-join: \"joiner\" is one of the nodes; give the one that joins another name\n"},
		{"leave of nobody", "", "-n 0 -leave a", 2, "-leave: there is no node \"a\"\n"},
		{"arguments", "", "-n 3 b c", 2,
			"hashring sim: \"b\" is not a flag, and nothing else is expected\n" +
				"hashring sim: \"c\" is not a flag, and nothing else is expected\n"},
		{"unknown flag", "", "-count 3", 2, "hashring sim: flag provided but not defined: -count\n" + usage},
		{"no number", "", "-n x", 2, "hashring sim: invalid value \"x\" for flag -n: parse error\n" + usage},

		{"nodes file", "a\nb 0\na 2\nc -1 z\nd nan\ne east\n  # f\ng 1 z y # w\nh 1e999\ni 1e-400\n\x01 1 \xff\nj 1e10", "-file -", 2,
			"stdin:2: weight 0 is not greater than 0; to drain a node, remove it\n" +
				"stdin:3: node \"a\" is on line 1 already\n" +
				"stdin:4: weight -1 is not greater than 0; to drain a node, remove it\n" +
				"stdin:5: weight \"nan\" is not a number\n" +
				"stdin:6: weight \"east\" is not a number\n" +
				"stdin:8: there are 4 words on the line, which has the form \"name [weight [zone]]\"\n" +
				"stdin:9: weight 1e999 is not between 1e-9 and 1e9\n" +
				"stdin:10: weight 1e-400 is not greater than 0; to drain a node, remove it\n" +
				"stdin:11: the name \"\\x01\" has control characters\n" +
				"stdin:11: the zone \"\\xff\" is not UTF-8\n" +
				"stdin:12: weight 1e10 is not between 1e-9 and 1e9\n"},
		{"17 problems", strings.Repeat("a 0\n", 9), "-file -", 2, func() string {
			s := "stdin:1: weight 0 is not greater than 0; to drain a node, remove it\n"
			for _, n := range []string{"2", "3", "4", "5", "6", "7", "8"} {
				s += "stdin:" + n + ": node \"a\" is on line 1 already\n"
				s += "stdin:" + n + ": weight 0 is not greater than 0; to drain a node, remove it\n"
			}
			return s + "stdin:9: node \"a\" is on line 1 already\nand 1 more problem\n"
		}()},
		{"many problems", strings.Repeat("a b c d\n", 100), "-file - -leave a", 2, func() string {
			s := "stdin:1: there are 4 words on the line, which has the form \"name [weight [zone]]\"\n"
			for _, n := range []string{"2", "3", "4", "5", "6", "7", "8"} {
				s += "stdin:" + n + ": there are 4 words on the line, which has the form \"name [weight [zone]]\"\n"
				s += "stdin:" + n + ": node \"a\" is on line 1 already\n"
			}
			return s + "stdin:9: there are 4 words on the line, which has the form \"name [weight [zone]]\"\nand 183 more problems\n"
		}()},
		{"too many tokens", "a\n\nb 1e6\n", "-file -", 2,
			"stdin:3: node \"b\": too many tokens: with its tokens there are more than 16777216\n"},
		{"too many when one joins", "", "-nodes a -joinweight 200000", 2,
			"-join: node \"joiner\": too many tokens: with its tokens there are more than 16777216\n"},

		{"no keys file", "", "-n 3 -keys testdata/missing.txt", 1, "hashring: " + missing.Error() + "\n"},
		{"no nodes file", "", "-file testdata/missing.txt -leave x", 1, "hashring: " + missing.Error() + "\n"},
		{"no files, bad flag", "", "-file testdata/missing.txt -keys testdata/missing.txt -joinweight no", 2,
			"-joinweight: weight \"no\" is not a number\nhashring: " + missing.Error() + "\nhashring: " + missing.Error() + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := hashringRun(tc.stdin, append([]string{"sim"}, strings.Fields(tc.args)...)...)
			require.Equal(t, tc.stderr, stderr)
			require.Equal(t, tc.status, status)
			require.Empty(t, stdout)
		})
	}
}

// TestReadFails checks that what was read until an error is not taken for all there is.
func TestReadFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, args := range [][]string{
		{"sim", "-n", "3", "-keys", "-"},
		{"sim", "-file", "-", "-leave", "c"},
	} {
		var out, err bytes.Buffer
		in := io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken))
		require.Equal(t, exitFailure, run(args, in, &out, &err))
		require.Equal(t, "hashring: the disk is on fire\n", err.String())
		require.Empty(t, out.String())
	}
}

type brokenWriter struct{ error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w }

func TestWriteFails(t *testing.T) {
	for _, format := range []string{"-json", "-json=false"} {
		var err bytes.Buffer
		status := run([]string{"sim", "-n", "2", "-generate", "9", format}, nil, brokenWriter{errors.New("the pipe is closed")}, &err)
		require.Equal(t, exitFailure, status)
		require.Equal(t, "hashring: the pipe is closed\n", err.String())
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"-h", "help", "--help", "-help"} {
		status, stdout, stderr := hashringRun("", args)
		require.Equal(t, exitOK, status)
		require.Empty(t, stderr)
		for _, c := range commands {
			require.Contains(t, stdout, "\n  "+c.name+" ")
		}
	}
	for _, c := range commands {
		for _, args := range []string{c.name + " -h", c.name + " -vnodes 3 --help", "help " + c.name} {
			status, stdout, stderr := hashringRun("", strings.Fields(args)...)
			require.Equal(t, exitOK, status)
			require.Empty(t, stderr)
			require.Equal(t, c.usage, stdout)
		}
	}

	status, stdout, stderr := hashringRun("")
	require.Equal(t, exitInput, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "Usage:")

	status, stdout, stderr = hashringRun("", "simulate")
	require.Equal(t, exitInput, status)
	require.Empty(t, stdout)
	require.Equal(t, "hashring: there is no command \"simulate\"\nRun 'hashring -h' for the commands.\n", stderr)
}

// TestUsageIsComplete checks that each usage has every flag with its default and no other, an example, and short lines.
func TestUsageIsComplete(t *testing.T) {
	sets := map[string]*flags{"sim": newSimFlags().flags, "owner": newOwnerFlags().flags,
		"check": newCheckFlags().flags, "diff": newDiffFlags().flags,
		"plan": newPlanFlags().flags, "plot": newPlotFlags().flags, "serve": newServeFlags().flags, "bench": newBenchFlags().flags}
	for _, c := range commands {
		require.Contains(t, sets, c.name)
		require.Contains(t, c.usage, "\n  hashring "+c.name+" [flags]")
		require.Contains(t, c.usage, "\nFor example:\n\n  ")
		described := make(map[string]string)
		for line := range strings.Lines(c.usage) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 107, line)
			if rest, ok := strings.CutPrefix(line, "  -"); ok {
				described[strings.Fields(rest)[0]] = line
			}
		}
		sets[c.name].VisitAll(func(f *flag.Flag) {
			require.Contains(t, described, f.Name)
			switch f.DefValue {
			case "", "0", "false":
			default:
				require.Contains(t, described[f.Name], "(default "+f.DefValue)
			}
			delete(described, f.Name)
		})
		require.Empty(t, described)
	}
}
