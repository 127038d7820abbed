# The front door. CMake and its presets do the work; `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := build
JOBS := $(shell nproc)
QUIET := >/dev/null

.PHONY: help build run test soak bench fuzz install format clean

help: ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## set up and build build/release/bin/sonde
	@tools/setup run
	@tools/build release

run: build ## build, then record three programs and show what happened in them
	@tools/demo build/release/bin

test: ## set up, build and run all tests (under 15 minutes)
	@tools/setup test
	@tools/test

soak: ## the tests with their full counts (hours)
	@tools/setup test
	@SONDE_SOAK=1 tools/test

bench: ## measure against floors and peers; fails when a budget is exceeded
	@tools/setup test
	@tools/build release -DSONDE_BENCH=ON
	@tools/bench build/release/bin

fuzz: ## fuzz every parser for a minute each (SECONDS_EACH=60)
	@tools/setup test
	@tools/fuzz $(or $(SECONDS_EACH),60)

install: build ## install to PREFIX (default /usr/local)
	@cmake --install build/release --prefix $(or $(PREFIX),/usr/local) $(QUIET)
	@ldconfig 2>/dev/null || true
	@echo "installed to $(or $(PREFIX),/usr/local)"

format: ## clang-format everything
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean: ## remove build/
	@rm -rf build
