# One line a target. `make run` and `make test` need nothing but git, make and Python 3.11 or newer.

BIN := .venv/bin
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$python" && break; done)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# An editable install is not compiled, and where Python may not write bytecode every start would pay for that.
COMPILE := $(BIN)/python -m compileall -q agent_core memory tui

.PHONY: run test lint pytest screenshots bench bench-recall clean

run: .venv/run.stamp ## start the program: make run ARGS="--model …"
	@$(BIN)/mnemoscope $(ARGS)

test: lint pytest ## everything that CI checks

lint: .venv/dev.stamp ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pytest: .venv/dev.stamp ## the tests alone
	$(BIN)/pytest $(ARGS)

screenshots: .venv/dev.stamp ## take the pictures in screenshots/ anew, from the running program
	$(BIN)/python -m screenshots.make

bench: .venv/dev.stamp ## measure first paint, idling and streaming
	$(BIN)/python -m benchmarks

bench-recall: .venv/dev.stamp ## measure what local search finds: make bench-recall DATA=locomo10.json
	$(BIN)/python -m benchmarks.recall "$(DATA)" $(ARGS)

clean: ## remove the environment and what tools have left
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info

.venv/run.stamp: pyproject.toml .venv/python.stamp
	@echo "Installing what Mnemoscope needs into .venv, once; this takes a minute or so."
	$(INSTALL) --editable .
	$(COMPILE)
	@touch $@

.venv/dev.stamp: pyproject.toml .venv/python.stamp
	@echo "Installing what the tests need into .venv, once; this takes a few minutes."
	$(INSTALL) --editable '.[dev]'
	$(COMPILE)
	@touch .venv/run.stamp $@

# An environment that was left half made is made anew.
.venv/python.stamp:
	@test -n "$(PYTHON)" || { echo "Mnemoscope needs Python 3.11 or newer, and found none. Install one, then try again."; exit 1; }
	@$(PYTHON) -m venv --clear .venv || { echo "Making .venv failed. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@
