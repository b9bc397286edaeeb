# Everything sets itself up from Python 3.11+ and make. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
CHROMIUM := $(or $(CALLM_VOICE_CHROMIUM),$(shell command -v chromium chromium-browser google-chrome-stable google-chrome chrome | head -n 1))

.DEFAULT_GOAL := help
.PHONY: help setup check format test test-quick inspect demo models perf schemas clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -e 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## Make .venv with everything in it

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11 to 3.13 is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[cpu,dev,otel,plots]'
	@touch $@

check: setup  ## Lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: setup  ## Put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

models: setup  ## Pull the weights into the cache
	$(BIN)/callm-voice models pull

test-quick: setup  ## The tests without weights and without the wall clock (some minutes)
	$(PYTEST) -m "unit or property or golden or meta"

test: setup models  ## All tests
	$(PYTEST) -m "unit or property or golden or meta"
	$(PYTEST) -m "conversation or faults"
	$(PYTEST) -m "realtime" -p no:randomly
	$(if $(CHROMIUM),$(PYTEST) -m "browser" -p no:randomly)
	$(PYTEST) -m "models" -p no:randomly
	@$(if $(CHROMIUM),,echo "NOT RUN, as there is no Chromium here: the tests of the pages (apt-get install chromium)")

inspect: setup  ## Let Inspect, in an environment of its own, read the exported logs
	$(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check inspect-ai
	CALLM_VOICE_INSPECT_PYTHON=.venv-inspect/bin/python $(PYTEST) tests/unit/test_export_inspect.py

demo: setup models  ## Two real calls by voice, scored: the oracle and a small real model
	$(BIN)/callm-voice demo

perf: setup models  ## Take the performance figures of this machine (three quarters of an hour, quiet) into docs/
	$(BIN)/python tests/performance/run.py

schemas: setup  ## Write anew what docs/ has from the code: schemas, tables, command line
	$(BIN)/python -m callm_voice.bench.schemas
	$(BIN)/python -m callm_voice.bench.doc_tables
	$(BIN)/python -m callm_voice.cli.reference
	$(BIN)/python -m callm_voice.bench.outcomes_doc

clean:  ## Remove what was built here
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
