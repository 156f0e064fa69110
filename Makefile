# The commands of a working day; `make help` lists them. The build itself is CMake's (CMakeLists.txt, CMakePresets.json).

PREFIX ?= /usr/local
WERROR ?= ON
MODEL ?= models/slider_crank.yaml
SIGNALS ?= body.slider.position.x
STUDIES ?=

RELEASE = build/release
TRAMMEL = $(RELEASE)/bin/trammel
DEMO = build/demo/$(basename $(notdir $(MODEL)))

configure = cmake --preset $(1) -DTRAMMEL_WERROR=$(WERROR) >/dev/null  # errors and warnings still show

.DEFAULT_GOAL := help
.PHONY: help run test studies bench fuzz sanitize tidy-changed includes viewer-check gallery gallery-pictures python check-all format format-check install clean packages command

help:  ## this list
	@echo "Trammel: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  \1\t\2/p' Makefile | expand -t 16
	@echo "WERROR=OFF compiles in spite of warnings; CXX=... chooses another compiler on the first build."

packages:
	@sh packages/install.sh build

command: packages
	@$(call configure,release)
	@cmake --build $(RELEASE) --target trammel-app

run: command  ## set up, build and simulate the demo mechanism, or another: MODEL=file.yaml SIGNALS="name ..."
	@mkdir -p $(dir $(DEMO))
	$(TRAMMEL) run $(MODEL) --output $(DEMO).h5
	$(TRAMMEL) plot $(DEMO).h5 $(SIGNALS) -o $(DEMO).png
	@if $(TRAMMEL) view $(DEMO).h5 -o $(DEMO).html >/dev/null 2>$(DEMO).log; then echo "Page:   $(DEMO).html (open it in a browser)"; \
	else echo "Page:   none: $$(sed -n '1s/^error: //p' $(DEMO).log)"; fi
	@echo "Result: $(DEMO).h5"
	@echo "Plot:   $(DEMO).png"

test: packages  ## set up, build everything and run all tests
	@$(call configure,release)
	@cmake --build $(RELEASE)
	@sh scripts/test.sh $(RELEASE)

studies: command  ## compute all studies, or some: STUDIES="name ..."
	@sh packages/install.sh studies
	@cmake --build $(RELEASE) --target trammel-study
	$(TRAMMEL) study --all $(STUDIES)

bench: packages  ## measure costs (release build)
	@sh packages/install.sh bench
	@$(call configure,release)
	@cmake --build $(RELEASE) --target trammel-bench trammel-work-precision
	$(RELEASE)/bin/trammel-bench
	$(RELEASE)/bin/trammel-work-precision $(RELEASE)/work_precision

FUZZ_SECONDS ?= 3600

fuzz: packages  ## run the fuzzers for an hour, or FUZZ_SECONDS=n
	@sh packages/install.sh check
	@$(call configure,fuzz)
	@cmake --build build/fuzz --target fuzzers
	@sh scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

check-all: test  ## everything before a merge: test, formatting, every file alone, clang-tidy, all cells, sanitizers (clang), fuzzers
	@sh packages/install.sh check
	@$(MAKE) --no-print-directory format-check
	@$(call configure,plain)
	@cmake --build build/plain --target all all_verify_interface_header_sets
	@$(call configure,clang-tidy)
	@cmake --build build/clang-tidy
	@sh scripts/all_cells.sh $(RELEASE)
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=60
	@echo "check-all: test, format, plain, clang-tidy, all cells, sanitize (clang) and fuzz passed"

sanitize:  ## all tests with the address and undefined-behaviour sanitizers
	@sh packages/install.sh check
	@$(call configure,sanitize)
	@cmake --build build/sanitize
	@sh scripts/test.sh build/sanitize

tidy-changed:  ## clang-tidy on the sources that the last 20 commits changed
	@sh packages/install.sh check
	@cmake --preset clang-tidy -B build/tidy-changed -DCMAKE_UNITY_BUILD=OFF >/dev/null  # flags of each file
	@sh scripts/tidy_changed.sh build/tidy-changed 20

includes:  ## which folder of the library includes which
	@sh scripts/include_matrix.sh

viewer-check: command  ## the viewer: types, and all its tests in a real browser
	@command -v npm >/dev/null || sh packages/install.sh viewer
	@sh packages/install.sh check
	@cd viewer && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && node_modules/.bin/tsc -p .
	@cmake --build $(RELEASE) --target viewer-samples
	@node viewer/tests/run.mjs --samples $(RELEASE)/viewer --bundle $(RELEASE)/viewer/viewer.html.gz --command $(TRAMMEL)

GALLERY = build/gallery

gallery: command  ## a page and a picture of every model in models/, in build/gallery
	@command -v npm >/dev/null || sh packages/install.sh viewer
	@sh packages/install.sh check
	@cd viewer && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@mkdir -p $(GALLERY)
	@for model in models/*.yaml; do \
	  name=$(GALLERY)/$$(basename $$model .yaml); \
	  $(TRAMMEL) run $$model -q -o $$name.h5 && $(TRAMMEL) view $$name.h5 -o $$name.html || exit 1; \
	done
	@node viewer/gallery.mjs --output $(GALLERY) $(GALLERY)/*.html

gallery-pictures: command  ## the pictures of docs/guide/gallery.md
	@command -v npm >/dev/null || sh packages/install.sh viewer
	@sh packages/install.sh check
	@cd viewer && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@node viewer/gallery_guide.mjs --command $(TRAMMEL)

PYTHON3 ?= /usr/bin/python3

python: packages  ## build and test the Python package (build/release/python); `make install` then installs it too
	@sh packages/install.sh python
	@cmake --preset release -DTRAMMEL_WERROR=$(WERROR) -DTRAMMEL_PYTHON=ON -DPython3_EXECUTABLE=$(PYTHON3) >/dev/null
	@cmake --build $(RELEASE) --target trammel-app python-package
	@PYTHONPATH=$(CURDIR)/$(RELEASE)/python PYTHONDONTWRITEBYTECODE=1 TRAMMEL=$(CURDIR)/$(TRAMMEL) $(PYTHON3) -m pytest -q -p no:cacheprovider python/tests
	@echo "Try it: PYTHONPATH=$(RELEASE)/python $(PYTHON3) python/examples/five_minutes.py"

SOURCES = $(shell find trammel app studies tests bench python -name '*.cc' -o -name '*.h')

format:  ## lay out all sources with clang-format
	@sh packages/install.sh check
	@clang-format -i $(SOURCES)

format-check:  ## name the sources that clang-format would change
	@sh packages/install.sh check
	@status=0; for file in $(SOURCES); do \
	  clang-format $$file | cmp -s - $$file || { echo "not laid out (make format): $$file"; status=1; }; \
	done; exit $$status

install: command  ## install under PREFIX (/usr/local); with the Python package, if `make python` was called before
	@if grep -q 'TRAMMEL_PYTHON:BOOL=ON' $(RELEASE)/CMakeCache.txt; then cmake --build $(RELEASE) --target python-package; fi
	cmake --install $(RELEASE) --prefix $(PREFIX)

clean:  ## remove everything that was built
	rm -rf build
