# `make check` is what CI runs, `make quick` what to run on the way.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
WAZERO      = github.com/tetratelabs/wazero/cmd/wazero@v1.12.0
NEWEST      = go1.27.4
GO         ?= go
LINT        = $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) run $(STATICCHECK) ./...
FUZZCOUNT  ?= 20000x
INTEROP    ?= run

interop check-clients: export HASHRING_INTEROP = $(INTEROP)

.PHONY: check quick test lint race cross wasm oldest newest bench bench-peers check-peers check-gossip check-clients check-history
.PHONY: fuzz interop soak mutation vectors newcomer pictures

check: lint test vectors newcomer race cross oldest newest bench check-peers check-gossip check-clients check-history interop fuzz
quick: lint test

test:
	$(GO) test ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(LINT)

race:
	$(GO) test -race -shuffle=on -timeout 30m ./...

# 386 runs natively on amd64; with v3 the compiler may fuse a product and a sum, and rounds once. purego is xxhash without
# its assembly. The others run in QEMU's user mode (Debian: qemu-user-static); s390x is big-endian.
cross: wasm
	GOARCH=386 CGO_ENABLED=0 $(GO) test ./...
	GOAMD64=v3 $(GO) test ./...
	$(GO) test -short -tags purego ./...
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -exec qemu-aarch64-static ./...
	GOARCH=s390x CGO_ENABLED=0 $(GO) test -short -exec qemu-s390x-static ./...

# The tests that need no network or process run under js/wasm, in the node that is on the PATH, and under wasip1/wasm.
wasm:
	GOOS=js GOARCH=wasm $(GO) vet ./...
	GOOS=wasip1 GOARCH=wasm $(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) test -short -exec "$$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec" ./...
	GOOS=wasip1 GOARCH=wasm $(GO) test -short -exec "env -u GOOS -u GOARCH $(GO) run $(WAZERO) run -mount /:/ -env-inherit" ./...

# The oldest Go that go.mod allows, and the newest that there is.
oldest:
	GOTOOLCHAIN=go$$(sed -n 's/^go //p' go.mod) $(GO) test ./...
newest:
	GOTOOLCHAIN=$(NEWEST) $(GO) test ./...

# Once each, so that they go on compiling and running. For figures: go test -run '^$$' -bench . -count 10
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

# The module of its own for rings that agree by gossip.
check-gossip:
	cd gossip && $(LINT) && $(GO) test -timeout 30m ./...
	cd gossip && $(GO) test -timeout 30m -race -short -shuffle=on . && GOARCH=386 CGO_ENABLED=0 $(GO) test -short .

# The module of its own for sources that need clients: against etcd (Debian: etcd-server), and servers that stand for those
# of Kubernetes and Consul. Without etcd its tests are skipped, or with INTEROP=require a failure.
check-clients:
	cd feed/clients && $(LINT) && $(GO) test -count=1 ./...
	cd feed/clients && $(GO) test -race -count=1 -shuffle=on ./...

# The module of its own that checks with porcupine that a Live is linearizable.
check-history:
	cd internal/history && $(LINT) && $(GO) test ./... && $(GO) test -race ./...

# Beside other libraries: half an hour or more, on a machine that does nothing else. Prints the table of BENCHMARKS.md.
bench-peers:
	cd bench && $(GO) test -run '^$$' -bench . -benchtime 200ms -count 10 -timeout 3h | tee /dev/stderr | $(GO) run ./table

# The module of its own that they are in: its tests, and each benchmark once.
check-peers:
	cd bench && $(LINT) && $(GO) test ./...
	cd bench && $(GO) test -race -short ./... && $(GO) test -run '^$$' -bench '/nodes=10$$' -benchtime 1x .

# Every fuzz target of every package, so many inputs each.
fuzz:
	sh testdata/fuzztargets.sh | while read -r dir target; do \
		echo $$dir $$target; \
		(cd $$dir && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZCOUNT) -fuzzminimizetime 10x . </dev/null) || exit 1; \
	done

# All of that over and over, with new random numbers, for so many minutes on two cores; what was done is added up.
SOAK ?= 60
soak:
	sh testdata/soak.sh $(SOAK)

# Whether a test notices when an operator is changed, file by file: half an hour.
mutation:
	sh testdata/mutation.sh

# The programs that compat agrees with, started on loopback and asked. One that is missing is skipped, or with
# INTEROP=require a failure. Debian has them: see .ci/run.
interop:
	$(GO) test -count=1 -v -run '^TestLive' ./compat
	cd compat/clients && $(LINT) && $(GO) test -count=1 -v ./...

# The vectors are frozen: an independent implementation must still write the same.
vectors:
	python3 testdata/make.py
	python3 testdata/decode.py
	git diff --exit-code testdata

# The program in README.md, pasted into an empty module, prints what README.md says it prints.
newcomer:
	sh testdata/newcomer.sh

# The pictures of the documents; a test holds them to what the command makes.
pictures:
	while IFS=: read -r file flags; do $(GO) run ./cmd/hashring plot $$flags >docs/img/$$file || exit 1; done <docs/img/pictures.txt
