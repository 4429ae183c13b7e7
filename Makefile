# Every target sets up what it needs on a machine with Python 3.11+, make and git; the second time it is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup run test check ui bench docs lock clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(READY) ## Make the environment in .venv

run: $(READY) ## Import the published readings, derive, publish: data/site/index.html
	$(BIN)/frontier import pipeline/imports/published_readings.csv
	@echo "Open data/site/index.html"

test: $(READY) ## Every test that needs no engine and no browser
	$(BIN)/pytest -n 2 --dist loadscope -m "not browser"

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
	$(BIN)/python -m pip install --quiet uv==0.13.9
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-strip-extras --group dev pyproject.toml -o requirements.lock

clean: ## Remove the environment; results and site stay
	rm -rf $(VENV) *.egg-info
