# The commands of a working day. `make` alone builds bin/evq with HDF5 and DuckDB; docs/build.md has the other ways.

GO      ?= go
TAGS    ?= hdf5 duckdb
LINTER  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# How long each fuzz target runs.
FUZZTIME ?= 2m
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

# How many random queries make test-long runs in every way.
QUERIES ?= 10000

.PHONY: build build-static demo deps test test-long fuzz lint bench cuda-kernel clean help

build: deps ## build bin/evq
	$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/evq ./cmd/evq

build-static: deps ## build bin/evq with libhdf5 inside it
	dir=$$(.ci/hdf5-static bin/lib) && CGO_LDFLAGS="-L$$dir" \
		$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/evq ./cmd/evq
	@if ldd bin/evq | grep -i hdf5; then echo "bin/evq still needs libhdf5" >&2; exit 1; fi

demo: build ## make, convert, query and draw a small recording under demo/
	bash docs/demo.sh

test: deps ## run every test
	$(GO) test -tags '$(TAGS)' ./...

test-long: deps ## run QUERIES random queries in every way; `make test` runs 300
	EVQ_LONG='$(QUERIES)' $(GO) test -tags '$(TAGS)' -run '^TestDifferential$$' -timeout 2h ./engine

fuzz: deps ## run every fuzz target for FUZZTIME; `make test` runs their corpora only
	@set -e; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9]*' $$dir/*_test.go | cut -c6-); do \
			echo "$$dir $$target"; \
			$(GO) test -tags '$(TAGS)' -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 5s $$dir; \
		done; \
	done

lint: deps ## check format, vet and golangci-lint
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not gofmt: $$files" >&2; exit 1; fi
	$(GO) vet -tags '$(TAGS)' ./...
	$(GO) run $(LINTER) run --build-tags '$(TAGS)' ./...

bench: deps ## run the benchmarks beside the packages
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench . -benchmem ./...

cuda-kernel: ## make the CUDA kernel's PTX anew; needs clang 14, and no CUDA
	accel/cuda/kernel/build

deps: # only what cgo needs; Go fetches its modules itself
	@TAGS='$(TAGS)' .ci/setup

clean: ## remove what make made
	rm -rf bin demo

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14
