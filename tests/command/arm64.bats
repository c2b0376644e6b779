#!/usr/bin/env bats
# Other processors have the portable build: it compiles for arm64, and its
# kernels compute rightly there, by an emulator where the processor is another.

load command.sh

CROSS=aarch64-linux-gnu
# test_shared is none of them: it trains by the whole backend. test_linear_parts
# holds the kernels below it to the same bits.
TESTS=(tests/kernels/test_{linear,linear_parts,optimizer,dropout,igemm}
	tests/kernels/test_stem_{forward,backward,weights})

# make_for FOLDER FLAG SOURCE ...: their objects, by the other compiler.
make_for() {
	local objects
	mapfile -t objects < <(printf '%s\n' "${@:3}" |
		sed "s,^,$1/obj/,; s,\(cpu/kernels/.*\)c\$,\1portable.o,; s/c\$/o/")
	make -C "$BATS_TEST_DIRNAME/../.." --no-print-directory -j"$(nproc)" \
		CC=$CROSS-gcc BUILD="$1" WERROR=1 \
		CFLAGS="$2 -idirafter /usr/include/$(gcc -print-multiarch)" \
		"${objects[@]}" >>"$BATS_FILE_TMPDIR/log" 2>&1 ||
		touch "$BATS_FILE_TMPDIR/failed"
}

# Objects are made of what the kernels' tests call; the rest is only checked, in
# half the time. Nothing is linked: libraries for arm64 are not asked for.
setup_file() {
	command -v $CROSS-gcc >/dev/null || return 0
	unset MAKEFLAGS MAKELEVEL
	cd "$BATS_TEST_DIRNAME/../.." || return
	local kernels others
	mapfile -t kernels < <(find backends/cpu/kernels -name '*.c' \
		! -name '*_amx.c')
	make_for "$BATS_FILE_TMPDIR/arm64" -O1 models/*.c \
		backends/{contract,cpu,cpu/solvers}/*.c "${kernels[@]}" \
		backends/{host,reference}/*.c bench/system/allocation.c \
		"${TESTS[@]/%/.c}" tests/arm64/cmocka.c
	mapfile -t others < <(find bench \
		backends/{parallel,null,openblas,opencl} -name '*.c')
	make_for "$BATS_FILE_TMPDIR/checked" -fsyntax-only "${others[@]}"
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
	# Each file once, allocation.c twice.
	[ "$(grep -c '^CC [bm].*\.c' "$BATS_FILE_TMPDIR/log")" -eq \
		$(($(cd "$BATS_TEST_DIRNAME/../.." && find models backends bench \
			-name '*.c' ! -path 'backends/mpi/*' \
			! -name '*_amx.c' | wc -l) + 1)) ]
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
		$CROSS-gcc -static -pthread -o test "$OBJECTS/$test.o" \
			"$OBJECTS/tests/arm64/cmocka.o" all.a -lm
		BENCH_TEST_LIGHT=1 run -0 $emulator ./test
		echo "$output"
		[ "$(grep -c ': ok$' <<<"$output")" -ge 1 ]
		[[ "$output" != *": FAILED"* && "$output" != *": skipped"* ]]
	done
}
