# What CI runs, by hand: `make check race cross oldest bench vectors newcomer check-peers check-gossip interop fuzz`.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GO         ?= go
FUZZCOUNT  ?= 20000x

.PHONY: check test lint race cross wasm oldest bench bench-peers check-peers check-gossip fuzz interop vectors newcomer pictures

check: lint test

test:
	$(GO) test ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) run $(STATICCHECK) ./...

race:
	$(GO) test -race -shuffle=on ./...

# 386 runs natively on amd64. The others run in QEMU's user mode (Debian: qemu-user-static); s390x is big-endian.
cross: wasm
	GOARCH=386 CGO_ENABLED=0 $(GO) test ./...
	GOAMD64=v3 $(GO) test ./compat
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -exec qemu-aarch64-static ./...
	GOARCH=s390x CGO_ENABLED=0 $(GO) test -short -exec qemu-s390x-static ./...

# Everything builds for both; the tests that need no network run under js/wasm, in the node that is on the PATH.
wasm:
	GOOS=js GOARCH=wasm $(GO) vet ./...
	GOOS=wasip1 GOARCH=wasm $(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) test -short -exec "$$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec" ./...

# The oldest Go that go.mod allows.
oldest:
	GOTOOLCHAIN=go$$(sed -n 's/^go //p' go.mod) $(GO) test ./...

# Once each, so that they go on compiling and running. For figures: go test -run '^$$' -bench . -count 10
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

# The module of its own for rings that agree by gossip.
check-gossip:
	cd gossip && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) run $(STATICCHECK) ./... && $(GO) test ./...
	cd gossip && $(GO) test -race -short -shuffle=on . && GOARCH=386 CGO_ENABLED=0 $(GO) test -short .

# Beside other libraries: half an hour or more, on a machine that does nothing else. Prints the table of BENCHMARKS.md.
bench-peers:
	cd bench && $(GO) test -run '^$$' -bench . -benchtime 200ms -count 10 -timeout 3h | tee /dev/stderr | $(GO) run ./table

# The module of its own that they are in: its tests, and each benchmark once.
check-peers:
	cd bench && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) run $(STATICCHECK) ./... && $(GO) test ./...
	cd bench && $(GO) test -race -short ./... && $(GO) test -run '^$$' -bench '/nodes=10$$' -benchtime 1x .

# Every fuzz target of every package, so many inputs each.
fuzz:
	for dir in . compat balance cmd/hashring antientropy gossip; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(f \*testing.F).*/\1/p' $$dir/*_test.go); do \
			echo $$dir $$target; \
			(cd $$dir && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZCOUNT) -fuzzminimizetime 10x .) || exit 1; \
		done; \
	done

# The programs that compat agrees with, started on loopback and asked. One that is missing is skipped, or with
# HASHRING_INTEROP=require a failure. Debian has them: see .ci/run.
interop: export HASHRING_INTEROP ?= run
interop:
	$(GO) test -count=1 -v -run '^TestLive' ./compat
	cd compat/clients && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) test -count=1 -v ./...

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
