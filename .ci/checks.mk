# Checks that are not `make test`: sanitizers, a bare machine, a second OpenCL
# driver, the fuzzer, headers alone, and what bench is compared with.
#
#   make test-san    the units again, watched by sanitizers
#   make test-bare   both again, without all that a machine may lack
#   make check-full  the tests that take longer: clang, threads, oclgrind, fuzz
#   make fuzz        feed the parsers what libFuzzer thinks of (clang)
#   make peers       PyTorch, tinygrad and Intel's OpenCL driver in build/peers
#   make peers-xla   PyTorch/XLA, with a PyTorch of its own, in build/peers-xla
#   make test-intel  the tests of OpenCL on that driver; part of `make test`
#   make twin        another build/bench that no gate may call slower
#
# Knobs:
#
#   SAN=address,undefined  sanitizers; builds in build/san-address-undefined
#   FUZZ_SECONDS=60        how long `make fuzz` tries each parser

# The same objects linked in reverse, below a longer path: no gate may
# call one of them slower.
TWIN := $B/twin/below/a/longer/path/bench
twin: $(TWIN)
$(TWIN): $(OBJECTS)
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $$(printf '%s\n' $^ | tac) $(LIBS)
	$(split_debug)

# What asks the OpenCL driver, and a second one: Intel's, by `make peers`.
# oclgrind, which opencl_kernels.bats looks through, is a driver of its own.
TESTS_OPENCL := $(filter $B/tests/test_opencl% $B/tests/test_resident \
	$B/tests/test_graphs,$(TESTS)) \
	$(filter-out tests/command/opencl_kernels.bats,\
	$(filter tests/command/opencl% tests/command/resident%,$(TESTS_BATS)))
INTEL_OPENCL := $(wildcard $(BUILD)/peers/lib/libintelocl.so)
in_san = $(2:$B/%=$(BUILD)/san-$(subst $(comma),-,$(1))/%)
TESTS_SAN = $(call in_san,address$(comma)undefined,$(TESTS) $(REPLAYS))

test-san:
	$(AGAIN) deps
	$(AGAIN) SAN=address,undefined test-programs
	$Q$(RUN_TESTS) $(TESTS_SAN)

test-bare:
	$(AGAIN) deps
	$(AGAIN) all test-programs
	$(AGAIN) SAN=address,undefined test-programs
	$Q$(RUN_TESTS) --bare $(TESTS_BATS) $(TESTS_SAN)

test-intel:
	$(if $(INTEL_OPENCL),,$(error no driver of Intel: `make peers` first))
	$(AGAIN) all test-programs
	@echo "The tests of OpenCL on $(INTEL_OPENCL):"
	$QTEST_OPENCL="$$(realpath $(INTEL_OPENCL))" \
		$(RUN_TESTS) $(TESTS_OPENCL)

# oclgrind exits with 0, so its log must be empty. What is uninitialized is a
# question for tests/command/opencl_kernels.bats, which is about smaller models.
has = $(shell command -v $(1) 2>/dev/null)
THREADED := $(foreach name,transport replica loader core,\
	$(filter $B/tests/test_$(name)%,$(TESTS)))
check-full:
	$(AGAIN) test CHECK_FULL=1 WERROR=1
	$(AGAIN) test-san CHECK_FULL=1 WERROR=1
	$(if $(call has,clang),$(AGAIN) BUILD=$(BUILD)/clang CC=clang WERROR=1 \
		all test-programs,@echo "skipped: clang is not installed")
	$(AGAIN) SAN=thread all $(call in_san,thread,$(THREADED))
	$(RUN_TESTS) $(call in_san,thread,$(THREADED))
	for target in cpu-4 cpu-4@fork; do \
		timeout 300 $(BUILD)/san-thread/bench measure $$target \
			--model tiny --dataset synthetic --epochs 2 --steps 9 \
			--test off >/dev/null || exit; \
	done
	$(if $(call has,oclgrind),for test in opencl opencl_tiles; do \
			BENCH_TEST_LIGHT=1 oclgrind --data-races \
				--log $B/oclgrind.log $B/tests/test_$$test && \
			cat $B/oclgrind.log && test ! -s $B/oclgrind.log || \
				exit; \
		done,@echo "skipped: oclgrind is not installed")
	BENCH="$$(realpath $B/bench)" tests/tools/stress kill 40
	BENCH="$$(realpath $B/bench)" tests/tools/stress interrupt 40
	tests/tools/gate-bzip2 $B/bench || test "$$?" = 77
	$(AGAIN) fuzz
	.ci/check-layers
	.ci/check-style
	.ci/check-language

# New inputs go below build/, and so does one that is a finding. To commit what
# a longer run has found: FUZZER -merge=1 tests/fuzz/corpus/NAME FOLDER
FUZZ_SECONDS ?= 60
FUZZ_SAN := fuzzer-no-link,address,undefined
FUZZ_LIMITS := -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256
fuzz:
	$Qif echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -x c \
		-fsanitize=fuzzer,address -o /dev/null - 2>/dev/null; \
	then $(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang \
		SAN=$(FUZZ_SAN) fuzz-all; \
	else echo "skipped: no clang with libFuzzer (packages clang and" \
		"libclang-rt-14-dev)"; fi

fuzz-all: $(FUZZERS:$B/fuzz_%=fuzz-%)

fuzz-%: $B/fuzz_%
	@mkdir -p $B/corpus/$*
	@echo "FUZZ $* for $(FUZZ_SECONDS) s"
	$Q$< -max_total_time=$(FUZZ_SECONDS) $(FUZZ_LIMITS) \
		-artifact_prefix=$B/$*- -print_final_stats=1 $B/corpus/$* \
		tests/fuzz/corpus/$* >$B/$*.log 2>&1 || \
		{ tail -n 60 $B/$*.log; exit 1; }
	@sed -n 's/^\(stat::number.*\|.*DONE.*\)/  $*: \1/p' $B/$*.log

$(FUZZERS): $B/%: $O/tests/fuzz/%.o $(LIBRARY)
	@echo "LD $@"
	$Q$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# Each header alone gives a file that compiles.
HEADERS_ALONE := $(patsubst %,alone/%,$(filter-out $(if $(MPI),,backends/mpi/%),\
	$(wildcard models/*.h backends/*/*.h backends/*/*/*.h backends/*/*/*/*.h \
		bench/*/*.h bench/*/*/*.h \
	tests/*.h tests/*/*.h)))
check-headers: $(HEADERS_ALONE)
$(HEADERS_ALONE): alone/%: | $O/needs
	$Qecho '#include "$*"' | \
		$(CC) $(ALL_CFLAGS) $(DEFINES) -Werror -Wno-unused-function \
		-fsyntax-only -x c -

# Only `make peers` needs these: a compiler for torch.compile, and allocators.
PACKAGES_PEERS := python3-venv python3-dev g++ libjemalloc2 \
	libtcmalloc-minimal4
peers:
	$(AGAIN) deps PACKAGES="$(PACKAGES_PEERS)"
	$Qtests/peers/install $(BUILD)/peers

peers-xla:
	$(AGAIN) deps PACKAGES="$(PACKAGES_PEERS)"
	$Qtests/peers/install $(BUILD)/peers-xla xla

.PHONY: test-san test-bare test-intel check-full fuzz fuzz-all check-headers \
	peers peers-xla twin $(HEADERS_ALONE)
