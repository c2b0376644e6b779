# The test programs, and the programs that they start, for the Makefile.

# Each test is one program, with what it calls of all but the command's main.
LIBRARY := $(filter-out $O/bench/main.o,$(OBJECTS))
TEST_SOURCES := $(wildcard tests/unit/*.c tests/kernels/*.c)
TESTS := $(patsubst %.c,$B/tests/%,$(notdir $(TEST_SOURCES)))
# All that they call is compiled as for the command.
$(TEST_SOURCES:%.c=$O/%.o): private CFLAGS := $(CFLAGS:-O3=-O1)
# Programs that are no tests; some tests start them.
TOOL_SOURCES := $(wildcard tests/tools/*.c)
TOOLS := $(TOOL_SOURCES:tests/tools/%.c=$B/tests/%)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS := $(FUZZ_SOURCES:tests/fuzz/%.c=$B/%)
REPLAYS := $(FUZZ_SOURCES:tests/fuzz/%.c=$B/tests/%)
TEST_OBJECTS := $(patsubst %.c,$O/%.o,$(TEST_SOURCES) $(TOOL_SOURCES) \
	$(FUZZ_SOURCES) tests/fuzz/replay.c)
TESTS_BATS := $(wildcard tests/command/*.bats)

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

# Their models and backends are in no registry: tests/unit/own.h.
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

# tests/run starts each file by it, also in a build with sanitizers.
SUPERVISE := $(BUILD)/tests/supervise
$(SUPERVISE): tests/supervise.c $O/flags
	@echo "LD $@"
	@mkdir -p $(@D)
	$Q$(CC) $(filter-out $(CHECKS),$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $<

test-programs: $(TESTS) $(TOOLS) $(REPLAYS) $(SUPERVISE) \
	$(if $(SAN),,$(PRELOADS))
RUN_TESTS := BENCH="$$(realpath $(BUILD))/bench" tests/run

# The longest files begin, so that none is still alone at the end.
LONGEST := opencl_kernels.bats random.bats test_graphs test_opencl test_sums \
	hosts.bats test_sizes test_golden arm64.bats opencl.bats memory.bats \
	mpi.bats opencl_classes.bats test_backends resident.bats signals.bats
TESTS_ALL := $(TESTS_BATS) $(TESTS) $(REPLAYS)
TESTS_LONG := $(foreach name,$(LONGEST),$(filter %/$(name),$(TESTS_ALL)))
