# Every target sets up .venv from the lock when it has to.  `make help` lists them.

ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
  $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null \
  && echo $$python && break; done)
endif

BIN := .venv/bin
READY := .venv/.ready
PORT ?= 8000

# One thread a process: the tests and the chapters run side by side.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export JUPYTER_PREFER_ENV_PATH := 1
# Set, it would remove every figure from the notebooks without a word.
unexport MPLBACKEND

.PHONY: help book test rerun full bench serve lint lock clean
.DELETE_ON_ERROR:

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	|| sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1   \2/p' $(MAKEFILE_LIST)
	@echo "  PYTHON=python3.12 chooses the Python (3.11 to 3.14) that .venv is made from."

# A .venv cannot be moved: .ready holds the folder that it was made in.
HERE := $(shell test "$$(cat $(READY) 2>/dev/null)" = "$(CURDIR)" && echo yes)
ifneq ($(HERE),yes)
.PHONY: $(READY)
endif

$(READY): requirements.lock requirements-torch.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python from 3.11 to 3.14 found; try make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || \
	{ echo "$(PYTHON) is not a Python from 3.11 to 3.14" >&2; exit 1; }
	@echo "Setting up .venv from the lock, about two minutes"
	test "$(HERE)" = yes || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install -qq --require-hashes --only-binary :all: -r requirements.lock
	$(BIN)/python -m pip install -qq $(TORCH_INDEX:%=--extra-index-url %) -r requirements-torch.txt
	$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@printf '%s' "$(CURDIR)" > $@

book: $(READY)  ## build the book into _build/html
	rm -rf _build
	$(BIN)/jupyter-book build . --all -W -n --keep-going

test: $(READY)  ## run every test, every chapter and the browser
	$(BIN)/python -m pytest tests chapters index.ipynb --nbval -n 2 --dist loadfile

rerun: $(READY)  ## execute the chapters, or CH=04 only, and store their outputs
	$(BIN)/python tools/rerun.py $(CH)

HEAVY := $(sort $(wildcard full/*.py))

full: $(READY)  ## run every heavy computation, full/*.py
	@test -n "$(HEAVY)" || echo "No chapter needs a heavy computation yet."
	@for script in $(HEAVY); do echo $$script; $(BIN)/python $$script || exit 1; done

bench: $(READY)  ## run the benchmarks
	$(BIN)/python benchmarks/run.py

serve: book  ## open the book on 127.0.0.1, at PORT=8000
	$(BIN)/python tools/serve.py --port $(PORT)

lint: $(READY)  ## check the style of modules and chapters
	$(BIN)/ruff check .

lock:  ## resolve requirements.in into requirements.lock (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	requirements.in --output-file requirements.lock

clean:  ## remove what was built, but not .venv
	rm -rf _build build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find gaugelib chapters tests tools _ext -name __pycache__ -prune -exec rm -rf {} +
	find chapters -name .ipynb_checkpoints -prune -exec rm -rf {} +
