# bench: one network on one core, on eight cores and on an OpenCL device.
#
#   make             build build/bench; never installs a package
#   make run         install what is missing, build, compare the three targets
#   make test        install what is missing, build, run every test
#   make test-san    the units again, watched by sanitizers
#   make test-bare   both again, without all that a machine may lack
#   make check-full  the tests that take longer: clang, threads, oclgrind, fuzz
#   make fuzz        feed the parsers what libFuzzer thinks of (clang)
#   make peers       PyTorch, tinygrad and Intel's OpenCL driver in build/peers
#   make peers-xla   PyTorch/XLA, with a PyTorch of its own, in build/peers-xla
#   make test-intel  the tests of OpenCL on that driver; part of `make test`
#   make deps        install what is missing: packages of Debian 12
#   make deps-gate   the same, but only what .ci/gate needs
#   make install     program, man page, completions; uninstall undoes it
#   make twin        another build/bench that no gate may tell from it
#   make clean       remove build/
#
# Knobs, for the command line:
#
#   ARGS="--epochs 1"      arguments of `bench run`, for `make run`
#   DEPS=no                install nothing, whatever is missing
#   PREFIX=/usr/local      where `make install` goes; DESTDIR= is put before it
#   CC=clang CFLAGS=-O2    another compiler, other optimization
#   WERROR=1               warnings are errors
#   SAN=address,undefined  sanitizers; builds in build/san-address-undefined
#   FUZZ_SECONDS=60        how long `make fuzz` tries each parser
#   BUILD=build            the folder of everything that is built
#   JOBS=2                 how many compilers `make run` and `make test` start
#   V=1                    show the commands

VERSION := 0.3.0

ifeq ($(wildcard bench/main.c),)
$(error bench: the sources are not in this folder: make -C FOLDER)
endif

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BUILD ?= build
comma := ,
B := $(BUILD)$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
O := $B/obj
Q := $(if $(V),,@)

# The one list of packages. The pthread flavour of OpenBLAS is named, because
# libopenblas-dev is content with any, and the others fail under threads.
PACKAGES_BUILD := gcc libc6-dev pkg-config libopenblas-pthread-dev \
	libopenblas0-pthread ocl-icd-opencl-dev libcsv-dev zlib1g-dev \
	nettle-dev libjansson-dev librandom123-dev libjpeg62-turbo-dev \
	libpng-dev
PACKAGES_GATE := pocl-opencl-icd dataset-fashion-mnist
PACKAGES_RUN := $(PACKAGES_GATE) curl ca-certificates gnuplot-nox
PACKAGES_TEST := libcmocka-dev bats python3 python3-yaml shellcheck mandoc \
	strace oclgrind gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
	libopenmpi-dev openmpi-bin iproute2 util-linux
PACKAGES := $(PACKAGES_BUILD) $(PACKAGES_RUN) $(PACKAGES_TEST)

# What the build looks for, and who has it.
MODULES := openblas:libopenblas-pthread-dev OpenCL:ocl-icd-opencl-dev \
	nettle:nettle-dev jansson:libjansson-dev zlib:zlib1g-dev \
	libjpeg:libjpeg62-turbo-dev libpng:libpng-dev
HEADERS := stdio.h:libc6-dev csv.h:libcsv-dev \
	Random123/philox.h:librandom123-dev

# Both are put off until a compiler starts: a bare system has no pkg-config.
FLAVOUR := $(firstword $(wildcard \
	/usr/lib/$(shell uname -m)-*/openblas-pthread))
PKG = $(if $(FLAVOUR),PKG_CONFIG_PATH=$(if $(PKG_CONFIG_PATH),\
	$(PKG_CONFIG_PATH):)$(FLAVOUR)/pkgconfig) $(PKG_CONFIG)
PKG_MODULES := $(foreach module,$(MODULES),$(firstword $(subst :, ,$(module))))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $$(PKG) --cflags \
	$$(PKG_MODULES)))$(PKG_CFLAGS)
# The path of OpenBLAS is kept in the program, so that it finds this flavour;
# as a RUNPATH, which LD_LIBRARY_PATH goes before.
PKG_LIBS = $(eval PKG_LIBS := $$(shell $$(PKG) --libs $$(PKG_MODULES)) \
	-Wl,--enable-new-dtags,-rpath,$$(shell $$(PKG) --variable=libdir openblas))$(PKG_LIBS)

CFLAGS ?= $(if $(SAN),-O1 -g,-O3 -g)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wundef
# Texts are cut to their column on purpose, by snprintf.
WARNINGS += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
CHECKS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
	-fstack-protector-strong -fPIE)
LINKING := $(if $(SAN),-fsanitize=$(SAN),-pie -Wl$(comma)-z$(comma)relro \
	-Wl$(comma)-z$(comma)now)
# Allocations of our own objects are counted: bench/system/allocation.c. The
# linker's --wrap sees those of -flto as well, which tests/unit/test_counts.c shows.
WRAPPED := malloc calloc realloc aligned_alloc posix_memalign
# What plug-ins call of the program: backends/parallel/plugin.h.
FOR_PLUGINS := error_set error_memory group_slice buckets_number \
	bucket_slice meeting_blame
# Else a line of text anywhere moves hot loops to other places in a cache line,
# and the smallest network became up to 16 % slower by that alone.
ALIGNED := -falign-functions=64 -falign-loops=64
# errno of a square root keeps loops of them scalar, and nobody asks for it.
MATH := -fno-math-errno
ALL_CFLAGS = -std=c11 $(CFLAGS) $(ALIGNED) $(MATH) $(WARNINGS) $(if $(WERROR),-Werror) $(CHECKS) \
	'-ffile-prefix-map=$(CURDIR)=.' -D_GNU_SOURCE \
	-DCL_TARGET_OPENCL_VERSION=120 -I. -pthread $(PKG_CFLAGS)
ALL_LDFLAGS = $(CFLAGS) $(LDFLAGS) -pthread $(LINKING) \
	$(WRAPPED:%=-Wl$(comma)--wrap=%) \
	$(FOR_PLUGINS:%=-Wl$(comma)--export-dynamic-symbol=%)
LIBS = $(PKG_LIBS) -lcsv -lm

SOURCES := $(filter-out backends/mpi/%,$(wildcard models/*.c backends/*/*.c \
	backends/cpu/solvers/*.c backends/opencl/*/*.c bench/*.c bench/*/*.c))
OBJECTS := $(SOURCES:%.c=$O/%.o)
KERNELS := $(wildcard backends/opencl/kernels/*.cl)
TEMPLATES := $(wildcard bench/commands/bench.*)
STYLES := $(wildcard bench/report/*.css)
SCRIPTS := $(wildcard plot/*.gp)

# The same kernels for several instruction sets; the best is chosen at run time.
CPU_KERNELS := $(wildcard backends/cpu/kernels/*.c backends/cpu/kernels/*/*.c)
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ISAS := $(if $(findstring x86_64,$(MACHINE)),amx avx512 avx2) portable
FLAGS_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
FLAGS_amx := $(FLAGS_avx512) -mavx512vbmi -mavx512vbmi2 -mavx512bf16 \
	-mamx-tile -mamx-bf16
FLAGS_avx2 := -march=x86-64-v3
# AMX takes those of AVX-512 that have no use for tiles, by VEC_NAME() of simd.h:
# they would be the same code once more. No other takes those that are only tiles.
KERNELS_VECTORS := $(addprefix backends/cpu/kernels/,$(addsuffix .c,\
	elementwise/dropout igemm/gather_fp32 igemm/gather_bf16 \
	igemm/gather_bf16_weights igemm/gather_weights linear/linear_backward \
	linear/linear_dense linear/linear_forward_bf16 linear/linear_parts \
	linear/linear_rows linear/linear_weights elementwise/norm \
	elementwise/planes stem/stem_first stem/stem_input stem/stem_multiply \
	stem/stem_planes stem/stem_products stem/stem_weights))
KERNELS_TILES := $(filter %_amx.c,$(CPU_KERNELS))
kernels_of = $(filter-out $(if $(filter amx,$(1)),$(KERNELS_VECTORS),\
	$(KERNELS_TILES)),$(CPU_KERNELS))
OBJECTS += $(foreach isa,$(ISAS),$(patsubst %.c,$O/%.$(isa).o,\
	$(call kernels_of,$(isa))))

# Each test is one program, with what it calls of all but the command's main.
LIBRARY := $(filter-out $O/bench/main.o,$(OBJECTS))
TEST_SOURCES := $(wildcard tests/unit/*.c tests/kernels/*.c)
TESTS := $(patsubst %.c,$B/tests/%,$(notdir $(TEST_SOURCES)))
# All that they call is compiled as for the command.
$(TEST_SOURCES:%.c=$O/%.o): private CFLAGS := $(CFLAGS:-O3=-O1)
# Programs beside the tests, which some of them start.
TOOL_SOURCES := $(wildcard tests/tools/*.c)
TOOLS := $(TOOL_SOURCES:tests/tools/%.c=$B/tests/%)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS := $(FUZZ_SOURCES:tests/fuzz/%.c=$B/%)
REPLAYS := $(FUZZ_SOURCES:tests/fuzz/%.c=$B/tests/%)
TEST_OBJECTS := $(patsubst %.c,$O/%.o,$(TEST_SOURCES) $(TOOL_SOURCES) \
	$(FUZZ_SOURCES) tests/fuzz/replay.c)
TESTS_BATS := $(wildcard tests/command/*.bats)

# Plug-ins: shared objects that only those have whose library is there, and that
# call some functions of the program.
MPI := $(if $(SAN),,$(and $(wildcard backends/mpi/mpi.c),$(shell \
	$(PKG_CONFIG) --exists ompi-c 2>/dev/null && echo mpi)))
PLUGINS := $(MPI:%=$B/plugins/%.so)
MPI_OBJECTS := $(patsubst %.c,$O/%.o,$(wildcard backends/mpi/*.c))

all: $B/bench $(PLUGINS)

# Another processor's compiler, for one, has no libraries to link with.
objects: $(OBJECTS)

# Debug information goes to bench.debug, since each run hashes its program; it
# stays where the compiler has no objcopy.
OBJCOPY = $(shell $(CC) -print-prog-name=objcopy)
define split_debug
	$Qif command -v $(OBJCOPY) >/dev/null; then \
		$(OBJCOPY) --only-keep-debug $@ $@.debug && \
		$(OBJCOPY) --strip-debug --add-gnu-debuglink=$@.debug $@; \
	fi
endef

$B/bench: $(OBJECTS)
	@echo "LD $@"
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
	$(split_debug)

$B/plugins/mpi.so: $(MPI_OBJECTS)
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) -shared $(LDFLAGS) -o $@ $^ \
		$$($(PKG_CONFIG) --libs ompi-c)
$(MPI_OBJECTS) alone/backends/mpi/%: DEFINES = $$($(PKG_CONFIG) --cflags ompi-c) -fPIC

# The same objects linked in reverse, below a longer path: no gate may tell it
# from the other.
TWIN := $B/twin/below/a/longer/path/bench
twin: $(TWIN)
$(TWIN): $(OBJECTS)
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $$(printf '%s\n' $^ | tac) $(LIBS)
	$(split_debug)

$O/%.o: %.c
	@echo "CC $<"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) $(DEFINES) -MMD -MP -c -o $@ $<

define isa_rule
$O/backends/cpu/kernels/%.$(1).o: backends/cpu/kernels/%.c
	@echo "CC $$< ($(1))"
	@mkdir -p $$(@D)
	$$Q$$(CC) $$(ALL_CFLAGS) $$(FLAGS_$(1)) -ffp-contract=fast -Wno-psabi \
		-DISA=$(1) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

# A text becomes an array of strings, one a line.
STRINGS = sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n",/' $<

# The first line makes the compiler's errors name the kernel's file and line.
$B/kernels/%.cl.h: backends/opencl/kernels/%.cl
	@mkdir -p $(@D)
	$Q{ printf '%s\n' '"#line 1 \"$*.cl\"\n",'; $(STRINGS); } > $@

$B/commands/%.h: bench/commands/%
	@mkdir -p $(@D)
	$Q$(STRINGS) > $@

$B/report/%.h: bench/report/%
	@mkdir -p $(@D)
	$Q$(STRINGS) > $@

$B/plot/%.h: plot/%
	@mkdir -p $(@D)
	$Q$(STRINGS) > $@

$(filter $O/backends/opencl/%,$(OBJECTS)): \
	$(KERNELS:backends/opencl/%.cl=$B/%.cl.h)
$(filter $O/backends/opencl/%,$(OBJECTS)): DEFINES = -I$B
$O/bench/commands/page.o: $(TEMPLATES:bench/%=$B/%.h)
$O/bench/commands/page.o: DEFINES = -I$B
$O/bench/report/plot_report.o: $(STYLES:bench/%=$B/%.h)
$O/bench/report/plot.o: $(SCRIPTS:%=$B/%.h)
$(filter $O/bench/report/%,$(OBJECTS)): DEFINES = -I$B

# What a program says of itself is compiled anew when it changes.
GIT := test -e .git && git -c 'safe.directory=$(CURDIR)'
COMMIT := $(or $(shell c=$$($(GIT) rev-parse --short=12 HEAD 2>/dev/null) && \
	echo $$c$$($(GIT) diff --quiet HEAD -- 2>/dev/null || \
	echo -dirty)),unknown)
# The day that the man page tells is no clock's: with no commit, that of the
# Makefile, which an archive keeps.
SOURCE_DATE_EPOCH ?= $(shell $(GIT) log -1 --format=%ct 2>/dev/null || \
	date -r Makefile +%s)
DATE := $(shell date -u -d @$(SOURCE_DATE_EPOCH) +%F)
LIBRARIES = $(foreach module,$(PKG_MODULES),$(module) \
	$(shell $(PKG) --modversion $(module))$(comma)) libcsv
IDENTITY = -DBENCH_VERSION='"$(VERSION)"' -DBENCH_COMMIT='"$(COMMIT)"' \
	-DBENCH_DATE='"$(DATE)"' -DBENCH_LIBRARIES='"$(LIBRARIES)"' \
	-DBENCH_CFLAGS='"$(strip $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN)))"'
$O/bench/record/machine.o: DEFINES = $(IDENTITY)
$O/bench/record/machine.o: $O/identity
$(OBJECTS) $(MPI_OBJECTS) $(TEST_OBJECTS): $O/flags

# Files whose time changes only with their content.
$O/identity: CONTENT = $(IDENTITY)
$O/flags: CONTENT = $(CC) $(ALL_CFLAGS)
$O/identity $O/flags: FORCE | $O/needs
	$(file >$@.new,$(CONTENT))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$O/needs:
	@mkdir -p $(@D)
	@$(filter PKG_CONFIG_PATH=%,$(PKG)) CC='$(CC)' \
		PKG_CONFIG='$(PKG_CONFIG)' sh .ci/packages check $(MODULES) $(HEADERS)
	@touch $@

# Of all that, a test takes what it calls: it is a tenth as large, and made five
# times as fast. Only names are in the archive, so two of a kind may be.
ARCHIVE := $O/library.a
$(ARCHIVE): $(LIBRARY)
	$Qrm -f $@ && $(AR) rcT $@ $^

define link_test
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcmocka
endef
$B/tests/%: $O/tests/unit/%.o $(ARCHIVE)
	$(link_test)
$B/tests/%: $O/tests/kernels/%.o $(ARCHIVE)
	$(link_test)
$B/tests/%: $O/tests/tools/%.o $(ARCHIVE)
	$(link_test)

# They have models and backends that no registry knows: tests/unit/own.h.
$B/tests/test_refusals $B/tests/test_verify $B/tests/test_verify_networks \
$B/tests/test_verify_rounded: WRAPPED += model_find backend_find
$B/tests/test_verify: WRAPPED += backend_next
$B/tests/test_verify_networks: WRAPPED += transform_image
$B/tests/test_verify_rounded: WRAPPED += cpu_choose_kernels

# A target of the fuzzer goes through the inputs that it has found.
$(REPLAYS): $B/tests/%: $O/tests/fuzz/%.o $O/tests/fuzz/replay.o $(ARCHIVE)
	$(link_test)

# Loaded before the command, they let its calls fail.
PRELOADS := $(patsubst tests/preload/%.c,$B/tests/%.so,\
	$(wildcard tests/preload/*.c))
$(PRELOADS): $B/tests/%.so: tests/preload/%.c $O/flags
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) -fPIC -shared -ftls-model=initial-exec \
		$(LDFLAGS) -o $@ $<

# tests/run starts each file by it, those of a build with sanitizers as well.
SUPERVISE := $(BUILD)/tests/supervise
$(SUPERVISE): tests/supervise.c $O/flags
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(filter-out $(CHECKS),$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $<

test-programs: $(TESTS) $(TOOLS) $(REPLAYS) $(SUPERVISE) \
	$(if $(SAN),,$(PRELOADS))
RUN_TESTS := BENCH="$$(realpath $(BUILD))/bench" tests/run

# Recipes below start make again once the packages are there, so that the
# second one sees compiler and libraries. A jobserver above rules over JOBS.
JOBS ?= $(shell nproc)
AGAIN = +$Q$(MAKE) --no-print-directory \
	$(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

run:
	$(AGAIN) deps PACKAGES="$(PACKAGES_BUILD) $(PACKAGES_RUN)"
	$(AGAIN) all
	$B/bench run $(ARGS)

# Those that take longest begin, so that none is still alone at the end.
LONGEST := opencl_kernels.bats random.bats test_graphs test_opencl test_sums \
	hosts.bats test_sizes test_golden arm64.bats opencl.bats memory.bats \
	mpi.bats opencl_classes.bats test_backends resident.bats signals.bats
TESTS_ALL := $(TESTS_BATS) $(TESTS) $(REPLAYS)
TESTS_LONG := $(foreach name,$(LONGEST),$(filter %/$(name),$(TESTS_ALL)))

test:
	$(AGAIN) deps
	$(AGAIN) all test-programs
	$Q$(RUN_TESTS) $(TESTS_LONG) $(filter-out $(TESTS_LONG),$(TESTS_ALL))
	$(if $(INTEL_OPENCL),$(AGAIN) test-intel)

include .ci/checks.mk

deps:
	@DEPS='$(DEPS)' sh .ci/packages install $(PACKAGES)

deps-gate:
	$(AGAIN) deps PACKAGES="$(PACKAGES_BUILD) $(PACKAGES_GATE)"

# Where man and the shells look below PREFIX. The system's own zsh functions
# are elsewhere than those of /usr/local; there, fish looks if XDG_DATA_DIRS
# says so.
FOR_MAN := share/man/man1/bench.1
FOR_BASH := share/bash-completion/completions/bench
ZSH_FOLDER := $(if $(filter-out /usr,$(PREFIX)),site-functions)
FOR_ZSH := share/zsh/$(or $(ZSH_FOLDER),vendor-completions)/_bench
FOR_FISH := share/fish/vendor_completions.d/bench.fish
SHARED := $(FOR_MAN) $(FOR_BASH) $(FOR_ZSH) $(FOR_FISH)
INSTALLED := '$(DESTDIR)$(PREFIX)'

$B/$(FOR_MAN): PAGE = man
$B/$(FOR_BASH): PAGE = bash
$B/$(FOR_ZSH): PAGE = zsh
$B/$(FOR_FISH): PAGE = fish
$(SHARED:%=$B/%): $B/bench
	@mkdir -p $(@D)
	$Q$< help --generate $(PAGE) > $@

install: all $(SHARED:%=$B/%)
	install -D -m 755 $B/bench $(INSTALLED)/bin/bench
	$(if $(PLUGINS),install -D -m 644 -t $(INSTALLED)/lib/bench $(PLUGINS))
	$Qfor file in $(SHARED); do \
		echo "install $$file"; \
		install -D -m 644 "$B/$$file" $(INSTALLED)/"$$file" || exit; \
	done

uninstall:
	$Qfor file in bin/bench $(SHARED) lib/bench/mpi.so; do \
		echo "remove $$file"; \
		rm -f $(INSTALLED)/"$$file" || exit; \
	done

clean:
	rm -rf $(BUILD)

.PHONY: all objects twin run test test-san test-bare test-intel \
	check-full fuzz fuzz-all check-headers deps deps-gate peers peers-xla \
	install uninstall clean test-programs FORCE $(HEADERS_ALONE)
.DELETE_ON_ERROR:
-include $(OBJECTS:.o=.d) $(MPI_OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)
