package page

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clockwise-go/hashring"
	"github.com/stretchr/testify/require"
)

func mustStart(t *testing.T, nodes ...hashring.Node) Start {
	t.Helper()
	for i := range nodes {
		if nodes[i].Weight == 0 {
			nodes[i].Weight = 1
		}
	}
	s, err := NewStart(nodes, 16, "xxh64")
	require.NoError(t, err)
	return s
}

// request sends a request to the page and returns what it answers.
func request(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:7373"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandlerServesThePage(t *testing.T) {
	h := Handler(mustStart(t, hashring.Nodes("a", "b")...), "127.0.0.1")
	for path, want := range map[string]struct{ kind, text string }{
		"/":         {"text/html; charset=utf-8", "<title>hashring</title>"},
		"/page.js":  {"text/javascript; charset=utf-8", "use strict"},
		"/page.css": {"text/css; charset=utf-8", ".c11{color:"},
		"/icon.svg": {"image/svg+xml", "<svg"},
		"/start":    {"application/json", `{"nodes":[{"name":"a","weight":1,"zone":""},{"name":"b","weight":1,"zone":""}],"virtualNodes":16,"hash":"xxh64","hashes":["xxh64",`},
	} {
		w := request(h, "GET", path, "")
		require.Equal(t, 200, w.Code, path)
		require.Equal(t, want.kind, w.Header().Get("Content-Type"), path)
		require.Contains(t, w.Body.String(), want.text, path)
	}
	for _, path := range []string{"/page.go", "/assets/", "/../page.go", "/index.html/"} {
		require.NotEqual(t, 200, request(h, "GET", path, "").Code, path)
	}
	require.Equal(t, 405, request(h, "GET", "/answer", "").Code)
	require.Equal(t, 405, request(h, "POST", "/start", "").Code)
}

// TestHandlerPolicy checks that every response, of errors too, forbids what the page does not need, and that the page has
// nothing in it that the policy forbids.
func TestHandlerPolicy(t *testing.T) {
	h := Handler(mustStart(t), "")
	for _, w := range []*httptest.ResponseRecorder{request(h, "GET", "/", ""), request(h, "GET", "/missing", ""),
		request(h, "POST", "/answer", "x"), request(h, "GET", "/", "", "Host", "evil.example")} {
		require.Equal(t, policy, w.Header().Get("Content-Security-Policy"))
		require.NotContains(t, policy, "unsafe")
		require.Contains(t, policy, "default-src 'none'")
		require.Contains(t, policy, "require-trusted-types-for 'script'")
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
		require.Equal(t, "same-origin", w.Header().Get("Cross-Origin-Resource-Policy"))
	}
	files, err := fs.Glob(assets, "assets/*")
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		text, err := assets.ReadFile(file)
		require.NoError(t, err)
		require.NotRegexp(t, regexp.MustCompile(`(?i)<style|<script>|\sstyle=|\son\w+=|javascript:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`), string(text), file)
		for _, url := range regexp.MustCompile(`https?://[^"' ]+`).FindAllString(string(text), -1) {
			require.Equal(t, "http://www.w3.org/2000/svg", url, "%s loads nothing from elsewhere", file)
		}
	}
}

// TestHandlerKnowsItsName checks that a foreign name that was made to point here, and a foreign page, get nothing.
func TestHandlerKnowsItsName(t *testing.T) {
	h := Handler(mustStart(t), "ring.example")
	for host, code := range map[string]int{
		"localhost": 200, "LOCALHOST:80": 200, "127.0.0.1": 200, "192.0.2.7:1": 200, "[::1]": 200, "[::1]:7373": 200,
		"ring.example": 200, "Ring.Example:8": 200,
		"": 421, "evil.example": 421, "evil.example:7373": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
	} {
		require.Equal(t, code, request(h, "GET", "/start", "", "Host", host).Code, host)
	}
	require.Equal(t, 421, request(Handler(mustStart(t), ""), "GET", "/", "", "Host", ":80").Code)
	const question = `{"nodes":[],"before":[],"virtualNodes":1,"hash":"xxh64","key":"","replicas":1,"spread":false}`
	require.Equal(t, 200, request(h, "POST", "/answer", question, "Content-Type", "application/json").Code)
	require.Equal(t, 403, request(h, "POST", "/answer", question, "Content-Type", "application/json", "Sec-Fetch-Site", "cross-site").Code)
}

func TestHandlerRefuses(t *testing.T) {
	h := Handler(mustStart(t), "")
	node := func(name, weight string) string {
		return fmt.Sprintf(`{"name":%q,"weight":%s,"zone":""}`, name, weight)
	}
	question := func(nodes, rest string) string { return `{"nodes":[` + nodes + `],` + rest + `}` }
	const rest = `"virtualNodes":16,"hash":"xxh64","key":"k","replicas":1`
	many := strings.TrimSuffix(strings.Repeat(node("n", "1")+",", maxNodes+1), ",")
	for _, tc := range []struct {
		name, body string
		code       int
		problems   []string
	}{
		{"no JSON", "x", 400, nil},
		{"nothing", "", 400, nil},
		{"another field", `{"nods":[]}`, 400, []string{`json: unknown field "nods"`}},
		{"a weight out of range", question(node("a", "1e400"), rest), 400, nil},
		{"too long", question(node(strings.Repeat("x", maxQuestion), "1"), rest), 413, []string{"http: request body too large"}},
		{"weights", question(node("a", "0")+","+node("b", "-1")+","+node("c", "1001"), rest), 422, []string{`node "a": weight 0 is not between 0.001 and 1000`,
			`node "b": weight -1 is not between 0.001 and 1000`, `node "c": weight 1001 is not between 0.001 and 1000`}},
		{"names", question(node("", "1")+","+node("a", "1")+","+node("a", "1"), rest), 422, []string{`node 0 (""): invalid node: the name is empty`,
			`node 2 ("a"): duplicate node: the name is in the list more than once`}},
		{"before", question("", rest+`,"before":[`+node("a", "0")+`]`), 422, []string{`node "a": weight 0 is not between 0.001 and 1000`}},
		{"too many nodes", question(many, rest), 422, []string{"there are 65 nodes; the page shows 64"}},
		{"too many tokens", question(node("a", "1000"), `"virtualNodes":1024,"hash":"xxh64","replicas":1`), 422,
			[]string{`node 0 ("a"): too many tokens: with its tokens there are more than 16384`}},
		{"options", question("", `"virtualNodes":0,"hash":"x","replicas":0`), 422, []string{"0 virtual nodes are not between 1 and 1024",
			"0 replicas are not between 1 and 64", `there is no hash "x"`}},
		{"options, too large", question("", `"virtualNodes":1025,"hash":"md5","replicas":65`), 422,
			[]string{"1025 virtual nodes are not between 1 and 1024", "65 replicas are not between 1 and 64"}},
	} {
		w := request(h, "POST", "/answer", tc.body, "Content-Type", "application/json; charset=utf-8")
		require.Equal(t, tc.code, w.Code, "%s: %s", tc.name, w.Body)
		var got struct{ Problems []string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), tc.name)
		require.NotEmpty(t, got.Problems, tc.name)
		if tc.problems != nil {
			require.Equal(t, tc.problems, got.Problems, tc.name)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "a/b/c"} {
		require.Equal(t, 415, request(h, "POST", "/answer", "{}", "Content-Type", kind).Code, kind)
	}
}

// TestAnswer compares answers with what rings say that are built and asked one by one.
func TestAnswer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for round := range 60 {
		world := func() []Node {
			var nodes []Node
			for _, name := range []string{"a", "b", "<c>", "d", "é", "f"} {
				if rnd.IntN(3) > 0 {
					nodes = append(nodes, Node{name, float64(1+rnd.IntN(4)) / 2, []string{"", "x", "y"}[rnd.IntN(3)]})
				}
			}
			return nodes
		}
		hash := hashring.BuiltinHash(round % 6)
		q := Question{Nodes: world(), Before: world(), VirtualNodes: 2 * (1 + rnd.IntN(5)), Hash: hash.Name(),
			Key: fmt.Sprint("key:", round), Replicas: 1 + rnd.IntN(4), Spread: round%2 == 0}
		a, err := answer(q)
		require.NoError(t, err)
		ring := func(nodes []Node) *hashring.Ring {
			var list []hashring.Node
			for _, n := range nodes {
				list = append(list, hashring.Node{Name: n.Name, Weight: n.Weight, Zone: n.Zone})
			}
			r, err := hashring.New(list, &hashring.Options{Hash: hash, VirtualNodes: q.VirtualNodes})
			require.NoError(t, err)
			return r
		}
		now, before := ring(q.Nodes), ring(q.Before)
		require.Len(t, a.Nodes, now.Len())
		require.Len(t, a.Tokens, now.NumTokens())
		require.Equal(t, fmt.Sprintf("%016x", now.Fingerprint()), a.Fingerprint)
		for i, n := range now.Nodes() {
			got := a.Nodes[i]
			require.Equal(t, Node{n.Name, n.Weight, n.Zone}, got.Node)
			share := now.Ownership(hashring.Policy{}).Nodes[i]
			require.Equal(t, share.Owned().Fraction(), got.Share)
			require.InDelta(t, share.Ideal, got.Share/got.Ratio, 1e-12)
		}

		// At many points of the circle, arcs and moved arcs say what the rings say.
		within := func(x, start, length float64) bool { return math.Mod(x-start+1, 1) < length }
		moved := 0.0
		for _, m := range a.Moved {
			moved += m.Length
		}
		require.InDelta(t, a.MovedShare, moved, 1e-12)
		for range 200 {
			pos := rnd.Uint64()
			owner, ok := now.OwnerAt(pos)
			old, _ := before.OwnerAt(pos)
			var arcs []int
			for _, arc := range a.Arcs {
				if within(part(pos), arc.Start, arc.Length) {
					arcs = append(arcs, arc.Node)
				}
			}
			if ok {
				require.Len(t, arcs, 1)
				require.Equal(t, owner, a.Nodes[arcs[0]].Name)
			} else {
				require.Empty(t, arcs)
			}
			i := slices.IndexFunc(a.Moved, func(m Moved) bool { return within(part(pos), m.Start, m.Length) })
			if old == owner {
				require.Equal(t, -1, i)
			} else {
				require.Equal(t, [2]string{old, owner}, [2]string{a.Moved[i].From, a.Moved[i].To})
			}
		}

		if now.Len() == 0 {
			require.Nil(t, a.Walk)
			continue
		}
		require.Equal(t, part(now.Position(q.Key)), a.Walk.At)
		var names, ranked []string
		for _, i := range a.Walk.Nodes {
			names = append(names, a.Nodes[i].Name)
		}
		require.Equal(t, hashring.Policy{N: q.Replicas, Spread: q.Spread}.Append(nil, now, q.Key), names)
		for rank := range a.Walk.Nodes {
			for _, s := range a.Walk.Steps {
				if s.Rank == rank {
					ranked = append(ranked, a.Nodes[s.Node].Name)
					require.False(t, s.Met)
				}
			}
		}
		if len(a.Walk.Steps) < maxSteps {
			require.Equal(t, names, ranked)
			last := a.Walk.Steps[len(a.Walk.Steps)-1]
			require.GreaterOrEqual(t, last.Rank, 0, "it ends where the last replica is met")
		}
	}
}

// TestAnswerShortensLongWalks checks that the walk that is shown has an end that one can read to.
func TestAnswerShortensLongWalks(t *testing.T) {
	q := Question{Nodes: []Node{{"a", 100, ""}, {"b", 0.01, ""}}, VirtualNodes: 100, Hash: "xxh64", Replicas: 2}
	a, err := answer(q)
	require.NoError(t, err)
	require.Len(t, a.Walk.Steps, maxSteps)
	require.Len(t, a.Walk.Nodes, 2)
}

// TestAnswerLimits checks that what is just within the limits is answered.
func TestAnswerLimits(t *testing.T) {
	var nodes []Node
	for i := range maxNodes {
		nodes = append(nodes, Node{fmt.Sprint(i), []float64{minWeight, 1}[i%2], ""})
	}
	_, err := answer(Question{Nodes: nodes, VirtualNodes: 1, Hash: "crc32", Replicas: maxNodes})
	require.NoError(t, err)
	a, err := answer(Question{Nodes: []Node{{"a", maxWeight, ""}}, VirtualNodes: 16, Hash: "crc32", Replicas: 1})
	require.NoError(t, err)
	require.Len(t, a.Tokens, 16*maxWeight)
	a, err = answer(Question{Nodes: []Node{{"a", 1, ""}}, VirtualNodes: maxVirtualNodes, Hash: "crc32", Replicas: 1})
	require.NoError(t, err)
	require.Len(t, a.Tokens, maxVirtualNodes)
}

func TestNewStart(t *testing.T) {
	_, err := NewStart([]hashring.Node{{Name: "a", Weight: 5000}}, 16, "xxh64")
	require.ErrorContains(t, err, `node "a": weight 5000 is not between`)
	_, err = NewStart(nil, 16, "none")
	require.ErrorContains(t, err, `there is no hash "none"`)
}
