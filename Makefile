# What a developer types. `make demo` and `make test` need nothing but a Python of 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

# An environment whose Python went away is made anew.
INSTALLED := $(if $(shell $(BIN)/python -c 'print(1)' 2>/dev/null),$(VENV)/.installed,rebuild)

.PHONY: install rebuild demo test programs interop check coverage mutants pythons wheel accuracy bench lock audit sbom vendor fuzz soak clean

install: $(INSTALLED)

$(VENV)/.installed: pyproject.toml .ci/install .ci/constraints.txt
	@.ci/install $(VENV)
	@touch $@

rebuild:
	@.ci/install $(VENV)
	@touch $(VENV)/.installed

# A small agent, run under observation: its spans go through the receiver, and its verdict is printed at the end.
demo: install
	@$(BIN)/critiqor-otel run --runs "$$(mktemp -d)/runs" -- $(BIN)/python -m critiqor_otel.cli.demo_agent

test: install
	@$(PYTEST) -q -rs -n auto

# A real Collector and a real Jaeger, built with Go where they are not there yet: minutes, once.
programs: install
	@$(BIN)/python tests/support/interop_programs.py

# Our side of the road against them. `make test` does the same where they are built, and says so where they are not.
interop: programs
	@CRITIQOR_INTEROP=required $(PYTEST) -q tests/interop

# Cheapest first: format, lint, spelling, layers, dependencies, types.
check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python

# The built wheel, in an environment of its own: what users get is what is shown to work.
wheel: install
	@.ci/wheel $(BIN)/python

accuracy: install
	@$(BIN)/python bench/accuracy $${DATA:?a folder of labelled runs} --write docs/accuracy.md

# All figures, each part whether or not a target of another was missed; the exit code says if one was.
bench: install
	@failed=0; run() { $(BIN)/python "$$@" || failed=1; }; \
	run bench/measure.py; \
	run bench/emit.py; \
	run bench/scale.py --spans $${SPANS:-1000000}; \
	run bench/estimate.py; \
	run bench/peers.py $${PEERS:-.peers}; \
	run bench/report.py; \
	run bench/receiver.py --peers $${PEERS:-.peers}; \
	exit $$failed

# The versions that `make install` takes, anew: the newest that fit.
lock: install
	@$(BIN)/python .ci/lock

# What of what is installed has known weaknesses; asks a public database.
audit: install
	@$(BIN)/python -m pip install --quiet pip-audit
	@$(BIN)/pip-audit --requirement .ci/constraints.txt --no-deps --disable-pip

# A bill of materials (CycloneDX) of the wheel and what it stands on, without the development tools: sbom.json.
sbom: install
	@.ci/sbom $(BIN)/python sbom.json

# The front-end packages of pages, fetched again by npm: what has another digest is refused.
vendor: install
	@$(BIN)/python .ci/vendor

# Which branches of the two packages the tests take, in every process that they start; less than 95 % of one fails.
# WORDS="--ignore=tests/browser" and the like are handed on to pytest.
coverage: install
	@$(BIN)/python .ci/coverage $(WORDS)

# The tests in every Python from 3.11 on that this machine has.
pythons:
	@.ci/pythons

# Faults put into the detectors one by one: those that no test finds are printed (docs/mutants.md argues them).
mutants: install
	@$(BIN)/python tests/fuzz/mutants.py --count $${MUTANTS:-0}

# The long form of the fuzz tests; the short form is part of `make test`.
fuzz: install
	@for script in tests/fuzz/fuzz_*.py; do $(BIN)/python $$script || exit 1; done
	@FUZZ_INPUTS=10000 $(PYTEST) -q tests/receiver/test_rough_clients.py -k fuzzed

# The receiver, killed two hundred times under load, half an hour under mixed load with restarts (SECONDS=600 for ten
# minutes), and ten times behind a real Collector with 200,000 spans; short forms are part of `make test`.
soak: install
	@$(BIN)/python tests/support/killing.py $${KILLS:-200} "$$(mktemp -d)"
	@$(BIN)/python tests/support/soaking.py --seconds $(or $(SECONDS),1800) --write bench/soak.md "$$(mktemp -d)"
	@if [ -n "$$($(BIN)/python tests/support/interop_programs.py --where collector)" ]; then \
		$(BIN)/python tests/support/restarting.py 200000 $${RESTARTS:-10} "$$(mktemp -d)"; \
	else echo "skipped: the real Collector is not built; make programs builds it"; fi

clean:
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
