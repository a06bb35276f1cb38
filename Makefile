# Everything that a contributor or CI runs. `make` prints the targets.

GO        ?= go
FUZZTIME  ?= 20s
BENCHTIME ?= 1s
COUNT     ?= 6
MODEL_OPS ?= 20000000
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help build test race difftest bench fuzz planted lint cover

help:
	@echo "make build   bin/spillway"
	@echo "make test    all tests, checked build (-tags invariants)"
	@echo "make race    all tests under the race detector, on the heap-backed system layer"
	@echo "make difftest  values against MariaDB (if installed) and SQLite"
	@echo "make bench   benchmarks, benchstat-ready (COUNT=$(COUNT) BENCHTIME=$(BENCHTIME))"
	@echo "make fuzz    every fuzz target for FUZZTIME=$(FUZZTIME), and the model test for MODEL_OPS=$(MODEL_OPS)"
	@echo "make planted  the model test must find each of the planted bugs"
	@echo "make lint    gofmt, go vet, staticcheck"
	@echo "make cover   cover.out and the total"

build:
	$(GO) build -trimpath -o bin/spillway ./cmd/spillway

test:
	$(GO) test -tags invariants $(TESTFLAGS) ./...

race:
	$(GO) test -race ./...

# A module of its own: its drivers are nobody else's dependencies.
difftest:
	cd internal/difftest && $(GO) vet ./... && $(GO) test ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) -benchtime $(BENCHTIME) ./...

# go test takes one fuzz target at a time. The model test comes with them:
# MODEL_OPS=$(MODEL_OPS) operations.
fuzz:
	SPILLWAY_MODEL_OPS=$(MODEL_OPS) $(GO) test -tags invariants -run '^TestModel$$' -timeout 0 ./temptable
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
	  done; \
	done

# Each bug is one substitution in a copy of one source file; see
# temptable/planted_test.go.
planted:
	SPILLWAY_PLANTED=1 $(GO) test -run '^TestPlantedBugs$$' -v ./temptable

lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...
	$(STATICCHECK) ./...

cover:
	$(GO) test -coverprofile cover.out ./...
	$(GO) tool cover -func cover.out | tail -1
