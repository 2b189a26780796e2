package hashring_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compilerSays returns what the compiler prints about the package under the given flags.
func compilerSays(t *testing.T, flags string) string {
	t.Helper()
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("asks the compiler, of one architecture alone")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	out, err := exec.Command("go", "build", "-gcflags="+flags, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// What lies on the path of a lookup and is inlined stays so. locate is not: it is beyond the compiler's budget, and
// OwnerAt and IndexAt, which are a call of it and little else, are worth more at their callers.
func TestInlining(t *testing.T) {
	says := compilerSays(t, "-m")
	for _, name := range []string{"(*Ring).OwnerAt", "(*Ring).IndexAt", "(*Ring).Position", "(*Live).Load", "(*circle).len", "setBit"} {
		require.Contains(t, says, "can inline "+name+"\n")
	}
}

// A lookup checks the bounds of the index, and once those of the tokens that it compares. In locate there is no other
// check, and no loop.
func TestBoundsChecksOfALookup(t *testing.T) {
	says := compilerSays(t, "-d=ssa/check_bce")
	var checks []string
	for line := range strings.Lines(says) {
		if strings.HasPrefix(line, "./search.go:") {
			_, check, _ := strings.Cut(line, ": ")
			checks = append(checks, strings.TrimSpace(check))
		}
	}
	require.Equal(t, []string{
		"Found IsInBounds", "Found IsSliceInBounds", // locate
		"Found IsInBounds", "Found IsSliceInBounds", "Found IsInBounds", // locateBehind
	}, checks)
}
