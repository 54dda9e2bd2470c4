# Each target only names its script; the work is in .ci/ and tests/.
SHELL := /bin/bash
SEED ?= 1
# Only from make's own command line: other programs' TARGET is none of ours.
TARGET :=
# Where this is set, every start of Python, Ansible's too, would compile its modules anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo test quick matrix matrix-cloud scan-policy setup lock benchmark-lock benchmark-startup benchmark-onprem benchmark-cloud scan clean

help: ## Print this help
	@echo "usage: make TARGET"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: ## One spec onto a lab of real systems on this machine, start to finish (SEED=1; TARGET=onprem: no cloud; needs root)
	@bash .ci/setup $(if $(TARGET),rack,lab)
	@bash .ci/as-root bash tests/demo/run "$(SEED)" "$(TARGET)"

test: ## Every check and every test, those on the lab too (needs root)
	@bash .ci/setup test
	@bash .ci/test

quick: ## Format, lint, types, layers, reference, fast tests: two minutes on two cores, no root
	@bash .ci/setup python
	@.venv/bin/python .ci/checks.py

matrix: ## Every fault of the fault matrix, and the long trials, on the lab: about an hour (needs root)
	@bash .ci/setup test
	@bash .ci/matrix

matrix-cloud: ## Every fault of the cloud's fault matrix at each resource, in an account on paper: within an hour
	@bash .ci/setup test
	@bash .ci/matrix-cloud

scan-policy: ## Two scanners read the policies that gpuprov prints (an environment of their own)
	@bash .ci/setup python
	@.venv/bin/python .ci/scan_policy.py

scan: ## Prowler reads the account that the lab shows after `up` (an environment of its own)
	@bash .ci/setup test
	@.venv/bin/python .ci/scan.py

setup: ## Only the set-up that the other targets do by themselves
	@bash .ci/setup test

lock: ## Resolve .ci/requirements.lock anew from pyproject.toml
	@bash .ci/setup python
	@bash .ci/lock

benchmark-lock: ## Measure a large lock beside apt's simulation of the same (reads the package archive)
	@bash .ci/setup python
	@.venv/bin/python tests/benchmarks/lock.py

benchmark-startup: ## Measure how long the command line takes to start
	@bash .ci/setup python
	@.venv/bin/python tests/benchmarks/startup.py

benchmark-onprem: ## Measure `up` on a lab beside bare apt-get, ansible-playbook and pyinfra (needs root)
	@bash .ci/setup lab
	@bash .ci/as-root .venv/bin/python tests/benchmarks/onprem.py

benchmark-cloud: ## Measure the cloud half beside the bare engine: 2, 50, 500 instances on paper (no node is booted)
	@bash .ci/setup test
	@.venv/bin/python tests/benchmarks/cloud.py

clean: ## Remove what the targets made in this folder
	@bash .ci/clean
