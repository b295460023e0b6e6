# What people run. `make test` is what continuous integration runs: it sets up what it needs and checks everything
# that is quick enough to check on every change.

CARGO ?= cargo
export GIBBSTREAM_DATA ?= $(abspath ../shared/data)

.PHONY: deny sanitize miri help setup test check format lint unit examples wheel python clusters clusters-all python-peers web slow fuzz service-schema bench bench-service bench-peers bench-python check-all package docs clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: ## a C compiler for the compression libraries, and the Rust tools
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it with rustup, then run make again" >&2; exit 1; }
	@command -v cc >/dev/null || { apt-get update && apt-get install --yes build-essential; }
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

test: setup format lint unit examples python web ## everything that must pass on every change

# Clippy, tests, examples, the program and the Python package share one optimised build, in target/ci.
PROFILE = --profile ci --locked

check: setup format lint ## the inner loop of work: style, lints and the library's unit tests
	$(CARGO) test $(PROFILE) --package gibbstream --lib --quiet

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy $(PROFILE) --workspace --all-targets -- -D warnings

# Generated cases are the same each time; new ones are for `make slow`.
unit:
	PROPTEST_RNG_SEED=7 $(CARGO) test $(PROFILE) --workspace

# Built for the whole workspace, as the tests are: one package alone would be compiled again, with fewer features.
BUILT = target/ci

examples:
	$(CARGO) build $(PROFILE) --workspace --examples --bins
	$(BUILT)/examples/ten_methods
	$(BUILT)/examples/custom_model
	$(BUILT)/examples/blocks
	CARGO_TARGET_DIR=target $(CARGO) run $(PROFILE) --quiet --manifest-path examples/outside/Cargo.toml
	$(BUILT)/gibbstream demo --no-progress

PYTHON ?= python3
VENV = .venv
VENV_READY = $(VENV)/ready
# The package as users install it, compiled once for all environments, and again only if something has changed. It has the
# profile and the features of the tests, so that only what depends on Python is compiled for it.
WHEEL = target/wheel/ready
PYTHON_SOURCES = pyproject.toml Cargo.toml Cargo.lock web/dist/page.html $(shell find crates/*/src crates/*/Cargo.toml \
  python/gibbstream -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi')

$(WHEEL): $(PYTHON_SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "the Python package needs Python 3.10 or newer: make PYTHON=python3.12 test" >&2; exit 1; }
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV) || \
	  { apt-get update && apt-get install --yes python3-venv && $(PYTHON) -m venv --clear $(VENV); }
	rm -rf target/wheel
	MATURIN_PEP517_ARGS='--profile ci' $(VENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	  --wheel-dir target/wheel .
	touch $@

wheel: $(WHEEL) ## the Python package as a wheel, in target/wheel, in the profile of the tests

# Installs the wheel with extras: first what it needs, then itself even if its version was installed before.
with_extras = $(1)/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls target/wheel/*.whl)[$(2)]" $(3) && \
  $(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheel/*.whl

$(VENV_READY): $(WHEEL)
	$(call with_extras,$(VENV),test)
	touch $@

python: $(VENV_READY) ## the Python package: style, types and tests, in a virtual environment
	$(VENV)/bin/ruff format --check python examples
	$(VENV)/bin/ruff check python examples
	$(VENV)/bin/mypy
	$(CARGO) build $(PROFILE) --workspace --bins
	GIBBSTREAM_PROGRAM=target/ci/gibbstream $(VENV)/bin/python -m pytest --quiet

# The page: the committed web/dist/page.html must be what the sources give. Without Node or Chromium parts are left out, loudly.
web: ## the page: types, style, tests, the same bytes as committed, and tests in Chromium
	@if ! command -v npm >/dev/null; then \
	  echo "SKIPPED: Node is missing, so the page is NOT checked (needs Node 20.19 or newer)" >&2; \
	else \
	  set -e; \
	  test -x /usr/bin/chromium || { apt-get update -qq && apt-get install --yes -qq chromium; } >/dev/null 2>&1 || \
	    echo "SKIPPED: no Chromium and it cannot be installed, so the page is NOT tested in a browser" >&2; \
	  $(CARGO) build $(PROFILE) --workspace --bins; \
	  cd web; npm ci --loglevel=error --no-audit --no-fund; \
	  npm run --silent types:check; npm run --silent check; npm run --silent lint; \
	  cp -p dist/page.html node_modules/committed.html; npm run --silent build; \
	  cmp node_modules/committed.html dist/page.html || \
	    { echo "web/dist/page.html is not what the sources give: run npm run build in web/ and commit it" >&2; exit 1; }; \
	  cp -p node_modules/committed.html dist/page.html; npm run --silent unit; \
	  GIBBSTREAM_PROGRAM=target/ci/gibbstream npm run --silent e2e; \
	fi

# Ray and Spark weigh 700 MB, so they have an environment of their own. Compiling all modules of it would take longer than
# the tests save by it.
CLUSTERS_VENV = .venv-clusters
CLUSTERS_READY = $(CLUSTERS_VENV)/ready

$(CLUSTERS_READY): $(WHEEL)
	@command -v java >/dev/null || { apt-get update && apt-get install --yes openjdk-17-jre-headless; }
	test -x $(CLUSTERS_VENV)/bin/python || $(PYTHON) -m venv $(CLUSTERS_VENV)
	$(call with_extras,$(CLUSTERS_VENV),ray$(COMMA)spark,--no-compile 'pytest>=8' 'pytest-timeout>=2.3')
	touch $@

COMMA = ,
CLUSTER_TESTS = $(CLUSTERS_VENV)/bin/python -m pytest --quiet --timeout=1200 python/tests/clusters

clusters: $(WHEEL) ## the same model on Ray and Spark as here, the quick part
	@if $(MAKE) --no-print-directory $(CLUSTERS_READY); then \
	  $(CLUSTER_TESTS); \
	else \
	  echo "SKIPPED: Ray, Spark or Java cannot be installed here, so clusters are NOT tested" >&2; \
	fi

clusters-all: $(CLUSTERS_READY) ## all numbers of workers, all kills, all models
	GIBBSTREAM_CLUSTERS=all $(CLUSTER_TESTS)

python-peers: $(VENV_READY) ## the Python package beside gensim and pyright, which take long to install
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check gensim pyright
	$(VENV)/bin/python -m pytest --quiet python/tests/test_evaluation.py
	$(VENV)/bin/pyright --pythonpath $(VENV)/bin/python python/tests/typed_sample.py

bench-python: python-peers ## the estimator beside those of scikit-learn and gensim
	$(VENV)/bin/python bench/python_peers.py

slow: ## long statistical tests, memory over a million documents, and every case on clusters
	$(CARGO) test --release --workspace --locked -- --ignored --nocapture
	PROPTEST_CASES=20000 $(CARGO) test --release --workspace --locked --lib
	$(MAKE) clusters-all

FUZZ_TARGETS = text jsonl csv parquet uci svmlight mm ldac auto model service_log service_body rows npy parquet_rows view statistics
FUZZ_RUNS ?= 1000000

fuzz: ## a million inputs for everything that reads bytes, with the address sanitizer (installs cargo-fuzz first)
	command -v cargo-fuzz >/dev/null || $(CARGO) install --locked cargo-fuzz
	cd fuzz && RUSTC_BOOTSTRAP=1 $(CARGO) fuzz build && target/$(HOST)/release/seeds
	cd fuzz && for target in $(FUZZ_TARGETS); do \
	  mkdir -p corpus/$$target && test -n "$$(ls seeds/$$target)" && \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run $$target corpus/$$target seeds/$$target -- \
	    -runs=$(FUZZ_RUNS) -max_len=4096 -rss_limit_mb=1024 -timeout=10 || exit 1; \
	done

SCHEMA_VENV = .venv-schema

service-schema: ## generated requests against the OpenAPI document of the service (installs schemathesis first)
	test -x $(SCHEMA_VENV)/bin/schemathesis || { $(PYTHON) -m venv $(SCHEMA_VENV) && $(SCHEMA_VENV)/bin/pip install --quiet schemathesis; }
	$(CARGO) build $(PROFILE) --workspace --bins
	$(PYTHON) bench/service/schema.py target/ci/gibbstream $(SCHEMA_VENV)/bin/schemathesis

bench-service: ## load on the service (bench/service/README.md); takes half an hour
	$(CARGO) build --release --locked --package gibbstream-cli
	$(PYTHON) bench/service/load.py --program target/release/gibbstream

bench: ## throughput of the sampler and of whole training on this machine
	$(CARGO) bench --package gibbstream --locked --bench throughput

bench-peers: ## the same work by other programs (bench/peers/README.md); takes an hour
	python3 bench/peers/run.py --corpus imdb --documents 20000 --topics 128 --held-out 500
	python3 bench/peers/render.py

# What a release is checked with beside `make test` and `make slow`: CONTRIBUTING.md tells how long it takes.
check-all: deny sanitize miri ## licences, advisories, thread sanitizer, Miri, and a thousand inputs for every fuzz target
	$(MAKE) fuzz FUZZ_RUNS=1000

deny: ## licences, sources and advisories of all dependencies (compiles cargo-deny first)
	command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check licenses bans sources
	$(CARGO) deny check advisories || { \
	  echo "SKIPPED: advisories: their database cannot be fetched here; run this again with a network" >&2; \
	  test ! -d $${CARGO_HOME:-$$HOME/.cargo}/advisory-dbs; }

# The standard library is built with the sanitizer too, or every lock in it would be taken for a race.
SANITIZED = RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" CARGO_TARGET_DIR=target/tsan
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

sanitize: ## the thread sanitizer over a training run with readers of its snapshots
	rustup component list --installed | grep -q rust-src || rustup component add rust-src || { \
	  echo "SKIPPED: thread sanitizer: rust-src cannot be installed here" >&2; exit 0; } && \
	$(SANITIZED) $(CARGO) test -Zbuild-std --target $(HOST) --package gibbstream --test training_run

# Miri comes with nightly toolchains alone. It runs what processors without wide vectors run.
miri: ## Miri over the plain path of the kernels (needs a nightly toolchain)
	if $(CARGO) +nightly miri --version >/dev/null 2>&1 || rustup component add miri rust-src --toolchain nightly; then \
	  MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR=target/miri \
	    $(CARGO) +nightly miri test --locked --package gibbstream --lib -- lanes:: math:: ; \
	else echo "SKIPPED: Miri: there is no nightly toolchain with it here" >&2; fi

TOOLS = target/tools

package: ## what a release would upload, built and checked without uploading (RELEASING.md)
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' twine
	rm -rf target/package-check && $(TOOLS)/bin/maturin build --release --locked --sdist --out target/package-check
	$(TOOLS)/bin/twine check --strict target/package-check/*
	$(CARGO) publish --dry-run --workspace --locked --allow-dirty

DOCS_VENV = target/docs-venv

docs: $(WHEEL) ## the documentation as a site, in target/site
	test -x $(DOCS_VENV)/bin/python || $(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt \
	  target/wheel/*.whl
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheel/*.whl
	$(CARGO) build $(PROFILE) --workspace --bins
	$(DOCS_VENV)/bin/python docs/site.py $(BUILT)/gibbstream
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet --config-file target/docs/mkdocs.yml \
	  --site-dir ../site

clean: ## removes everything that was built
	$(CARGO) clean
	rm -rf $(VENV) $(CLUSTERS_VENV)
