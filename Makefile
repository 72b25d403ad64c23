# Two commands for users, on a machine with Python 3.11 or newer, pip and make:
#     make demo    make test
# Everything is installed into .venv here; nothing outside this folder is touched.

.DEFAULT_GOAL := help
.PHONY: help demo test check bench pictures docs clean

help: ## say what there is
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

demo: .venv/installed ## grow, prune and certify trees on built-in data; writes demo/report.html
	@.venv/bin/python -m secateur.demo

test: .venv/installed-test ## run every test (about ten minutes the first time: the kernels are compiled)
	@scripts/browser
	@scripts/test

check: .venv/installed-test ## lint, format, types, layers
	@scripts/check

bench: .venv/installed-test ## run the benchmarks
	@scripts/bench

pictures: .venv/installed-test ## draw the pictures of the README
	@.venv/bin/python scripts/pictures

docs: .venv/installed-docs ## build the documentation into docs/_build/html
	@scripts/docs

clean: ## remove what the other commands made
	rm -rf .venv .cache demo dist docs/_build .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml scripts/install
	@scripts/install .
	@touch $@

.venv/installed-test: pyproject.toml scripts/install
	@scripts/install '.[test]'
	@touch .venv/installed $@

.venv/installed-docs: pyproject.toml scripts/install
	@scripts/install '.[docs]'
	@touch .venv/installed $@
