# book · test · check · widget · lecture · page · evidence · fuzz · lab · slides · pdf · handout · strip · clean. Each target sets itself up; a second run starts at once.
PYTHON ?= python3
JOBS ?= 2

BIN := .venv/bin
READY := .venv/.ready
STRICT := -W --keep-going -n

# Lectures run under their own kernel profile, without the reader's settings and without log lines.
export IPYTHONDIR := $(CURDIR)/.venv/.ipython

# The values of W and N.
WIDGETS := $(filter-out kit maths vendor,$(notdir $(patsubst %/,%,$(wildcard course_lib/widgets/*/))))
LECTURES := $(sort $(notdir $(basename $(wildcard lectures/*.ipynb))))
LECTURE := $(filter $(N)_%,$(LECTURES))
ONE := _build/lecture

# Two workers share two cores, so each computes on one thread.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -p no:nbval -n $(JOBS) --dist loadfile
QUICK := OMP_NUM_THREADS=1 $(BIN)/pytest -q -p no:nbval -p no:cacheprovider -m "not slow and not browser"

.PHONY: book test pytest check quick-library quick-others lint widget known-widget lecture page known-lecture evidence fuzz lab slides pdf handout strip clean
.DELETE_ON_ERROR:

book: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/site/execute_lectures.py --jobs $(JOBS) $(wildcard lectures/*.ipynb)
	@$(BIN)/jupyter-book build . -q $(STRICT)
	@$(BIN)/python scripts/site/check_site.py _build/html
	@echo "Open _build/html/index.html in a browser."

# When all parts pass, _build/tested records the commit, the time, and the seconds of each part.
test: $(READY)
	@told=; for part in lint book pytest; do \
	  start=$$(date +%s); \
	  PARTS_BEFORE="$$told" $(MAKE) --no-print-directory $$part || exit 1; \
	  told="$${told:+$$told, }$$part $$(($$(date +%s) - start)) s"; \
	done; \
	printf "commit $$(git describe --always --abbrev=40 --dirty)\n$$told\npassed at $$(date -u +%FT%TZ)\n" \
	  > _build/tested

# The book has run the cells of all lectures as tests of nbval; this runs all other tests, and its
# last line sums them up.
pytest: $(READY)
	@$(PYTEST) tests

# Under a minute: half of a run is imports, so each process imports only what its half needs.
check: $(READY)
	@$(MAKE) --no-print-directory --jobs --output-sync lint quick-library quick-others

quick-library: $(READY)
	@$(QUICK) tests/library

quick-others: $(READY)
	@$(QUICK) tests/exercises tests/widgets tests/site

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python scripts/tools/check_javascript.py

# One widget on a bare page: the tests with its module or its class in their names.
widget: known-widget $(READY)
	@$(PYTEST) tests/widgets -m "not book" -k "$(W) or $(subst _,,$(W))"

known-widget:
	@$(if $(filter 1,$(words $(filter $(W),$(WIDGETS)))),,\
	  echo "There is no widget W='$(W)'; name one of: $(WIDGETS)" >&2; exit 2)

# One lecture: its page in Chromium, its contract, its exercises.
lecture: page
	@SITE=$(ONE)/_build/html $(PYTEST) tests/exercises tests/site -m "book or not browser" \
	  -k "($(LECTURE) or $(LECTURE:$(N)_%=%):) and not (evidence or slides or firefox)"

# Cells run only if their dependencies have changed since the last run, here or for the book.
page: known-lecture $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/site/execute_lectures.py --jobs 1 lectures/$(LECTURE).ipynb
	@$(BIN)/python scripts/site/one_lecture.py lectures/$(LECTURE).ipynb $(ONE)
	@$(BIN)/jupyter-book build $(ONE) -q $(STRICT)
	@echo "Open $(ONE)/_build/html/lectures/$(LECTURE).html in a browser."

known-lecture:
	@$(if $(filter 1,$(words $(LECTURE))),,\
	  echo "There is no lecture N='$(N)'; give the number of one of: $(LECTURES)" >&2; exit 2)

# Results that lectures state but do not compute: of lecture N or of all; E names experiments.
evidence: $(READY)
	@for script in $(wildcard scripts/evidence/$(N)*.py); do \
	  OMP_NUM_THREADS=1 $(BIN)/python $$script $(E) || exit 1; \
	done

# Call the library with one wrong argument: it returns, or says what it expected. Then operate every
# figure at random: no exception, no NaN.
fuzz: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/tools/fuzz.py --calls $(or $(CALLS),20000) --seed $(or $(SEED),0)
	@EVENTS=$(or $(EVENTS),2000) SEED=$(or $(SEED),0) $(PYTEST) tests/widgets/test_random_events.py

lab: $(READY)
	@$(BIN)/jupyter lab --notebook-dir=lectures --config=scripts/tools/jupyter_lab_config.py

slides: book
	@$(BIN)/jupyter-book build . -q $(STRICT) --builder custom --custom-builder slides
	@echo "Open _build/slides/index.html in a browser."

# The whole book for a printer or a tablet.
pdf: book
	@$(BIN)/python scripts/site/pdf.py _build/html _build/course.pdf

# The book without its solutions, for a class.
handout: $(READY)
	@$(BIN)/python scripts/site/without_solutions.py _build/handout
	@$(BIN)/jupyter-book build _build/handout -q $(STRICT)
	@$(BIN)/python scripts/site/check_site.py _build/handout/_build/html
	@echo "Open _build/handout/_build/html/index.html in a browser."

# Remove outputs from the notebooks, except those of cells tagged nbval-check-output.
strip: $(READY)
	@$(BIN)/python scripts/tools/strip_outputs.py $(wildcard lectures/*.ipynb)

clean:
	rm -rf _build node_modules .hypothesis .pytest_cache .ruff_cache

$(READY): requirements.txt constraints.txt pyproject.toml scripts/tools/jupyterlab_settings.json scripts/tools/jupyter_nbconvert_config.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This course needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." ; \
	  echo "Name another one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" ; exit 1 ; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the pinned requirements into .venv (minutes the first time)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.txt
	@mkdir -p $(IPYTHONDIR)/profile_default .venv/share/jupyter/lab/settings
	@cp scripts/tools/jupyterlab_settings.json .venv/share/jupyter/lab/settings/overrides.json
	@mkdir -p .venv/etc/jupyter && cp scripts/tools/jupyter_nbconvert_config.json .venv/etc/jupyter/
	@echo "get_config().IPKernelApp.log_level = 40" > $(IPYTHONDIR)/profile_default/ipython_kernel_config.py
	@touch $@
