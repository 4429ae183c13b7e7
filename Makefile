# Every target sets up what it needs on a machine with Python 3.11+, make and git; the second time it is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILE := $(CURDIR)/$(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url
BUILD_COMPILE := $(COMPILE) --only-binary :all:
LOCKS := pipeline/registry/locks

.PHONY: help setup run measure test test-browser test-builds test-engines test-operations soak check ui bench docs lock build-locks clean
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
	for gpu in $(SIMULATED); do $(BIN)/frontier sweep $$gpu --kind simulated --no-publish || exit 1; done
	$(BIN)/frontier publish
	@echo "Open data/site/index.html"

measure: $(READY) ## Build vLLM and SGLang for this machine, measure a small model on both, publish: data/site/index.html
	$(BIN)/frontier measure
	@echo "Open data/site/index.html"

test: $(READY) ## Every test that needs no engine and no browser
	@# A third worker runs while others wait for a process that they started.
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder -m "not browser and not network and not engines and not soak and not faults and not fleet and not week and not daemon"

ENGINES_HOME ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/serving-frontier
ENGINES := vllm_cpu sglang_cpu aiperf

test-engines: $(READY) ## Real vLLM, SGLang and AIPerf on this CPU; built once into ENGINES_HOME, which outlives the checkout
	for build in $(ENGINES); do $(BIN)/frontier --home $(ENGINES_HOME) build $$build || exit 1; done
	@# A busy host can stall any of them: what fails is run once more, and has to pass then.
	export FRONTIER_ENGINES_HOME=$(ENGINES_HOME); $(BIN)/pytest -m engines tests/engines || $(BIN)/pytest -m engines --last-failed --last-failed-no-failures none tests/engines

test-browser: $(READY) ## Every page type in Debian's Chromium; skipped, with the reason, where it is absent
	$(BIN)/pytest -m browser tests/browser

test-operations: $(READY) ## Injected failures, a real daemon, several hosts, a simulated week; FAULTS_ROUNDS=20 repeats the failures
	@# As below: a busy host can stall a service; what fails is run once more, and has to pass then.
	$(BIN)/pytest -m "faults or fleet or week or daemon" || $(BIN)/pytest -m "faults or fleet or week or daemon" --last-failed --last-failed-no-failures none

soak: $(READY) ## Kill real sweeps at ten random moments and run them again; SOAK_SEED=1 names the moments
	FRONTIER_ENGINES_HOME=$(ENGINES_HOME) $(BIN)/pytest -s -m soak tests/engines

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
	$(COMPILE) --universal --no-strip-extras --extra fleet --group dev pyproject.toml -o requirements.lock

build-locks: $(READY) ## Write the locks of the engine builds again; CPU_WHEELS is a folder or page with the CPU build of torch
	cd $(LOCKS) && set -e; for build in simulator aiperf vllm_cuda sglang_cuda; do $(BUILD_COMPILE) --universal $$build.in -o $$build.lock; done
	cd $(LOCKS) && set -e; for build in vllm_cpu sglang_cpu; do $(BUILD_COMPILE) --find-links $(CPU_WHEELS) $$build.in -o $$build.lock; done
	cd $(LOCKS) && set -e; for build in vllm_cpu sglang_cpu; do $(BUILD_COMPILE) --no-deps $${build}_no_deps.in -o $${build}_no_deps.lock; done

clean: ## Remove the environment; results and site stay
	rm -rf $(VENV) *.egg-info
