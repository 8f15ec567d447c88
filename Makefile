# The project's tasks. Each one sets up what it needs first: `make demo` and `make test` work on a fresh machine with
# Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# A local copy of the data sets; without one, tests on whole corpora are skipped and the demo falls back.
ifneq ($(wildcard ../shared/data),)
export AUSCULT_DATA ?= $(abspath ../shared/data)
endif
# No model is looked for on the network unless asked to: make HF_HUB_OFFLINE=0 ...
export HF_HUB_OFFLINE ?= 1
# Compiled modules are kept, whatever the environment says. Tests start hundreds of processes: each would compile all it
# imports again, which doubles the processor time of a start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-ray mutants reliability security lint types format docs catalogues results benchmarks release lock site clean

help:  ## Say what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: $(VENV)/.installed  ## Make .venv with everything the demo and the tests need

# A minute sooner than pip by itself, which compiles every module of every package: few of them are ever imported.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt

# torch comes first and pinned: whatever else depends on it must find this release and not choose another.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) torch
	$(INSTALL) --editable '.[dev]'
	touch $@

$(VENV)/.installed-benchmarks: $(VENV)/.installed
	$(INSTALL) --editable '.[benchmarks]'
	touch $@

$(VENV)/.installed-release: $(VENV)/.installed locks/release.txt
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement locks/release.txt
	touch $@

# Versions and hashes for all platforms, so that what is installed is what was tested, whatever a registry serves.
LOCK = UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --upgrade --universal --python-version 3.11 \
	--constraint constraints.txt --generate-hashes --no-annotate --no-config --no-emit-index-url --quiet
TOOLS = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["release"], sep="\n")

lock: $(VENV)/.installed-release  ## Write locks/ again: the newest versions that pyproject.toml allows, with hashes
	$(LOCK) pyproject.toml --extra serve --extra postgres --output-file locks/container.txt >/dev/null
	$(LOCK) pyproject.toml --extra all --extra postgres --extra milvus --extra onnx --extra ray \
		--output-file locks/everything.txt >/dev/null
	$(BIN)/python -c '$(TOOLS)' | $(LOCK) - --output-file locks/release.txt >/dev/null

demo: setup  ## Index real health pages, answer five questions, measure: some minutes
	$(BIN)/auscult demo

# One process more than cores, because many tests wait for a service, a browser or a timeout. Each has one thread: the
# tests' networks are small, and threads that wait for each other are slow on a busy machine. `tests/workers.py` says how
# they share the tests.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
SELECT = -m "not slow and not ray"

test: setup  ## Run the tests, but for the slow ones and Ray's; `make test SELECT=` runs all
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --workers $(WORKERS) $(SELECT)

test-slow: setup  ## Run the slow tests, then Ray's
	$(MAKE) test SELECT='-m "slow and not ray"'
	$(MAKE) test-ray

test-ray: setup  ## Run Ray's tests, with nothing beside them
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m ray

mutants: setup  ## Break the code on purpose, one line at a time: does a test notice? Minutes
	$(BIN)/python tests/mutants.py

reliability: setup  ## Kill, fill, cut and flip: what an index survives, counted. Ten minutes
	PYTHONPATH=tests $(BIN)/python tests/reliability.py

security: setup  ## Strangers, forged keys, cut logs, bombs: what a service survives, counted. Half an hour
	PYTHONPATH=tests $(BIN)/python packages/auscult-service/tests/security.py

lint: setup  ## Check style, formatting and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: setup  ## Check types
	$(BIN)/mypy

format: setup  ## Format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: setup  ## Write the pages that are generated: commands and data sets; and the figures in README.md
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/readme_table.py

CATALOGUES = packages/auscult-service/src/auscult_service/page

catalogues: setup  ## Bring the page's French, Spanish and German up to date with its templates; then translate
	mkdir -p out
	$(BIN)/pybabel extract --mapping packages/auscult-service/babel.cfg --keywords "message message_in:1c,2 counted:1,2" \
		--no-location --sort-by-file --output out/page.pot $(CATALOGUES)
	$(BIN)/pybabel update --domain page --input-file out/page.pot --output-dir $(CATALOGUES)/translations \
		--no-fuzzy-matching --ignore-obsolete --width 116 --ignore-pot-creation-date

site: setup  ## Write the documentation as a site that needs no network, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

results: setup  ## Write docs/results from the records in benchmarks/results: pages, figures, tables
	$(BIN)/python -m study results

benchmarks: setup $(VENV)/.installed-benchmarks  ## Measure splitting, indexing, search and weighted cosine; write docs/results.md
	$(BIN)/python benchmarks/sentence_splitting.py
	$(BIN)/python benchmarks/indexing.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/weighted_cosine.py
	$(BIN)/python -m study results

release: setup $(VENV)/.installed-release  ## Build the wheels, list licences, try them on each Python of this machine: half an hour
	$(BIN)/python -m release

clean:  ## Remove .venv, caches and everything that was built
	rm -rf $(VENV) build dist out site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
