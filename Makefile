# make help lists what there is to make.
GO ?= go
CLI = mars.dev/mars/cmd/internal/cli
# A clone knows its version from git, an archive of the source has it in the program already.
git = $(shell if grep -q 'Format:' cmd/internal/cli/origin.txt; then git $(1) 2>/dev/null; fi)
VERSION ?= $(call git,describe --tags --always --abbrev=12 --dirty)
COMMIT ?= $(call git,rev-parse HEAD)
DATE ?= $(call git,log -1 --format=%cI)
LDFLAGS = -s -w -X $(CLI).version=$(VERSION) -X $(CLI).revision=$(COMMIT) -X $(CLI).date=$(DATE)
# On arm64 the assembly of Arrow overwrites its caller's frame pointer: cmd/internal/dist/build.go.
TAGS = $(if $(filter arm64,$(shell $(GO) env GOARCH)),-tags noasm)
# All programs are one file, which is the one that it is called by.
BIN ?= bin
PROGRAMS = $(notdir $(wildcard cmd/mars-*))
PREFIX ?= /usr/local
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share
# Tests are linked without what debuggers read, which takes a third of the time or more.
TESTING = GOFLAGS="$$($(GO) env GOFLAGS) -ldflags=-w"
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
INEFFASSIGN = github.com/gordonklaus/ineffassign@v0.2.0

.PHONY: help build install uninstall dist licences web web-figure wheels figures site demo test mutants data tasks measured measured-check lint lint-go cross race test-arm bench-all bench-kernels model-kernels count-instructions bench-train bench-skada generate bench-io bench-columns bench-default bench-limits bench-watch bench-check bench-scale bench-spark fuzz robust clean bench-read

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

build: ## build mars into bin/, with links for the separate programs
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/mars
	@for p in $(PROGRAMS); do ln -sf mars $(BIN)/$$p; done

$(BIN)/mars:
	$(MAKE) build

install: $(BIN)/mars ## install what make build made, with manual and shell completions, in PREFIX (/usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(BIN)/mars "$(DESTDIR)$(PREFIX)/bin/mars"
	@set -e; cd "$(DESTDIR)$(PREFIX)/bin"; for p in $(PROGRAMS); do ln -sf mars $$p; done
	$(BIN)/mars share "$(SHARE)"

uninstall: ## remove what make install installed
	@"$(DESTDIR)$(PREFIX)/bin/mars" share --list "$(SHARE)" | while IFS= read -r f; do rm -f "$$f"; done
	for p in mars $(PROGRAMS); do rm -f "$(DESTDIR)$(PREFIX)/bin/$$p"; done

DIST ?= dist
PLATFORMS ?=
SBOM ?= yes
dist: ## make archives of PLATFORMS (all), with manual, licences, checksums and a list of modules (none with SBOM=no), of the page for browsers and of the source, in DIST (dist)
	CGO_ENABLED=0 $(GO) run -trimpath -ldflags '$(LDFLAGS)' ./cmd/internal/dist -o '$(DIST)' -ldflags '$(LDFLAGS)' $(if $(filter no,$(SBOM)),,-sbom) $(if $(PLATFORMS),,-web $(if $(wildcard .git),-source)) $(PLATFORMS)

LICENCES ?= $(DIST)/THIRD-PARTY-LICENSES
licences: ## write the licences of what is linked to the file LICENCES; a module without one is an error
	@mkdir -p $(dir $(LICENCES))
	CGO_ENABLED=0 $(GO) run -trimpath ./cmd/internal/dist -notices '$(LICENCES)'

WEB ?= web
web: ## make the page that labels in a browser, which needs no server and no network, in WEB (web)
	@mkdir -p '$(WEB)'
	$(GO) run -trimpath -ldflags '$(LDFLAGS)' ./cmd/internal/web -o '$(WEB)' -ldflags '$(LDFLAGS)'
	cp LICENSE '$(WEB)/'
	$(MAKE) licences LICENCES='$(WEB)/THIRD-PARTY-LICENSES'

web-figure: web ## take the pictures of that page for docs/how-to/browser.md again (chromium; Node.js with puppeteer-core)
	node cmd/internal/web/testdata/figure.cjs chromium '$(abspath $(WEB))/index.html' docs/figures/browser.png docs/figures/browser-labels.png

WHEELFLAGS ?=
wheels: ## build Python wheels that carry the program into clients/python/dist, for all systems (WHEELFLAGS: some, linux/amd64)
	$(MAKE) licences LICENCES=clients/python/dist/THIRD-PARTY-LICENSES
	$(PYTHON) clients/python/wheels.py --go '$(GO)' --ldflags '$(LDFLAGS)' --licences clients/python/dist/THIRD-PARTY-LICENSES $(WHEELFLAGS)

figures: build ## draw the figures of README again, in docs/figures
	$(GO) run ./cmd/internal/pictures -mars $(BIN)/mars

SITE_VENV ?= $(or $(TMPDIR),/tmp)/mars-venv-site
site: build ## make a site of the pages, in .site/html, with links checked (python3; installs MkDocs in SITE_VENV)
	@[ -x "$(SITE_VENV)/bin/mkdocs" ] || { python3 -m venv "$(SITE_VENV)" && "$(SITE_VENV)/bin/pip" install --quiet --disable-pip-version-check -r docs/requirements-site.txt; }
	docs/site.sh $(BIN)/mars .site/pages
	$(MAKE) web WEB=.site/pages/web
	NO_MKDOCS_2_WARNING=1 "$(SITE_VENV)/bin/mkdocs" build --strict

demo: build ## run the whole method on built-in data and explain the result
	@PATH="$(abspath $(BIN)):$$PATH" bash docs/demo.sh

MUST ?=
test: ## run every test, and say which were skipped and why (MUST: reasons that fail, a regular expression)
	$(TESTING) $(GO) run ./cmd/internal/runtests -must '$(MUST)' ./...

MUTANTS ?= 20
SEED ?= 1
SIXTH ?= 0
mutants: ## break lines one at a time, a fixed list (SIXTH=1 to 6: of it) and MUTANTS chosen by SEED, and see that tests notice
	$(TESTING) $(GO) run ./cmd/internal/mutants -chosen $(MUTANTS) -seed $(SEED) -sixth $(SIXTH)

DATA ?= data
SETS ?=
data: ## fetch the data that experiments read, by commit and with checksums, into DATA (data), which is $$MARS_DATA then: all, or SETS=names (docs/measured/results.md)
	$(PYTHON) docs/experiments/data.py fetch '$(DATA)' $(SETS)

tasks: build ## make the tasks of docs/measured/default.md of what make data fetched, in DATA/tasks
	PATH="$(abspath $(BIN)):$$PATH" $(PYTHON) docs/experiments/data.py tasks '$(DATA)'

MEASURED ?=
measured: ## measure what the pages say: the cheap studies, or MEASURED=names of tables, MEASUREDSET=a part of a paper-… study (matrix.seed=0,1); some need real data in $$MARS_DATA
	$(GO) run ./cmd/internal/measured -only '$(MEASURED)' -set '$(MEASUREDSET)'

measured-check: ## run a sample of each study again, and fail where a figure of the pages has moved
	$(GO) run ./cmd/internal/measured -check -only '$(MEASURED)'

lint: ## gofmt, go vet, staticcheck, that no error is dropped and no value lost, and that the assembly is what its generator writes
	@unformatted=$$(gofmt -l $$(git ls-files "*.go")); \
	  if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	@$(MAKE) --no-print-directory lint-go
	$(GO) -C stages/algorithms/internal/kernel/gen vet ./...
	$(GO) -C stages/algorithms/internal/kernel/bench vet ./...
	$(GO) -C stages/algorithms/internal/kernel/gen run . -check

PACKAGES ?= ./...
lint-go: ## the part of lint that reads Go, of PACKAGES (all)
	$(GO) vet $(PACKAGES)
	$(GO) run $(STATICCHECK) $(PACKAGES)
	$(GO) run ./cmd/internal/lostnil $(PACKAGES)
	$(GO) run $(INEFFASSIGN) $(PACKAGES)

cross: ## check that all compiles for the other systems (the site and the tests in WebAssembly compile what is for js/wasm)
	$(GO) run ./cmd/internal/systems windows/amd64 darwin/arm64/noasm linux/amd64/noasm

# Packages that start goroutines, or give others what these run, or whose tests do.
CONCURRENT = $$(grep -rlE --include='*.go' '\<(kernel|algorithms)\.(Parallel|Each)\(|\.Go\(|\<go [a-z.]+\(|\<sync\.' arrowio pipeline show stages tables | xargs -n1 dirname | sort -u | sed 's|^|./|')
race: ## run the short tests of the packages that are concurrent under the race detector
	$(TESTING) CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 30m $(CONCURRENT)

ARM64 = $(TESTING) GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) test -vet=off -tags noasm -exec qemu-aarch64-static
test-arm: ## run the tests of the kernels, and a sample of others, for linux/arm64 in an emulator (qemu-user-static), as programs are built
	$(GO) -C stages/algorithms/internal/kernel/gen test ./...
	$(ARM64) -run Profiles ./arrowio
	$(ARM64) -short $(addprefix ./stages/algorithms/,internal/kernel internal/nn internal/eigen logistic)
	$(ARM64) -run 'Threads|SameSeedGivesSameBytes' ./stages/algorithms/adapt

PYTHON ?= $(or $(MARS_PYTHON),python3)
NETLIB = $(shell ldconfig -p 2>/dev/null | grep -q 'libopenblas.so ' && echo yes)
bench-all: build ## products, training, reading, the default, watch and scale beside the peers in $(PYTHON), as one table: added to docs/measured/bench.jsonl, and drawn over commits (six minutes)
	$(GO) run ./cmd/internal/bench all -python $(PYTHON) $(BENCHFLAGS) $(BIN)

bench-kernels: ## matrix products beside gonum, OpenBLAS and MKL, and the core's FMA peak
	$(if $(NETLIB),CGO_LDFLAGS=-lopenblas) $(GO) -C stages/algorithms/internal/kernel/bench run $(if $(NETLIB),-tags netlib) . -python $(PYTHON) $(BENCHFLAGS)

model-kernels: ## what llvm-mca's models of processors say of the loops for arm64 (llvm-mca 17 or newer in LLVM_MCA, binutils-aarch64-linux-gnu)
	@GO='$(GO)' stages/algorithms/internal/kernel/bench/model.sh

count-instructions: ## instructions that mars label executes for arm64 with NEON and without, in an emulator: half an hour (ROWS=400: three minutes)
	@GO='$(GO)' PYTHON='$(PYTHON)' stages/algorithms/internal/kernel/bench/instructions.sh

bench-train: ## training iterations beside PyTorch and JAX, and the share of the FMA peak
	$(GO) run ./cmd/internal/bench train -python $(PYTHON) $(BENCHFLAGS)

SKADA_RESULTS ?= skada.jsonl
bench-skada: build ## our labels beside skada's methods on SKADA-Bench's tasks (real data in $MARS_DATA)
	$(PYTHON) docs/experiments/skada/bench.py --mars $(BIN)/mars --results $(SKADA_RESULTS) $(BENCHFLAGS)

generate: ## write the kernels' assembly and the options of the Python package again
	$(GO) -C stages/algorithms/internal/kernel/gen run .
	$(GO) test ./cmd/internal/cli -run TestPythonOptions -update

bench-io: ## pass 4 GB through a pipe, beside arrow/go's own reader and writer
	$(GO) run ./cmd/internal/bench io

bench-read: ## reading CSV, Parquet and Arrow beside polars, DuckDB and pyarrow
	$(GO) run ./cmd/internal/bench read -python $(PYTHON) $(BENCHFLAGS)

bench-default: build ## time and memory of mars label and mars proportions on tables of several sizes
	$(GO) run ./cmd/internal/bench default $(BIN)

bench-columns: build ## processor time by the number of columns, of each format, and the power by which it grows (BENCHFLAGS='-columns 100000')
	$(GO) run ./cmd/internal/bench columns $(BENCHFLAGS) $(BIN)

bench-watch: build ## processor time and memory of mars watch, by the length of windows
	$(GO) run ./cmd/internal/bench watch $(BIN)

bench-check: build ## processor time and memory of mars check, by the length of windows
	$(GO) run ./cmd/internal/bench check $(BIN)

bench-limits: build ## memory and time of inputs far larger than --memory-limit
	$(GO) run ./cmd/internal/bench limits $(BENCHFLAGS) $(BIN)

SPARK_PYTHON ?= $(or $(MARS_PYTHON_SPARK),python3)
bench-spark: build ## Spark's processor seconds beside the program's (MARS_PYTHON_SPARK has pyspark; BENCHFLAGS='--rows 1e6')
	cd clients/python && MARS_BINARY='$(abspath $(BIN))/mars' PYTHONPATH=src $(SPARK_PYTHON) bench_spark.py $(BENCHFLAGS)

bench-scale: build ## rows a second and memory of sketch, respond, predict and label, to 10^7 rows (BENCHFLAGS='-rows 100000000')
	$(GO) run ./cmd/internal/bench scale $(BENCHFLAGS) $(BIN)

FUZZTIME ?= 2m
MUTATIONS ?= 10000
fuzz: ## run every fuzz target for FUZZTIME, and MUTATIONS of each kind of stream, model, checkpoint, sketch and state
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "== $$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x; \
	  done; done
	$(GO) test ./arrowio ./stages ./cmd/internal/cli -run 'TestMutations|TestDamagedFiles|TestMutatedFiles' -mutations $(MUTATIONS) -timeout 3h

TIMES ?= 10
robust: ## kill and interrupt each command that writes TIMES times, and runs of studies 50 times, and see that nothing is left and all goes on
	$(GO) test ./cmd/mars -run '^(TestEndedWriters|TestInterrupt)$$' -times $(TIMES) -v -timeout 3h
	MARS_LONG=1 $(GO) test ./cmd/internal/cli -run '^TestKilledRunsResume$$' -v -timeout 3h

clean: ## remove what make build, make dist, make web, make wheels and make measured made, but for runs and pages
	rm -rf $(BIN) $(DIST) $(WEB) clients/python/dist .measured .site
