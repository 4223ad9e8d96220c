# pertoken: `make help` lists the targets.
#
# VARIANT=asan builds the same files under build/asan/ with the address and undefined-behavior
# sanitizers; V=1 shows the commands. Only `setup` (which demo, test and lint call) and `install`
# install anything on the machine.

PREFIX  ?= /usr/local
CC      := gcc
VARIANT ?=
# With sanitizers, -O2 takes twice as long to compile as -O1, and -Og inlines too little for the CPU
# kernels.
CFLAGS  ?= $(if $(VARIANT),-O1 -g1,-O2 -g)
# The tests' own code is compiled once and runs for seconds.
TEST_CFLAGS ?= $(if $(VARIANT),$(CFLAGS),-O1 -g1)
WARNINGS ?= -Wall -Wextra -Wpedantic -Werror -Wconversion
Q       := $(if $(V),,@)

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

BUILD := build$(addprefix /,$(VARIANT))
SETUP := tests/support/setup.sh

# Libraries: libcsv and libunistring come without a pkg-config file. Only pertoken-probe uses
# libcurl.
PACKAGES := gsl xlsxwriter inih jansson libgcrypt zlib libcurl yaml-0.1
LIBS     := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lcsv -lunistring -lm
INCLUDES := -I. $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)

# So does GLPK, which may be missing; `pertoken audit` and `route` then report that.
HAS_GLPK := $(shell echo '\#include <glpk.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
LIBS     += $(if $(HAS_GLPK),-lglpk)
# These say so; the others are compiled only with it. With or without: what changes rebuilds them.
GLPK_KNOWN := $(patsubst %,$(BUILD)/obj/model/%.o,optimise/allocation_programme optimise/search optimise/solver plan/programme)
GLPK_ALONE := model/optimise/row.c model/plan/formulation.c model/plan/neighbours.c
GLPK_STAMP := $(BUILD)/obj/glpk-$(or $(HAS_GLPK),no)

SANITIZE_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZE      := $(SANITIZE_$(VARIANT))
# Protection against unknown bugs: a smashed stack or an overrun buffer ends the program, and no
# function's address can be overwritten. The sanitizers detect more, and FORTIFY needs an optimizer.
HARDEN        := $(if $(VARIANT),,-fstack-protector-strong $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)), \
                   -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN_LINK   := -Wl,-z,relro,-z,now
# A product and a sum are never fused, so that every processor and compiler gives the same digits:
# clang fuses them where the processor can by default, as on aarch64.
STANDARD      := -std=c11 -D_GNU_SOURCE -ffp-contract=off
COMPILE = $(CC) $(STANDARD) $(CFLAGS) $(HARDEN) $(WARNINGS) $(SANITIZE) $(INCLUDES) $(CPPFLAGS) -MMD -MP -c
LINK    = $(CC) $(CFLAGS) $(SANITIZE) -fopenmp -Wl,--as-needed $(HARDEN_LINK) $(LDFLAGS)

# Everything except the two main() goes into two archives, base and model into one, the rest into
# the other; a program links from them what it calls. For the tests, these include the parts of the
# GPU backends that run without a GPU; the rest of the backends are plugins.
KERNELS := $(wildcard kernels/*.c kernels/reference/*.c kernels/cpu/*.c kernels/cpu/isa/*.c) $(wildcard kernels/gpu/plan/*.c kernels/gpu/launches/*.c) $(patsubst %,kernels/gpu/host/%.c,crew library_file vendor_products)
SOURCES := $(filter-out $(if $(HAS_GLPK),,$(GLPK_ALONE)),$(wildcard base/*.c model/*/*.c model/scenario/*/*.c reports/*/*.c probe/*/*.c)) $(KERNELS)
MAINS   := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard reports/commands/main.c probe/commands/main.c))
DEFAULT := $(BUILD)/obj/model/cost/tco_ini
OBJECTS := $(filter-out $(MAINS),$(SOURCES:%.c=$(BUILD)/obj/%.o)) $(DEFAULT).o
PROGRAMS := $(BUILD)/pertoken $(if $(wildcard probe/commands/main.c),$(BUILD)/pertoken-probe)

# The kernels' own sources, hashed, so that a record states which kernels it was measured with.
KERNELS_HASHED := $(wildcard kernels/*.[ch] kernels/cpu/*.[ch] kernels/cpu/isa/*.[ch])
KERNELS_HASH := $(shell cat /dev/null $(KERNELS_HASHED) | sha256sum | cut -c1-16)
$(BUILD)/obj/kernels/%.o: COMPILE += -fopenmp -DKERNELS_BUILD='"$(KERNELS_HASH)"'
$(BUILD)/obj/kernels/cpu/backend.o: $(KERNELS_HASHED)
$(GLPK_KNOWN): COMPILE += $(if $(HAS_GLPK),-DHAVE_GLPK)
$(GLPK_KNOWN): $(GLPK_STAMP)
$(GLPK_STAMP):
	@mkdir -p $(@D)
	@rm -f $(@D)/glpk-*
	@touch $@
# Loops over blocks of draws: vectorized, but never so that a result depends on the processor.
BLOCKS := chance/draw chance/distribution chance/quantile_sketch cost/operation simulate/sampler \
  $(addprefix simulate/,influence pilot run simulate tallying worker) questions/solve_spread
$(BLOCKS:%=$(BUILD)/obj/model/%.o): COMPILE += -O3 -fopenmp -fno-math-errno -fno-trapping-math
# Processes thousands of independent records.
$(BUILD)/obj/model/delivery/fleet.o: COMPILE += -fopenmp
MODEL_OBJECTS = $(filter $(BUILD)/obj/base/% $(BUILD)/obj/model/%,$(OBJECTS))
MODEL   := $(BUILD)/libmodel.a
LIBRARY := $(BUILD)/libpertoken.a
SUPPORT_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/*.c tests/support/*/*.c))
SUPPORT := $(BUILD)/libsupport.a
# A test's name is enough to find it: $(BUILD)/tests/test_x is built from tests/ROOM/test_x.c.
TEST_SOURCES := $(wildcard tests/*/test_*.c tests/*/*/test_*.c tests/*/*/*/test_*.c)
TESTS   := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(TEST_SOURCES))))
TEST_OBJECTS := $(TEST_SOURCES:%.c=$(BUILD)/obj/%.o)
DEEP_TESTS := $(addprefix $(BUILD)/tests/,$(basename $(notdir \
                $(shell grep -l '^// Deep only:' $(TEST_SOURCES)))))
SANITIZED_TESTS := $(addprefix $(BUILD)/tests/,$(shell sed -n 's/^\([a-z]\S*\).*/\1/p' tests/sanitized))
EVERY_OBJECT := $(MAINS) $(OBJECTS) $(SUPPORT_OBJECTS) $(TEST_OBJECTS)

# A make called without -j uses every core for the builds below.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: all tests deep-tests sanitized-tests sanitized with-sanitizers setup demo test test-deep \
        test-images bench gallery outputs reference fuzz lint lint-files lint-format lint-includes lint-cppcheck \
        lint-tidy install uninstall dist deb rpm clean help

include $(wildcard kernels/gpu/build.mk reports/*/build.mk reports/*/*/build.mk tests/*/build.mk \
                   tests/*/*/build.mk)

all: $(PROGRAMS) $(PLUGINS) $(MPI_PLUGIN) $(LADDER) ## build the programs, and GPU backends where their compiler is found
	@:
	$(GPU_WORDS)

# What `make test` builds, and what `make test-deep` adds: see tests/README.md.
tests deep-tests: build/help/pertoken.bash
tests: $(filter-out $(DEEP_TESTS),$(TESTS))
deep-tests: $(TESTS)
sanitized-tests: $(SANITIZED_TESTS)
tests deep-tests sanitized-tests:
	@:

$(LIBRARY): $(filter-out $(MODEL_OBJECTS),$(OBJECTS))
$(MODEL): $(MODEL_OBJECTS)
$(SUPPORT): $(SUPPORT_OBJECTS)
$(LIBRARY) $(MODEL) $(SUPPORT):
	@echo "  archive $@"
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(BUILD)/pertoken: $(BUILD)/obj/reports/commands/main.o
$(BUILD)/pertoken-probe: $(BUILD)/obj/probe/commands/main.o
$(PROGRAMS): $(LIBRARY) $(MODEL)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Tests of base and model link nothing else.
needs = $(SUPPORT) $(if $(filter $(BUILD)/obj/tests/base/% $(BUILD)/obj/tests/model/%,$(1)),,$(LIBRARY)) $(MODEL)
$(foreach o,$(TEST_OBJECTS),$(eval $(BUILD)/tests/$(basename $(notdir $(o))): $(o) $(call needs,$(o))))
$(TESTS):
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBRARY) $(MODEL)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

.SECONDARY: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/bench/*.c))

# The hand-written loop that programs are compared with, as fast as the compiler makes it here.
$(BUILD)/obj/tests/bench/simulation.o: COMPILE += -O3 -march=native -ffp-contract=fast -fno-math-errno

$(EVERY_OBJECT): Makefile | $(BUILD)/obj/libraries
$(SUPPORT_OBJECTS) $(TEST_OBJECTS): CFLAGS := $(TEST_CFLAGS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(Q)$(COMPILE) -o $@ $<

$(DEFAULT).o: $(DEFAULT).c
	@echo "  compile $<"
	$(Q)$(COMPILE) -o $@ $<

# The default cost model as an array of characters: C11 does not allow a string literal that long.
$(DEFAULT).c: model/cost/tco.ini Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "model/cost/graph.h"'; \
	  echo 'const char model_default_text[] = {'; \
	  od -An -v -tx1 $< | sed "s/ *\(..\)/'\\\\x\1',/g"; \
	  echo '0};'; } > $@

$(BUILD)/obj/libraries:
	@pkg-config --exists --print-errors $(PACKAGES) || { echo "Try 'make setup'." >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

setup: ## install the Debian packages that building and testing need and that are missing
	@$(SETUP) build page test gpu

# Includes this machine's measured speed if it could be measured, and always the published figures.
DEMO := build/demo
MEASURED := examples/measured/this-machine.ini --measurements $(DEMO)/records --mixed

demo: ## set up, build, measure this machine, and make the example's table and workbook
	@$(SETUP) build
	@$(MAKE) $(PARALLEL) GPU=$(or $(GPU),here) all
	@mkdir -p $(DEMO)
	@echo "Measuring how fast this machine decodes a small model (half a minute)"
	@scenario="examples/mi325x-vs-h200.ini"; \
	build/pertoken-probe run --device auto --model tinyllama-1.1b --precision bf16 --batch 4 \
	  --context 512 --time 10 -o $(DEMO)/records && \
	record=$$(ls -t $(DEMO)/records/*.json | head -n 1) && backend=$${record%-*} && \
	scenario="$(MEASURED) --set this_machine.accelerator=$${backend##*-}" || \
	  echo "Not measured: the workbook holds published figures alone."; \
	build/pertoken compare $$scenario -q && build/pertoken report $$scenario -q -o $(DEMO)/tco.xlsx
	@echo "The workbook: $(DEMO)/tco.xlsx"

# Both run the kernels on the emulator; only test-deep needs the code compiled for each GPU.
test: ## set up, build, and run the tests that one waits for: minutes
	@$(SETUP) build page test
	@$(MAKE) $(PARALLEL) GPU=$(or $(GPU),no) all tests sanitized
	@tests/run

RUN_OPTIONS = $(if $(UNTIL),--until $(UNTIL)) $(if $(TURN),--turn $(TURN))

test-deep: ## what `test` leaves out: all GPUs' machine code, sanitizers everywhere, many more cases
	@$(SETUP) build page test deep gpu lint
	@$(MAKE) $(PARALLEL) all deep-tests with-sanitizers
	@tests/run deep $(RUN_OPTIONS)

# The suites that read, interpret, run or pack it.
IMAGE_SUITES := check_instructions check_machine_code check_packages check_ptx test_hip \
                   test_hip_libraries test_hip_ranks

test-images: ## of test-deep, what needs all GPUs' machine code, which takes long to compile
	@$(SETUP) build page test deep gpu
	@$(MAKE) $(PARALLEL) all deep-tests
	@tests/run deep $(IMAGE_SUITES) $(RUN_OPTIONS)

# Both variants share the charts, which are fetched once. A single make for both keeps all cores
# busy.
sanitized: $(PAGE_CHARTS)
	@$(MAKE) VARIANT=asan sanitized-tests
with-sanitizers: $(PAGE_CHARTS)
	@$(MAKE) VARIANT=asan all deep-tests

bench: ## measure speed
	@$(SETUP) build bench
	@$(MAKE) $(PARALLEL) all $(BUILD)/bench/cpu_kernels $(BUILD)/bench/simulation $(BUILD)/bench/load_client $(ENGINE)
	tests/bench/run
	tests/bench/workbook
	tests/bench/simulation $(BUILD)/bench/simulation
	tests/bench/simulation_scale $(BUILD)/pertoken
	$(if $(HAS_GLPK),tests/bench/route $(BUILD)/pertoken)
	tests/bench/kernels $(BUILD)/bench/cpu_kernels
	tests/bench/llama_cpp
	tests/bench/serving

gallery: ## take the pictures of README.md and docs/ anew, from real output
	@$(SETUP) build test gallery
	@$(MAKE) $(PARALLEL) $(BUILD)/pertoken
	tests/support/gallery

reference: ## write docs/reference.md anew, from the cost model
	tests/support/reference.py

# The same program always writes the same bytes.
outputs: $(BUILD)/pertoken ## write the ready results of examples/output anew
	export SOURCE_DATE_EPOCH=1795392000; for name in mi325x-vs-h200 own-rent-api; do \
	  $(BUILD)/pertoken report examples/$$name.ini -q -o examples/output/$$name.xlsx || exit; done; \
	$(BUILD)/pertoken page examples/mi325x-vs-h200.ini -q -o examples/output/mi325x-vs-h200.html

fuzz: ## fuzz the readers of input files for a while
	@$(SETUP) build fuzz
	tests/fuzz/run

# The device's headers are C++. CUDA's may be missing.
C_FILES := $(filter-out $(if $(HAS_CUDA),,%/driver_cuda.c %/hip_on_cuda.c), \
             $(wildcard $(foreach d,base model/* model/scenario/* reports/* kernels kernels/reference kernels/cpu kernels/cpu/isa kernels/gpu kernels/gpu/arguments kernels/gpu/plan kernels/gpu/launches kernels/gpu/host probe/* tests/* \
                                    tests/model/* tests/support/* tests/kernels/* tests/kernels/gpu/* tests/probe/* tests/stand_ins/*,\
                          $(d)/*.c $(d)/*.h) \
                          $(if $(MPI_PLUGIN),reports/ranks/mpi/*.c)))

LINT_SYSTEM = $(if $(HAS_CUDA),-isystem $(CUDA_ROOT)/include) $(MPI_CFLAGS:-I%=-isystem %)

# The program's own; a body is not a file by itself, and CUDA's and MPI's headers may be missing.
INCLUDERS := $(filter-out tests/% %_body.h %/driver_cuda.c reports/ranks/mpi/%,$(C_FILES))

TIDY = $(filter %.c,$(C_FILES))

# check_lint runs the parts by themselves, the last one on some of the files.
lint: ## check format and includes, and look for bugs without running
	@$(SETUP) build test lint
	@$(MAKE) lint-format lint-includes lint-cppcheck lint-tidy

lint-files:
	@echo $(TIDY)
lint-format:
	clang-format --dry-run -Werror $(C_FILES)
lint-includes:
	tests/support/includes.py $(INCLUDERS)
# One job would look across files, and take a cache for one of the formats that it never holds.
lint-cppcheck:
	cppcheck --quiet -j2 --std=c11 --language=c --inline-suppr --error-exitcode=1 \
	  --enable=warning,performance,portability --suppress=missingInclude \
	  --suppress=missingIncludeSystem --suppress=identicalInnerCondition \
	  --suppress=invalidPointerCast -D_GNU_SOURCE -I. $(filter %.c,$(C_FILES))
lint-tidy:
	printf '%s\n' $(TIDY) | xargs -P2 -n1 sh -c \
	  'clang-tidy --quiet "$$1" -- $(STANDARD) $(INCLUDES) $(LINT_SYSTEM) -fopenmp 2>&1 | \
	   { ! grep -vE "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -"; }' tidy

# Manual pages and completions, generated from the programs' help.
HELP := build/help
$(HELP)/pertoken.bash: $(PROGRAMS) docs/commands.md $(wildcard packaging/*)
	$(Q)packaging/from_help $(BUILD) $(HELP)

INSTALLED := $(DESTDIR)$(PREFIX)
SHELLS := bash-completion/completions/pertoken zsh/site-functions/_pertoken fish/vendor_completions.d/pertoken.fish

install: all $(HELP)/pertoken.bash ## install under PREFIX (/usr/local), below DESTDIR when given
	for program in $(PROGRAMS); do install -D $$program -t "$(DESTDIR)$(PREFIX)/bin"; done
	for plugin in $(PLUGINS); do install -D -m 644 $$plugin -t "$(DESTDIR)$(PREFIX)/lib/pertoken"; done
	for plugin in $(MPI_PLUGIN); do install -D -m 644 $$plugin -t "$(DESTDIR)$(PREFIX)/lib/pertoken/mpi"; done
	find data examples -type f ! -name '.*' -exec \
	  install -D -m 644 {} "$(DESTDIR)$(PREFIX)/share/pertoken/{}" \;
	install -D -m 644 $(HELP)/man1/*.1 -t "$(INSTALLED)/share/man/man1"
	install -D -m 644 $(HELP)/pertoken.bash "$(INSTALLED)/share/$(word 1,$(SHELLS))"
	ln -sf pertoken "$(INSTALLED)/share/bash-completion/completions/pertoken-probe"
	install -D -m 644 $(HELP)/_pertoken "$(INSTALLED)/share/$(word 2,$(SHELLS))"
	install -D -m 644 $(HELP)/pertoken.fish "$(INSTALLED)/share/$(word 3,$(SHELLS))"

uninstall: ## remove what install has put there, and the folders that it leaves empty
	rm -f $(patsubst $(BUILD)/%,"$(INSTALLED)/bin/%",$(PROGRAMS)) "$(INSTALLED)"/share/man/man1/pertoken.1 \
	  "$(INSTALLED)"/share/man/man1/pertoken-*.1 $(SHELLS:%="$(INSTALLED)/share/%") \
	  "$(INSTALLED)/share/bash-completion/completions/pertoken-probe"
	rm -rf "$(INSTALLED)/lib/pertoken" "$(INSTALLED)/share/pertoken"
	-cd "$(INSTALLED)" 2>/dev/null && rmdir -p --ignore-fail-on-non-empty bin lib share/man/man1 \
	  $(addprefix share/,$(dir $(SHELLS))) 2>/dev/null || true

# Exactly the files of the commit, with its time: the same bytes wherever it is made.
VERSION := $(shell sed -n 's/.*PERTOKEN_VERSION "\(.*\)"/\1/p' base/version.h)
dist: ## pack the sources of the commit as build/pertoken-VERSION.tar.gz
	@mkdir -p build
	$(Q)git -c core.autocrlf=false archive --format=tar --prefix=pertoken-$(VERSION)/ HEAD | gzip -n9 >build/pertoken-$(VERSION).tar.gz
	@echo "build/pertoken-$(VERSION).tar.gz"

# Built from a tree of their own, with the time of the commit or, for unpacked sources, of the
# license file.
MAINTAINER ?= pertoken's builder <root@localhost>
deb: ## pack the build as Debian packages, a GPU's backend and MPI's plugin each by itself
rpm: ## the same for rpm, where rpmbuild is
deb rpm: all $(HELP)/pertoken.bash
	$(Q)work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	  $(MAKE) -s install DESTDIR="$$work/root" PREFIX=/usr >/dev/null && \
	  SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)} \
	  MAINTAINER="$(MAINTAINER)" packaging/packages $@ "$$work/root" "$(BUILD)/packages" $(VERSION)

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' $(filter %file %.mk,$(MAKEFILE_LIST)) | \
	  expand -t 18

-include $(EVERY_OBJECT:.o=.d) $(wildcard $(BUILD)/obj/tests/bench/*.d)
