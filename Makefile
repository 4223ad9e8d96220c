# pertoken: `make help` lists the targets.
#
# VARIANT=asan builds the same files under build/asan/ with the address and undefined-behaviour
# sanitizers; V=1 shows the commands. Nothing is installed on the machine but by `setup`, which
# demo, test and lint call, and `install`.

PREFIX  ?= /usr/local
CC      := gcc
VARIANT ?=
# With sanitizers -O2 compiles for twice as long as -O1.
CFLAGS  ?= $(if $(VARIANT),-O1 -g1,-O2 -g)
WARNINGS ?= -Wall -Wextra -Wpedantic -Werror -Wconversion
Q       := $(if $(V),,@)

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

BUILD := build$(addprefix /,$(VARIANT))
SETUP := tests/support/setup.sh

# Libraries: libcsv and libunistring come without a pkg-config file. libcurl is pertoken-probe's alone.
PACKAGES := gsl xlsxwriter inih jansson libgcrypt zlib libcurl yaml-0.1
LIBS     := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lcsv -lunistring -lm
INCLUDES := -I. $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)

# So does GLPK, which may be missing: then `pertoken audit` and `route` say so.
HAS_GLPK := $(shell echo '\#include <glpk.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
LIBS     += $(if $(HAS_GLPK),-lglpk)
$(patsubst %,$(BUILD)/obj/model/optimise/%.o,allocation search solver): CPPFLAGS += $(if $(HAS_GLPK),-DHAVE_GLPK)

SANITIZE_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZE      := $(SANITIZE_$(VARIANT))
# Against faults that nobody has found yet: a smashed stack and an overrun buffer end the program, and
# no function's address can be written over. The sanitizers see more, and FORTIFY needs an optimizer.
HARDEN        := $(if $(VARIANT),,-fstack-protector-strong $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)), \
                   -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN_LINK   := -Wl,-z,relro,-z,now
STANDARD      := -std=c11 -D_GNU_SOURCE
COMPILE = $(CC) $(STANDARD) $(CFLAGS) $(HARDEN) $(WARNINGS) $(SANITIZE) $(INCLUDES) $(CPPFLAGS) -MMD -MP -c
LINK    = $(CC) $(CFLAGS) $(SANITIZE) -fopenmp -Wl,--as-needed $(HARDEN_LINK) $(LDFLAGS)

# Everything but the two main() goes into two archives, base and model into one, the rest into the
# other; a program takes from them what it calls.
# What the GPUs' backends do without a GPU is in it for the tests; the rest of them are plugins.
KERNELS := $(wildcard kernels/*.c kernels/reference/*.c kernels/cpu/*.c kernels/cpu/isa/*.c) $(patsubst %,kernels/gpu/host/%.c,crew plan launches tuning)
SOURCES := $(wildcard base/*.c model/*/*.c model/scenario/*/*.c reports/*/*.c probe/*/*.c) $(KERNELS)
MAINS   := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard reports/commands/main.c probe/commands/main.c))
DEFAULT := $(BUILD)/obj/model/cost/tco_ini
OBJECTS := $(filter-out $(MAINS),$(SOURCES:%.c=$(BUILD)/obj/%.o)) $(DEFAULT).o
PROGRAMS := $(BUILD)/pertoken $(if $(wildcard probe/commands/main.c),$(BUILD)/pertoken-probe)

# The kernels' own sources, hashed: a record says which kernels it was measured with.
KERNELS_HASH := $(shell cat /dev/null $(wildcard kernels/*.[ch] kernels/cpu/*.[ch] kernels/cpu/isa/*.[ch]) | sha256sum | cut -c1-16)
$(BUILD)/obj/kernels/%.o: COMPILE += -fopenmp -DKERNELS_BUILD='"$(KERNELS_HASH)"'
# Loops over blocks of draws: vectorised, and never so that a result depends on the processor.
BLOCKS := chance/draw chance/distribution chance/quantile_sketch cost/operation simulate/sampler \
  simulate/simulate questions/solve_spread
$(BLOCKS:%=$(BUILD)/obj/model/%.o): COMPILE += -O3 -fopenmp -ffp-contract=off -fno-math-errno \
  -fno-trapping-math
# Thousands of records, each by itself.
$(BUILD)/obj/model/delivery/fleet.o: COMPILE += -fopenmp
MODEL_OBJECTS = $(filter $(BUILD)/obj/base/% $(BUILD)/obj/model/%,$(OBJECTS))
MODEL   := $(BUILD)/libmodel.a
LIBRARY := $(BUILD)/libpertoken.a
SUPPORT_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/*.c))
SUPPORT := $(BUILD)/libsupport.a
# A test's name says enough: $(BUILD)/tests/test_x is made of tests/ROOM/test_x.c.
TEST_SOURCES := $(wildcard tests/*/test_*.c tests/*/*/test_*.c)
TESTS   := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(TEST_SOURCES))))
TEST_OBJECTS := $(TEST_SOURCES:%.c=$(BUILD)/obj/%.o)
DEEP_TESTS := $(addprefix $(BUILD)/tests/,$(basename $(notdir \
                $(shell grep -l '^// Deep only:' $(TEST_SOURCES)))))
SANITIZED_TESTS := $(addprefix $(BUILD)/tests/,$(shell sed -n 's/^\([a-z]\S*\).*/\1/p' tests/sanitized))
EVERY_OBJECT := $(MAINS) $(OBJECTS) $(SUPPORT_OBJECTS) $(TEST_OBJECTS)

# A make called without -j uses every core for the builds below.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: all tests deep-tests sanitized-tests sanitized with-sanitizers setup demo test test-deep \
        bench gallery fuzz lint install clean help

include $(wildcard kernels/gpu/build.mk reports/*/build.mk reports/*/*/build.mk tests/*/build.mk \
                   tests/*/*/build.mk)

all: $(PROGRAMS) $(PLUGINS) $(MPI_PLUGIN) $(LADDER) ## build the programs, and GPU backends where their compiler is found
	@:
	$(GPU_WORDS)

# What `make test` builds, and what `make test-deep` adds: tests/README.md.
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
	$(Q)rm -f $@ && ar qcs $@ $^

$(BUILD)/pertoken: $(BUILD)/obj/reports/commands/main.o
$(BUILD)/pertoken-probe: $(BUILD)/obj/probe/commands/main.o
$(PROGRAMS): $(LIBRARY) $(MODEL)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Of base and model, what is tested needs nothing else.
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

# The loop by hand that programs are compared with, as good as the compiler makes it here.
$(BUILD)/obj/tests/bench/simulation.o: COMPILE += -O3 -march=native -ffp-contract=fast -fno-math-errno

$(EVERY_OBJECT): Makefile | $(BUILD)/obj/libraries

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(Q)$(COMPILE) -o $@ $<

$(DEFAULT).o: $(DEFAULT).c
	@echo "  compile $<"
	$(Q)$(COMPILE) -o $@ $<

# The default cost model as characters: a string literal may not be that long in C11.
$(DEFAULT).c: model/cost/tco.ini Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "model/cost/graph.h"'; \
	  echo 'const char model_default_text[] = {'; \
	  od -An -v -tx1 $< | sed "s/ *\(..\)/'\\\\x\1',/g"; \
	  echo '0};'; \
	  echo 'const size_t model_default_size = sizeof model_default_text - 1;'; } > $@

$(BUILD)/obj/libraries:
	@pkg-config --exists --print-errors $(PACKAGES) || { echo "Try 'make setup'." >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

setup: ## install the Debian packages that building and testing need and that are missing
	@$(SETUP) build page test gpu

# The machine's own speed goes in when it could be measured; the published figures always do.
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

# The kernels run on the emulator in both; only test-deep needs what they become for each GPU.
test: ## set up, build, and run the tests that one waits for: minutes
	@$(SETUP) build page test
	@$(MAKE) $(PARALLEL) GPU=$(or $(GPU),no) all tests sanitized
	@tests/run

test-deep: ## what `test` leaves out: all GPUs' machine code, sanitizers everywhere, many more cases
	@$(SETUP) build page test gpu
	@$(MAKE) $(PARALLEL) all deep-tests with-sanitizers
	@tests/run deep

# The charts are both variants', and fetched once. One make of both leaves no core idle in between.
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

fuzz: ## fuzz the readers of input files for a while
	@$(SETUP) build fuzz
	tests/fuzz/run

# The device's headers are C++. CUDA's are there or not.
C_FILES := $(filter-out $(if $(HAS_CUDA),,%/driver_cuda.c %/hip_on_cuda.c), \
             $(wildcard $(foreach d,base model/* model/scenario/* reports/* kernels kernels/reference kernels/cpu kernels/cpu/isa kernels/gpu/host probe/* tests/* \
                                    tests/model/* tests/stand_ins/hip tests/stand_ins/plugins,\
                          $(d)/*.c $(d)/*.h) kernels/gpu/arguments.h \
                          $(if $(MPI_PLUGIN),reports/ranks/mpi/*.c)))

LINT_SYSTEM = $(if $(HAS_CUDA),-isystem $(CUDA_ROOT)/include) $(MPI_CFLAGS:-I%=-isystem %)

# The program's own; a body is no file of its own, and CUDA's and MPI's headers are there or not.
INCLUDERS := $(filter-out tests/% %_body.h %/driver_cuda.c reports/ranks/mpi/%,$(C_FILES))

lint: ## check format and includes, and look for bugs without running
	@$(SETUP) build test lint
	clang-format --dry-run -Werror $(C_FILES)
	tests/support/includes.py $(INCLUDERS)
	cppcheck --quiet -j2 --std=c11 --language=c --inline-suppr --error-exitcode=1 \
	  --enable=warning,performance,portability --suppress=missingInclude \
	  --suppress=missingIncludeSystem --suppress=identicalInnerCondition \
	  --suppress=invalidPointerCast -D_GNU_SOURCE -I. $(filter %.c,$(C_FILES))
	printf '%s\n' $(filter %.c,$(C_FILES)) | xargs -P2 -n1 sh -c \
	  'clang-tidy --quiet "$$1" -- $(STANDARD) $(INCLUDES) $(LINT_SYSTEM) -fopenmp 2>&1 | \
	   { ! grep -vE "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -"; }' tidy

install: all ## install under PREFIX (/usr/local), below DESTDIR when given
	for program in $(PROGRAMS); do install -D $$program -t "$(DESTDIR)$(PREFIX)/bin"; done
	for plugin in $(PLUGINS); do install -D -m 644 $$plugin -t "$(DESTDIR)$(PREFIX)/lib/pertoken"; done
	for plugin in $(MPI_PLUGIN); do install -D -m 644 $$plugin -t "$(DESTDIR)$(PREFIX)/lib/pertoken/mpi"; done
	find data examples -type f ! -name '.*' -exec \
	  install -D -m 644 {} "$(DESTDIR)$(PREFIX)/share/pertoken/{}" \;

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1\t\2/p' $(filter %file %.mk,$(MAKEFILE_LIST)) | \
	  expand -t 18

-include $(EVERY_OBJECT:.o=.d) $(wildcard $(BUILD)/obj/tests/bench/*.d)
