# Each target sets up what it needs; nothing but python3 (3.11 or later) and make is required.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all test-extra bench peers dataset lint clean

demo: .venv/demo
	$(BIN)/cunctator demo

test: lint
	$(BIN)/pytest -n 2 -m "not slow"

# The last line says which share of lines and branches was run: see CONTRIBUTING.md.
test-all: lint
	$(BIN)/pytest -n 2 --cov --cov-report=
	$(BIN)/coverage report

# What needs more than `make test` sets up: solvers and libraries from wheels. (Debian's minisat,
# cadical and cryptominisat are used if they are there.) Without them these tests are skipped.
test-extra: .venv/extra
	$(BIN)/pytest -n 2 -m "extra and not slow"

bench: .venv/dev
	$(BIN)/python benchmarks/efficiency.py
	$(BIN)/python benchmarks/usefulness.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/comparison.py

# Cunctator beside SMAC3, irace, Optuna and successive halving, in hours; what is done is kept, and not
# done again. `make peers PEERS="--real --seeds 5"` passes options on.
DEBIAN := minisat r-cran-irace
peers: .venv/peers
	@dpkg -s $(DEBIAN) >/dev/null 2>&1 || \
		{ [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq $(DEBIAN); } || \
		echo "some are left out; for all of them: apt-get install $(DEBIAN)"
	PYTHONPATH=benchmarks $(BIN)/python -m peers $(PEERS)

# Hours: measures again what ships in src/cunctator/data; needs minisat.
dataset: .venv/dev
	$(BIN)/python benchmarks/dataset.py

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The demonstration needs less than the tests do.
.venv/demo: pyproject.toml
	@echo "installing into .venv"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[demo]'
	touch .venv/demo

.venv/dev: pyproject.toml
	@echo "installing into .venv"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch .venv/demo .venv/dev

.venv/extra: .venv/dev
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[extra]'
	touch .venv/extra

.venv/peers: .venv/dev
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[peers]'
	touch .venv/peers

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
