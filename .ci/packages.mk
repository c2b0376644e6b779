# What the build, the program and the tests need of a system, for the Makefile.

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

# A header or module that the build needs, and its package.
MODULES := openblas:libopenblas-pthread-dev OpenCL:ocl-icd-opencl-dev \
	nettle:nettle-dev jansson:libjansson-dev zlib:zlib1g-dev \
	libjpeg:libjpeg62-turbo-dev libpng:libpng-dev
HEADERS := stdio.h:libc6-dev csv.h:libcsv-dev \
	Random123/philox.h:librandom123-dev

$O/needs:
	@mkdir -p $(@D)
	@$(filter PKG_CONFIG_PATH=%,$(PKG)) CC='$(CC)' \
		PKG_CONFIG='$(PKG_CONFIG)' sh .ci/packages check $(MODULES) $(HEADERS)
	@touch $@

deps:
	@DEPS='$(DEPS)' sh .ci/packages install $(PACKAGES)

deps-gate:
	$(AGAIN) deps PACKAGES="$(PACKAGES_BUILD) $(PACKAGES_GATE)"
