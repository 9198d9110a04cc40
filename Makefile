# book · test · lab · slides · handout · strip · clean. Each target sets itself up; a second run starts at once.
PYTHON ?= python3
JOBS ?= 2

BIN := .venv/bin
READY := .venv/.ready
STRICT := -W --keep-going -n

# Lectures run under a kernel profile of their own: nothing from the reader's, no log lines.
export IPYTHONDIR := $(CURDIR)/.venv/.ipython

.PHONY: book test lab slides handout strip clean
.DELETE_ON_ERROR:

book: $(READY)
	@$(BIN)/jupyter-book build . -q $(STRICT)
	@$(BIN)/python scripts/check_site.py _build/html
	@echo "Open _build/html/index.html in a browser."

# One process for all tests, so that its last line speaks for everything. Two workers share two
# cores, so each computes on one thread.
test: book
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@OMP_NUM_THREADS=1 $(BIN)/pytest --nbval-lax -n $(JOBS) --dist loadfile

lab: $(READY)
	@$(BIN)/jupyter lab --notebook-dir=lectures --config=scripts/jupyter_lab_config.py

slides: book
	@$(BIN)/python scripts/slides.py lectures --cache _build/.jupyter_cache --output _build/slides
	@echo "Open _build/slides/index.html in a browser."

# The book without its solutions, for a class.
handout: $(READY)
	@$(BIN)/python scripts/without_solutions.py _build/handout
	@$(BIN)/jupyter-book build _build/handout -q $(STRICT)
	@$(BIN)/python scripts/check_site.py _build/handout/_build/html
	@echo "Open _build/handout/_build/html/index.html in a browser."

# Outputs leave the notebooks, except those of cells tagged nbval-check-output.
strip: $(READY)
	@$(BIN)/python scripts/strip_outputs.py $(wildcard lectures/*.ipynb)

clean:
	rm -rf _build .hypothesis .pytest_cache .ruff_cache

$(READY): requirements.txt constraints.txt pyproject.toml scripts/jupyterlab_settings.json scripts/jupyter_nbconvert_config.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This course needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." ; \
	  echo "Name another one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" ; exit 1 ; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the pinned requirements into .venv (minutes the first time)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.txt
	@mkdir -p $(IPYTHONDIR)/profile_default .venv/share/jupyter/lab/settings
	@cp scripts/jupyterlab_settings.json .venv/share/jupyter/lab/settings/overrides.json
	@mkdir -p .venv/etc/jupyter && cp scripts/jupyter_nbconvert_config.json .venv/etc/jupyter/
	@echo "get_config().IPKernelApp.log_level = 40" > $(IPYTHONDIR)/profile_default/ipython_kernel_config.py
	@touch $@
