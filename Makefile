# bench: one network on one core, on eight cores and on an OpenCL device.
#
#   make             build build/bench; never installs a package
#   make run         install what is missing, build, compare the three targets
#   make test        install what is missing, build, run every test
#   make deps        install what is missing: packages of Debian 12
#   make deps-gate   packages that .ci/gate needs
#   make install     program, man page, completions; uninstall undoes it
#   make clean       remove build/
#
# Knobs, for the command line:
#
#   ARGS="--epochs 1"      arguments of `bench run`, for `make run`
#   DEPS=no                install nothing, whatever is missing
#   PREFIX=/usr/local      where `make install` goes; DESTDIR= is put before it
#   CC=clang CFLAGS=-O2    another compiler, other optimization
#   WERROR=1               warnings are errors
#   BUILD=build            the folder of everything that is built
#   JOBS=2                 how many compilers `make run` and `make test` start
#   V=1                    show the commands
#
# Targets of tests that are not `make test` are in .ci/checks.mk.

VERSION := 0.3.0

.DEFAULT_GOAL := all

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

include .ci/packages.mk

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
# linker's --wrap works with -flto, too: tests/unit/test_counts.c.
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
	backends/cpu/solvers/*.c backends/opencl/*/*.c backends/opencl/*/*/*.c \
	bench/*.c bench/*/*.c bench/*/*/*.c))
OBJECTS := $(SOURCES:%.c=$O/%.o)
KERNELS := $(wildcard backends/opencl/kernels/*.cl \
	backends/opencl/kernels/*/*.cl)
TEMPLATES := $(wildcard bench/commands/bench.*)
STYLES := $(wildcard bench/report/pictures/*.css)
SCRIPTS := $(wildcard plot/*.gp)

include $(wildcard backends/cpu/kernels/isa.mk)

# Plug-ins: shared objects that only those have whose library is there, and that
# call some functions of the program.
MPI := $(if $(SAN),,$(and $(wildcard backends/mpi/mpi.c),$(shell \
	$(PKG_CONFIG) --exists ompi-c 2>/dev/null && echo mpi)))
PLUGINS := $(MPI:%=$B/plugins/%.so)
MPI_OBJECTS := $(patsubst %.c,$O/%.o,$(wildcard backends/mpi/*.c))

include .ci/tests.mk

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

$O/%.o: %.c
	@echo "CC $<"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) $(DEFINES) -MMD -MP -c -o $@ $<

# A text becomes an array of strings, one a line.
QUOTE := sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n",/'
STRINGS = $(QUOTE) $<

# The first line makes the compiler's errors name the kernel's file and line.
$B/kernels/files.h: $(KERNELS)
	@mkdir -p $(@D)
	$Qfor file in $^; do name=$$(basename $$file .cl); \
		printf 'static const char *const %s_cl[] = {\n' $$name; \
		printf '"#line 1 \\"%s.cl\\"\\n",\n' $$name; \
		$(QUOTE) $$file; echo '};'; done > $@

# Of commands and report.
$B/%.h: bench/%
	@mkdir -p $(@D)
	$Q$(STRINGS) > $@

$B/plot/%.h: plot/%
	@mkdir -p $(@D)
	$Q$(STRINGS) > $@

$O/backends/opencl/program/source.o: $B/kernels/files.h
$O/backends/opencl/program/source.o: DEFINES = -I$B
$O/bench/commands/page.o: $(TEMPLATES:bench/%=$B/%.h)
$O/bench/commands/page.o: DEFINES = -I$B
$O/bench/report/pictures/plot_report.o: $(STYLES:bench/%=$B/%.h)
$O/bench/report/pictures/plot.o: $(SCRIPTS:%=$B/%.h)
$(filter $O/bench/report/%,$(OBJECTS)): DEFINES = -I$B

# What a program says of itself is compiled anew when it changes.
GIT := test -e .git && git -c 'safe.directory=$(CURDIR)'
COMMIT := $(or $(shell c=$$($(GIT) rev-parse --short=12 HEAD 2>/dev/null) && \
	echo $$c$$($(GIT) diff --quiet HEAD -- 2>/dev/null || \
	echo -dirty)),unknown)
# The man page's date is the commit's, and without a commit the Makefile's,
# which an archive keeps.
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

# Recipes below start make again once the packages are there, so that the
# second one sees compiler and libraries. A jobserver above rules over JOBS.
JOBS ?= $(shell nproc)
AGAIN = +$Q$(MAKE) --no-print-directory \
	$(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

run:
	$(AGAIN) deps PACKAGES="$(PACKAGES_BUILD) $(PACKAGES_RUN)"
	$(AGAIN) all
	$B/bench run $(ARGS)

test:
	$(AGAIN) deps
	$(AGAIN) all test-programs
	$Q$(RUN_TESTS) $(TESTS_LONG) $(filter-out $(TESTS_LONG),$(TESTS_ALL))
	$(if $(INTEL_OPENCL),$(AGAIN) test-intel)

include .ci/checks.mk

# Folders below PREFIX where man and the shells look. Below /usr/local, zsh has
# another folder than below /usr, and fish looks if XDG_DATA_DIRS names it.
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

.PHONY: all objects run test test-programs deps deps-gate install uninstall \
	clean FORCE
.DELETE_ON_ERROR:
-include $(OBJECTS:.o=.d) $(MPI_OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)
