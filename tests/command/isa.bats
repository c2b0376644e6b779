#!/usr/bin/env bats
# Which build of the kernels computes: the CPU's best, or the one that BENCH_ISA
# names. A name that this CPU does not support is refused, with the names that it
# supports.

load command.sh

setup() {
	command_setup
	BUILDS=(amx avx512 avx2 portable)
	# The builds for this CPU, best first, as "portable" or "avx2 portable".
	HERE=$(BENCH_ISA=none "$BENCH" measure cpu-1 "${TINY[@]}" 2>&1 \
		>nowhere | sed -n 's/.*choose among: //p' | tr -d ,) || true
}

# on CPU COMMAND ...: as if this were another x86-64, which qemu emulates.
on() {
	local cpu=$1
	shift
	qemu-x86_64 -cpu "$cpu" "$@"
}

needs_qemu() {
	[ "$(uname -m)" = x86_64 ] || skip "this CPU is no x86-64"
	command -v qemu-x86_64 >/dev/null || skip "no qemu-x86_64 (package \
qemu-user)"
}

# The build that made the row.
build_of() {
	cell "$1" 1 device_driver
}

@test "each build that the CPU has can be chosen" {
	[[ " $HERE " == *" portable "* ]]
	local build
	for build in $HERE; do
		BENCH_ISA=$build run -0 "$BENCH" measure cpu-1 "${TINY[@]}" \
			--run-file "$build"
		[[ "$(build_of "$build")" == "$build kernels"* ]]
	done
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --run-file best
	[ "$(build_of best)" = "$(build_of "${HERE%% *}")" ]
}

@test "what no CPU has is refused, naming what this one has" {
	local name
	for name in none "" AVX2 avx512x "portable,"; do
		BENCH_ISA=$name run -4 --separate-stderr "$BENCH" measure \
			cpu-1 "${TINY[@]}"
		[[ "$stderr" == "bench: BENCH_ISA: '$name' is not available on\
 this CPU; choose among: ${HERE// /, }" ]]
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "each verb that computes refuses a name that no CPU has" {
	export BENCH_ISA=none
	run -4 "$BENCH" verify cpu --model tiny "${DATA[@]}" -q
	[[ "$output" == *"BENCH_ISA: 'none'"* ]]
	# Of the others the rows are kept.
	run -4 "$BENCH" run cpu-1 null-1 "${TINY[@]}" --out made
	[[ "$output" == *"BENCH_ISA: 'none'"* ]]
	[ "$(column made/runs.csv status)" = "error ok" ]
	# Others do not read it.
	run -0 "$BENCH" measure openblas-1 "${TINY[@]}"
	run -0 "$BENCH" devices
	[[ "$output" == *"cannot be used: BENCH_ISA: 'none'"* ]]
}

@test "what this CPU lacks is refused" {
	local build refused=0
	for build in "${BUILDS[@]}"; do
		[[ " $HERE " != *" $build "* ]] || continue
		BENCH_ISA=$build run -4 "$BENCH" measure cpu-1 "${TINY[@]}"
		[[ "$output" == *"choose among: ${HERE// /, }"* ]]
		refused=$((refused + 1))
	done
	[ "$refused" -gt 0 ] || skip "it lacks none: see the lesser ones below"
}

@test "a CPU is tested as a lesser one" {
	local build here=$HERE
	for build in $HERE; do
		export BENCH_TEST_ISA=$build
		run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --run-file row
		[[ "$(build_of row)" == "$build kernels"* ]]
		BENCH_ISA=none run -4 "$BENCH" measure cpu-1 "${TINY[@]}"
		[[ "$output" == *"choose among: ${here// /, }" ]]
		here=${here#* }
	done
	export BENCH_TEST_ISA=none
	BENCH_ISA=portable run -4 "$BENCH" measure cpu-1 "${TINY[@]}"
	[[ "$output" == *"BENCH_TEST_ISA: 'none' is not a build"*"portable" ]]
}

@test "lesser CPUs compute with what they have" {
	needs_qemu
	local cpu build has
	# The year 2008, and 2013; qemu itself has no AVX-512.
	for cpu in Nehalem Haswell; do
		has=portable
		[ $cpu = Nehalem ] || has="avx2 portable"
		on $cpu "$BENCH" measure cpu-1 "${TINY[@]}" --run-file $cpu \
			>rows 2>err
		[[ "$(build_of $cpu)" == "${has%% *} kernels"* ]]
		for build in "${BUILDS[@]}"; do
			[[ " $has " != *" $build "* ]] || continue
			BENCH_ISA=$build run -4 --separate-stderr \
				on $cpu "$BENCH" measure cpu-1 "${TINY[@]}"
			[[ "$stderr" == *"'$build' is not available on this\
 CPU; choose among: ${has// /, }" ]]
		done
	done
}
