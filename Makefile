# Each target sets up what it needs; nothing but python3 (3.11 or later) and make is required.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all bench dataset lint clean

demo: .venv/demo
	$(BIN)/cunctator demo

test: lint
	$(BIN)/pytest -n 2 -m "not slow"

test-all: lint
	$(BIN)/pytest -n 2

bench: .venv/dev
	$(BIN)/python benchmarks/efficiency.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/comparison.py

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

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
