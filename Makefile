# Each target makes what it needs, from a bare checkout with Python 3.11 or newer and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
TESTS ?= tests

# A strict editable install links the files that exist when it is made: another list of files, another stamp.
FILES := $(shell { find handler jobs sql -name '*.py' -o -name '*.sql' -o -name '*.template' -o -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg' -o -name prices.toml -o -name py.typed; find deploy -path deploy/examples -prune -o -type f ! -name '*.pyc' -print; } | LC_ALL=C sort | cat - pyproject.toml | cksum | cut -d ' ' -f 1)
INSTALLED := $(VENV)/installed-$(FILES)

.PHONY: help demo test check lock bench bench-page package dist pictures clean
help:
	@echo "make demo     see it work, on a PostgreSQL of its own"
	@echo "make test     run the tests (TESTS=tests/door WORKERS=4)"
	@echo "make check    format, lint, types, layers, SQL, dependencies, dead code, workflows"
	@echo "make bench    measure drains and cold ticks"
	@echo "make bench-page  measure every page over five million finished jobs"
	@echo "make package  build the wheel and use it from a project of its own"
	@echo "make dist     what a release uploads: the source distribution, and the wheel made of it"
	@echo "make pictures take the pictures of docs/ again"
	@echo "make lock     bring requirements.lock up to pyproject.toml (UPGRADE=--upgrade for newer releases)"
	@echo "make clean    remove what the others made"

demo: $(INSTALLED)
	$(BIN)/crontick demo
	@echo "To look around, at the page too: $(BIN)/crontick demo --keep"

test: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	for app in tests/apps/*; do (cd $$app && $(abspath $(BIN))/mypy) || exit 1; done
	$(BIN)/mypy --python-version 3.10 .github/actions/tick/tick.py
	$(BIN)/mypy deploy/lambda/build.py
	$(BIN)/mypy .ci/check_release.py
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint sql
	$(BIN)/deptry .
	$(BIN)/vulture
	$(BIN)/jactionlint --shellcheck=
	$(BIN)/cfn-lint deploy/lambda/template.yaml
	$(BIN)/zizmor --offline --no-progress --quiet .github

bench: $(INSTALLED)
	$(BIN)/python -m tests.bench

bench-page: $(INSTALLED)
	$(BIN)/python -m tests.bench.page

package: $(INSTALLED)
	tests/package/check $(BIN)/python

dist: $(INSTALLED)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

pictures: $(INSTALLED)
	TESTS_PICTURES=1 $(BIN)/python -m pytest tests/dashboard/test_pictures.py

lock: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras $(UPGRADE) \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --constraint requirements.lock \
		--extra server --extra email --extra encryption --no-header --no-annotate --no-emit-index-url \
		--no-emit-find-links --output-file deploy/image/requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --constraint requirements.lock \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file deploy/lambda/requirements.txt pyproject.toml

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "crontick needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/dependencies: requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	touch $@

$(INSTALLED): $(VENV)/dependencies
	rm -rf build $(VENV)/installed-*
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--config-settings editable_mode=strict --editable .
	touch $@

clean:
	rm -rf $(VENV) build dist ./*.egg-info .coverage* .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -r {} +
