# Two commands for users, on a machine with Python 3.11 or newer, pip, make and a C compiler (or the web, for one):
#     make demo    make test
# Everything is installed into .venv here; nothing outside this folder is touched, unless SYSTEM_PACKAGES=1 allows it.

.DEFAULT_GOAL := help
.PHONY: help demo test quick check format bench wheel pictures docs clean

# What must be compiled again when it changes.
KERNELS := setup.py scripts/compiler.py $(wildcard src/secateur/_kernels/*.pxd) $(shell grep -l '^import cython' src/secateur/_kernels/*.py)

help: ## say what there is
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

demo: .venv/installed ## grow, prune and certify trees on built-in data; writes demo/report.html
	@.venv/bin/python -m secateur.cli.demo

test: .venv/installed-test ## run every test (about ten minutes the first time: the kernels are compiled)
	@scripts/browser
	@scripts/test

quick: .venv/installed-test ## lint, types, layers, and whether all that is listed is complete: under a minute
	@scripts/check; checked=$$?; \
	    scripts/test -n 0 -m quick $$(grep -rl --include='test_*.py' 'mark\.quick' tests) && exit $$checked

check: .venv/installed-test ## lint, format, types, layers
	@scripts/check

format: .venv/installed-test ## format the code and mend what the linter can
	@.venv/bin/python -m ruff check -q --fix-only . && .venv/bin/python -m ruff format -q .

wheel: .venv/installed ## build a wheel into dist/ and try it where there is no compiler
	@scripts/wheel

bench: .venv/installed-test ## run the benchmarks
	@scripts/bench

pictures: .venv/installed-test ## draw the pictures of the README
	@.venv/bin/python scripts/pictures.py

docs: .venv/installed-docs ## build the documentation into docs/_build/html
	@scripts/docs

clean: ## remove what the other commands made
	rm -rf .venv .cache build demo dist docs/_build .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	find src -name '*.so' -delete

.venv/installed: pyproject.toml scripts/install $(KERNELS)
	@scripts/install .
	@touch $@

.venv/installed-test: pyproject.toml scripts/install $(KERNELS)
	@scripts/install '.[test]'
	@touch .venv/installed $@

.venv/installed-docs: pyproject.toml scripts/install $(KERNELS)
	@scripts/install '.[docs]'
	@touch .venv/installed $@
