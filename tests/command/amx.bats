#!/usr/bin/env bats
# The kernels of AMX compute rightly on any CPU with bf16 in AVX-512: without
# AMX, tests/preload/amx.c computes its instructions.

load command.sh

setup() {
	command_setup
	local library
	library=$(dirname "$BENCH")/tests/amx.so
	[ -e "$library" ] || skip "make test-programs builds $library"
	export LD_PRELOAD=$library BENCH_ISA=amx
	"$BENCH" measure cpu-1 "${TINY[@]}" >/dev/null 2>&1 ||
		skip "no AVX-512 for bf16, or BENCH_TEST_ISA forbids AMX"
}

# verifies OPTION ...: the cpu backend on mnist, by few small batches.
verifies() {
	run -0 "$BENCH" verify cpu -m mnist --precision bf16 \
		--dataset synthetic --synthetic-train 24 --synthetic-test 8 \
		"$@"
	[[ "$output" == *"all right"* ]]
}

@test "kernels are right" {
	local name
	for name in igemm linear linear_parts stem_forward stem_backward \
		stem_weights; do
		run -0 "$(dirname "$BENCH")/tests/test_$name"
		[[ "$output" != *FAILED* ]]
	done
}

@test "training in bf16 is right, like a reference that rounds" {
	verifies -b 3 --steps 2 --test-batch 8
	# A reference that does not round differs by 2e-03.
	[[ "$output" =~ fc1\.weight\ +[0-9.]+e-0[56789] ]]
}

@test "inference in bf16 is right" {
	verifies --infer -b 8
}
