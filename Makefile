# Two commands: `make demo` and `make test`. Python >= 3.11 and make are all that has to be there.
# The environment is .venv, made once and again whenever the pins change. Another Python: make demo PYTHON=python3.13

PYTHON ?= python3
# Time of all fuzz targets together, and what chooses their inputs: random, hypothesis or atheris.
SECONDS ?= 60
ENGINE ?= random
# Faults injected into whole runs, and what chooses them and their moments.
FAULTS ?= 20
SEED ?= 1
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz faults docs pins floors translations audit sbom clean

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.runtime  ## Serve the demo shop, run the whole job on it, print what its catalog lacks.
	@$(BIN)/scout demo

# Tests start many processes: each compiles all modules again where bytecode may not be stored.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.dev  ## Run linters, type checks and all tests.
	@echo "ruff, mypy, import-linter ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@echo "pytest ..."
	@mkdir -p build
	@$(BIN)/python -m slipcover --json --out build/coverage.json -m pytest -p tests.coverage_probes -n 2 --dist worksteal
	@$(BIN)/python -c "import json; print('coverage: %.0f %% of lines' % json.load(open('build/coverage.json'))['summary']['percent_covered'])"

fuzz: $(VENV)/.dev  ## Try hostile inputs for SECONDS (default 60); ENGINE=atheris is guided by coverage.
	@if [ "$(ENGINE)" = atheris ]; then $(PIP) install -r requirements/fuzz.txt; fi
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --engine $(ENGINE)

faults: $(VENV)/.dev  ## Run shops amid FAULTS (default 20) kills, full disks, cut lines, ...; SEED repeats them.
	@$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED)

floors: $(VENV)/.dev  ## Measure anew and raise the floors in tests/floors.json; none is lowered.
	@SCOUT_RAISE_FLOORS=1 $(BIN)/python -m pytest tests -k floors

docs: $(VENV)/.docs  ## Build the documentation site into build/docs; warnings are errors.
	@$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs build/docs
	@echo "documentation: build/docs/index.html"

translations: $(VENV)/.runtime  ## Collect all texts for readers, and list those that lack a translation.
	@$(BIN)/python -m catalog.language.extraction

pins:  ## Choose the newest versions within the ranges, in a fresh environment; write requirements/*.txt.
	@echo "installing the newest versions within the ranges into build/pins ..."
	@rm -rf build/pins
	@$(PYTHON) -m venv build/pins
	@build/pins/bin/python -m pip --quiet --disable-pip-version-check install -r requirements/direct.txt -r requirements/dev-direct.txt -r requirements/docs-direct.txt packaging
	@build/pins/bin/python requirements/pins.py requirements/direct.txt > build/runtime.txt
	@build/pins/bin/python requirements/pins.py requirements/direct.txt requirements/dev-direct.txt > build/dev.txt
	@build/pins/bin/python requirements/pins.py requirements/docs-direct.txt > build/docs.txt
	@mv build/runtime.txt build/dev.txt build/docs.txt requirements/
	@rm -rf build/pins
	@echo "requirements/runtime.txt, requirements/dev.txt and requirements/docs.txt written"

audit: build/audit/.done  ## Look the pinned packages up in the database of known vulnerabilities (optional).
	@build/audit/bin/python requirements/audit.py requirements/runtime.txt

sbom: build/audit/.done  ## Write the list of all pinned packages (CycloneDX) to build/sbom.json.
	@build/audit/bin/python -W ignore -m cyclonedx_py requirements requirements/runtime.txt --pyproject pyproject.toml --output-reproducible -o build/sbom.json
	@echo "$$(build/audit/bin/python -c 'import json; print(len(json.load(open("build/sbom.json"))["components"]))') packages: build/sbom.json"

clean:  ## Remove the environment and all caches; data in var/ stays.
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: Scout needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo not there): name another with 'make demo PYTHON=python3.12'" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "error: $(PYTHON) lacks the modules venv and ensurepip: install them (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV)

build/audit/.done: requirements/audit.txt
	@echo "installing the tools of the audit (once) ..."
	@mkdir -p build
	@$(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip --quiet --disable-pip-version-check install -r requirements/audit.txt
	@touch $@

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "installing the pinned packages (once; about a minute) ..."
	@$(PIP) install -r requirements/build.txt -r requirements/runtime.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.runtime
	@echo "installing the pinned packages for the documentation (once) ..."
	@$(PIP) install -r requirements/docs.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "installing the pinned packages for tests and checks (once) ..."
	@$(PIP) install -r requirements/dev.txt
	@touch $@
