# A developer's commands. `make` alone prints the list.
#
# They need only Python, a Rust toolchain and a C linker; scripts/check_tools.sh names a missing one in one line.
# All tools live in .venv. Its stamp files make a second run quick: pip runs when pyproject.toml changed, maturin when a source of the
# extension changed, checks of Rust when a Rust file changed.

PYTHON ?= python3

VENV  := .venv
PY    := $(VENV)/bin/python
CRATE := stairnoise

PLATFORMS := x86_64-pc-windows-msvc aarch64-apple-darwin

EXTENSION_SOURCES := $(wildcard Cargo.toml Cargo.lock rust/*/Cargo.toml rust/*/build.rs) \
                     $(shell find rust/core/src rust/binding/src -type f 2>/dev/null)
RUST_SOURCES := $(EXTENSION_SOURCES) $(shell find rust -name '*.rs')

# maturin and pip use this environment, even if the caller's shell has another active.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PYO3_PYTHON := $(CURDIR)/$(VENV)/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_QUIET := 1
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# ---------------------------------------------------------------- for users

.PHONY: demo
demo: $(VENV)/stamp-extension  ## from a bare checkout: ten million values, and a private table from a database
	$(VENV)/bin/stairnoise sample -n 10000000 --eps 4
	$(VENV)/bin/stairnoise release --sensitivity 1
	$(PY) scripts/demo_database.py target/demo/adult.db
	$(VENV)/bin/stairnoise query target/demo/adult.db --from adult --by marital_status,race --groups race=White,Black,Other \
	  --groups marital_status=Divorced,Married-AF-spouse,Married-civ-spouse,Married-spouse-absent,Never-married,Separated,Widowed \
	  --count --row-is-person --eps 1 -o target/demo/private.csv --force
	cat target/demo/private.csv

.PHONY: build
build: $(VENV)/stamp-extension  ## make .venv with the release extension and the command line

# ---------------------------------------------------------------- while you work

.PHONY: dev
dev: $(VENV)/stamp-quick $(VENV)/stamp-dev  ## make .venv with every tool and an extension that builds in seconds; repeat after a change in Rust

# tests/quick.py implements `--quick`. Lints check Rust, and the golden vectors check it through the extension.
.PHONY: check
check: dev $(VENV)/stamp-rust  ## format, lints, types and quick tests of your branch's changes (under a minute)
	$(PY) -m ruff check --quiet .
	$(PY) -m ruff format --check --quiet .
	@$(PY) -m mypy & types=$$!; $(PY) -m pytest -q --quick --numprocesses 2 --dist worksteal; tests=$$?; wait $$types && exit $$tests

$(VENV)/stamp-rust: $(RUST_SOURCES) | $(VENV)/stamp-venv
	cargo fmt --all --check
	cargo clippy --locked --profile test --workspace --all-features --quiet -- -D warnings
	@touch $@

# ---------------------------------------------------------------- checks

# Rust and Python run side by side, so that both cores work until the end. The extension is a release, because a quicker build leaves
# copies of keys on the stack, which tests/generators/test_keys_in_memory.py would find.
.PHONY: test
test: $(VENV)/stamp-venv  ## every check except the long ones
	$(MAKE) --jobs=2 SIDE_BY_SIDE=yes all-of-rust all-of-python

.PHONY: all-of-rust all-of-python
all-of-rust:
	$(MAKE) SIDE_BY_SIDE= lint-rust test-rust

# Lints take one core, so tests begin beside them.
all-of-python:
	$(MAKE) SIDE_BY_SIDE= $(VENV)/stamp-extension $(VENV)/stamp-dev
	$(MAKE) SIDE_BY_SIDE=yes lint-python test-python

.PHONY: lint
lint: lint-rust lint-python  ## formatters, lints, types

# All features, then none, as in a web page. The extension's default features only add code to none. With the tests' profile, lints and
# tests share build scripts and macros.
.PHONY: lint-rust
lint-rust: $(VENV)/stamp-venv
	cargo fmt --all --check
	cargo clippy --locked --profile test --workspace --all-targets --all-features -- -D warnings
	cargo clippy --locked --profile test -p $(CRATE) --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings -D rustdoc::private_intra_doc_links' cargo doc --locked --profile test --no-deps --workspace --all-features

.PHONY: lint-python
lint-python: $(VENV)/stamp-extension $(VENV)/stamp-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy.stubtest stairnoise._native
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(VENV)/bin/zizmor --offline --quiet .github

# nextest if it is installed (it runs no doc tests), otherwise cargo's own runner. `lint-rust` compiles the examples.
CARGO_TEST := cargo $(if $(shell command -v cargo-nextest 2>/dev/null),nextest run,test) --lib --bins --tests

# The binding has no Rust tests; Python tests it. All features are on, because they only add code. The extension replays the golden
# vectors with the default features, and `test-wasm` without `entropy`.
.PHONY: test-rust
test-rust: | tools  ## Rust tests and doc tests
	$(CARGO_TEST) --no-fail-fast --locked -p $(CRATE) --all-features
	cargo test --locked --doc -p $(CRATE) --all-features

# At most four processes, because one can grow to two gigabytes.
PYTEST := $(PY) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

.PHONY: test-python
test-python: $(VENV)/stamp-extension $(VENV)/stamp-dev  ## Python tests
	$(PYTEST)

.PHONY: test-long
test-long: $(VENV)/stamp-extension $(VENV)/stamp-dev  ## the checks that take minutes, except test-tiers and test-checked
	RUSTFLAGS='--cfg aes_backend="soft"' cargo test --locked -p $(CRATE) --lib --target-dir target/soft-aes stream
	STAIRNOISE_LONG=1 cargo test --locked -p $(CRATE) --all-features --lib --test exact_path
	$(PY) -m pytest -m long
	STAIRNOISE_LONG=1 $(PY) -m pytest tests/property tests/statistical tests/by_method/test_sample_chunks.py
	@scripts/test_sqlglot.sh $(PY)
	@scripts/test_systems.sh $(PY)
	@scripts/test_package.sh
	@scripts/test_taint.sh
	@scripts/test_trace.sh
	@scripts/test_time.sh 100000
	@scripts/test_wasm.sh
	@$(PY) scripts/test_gappa.py

.PHONY: test-taint
test-taint:  ## no branch on noise except the documented ones, in Valgrind (minutes)
	@scripts/test_taint.sh

.PHONY: test-trace
test-trace:  ## every key runs the same instructions on the same addresses, for every instruction set here (ten minutes)
	@scripts/test_trace.sh

.PHONY: test-time
test-time:  ## a million fills of small noise and of large noise take the same time (ten minutes)
	@scripts/test_time.sh

.PHONY: test-gappa
test-gappa: | tools  ## Gappa proves the kernels' float bounds and refuses tighter ones (minutes)
	@'$(PYTHON)' scripts/test_gappa.py

# Coq checks Gappa's proofs of the logarithm and the exponential, and its own of the fixed-point exponential and of series' remainders.
.PHONY: test-gappa-coq
test-gappa-coq: | tools  ## Coq checks the proofs of the logarithm and the exponential (minutes)
	@'$(PYTHON)' scripts/test_gappa.py --coq

# The tests that compare these files with the source then pass.
.PHONY: proofs
proofs: | tools  ## rewrite Coq's files in rust/core/proofs from the source's formulas and constants
	STAIRNOISE_WRITE_PROOFS=1 cargo test --locked -p $(CRATE) --lib --all-features are_those_of_the_source

.PHONY: test-tiers
test-tiers: $(VENV)/stamp-extension $(VENV)/stamp-dev  ## every test on each instruction set of this processor
	scripts/test_tiers.sh

# The next target that needs the extension builds an ordinary one again.
.PHONY: test-checked
test-checked: $(VENV)/stamp-dev  ## the Python tests on an extension with debug assertions
	$(PY) -m maturin develop --profile release-checked
	rm -f $(VENV)/stamp-extension $(VENV)/stamp-quick
	$(PYTEST) -q

.PHONY: test-aarch64
test-aarch64:  ## the Rust tests on AArch64, in an emulator (minutes)
	@scripts/test_aarch64.sh

.PHONY: test-wasm
test-wasm:  ## the crate as WebAssembly in Node: a web page's module, and the golden vectors (minutes)
	@scripts/test_wasm.sh

.PHONY: test-site
test-site: docs  ## the documentation site in headless Chromium (minutes); Debian has chromium and chromium-driver
	$(PY) -m pytest -q -m '' tests/site

# The code is checked and not linked, so neither a C compiler nor an interpreter for the other system is needed.
.PHONY: check-platforms
check-platforms: export PYO3_CROSS := 1
check-platforms: export PYO3_CROSS_PYTHON_VERSION := 3.10
check-platforms: | tools  ## crate and extension compile for Windows and macOS without a warning
	rustup target add $(PLATFORMS)
	for target in $(PLATFORMS); do cargo clippy --locked --workspace --target $$target -- -D warnings || exit; done

# Compiling for the stable ABI needs no interpreter, so .venv need not exist.
.PHONY: check-msrv
check-msrv: export PYO3_NO_PYTHON := 1
check-msrv: export PYO3_BUILD_EXTENSION_MODULE := 1
check-msrv: | tools  ## crate and extension compile with the oldest supported Rust, which rustup installs
	version=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) && \
	rustup toolchain install $$version --profile minimal --no-self-update && \
	cargo +$$version check --locked --workspace --all-features --target-dir target/msrv

.PHONY: semver
semver: | tools  ## list what broke in the crate's interface since the last release, or since SINCE=COMMIT
	@scripts/semver.sh $(SINCE)

.PHONY: test-package
test-package: | tools  ## pack the crate as for publishing, unpack it elsewhere, and test it there (minutes)
	@scripts/test_package.sh

.PHONY: test-avx512
test-avx512: | tools  ## the Rust tests on AVX-512 and VAES, here or in an emulator (more than an hour); TESTS= selects
	scripts/test_avx512.sh $(TESTS)

.PHONY: wheels
wheels: | tools  ## dist/: wheels and source distribution, tested in empty environments (an hour); TESTS= and TARGETS= select
	PYTHON='$(PYTHON)' scripts/wheels.sh $(TESTS)

.PHONY: reproduce
reproduce: | tools  ## two builds of this commit in different folders make the same wheel, bit for bit (minutes)
	@PYTHON='$(PYTHON)' scripts/reproduce.sh

.PHONY: rehearse
rehearse: | tools  ## the steps of the release list that need no forge, in a clean clone (hours); VERSION=
	scripts/rehearse_release.sh '$(VERSION)' $(STEPS)

.PHONY: audit
audit: | tools  ## dependencies: licences, sources, advisories, newer releases; names the checks not run
	@scripts/audit.sh

.PHONY: coverage
coverage: $(VENV)/stamp-dev  ## list the lines that tests run, in docs/evidence/coverage.md (half an hour)
	$(PY) -m pip install 'coverage[toml]>=7.10'
	rustup component add llvm-tools
	command -v cargo-llvm-cov || [ -x target/tools/bin/cargo-llvm-cov ] || cargo install --quiet --locked --root target/tools cargo-llvm-cov
	$(PY) -m scripts.coverage

# A surviving mutant does not fail the command: docs/evidence/mutants.md lists those that no test can find.
.PHONY: test-mutants
test-mutants: $(VENV)/stamp-dev | tools  ## try whether tests notice mutants of exact path, kernels, lattice and Python gates (an hour); SHARD=0/32
	$(PY) -m pip install 'cosmic-ray>=8.4'
	scripts/test_mutants.sh exact,lattice $(SHARD) || [ $$? -eq 2 ]
	scripts/test_mutants.sh kernel $(SHARD) || [ $$? -eq 2 ]
	scripts/test_mutants.sh exact,lattice,kernel $(SHARD) --alone || [ $$? -eq 2 ]
	scripts/test_mutants.sh python $(SHARD)

.PHONY: fuzz
fuzz: | tools  ## the fuzz targets, each for SECONDS_EACH (a minute by default)
	scripts/fuzz.sh

.PHONY: test-asan
test-asan: | tools  ## the Rust tests with the address sanitizer, structs laid out at random (minutes)
	scripts/test_asan.sh

.PHONY: test-miri
test-miri: | tools  ## Rust tests on the portable tier under Miri, which rustup installs
	@scripts/test_miri.sh

.PHONY: format
format: $(VENV)/stamp-dev  ## format the sources
	cargo fmt --all
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# ---------------------------------------------------------------- figures

.PHONY: bench
bench: $(VENV)/stamp-bench  ## compare with commit efc073a0 and with peers; write a dated record and README.md's figures
	$(PY) -m benches

# Builds that commit once, which takes minutes. An example: OPTIONS='--only Laplace --tier avx2 --commit HEAD~1'.
.PHONY: bench-quick
bench-quick: $(VENV)/stamp-bench  ## compare the speed with the last record's commit (two minutes)
	$(PY) -m benches.compare $(OPTIONS)

.PHONY: figures
figures: $(VENV)/stamp-extension $(VENV)/stamp-dev  ## the pictures of docs/figures.md, and the tutorials' notebooks
	$(PY) -m docs._ext.classic
	$(PY) -m scripts.notebooks

# ---------------------------------------------------------------- pages

# The build fails for a page that cannot be built, a name without a target, and a broken link or anchor.
.PHONY: docs
docs: $(VENV)/stamp-docs  ## the documentation site, in docs/_build/html (three minutes the first time; needs no network)
	$(PY) -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html

.PHONY: linkcheck
linkcheck: $(VENV)/stamp-docs  ## check the pages' links to other sites (minutes; needs the network)
	$(PY) -m sphinx --builder linkcheck --keep-going --quiet docs docs/_build/linkcheck

# ---------------------------------------------------------------- set-up

.PHONY: tools
tools:
	@scripts/check_tools.sh '$(PYTHON)'

# The pip of older interpreters knows no dependency groups.
NEW_PIP := $(PY) -m pip install 'pip>=25.1'
# Half of the packages' modules are never imported; Python compiles the others on import. The group `dev` takes 13 s instead of 37.
INSTALL := $(PY) -m pip install --no-compile

$(VENV)/stamp-venv: | tools
	'$(PYTHON)' -m venv --clear $(VENV)
	$(NEW_PIP) && $(INSTALL) --group build
	@touch $@

# The extension in python/stairnoise is one of two builds, and only this build's stamp exists: `stamp-extension` for a release
# (minutes), `stamp-quick` for the profile `quick` in Cargo.toml (seconds). Both draw the same values.
# maturin installs the group `dev` unless another group is named.
MATURIN := $(NEW_PIP) && $(PY) -m maturin develop --group build

# maturin installs the dependencies of the package and of the extra, and an editable package for python/.
$(VENV)/stamp-extension: $(VENV)/stamp-venv pyproject.toml $(EXTENSION_SOURCES) | tools
	$(MATURIN) --release --extras cli
	@rm -f $(VENV)/stamp-quick
	@touch $@

$(VENV)/stamp-quick: $(VENV)/stamp-venv $(EXTENSION_SOURCES) | tools
	$(MATURIN) --profile quick --skip-install
	@rm -f $(VENV)/stamp-extension
	@touch $@

# The groups name extras of the package itself, so maturin installs the package first, with the existing build's profile.
$(VENV)/stamp-dev: pyproject.toml | $(VENV)/stamp-venv
	if test -e $(VENV)/stamp-quick; then profile='--profile quick'; else profile=--release; fi; \
	$(MATURIN) $$profile
	$(NEW_PIP) && $(INSTALL) --group dev
	@touch $@

$(VENV)/stamp-docs: $(VENV)/stamp-dev
	$(NEW_PIP) && $(INSTALL) --group docs
	@touch $@

$(VENV)/stamp-bench: pyproject.toml | $(VENV)/stamp-extension
	$(NEW_PIP) && $(INSTALL) --group bench
	@touch $@

.PHONY: clean
clean:  ## remove .venv and all build products
	rm -rf $(VENV) target dist build docs/_build docs/api/generated .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/stairnoise/_native*.so python/stairnoise/_native*.pyd
	find python tests benches scripts -name __pycache__ -type d -prune -exec rm -rf {} +
