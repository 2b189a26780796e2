package seed

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	t.Setenv("HASHRING_SEED", "")
	require.Equal(t, Of(t), Of(t))
	require.Equal(t, Random(t).Uint64(), Random(t).Uint64())
	t.Setenv("HASHRING_SEED", "7")
	require.Equal(t, uint64(7), Of(t))
	t.Setenv("HASHRING_SEED", "random")
	require.NotEqual(t, Of(t), Of(t)) // but for one run in 2^64
}

func TestRounds(t *testing.T) {
	want := func(whole, short int) int {
		if testing.Short() {
			return short
		}
		return whole
	}
	t.Setenv("HASHRING_SOAK", "")
	require.Equal(t, want(50, 5), Rounds(t, 50))
	require.Equal(t, want(7, 1), Rounds(t, 7))
	require.Equal(t, 1, Soak(t))
	t.Setenv("HASHRING_SOAK", "100")
	require.Equal(t, want(700, 70), Rounds(t, 7))
	require.Equal(t, 100, Soak(t))
	for _, bad := range []string{"0", "-1", "1.5", "much", "1048576"} {
		t.Setenv("HASHRING_SOAK", bad)
		require.True(t, fails(func(t testing.TB) { Soak(t) }), bad)
	}
	t.Setenv("HASHRING_SEED", "much")
	require.True(t, fails(func(t testing.TB) { Of(t) }))
}

// fails reports whether f ends its test, which is one of its own, by Fatalf.
func fails(f func(testing.TB)) bool {
	r := &refusal{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.fatal
}

// refusal is a test that notes Fatalf, and prints nothing.
type refusal struct {
	testing.TB
	fatal bool
}

func (r *refusal) Helper()             {}
func (r *refusal) Logf(string, ...any) {}
func (r *refusal) Fatalf(string, ...any) {
	r.fatal = true
	runtime.Goexit()
}
