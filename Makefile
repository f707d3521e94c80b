# Two commands: `make demo` and `make test`. Both do all set-up. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
DOCS_STAMP := $(VENV)/.installed-docs
GPU_STAMP := $(VENV)/.installed-gpu
SPLIT = $(if $(SPLITS),--splits $(SPLITS) --group $(GROUP) --splitting-algorithm least_duration)

# Hundreds of processes are started here: each would compile the harness anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-slow test-rust has-gpu test-gpu test-all nightly budgets bench docs dist lowest clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

setup: $(DEV_STAMP) ## everything that development needs, in .venv

demo: $(RUN_STAMP) ## play a whole session: four faults in a CartPole translation found, repaired, committed, audited
	$(BIN)/lockstep demo

check: $(DEV_STAMP) ## format, lint, types, import borders
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/pyright
	PYTHONPATH=. $(BIN)/lint-imports --no-cache

# Short tests wait for their processes a third of the time, so that three keep two cores busy; long ones compute.
test: $(DEV_STAMP) ## the default test loop
	$(BIN)/pytest -n 3 --dist worksteal -m "not slow and not docker and not browser and not nightly"

test-slow: $(DEV_STAMP) ## the tests that `make test` leaves out; SPLITS=4 GROUP=1 runs the first quarter of them
	$(BIN)/pytest -n 2 --dist worksteal --durations=30 -m "(slow or docker or browser) and not nightly" $(SPLIT)

test-rust: $(DEV_STAMP) ## format, lints and tests of all that is Rust: the workspace, candidates, a benchmark
	@command -v cargo >/dev/null || { echo "the Rust workspace needs cargo: install Rust 1.85 or newer"; exit 1; }
	cd rust && cargo fmt --check && cargo clippy --locked --all-targets -- -D warnings && cargo test --locked
	cd rust/gameboy && cargo fmt -p lockstep-gameboy -p lockstep-gameboy-batch -- --check && cargo clippy --locked --workspace --all-targets -- -D warnings && cargo test --locked --workspace
	$(BIN)/python -m tests.rust.crates
	cd benchmarks/poke_engine && cargo fmt -- --check --config-path ../../rust && cargo clippy --locked --target-dir ../../rust/target -- -D warnings

test-gpu: has-gpu $(GPU_STAMP) ## the tests that need an NVIDIA GPU
	@JAX_PLATFORMS= $(BIN)/python -c 'import jax; jax.devices("gpu")' 2>/dev/null || { echo "JAX finds no NVIDIA GPU on this machine: install its driver, or run this on one that has it"; exit 1; }
	$(BIN)/pytest -m gpu

has-gpu:
	@ls /dev/nvidia[0-9]* >/dev/null 2>&1 || { echo "this machine has no NVIDIA GPU: run this on one that has"; exit 1; }

test-all: $(DEV_STAMP) $(DOCS_STAMP) ## the tests as CI runs them: all but whole translations and long sweeps
	$(BIN)/pytest -n 2 --dist worksteal --durations=30 -m "not nightly"

nightly: $(DEV_STAMP) $(DOCS_STAMP) ## every test there is, held to its budget; SPLITS=4 GROUP=1 runs a quarter of them
	LOCKSTEP_TEST_BUDGETS=hold $(BIN)/pytest -n 2 --dist worksteal --durations=30 $(SPLIT)

budgets: $(DEV_STAMP) $(DOCS_STAMP) ## measure what tests cost and write tests/budgets.toml; FILES=tests/... measures these alone
	LOCKSTEP_TEST_BUDGETS=write $(BIN)/pytest -n 2 --dist worksteal $(FILES)

bench: $(DEV_STAMP) ## the side-by-side measurements in benchmarks/
	$(BIN)/python -m benchmarks

docs: $(DOCS_STAMP) ## the documentation as a site, in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lowest: ## the oldest dependencies that pyproject.toml allows, in an environment of their own
	.ci/lowest $(PYTHON)

dist: $(DEV_STAMP) ## the wheel and the source archive, in dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist

clean: ## remove what set-up made here (not the record of your sessions)
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "lockstep needs Python 3.11 or newer: install one, then run make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "this Python cannot make virtual environments: on Debian run apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	@touch $@

$(DEV_STAMP): $(RUN_STAMP)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

$(GPU_STAMP): sandboxes/images/requirements-cuda.txt $(DEV_STAMP)
	$(BIN)/python -m pip install -q -c constraints.txt -r sandboxes/images/requirements-cuda.txt
	@touch $@

$(DOCS_STAMP): $(RUN_STAMP)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[docs]'
	@touch $@
