#!/usr/bin/env bats
# Other processors have the portable build: it compiles for arm64, and its
# kernels compute rightly there, by an emulator where the processor is another.

bats_require_minimum_version 1.5.0

load command.sh

CROSS=aarch64-linux-gnu
# test_shared is none of them: it trains by the whole backend, which asks
# OpenBLAS for products of its own when a device opens. test_linear_parts holds
# the kernels below it to the same bits.
TESTS=(test_linear test_linear_parts test_optimizer test_dropout test_gather
	test_stem_forward test_stem_backward test_stem_weights)

# All objects are made, and nothing is linked: libraries for arm64 are not
# asked for.
setup_file() {
	local objects="$BATS_FILE_TMPDIR/arm64/obj" tests
	command -v $CROSS-gcc >/dev/null || return 0
	tests=("${TESTS[@]/%/.o}" arm64/cmocka.o)
	unset MAKEFLAGS MAKELEVEL
	make -C "$BATS_TEST_DIRNAME/.." --no-print-directory -j"$(nproc)" \
		CC=$CROSS-gcc BUILD="$BATS_FILE_TMPDIR/arm64" WERROR=1 \
		CFLAGS="-O1 -idirafter /usr/include/$(gcc -print-multiarch)" \
		objects "${tests[@]/#/$objects/tests/}" \
		>"$BATS_FILE_TMPDIR/log" 2>&1 ||
		touch "$BATS_FILE_TMPDIR/failed"
}

setup() {
	command_setup
	OBJECTS="$BATS_FILE_TMPDIR/arm64/obj"
	command -v $CROSS-gcc >/dev/null || skip "no compiler for arm64 \
(packages gcc-aarch64-linux-gnu and libc6-dev-arm64-cross)"
}

@test "everything compiles for arm64, without a warning" {
	[ ! -e "$BATS_FILE_TMPDIR/failed" ] || {
		grep -v '^CC' "$BATS_FILE_TMPDIR/log"
		false
	}
	[ -s "$OBJECTS/bench/main.o" ]
	# Of the kernels there is one build, and no instruction of x86-64.
	[ -s "$OBJECTS/backends/cpu/kernels/table.portable.o" ]
	[ "$(find "$OBJECTS" -name '*.avx*.o' -o -name '*.amx.o')" = "" ]
	run -0 $CROSS-readelf -h "$OBJECTS/backends/cpu/isa.o"
	[[ "$output" == *Machine:*AArch64* ]]
}

@test "and the kernels' own tests pass there" {
	local emulator=qemu-aarch64 test
	[ "$(uname -m)" != aarch64 ] || emulator=
	[ -z "$emulator" ] || command -v $emulator >/dev/null ||
		skip "no emulator of arm64 (package qemu-user)"
	[ ! -e "$BATS_FILE_TMPDIR/failed" ]
	find "$OBJECTS" -name '*.o' ! -path '*/tests/*' ! -name main.o \
		-exec $CROSS-ar rcs all.a {} +
	for test in "${TESTS[@]}"; do
		$CROSS-gcc -static -pthread -o "$test" \
			"$OBJECTS/tests/$test.o" \
			"$OBJECTS/tests/arm64/cmocka.o" all.a -lm
		BENCH_TEST_LIGHT=1 run -0 $emulator "./$test"
		echo "$output"
		[ "$(grep -c ': ok$' <<<"$output")" -ge 1 ]
		[[ "$output" != *": FAILED"* && "$output" != *": skipped"* ]]
	done
}
