# Every target sets up what it needs on a machine with Python 3.11+, make and git; the second time it is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILE := $(CURDIR)/$(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url
BUILD_COMPILE := $(COMPILE) --only-binary :all:
LOCKS := pipeline/registry/locks

.PHONY: help setup run test test-builds check ui bench docs lock build-locks clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(READY) ## Make the environment in .venv

SIMULATED := h100 b300 gb200

run: $(READY) ## Published readings and simulated sweeps, derived and published: data/site/index.html
	$(BIN)/frontier import pipeline/imports/published_readings.csv
	$(BIN)/frontier build simulator
	for gpu in $(SIMULATED); do $(BIN)/frontier sweep $$gpu --no-publish || exit 1; done
	$(BIN)/frontier publish
	@echo "Open data/site/index.html"

test: $(READY) ## Every test that needs no engine and no browser
	$(BIN)/pytest -n 2 --dist loadscope -m "not browser and not network"

test-builds: $(READY) ## Build the simulator for real; needs the network
	$(BIN)/pytest -m network

check: $(READY) ## Lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

ui: $(READY) ## The Dagster UI and daemon on http://127.0.0.1:3000
	$(BIN)/frontier ui

bench: $(READY) ## Measure speed as ratios within one run; writes BENCH.md
	$(BIN)/python -m tests.bench

docs: $(READY) ## Write the tables of the README from pipeline/tables and BENCH.md
	$(BIN)/python -m tests.project.readme_parts

lock: $(READY) ## Write the lock file again from pyproject.toml
	$(COMPILE) --universal --no-strip-extras --group dev pyproject.toml -o requirements.lock

build-locks: $(READY) ## Write the locks of the engine builds again; CPU_WHEELS is a folder or page with the CPU build of torch
	cd $(LOCKS) && set -e; for build in simulator aiperf vllm_cuda sglang_cuda; do $(BUILD_COMPILE) --universal $$build.in -o $$build.lock; done
	cd $(LOCKS) && set -e; for build in vllm_cpu sglang_cpu; do $(BUILD_COMPILE) --find-links $(CPU_WHEELS) $$build.in -o $$build.lock; done
	cd $(LOCKS) && set -e; for build in vllm_cpu sglang_cpu; do $(BUILD_COMPILE) --no-deps $${build}_no_deps.in -o $${build}_no_deps.lock; done

clean: ## Remove the environment; results and site stay
	rm -rf $(VENV) *.egg-info
