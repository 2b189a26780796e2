// Package page is the interactive page of the command: a ring in the browser, to add, remove and weigh nodes, to see a
// key's walk and what moves.
//
// The server keeps no state. The page sends all nodes with each question, and draws what the library answers.
package page

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/clockwise-go/hashring"
	"github.com/clockwise-go/hashring/cmd/hashring/internal/plot"
)

//go:embed assets
var assets embed.FS

// policy lets the page load its own files and nothing else, and never turn text into markup or code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// maxQuestion is how many bytes a question may have.
const maxQuestion = 1 << 16

// Start is what the page shows at first.
type Start struct {
	Nodes        []Node   `json:"nodes"`
	VirtualNodes int      `json:"virtualNodes"`
	Hash         string   `json:"hash"`
	Hashes       []string `json:"hashes"` // to choose from
}

// NewStart returns the Start of a ring of nodes. The error says why the page cannot show it.
func NewStart(nodes []hashring.Node, virtualNodes int, hash string) (Start, error) {
	s := Start{Nodes: []Node{}, VirtualNodes: virtualNodes, Hash: hash}
	for _, n := range nodes {
		s.Nodes = append(s.Nodes, Node{n.Name, n.Weight, n.Zone})
	}
	for h := hashring.XXH64; h <= hashring.CRC32; h++ {
		s.Hashes = append(s.Hashes, h.Name())
	}
	_, err := answer(Question{Nodes: s.Nodes, VirtualNodes: virtualNodes, Hash: hash, Replicas: 1})
	return s, err
}

// Handler serves the page. It answers requests for localhost, for addresses and for host, but for no other name: a
// foreign site that has its name point here gets nothing.
func Handler(s Start, host string) http.Handler {
	mux := http.NewServeMux()
	for path, file := range map[string]string{"/{$}": "index.html", "/page.js": "page.js", "/icon.svg": "icon.svg"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, assets, "assets/"+file)
		})
	}
	mux.HandleFunc("GET /page.css", func(w http.ResponseWriter, _ *http.Request) {
		css, _ := assets.ReadFile("assets/page.css") // it is embedded
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Write(css)
		io.WriteString(w, plot.ColourRules())
	})
	mux.HandleFunc("GET /start", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, s) })
	mux.HandleFunc("POST /answer", serveAnswer)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !known(r.Host, host) {
			http.Error(w, fmt.Sprintf("this is not %q", r.Host), http.StatusMisdirectedRequest)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// known reports whether a request for a host, as the Host header has it, is meant for the page.
func known(requested, own string) bool {
	name, _, err := net.SplitHostPort(requested)
	if err != nil {
		name = strings.Trim(requested, "[]") // without a port
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(name) != nil || own != "" && strings.EqualFold(name, own)
}

// serveAnswer answers a Question, or says what is wrong with it.
func serveAnswer(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, errors.New("a question is in JSON"))
		return
	}
	var q Question
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, err)
		return
	}
	a, err := answer(q)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	reply(w, http.StatusOK, a)
}

func refuse(w http.ResponseWriter, status int, err error) {
	var problems []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		problems = append(problems, strings.TrimPrefix(line, "hashring: "))
	}
	reply(w, status, map[string][]string{"problems": problems})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) // it fails only if the browser has gone
}
