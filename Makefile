# The front door; the work is done by meson and ninja.
BUILD = build
PREFIX ?= /usr/local

.PHONY: all deps check demo paper paper-quick install clean format help

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) deliverables

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --prefix="$(PREFIX)"

deps:
	@scripts/deps.sh

check: $(BUILD)/build.ninja
	@scripts/check.sh $(BUILD)

demo: all
	@ninja -C $(BUILD) examples/help_pairs
	@examples/demo.sh

# Variables of experiments/paper/README.md, as in make paper TRAIN='...', reach it.
paper: all
	@$(MAKE) --no-print-directory -f experiments/paper/Makefile

paper-quick: all
	@ninja -C $(BUILD) examples/help_pairs
	@$(MAKE) --no-print-directory -f experiments/paper/Makefile SIZE=quick

install: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dprefix="$(PREFIX)"
	@ninja -C $(BUILD) deliverables
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf build build-werror build-clang build-asan build-tsan build-fuzz

format:
	@scripts/format.sh

help:
	@echo 'make            install what is missing (Debian), then build build/softalign'
	@echo 'make deps       only install what is missing, or print the line that does'
	@echo 'make check      build and run all tests'
	@echo 'make demo       build, get real text, train for four minutes, show translations (examples/demo.sh)'
	@echo 'make paper-quick  the experiments of Bahdanau et al. (2015) in small, ten minutes (experiments/paper)'
	@echo 'make paper      the same on a corpus of your own, hours (TRAIN=... DEV=... TEST=...)'
	@echo 'make install    install program, library, header and man page below PREFIX (/usr/local), inside DESTDIR'
	@echo 'make format     format the sources with clang-format 14'
	@echo 'make clean      remove what was built'
