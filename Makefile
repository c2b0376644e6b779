# bench: one network on one core, on eight cores and on an OpenCL device.
#
#   make             build build/bench (installs nothing)
#   make run         install what is missing, build, compare the three targets
#   make test        install what is missing, build, run every test
#   make check-full  the tests that take longer
#   make deps        install what is missing: packages of Debian 12
#   make install     PREFIX=/usr/local DESTDIR=
#
# Knobs: DEPS=no never installs packages. ARGS="..." goes to `make run`.
# SAN=address,undefined builds with sanitizers into build/san-...
# V=1 shows the commands. WERROR=1 makes warnings errors.

CC ?= gcc
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
comma := ,
B := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
O := $B/obj

# The one list of packages; .ci/run and the README refer to it.
PACKAGES_BUILD := gcc libc6-dev pkg-config libopenblas-dev \
	libopenblas0-pthread ocl-icd-opencl-dev libcsv-dev zlib1g-dev \
	libmd-dev librandom123-dev
PACKAGES_RUN := pocl-opencl-icd dataset-fashion-mnist
PACKAGES_TEST := libcmocka-dev bats python3 curl

CFLAGS ?= -O3 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wundef
# Texts are cut to their column on purpose, by snprintf.
WARNINGS += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
HARDENING := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
ALL_CFLAGS = -std=c11 $(CFLAGS) $(WARNINGS) $(if $(WERROR),-Werror) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer,$(HARDENING)) \
	-ffile-prefix-map=$(CURDIR)=. -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 \
	-I. -pthread $(shell $(PKG_CONFIG) --cflags openblas OpenCL libmd zlib)
LIBS = $(shell $(PKG_CONFIG) --libs openblas OpenCL libmd zlib) -lcsv -lm
ALL_LDFLAGS = $(LDFLAGS) -pthread $(if $(SAN),-fsanitize=$(SAN),-pie -Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)

SOURCES := $(wildcard models/*.c backends/*.c backends/*/*.c bench/*.c)
OBJECTS := $(SOURCES:%.c=$O/%.o)
LIBRARY := $(filter-out $O/bench/main.o,$(OBJECTS))
KERNELS := $(wildcard backends/opencl/kernels/*.cl)

# The same kernels for several instruction sets; the best is chosen at run time.
CPU_KERNELS := $(wildcard backends/cpu/kernels/*.c)
ISAS := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),avx512 avx2) \
	portable
FLAGS_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
FLAGS_avx2 := -march=x86-64-v3
OBJECTS += $(foreach isa,$(ISAS),$(CPU_KERNELS:%.c=$O/%.$(isa).o))
Q := $(if $(V),,@)

all: $B/bench

$B/bench: $(OBJECTS)
	@echo "LD $@"
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$O/%.o: %.c
	@echo "CC $<"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

define isa_rule
$O/backends/cpu/kernels/%.$(1).o: backends/cpu/kernels/%.c
	@echo "CC $$< ($(1))"
	@mkdir -p $$(@D)
	$$Q$$(CC) $$(ALL_CFLAGS) $$(FLAGS_$(1)) -ffp-contract=fast -Wno-psabi -DISA=$(1) \
		-MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

# A kernel becomes an array of lines, so that errors name its file and line.
$B/kernels/%.cl.h: backends/opencl/kernels/%.cl
	@mkdir -p $(@D)
	$Q{ printf '%s\n' '"#line 1 \"$*.cl\"\n",'; sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
		-e 's/^/"/' -e 's/$$/\\n",/' $<; } > $@

$(filter $O/backends/opencl/%,$(OBJECTS)): \
	$(KERNELS:backends/opencl/%.cl=$B/%.cl.h)
$(filter $O/backends/opencl/%,$(OBJECTS)): ALL_CFLAGS += -I$B

clean:
	rm -rf build

.PHONY: all clean
.DELETE_ON_ERROR:
-include $(OBJECTS:.o=.d)
