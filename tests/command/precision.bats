#!/usr/bin/env bats
# --precision: which backends support which one, how the others refuse it, and
# its bounds.

load command.sh

# The kernels of this CPU have bf16.
has_bf16() {
	"$BENCH" measure cpu-1 --model mnist-2019 "${DATA[@]}" -q --steps 1 \
		--epochs 1 --test off --precision bf16 >/dev/null 2>&1
}

@test "rows say which precision it was" {
	run -0 "$BENCH" measure null-1 "${TINY[@]}" --run-file a.csv
	[ "$(cell a.csv 1 precision)" = fp32 ]
	run -0 "$BENCH" measure null-1 "${TINY[@]}" --precision bf16 \
		--run-file a.csv
	[ "$(cell a.csv 1 precision)" = bf16 ]
	run -2 "$BENCH" measure null-1 "${TINY[@]}" --precision fp8
	[[ "$output" == *"fp32, bf16, fp64, fp16, bf16-storage"* ]]
}

@test "fp32 is what nobody asked for" {
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --save-parameters a \
		--profile p.csv
	[ "$(cell p.csv 1 precision)" = fp32 ]
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --save-parameters b \
		--precision fp32
	cmp a b
}

@test "what has no bf16 says so, and nothing is measured" {
	# Also where it is planned alone: no estimate is no lack of memory.
	BENCH_ISA=portable run -4 "$BENCH" run cpu-1 "${TINY[@]}" --dry-run \
		--precision bf16
	[[ "$output" == *"cpu-1: --precision bf16"*"portable kernels"*"fp32 only"* ]]
	[[ "$output" != *memory* ]]
	local target
	for target in openblas-1 reference-1; do
		run -4 --separate-stderr "$BENCH" measure "$target" \
			"${TINY[@]}" --precision bf16 --run-file r.csv
		[[ "$stderr" == *"bf16: backend ${target%-1} does not"* ]]
		[ "$(cell r.csv 1 exit_code)" -eq 4 ]
		[[ "$output" != *,step,* ]]
	done
	run -0 --separate-stderr "$BENCH" run null-1 "${TINY[@]}" \
		--precision bf16 --out o
	[[ "$output" == *"bf16"* ]]
	run -4 "$BENCH" run openblas-1 "${TINY[@]}" --precision bf16 --out p
	run -4 "$BENCH" verify openblas --model tiny "${DATA[@]}" \
		--precision bf16
}

@test "double is what the reference and openblas have" {
	local target
	for target in reference openblas; do
		run -0 "$BENCH" measure "$target-1" "${TINY[@]}" \
			--precision fp64 --run-file "$target.csv" \
			--save-parameters "$target"
		[ "$(cell "$target.csv" 1 precision)" = fp64 ]
	done
	run -0 "$BENCH" measure reference-1 "${TINY[@]}" --save-parameters same
	cmp same reference
	run -4 "$BENCH" measure cpu-1 "${TINY[@]}" --precision fp64
	[[ "$output" == *"fp64: backend cpu does not"* ]]
	run -0 "$BENCH" verify openblas --model tiny "${DATA[@]}" --steps 3 \
		--precision fp64
	[[ "$output" == *"largest entry: 1e-06."*"all right"* ]]
	run -0 --separate-stderr "$BENCH" run openblas-1 "${TINY[@]}" \
		--precision fp64 --out d
	[[ "$output" == *", fp64"* ]]
}

# Post 001's mixed precision; step 2 of 4 overflows on the last rank.
@test "fp16 scales the loss, and leaves out what overflows" {
	local target
	for target in cpu-2 openblas-2 reference-1; do
		BENCH_TEST_OVERFLOW=2 run -0 --separate-stderr "$BENCH" \
			run "$target" --model ddp-toy --steps 4 --epochs 1 \
			--test off --precision fp16 --details \
			--out "o$target"
		[[ "$output" == *", fp16"*"$target: 1 of 4 gradients overflowed"*"scaled by 32768 "* ]]
		[ "$(cell "o$target/runs.csv" 1 skipped_steps)" = 1 ]
		[ "$(cell "o$target/runs.csv" 1 loss_scale)" = 32768 ]
		[ "$(cell "o$target/runs.csv" 1 updates)" = 3 ]
	done
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --run-file plain.csv
	[ -z "$(cell plain.csv 1 loss_scale)" ]
	run -0 "$BENCH" measure cpu-1 --infer --count 2 --model tiny \
		"${DATA[@]}" --precision fp16 --run-file passes.csv
	[ -z "$(cell passes.csv 1 loss_scale)$(cell passes.csv 1 skipped_steps)" ]
}

# An iteration whose gradient overflows counts as an iteration.
@test "iterations are updates and the steps that fp16 skipped" {
	local half=(--model tiny "${DATA[@]}" --precision fp16)
	export BENCH_TEST_OVERFLOW=0
	run -0 "$BENCH" run cpu-1 "${half[@]}" --synthetic-train 32 --epochs 1 \
		--dry-run
	[[ "$output" == *" of memory"* ]]
	[[ "$output" != *inf* && "$output" != *nan* ]]
	run --separate-stderr "$BENCH" check cpu-1 "${half[@]}" --steps 3 \
		--base "$BENCH" --blocks 12 -o few
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	[ "$(cell few/runs.csv 1 updates)" = 2 ]
	[ "$(cell few/verdicts.csv 1 iterations)" = 3 ]
}

@test "fp16 and bf16 storage are held to the reference's roundings" {
	local precision
	for precision in fp16 bf16-storage; do
		run -0 "$BENCH" verify cpu openblas --model tiny "${DATA[@]}" \
			--steps 3 --precision "$precision"
		[[ "$output" == *"largest entry: "[23]"e-0"[23]"."*"all right"* ]]
		BENCH_TEST_BREAK=conv1 run -1 "$BENCH" verify cpu \
			--model tiny "${DATA[@]}" --steps 3 \
			--precision "$precision"
		[[ "$output" == *"WRONG: cpu: the gradient of conv1.weight"* ]]
	done
	run -2 "$BENCH" measure opencl-1 "${TINY[@]}" --precision fp16 \
		--sync epoch
	[[ "$output" == *"fp16 checks each gradient"*"leave out --sync"* ]]
}

@test "nor do kernels without it, or the dense algorithm" {
	BENCH_ISA=portable run -4 "$BENCH" measure cpu-1 "${TINY[@]}" \
		--precision bf16
	[[ "$output" == *"portable"* ]]
	if has_bf16; then
		[[ "$output" == *"BENCH_ISA="@(amx|avx512)" supports it"* ]]
		# Tiles take products of linear layers, too.
		BENCH_ISA=avx512 run -4 "$BENCH" measure cpu-1 --model ddp-toy \
			--steps 1 --precision bf16
		[[ "$output" == *"model ddp-toy has no convolution"*"avx512 kernels round no linear layer"*"leave the option out" ]]
	else
		[[ "$output" != *"BENCH_ISA="* ]]
	fi
	run -2 "$BENCH" run cpu-1 "${TINY[@]}" --precision bf16 \
		--algorithm dense --out none
	[[ "$output" == *"dense algorithm computes in fp32 only"* ]]
	[ ! -e none ]
}

@test "who has a precision is said where a backend lacks it" {
	run -4 "$BENCH" measure cpu-1 "${TINY[@]}" --precision fp64
	[[ "$output" == *"backend cpu does not support it; these do: openblas, reference" ]]
	# What computes nothing is no way out.
	run -4 "$BENCH" measure opencl-1 "${TINY[@]}" --precision bf16
	[[ "$output" == *"these do: cpu"* && "$output" != *null* ]]
}

@test "an algorithm that a backend lacks is passed over, or named" {
	run -4 "$BENCH" measure openblas-1 "${TINY[@]}" --algorithm fast
	[[ "$output" == *"--algorithm fast: backend openblas does not"* ]]
	run -4 "$BENCH" run cpu-1 openblas-1 "${TINY[@]}" \
		--algorithm fast --out q
	[[ "$output" == *"backend openblas does not support it"* ]]
	run -0 "$BENCH" verify --model tiny "${DATA[@]}" --steps 1 \
		--algorithm fast
	[[ "$output" == *"openblas skipped: --algorithm fast"*"all right"* ]]
}

@test "verify holds bf16 to a bound of its own" {
	has_bf16 || skip "no kernels with bf16 for this CPU"
	run -0 "$BENCH" verify cpu --model mnist-2019 "${DATA[@]}" --steps 2 \
		--precision bf16
	[[ "$output" == *"of 64 samples"*"Bound, of each tensor's largest entry: 2e-02."*"all right"* ]]
	BENCH_TEST_BREAK=conv2 run -1 "$BENCH" verify cpu --model mnist-2019 \
		"${DATA[@]}" --steps 2 --precision bf16
	[[ "$output" == *"WRONG: cpu: the gradient of conv2.weight"* ]]
	# No product of this network is faster in bf16 without tiles: all are
	# made so that can be, which the reference has to round as well.
	BENCH_ISA=avx512 run -0 "$BENCH" verify cpu --model tiny "${DATA[@]}" \
		--steps 2 --precision bf16
	[[ "$output" == *"all right"* ]]
	BENCH_ISA=avx512 "$BENCH" measure cpu-1 "${TINY[@]}" --dropout off >fp32
	BENCH_ISA=avx512 "$BENCH" measure cpu-1 "${TINY[@]}" --dropout off \
		--precision bf16 >bf16
	[ "$(column fp32 loss)" != "$(column bf16 loss)" ]
	# AMX's tiles have more of it.
	BENCH_ISA=amx "$BENCH" measure cpu-1 "${TINY[@]}" >/dev/null 2>&1 ||
		skip "no AMX on this CPU"
	run -0 "$BENCH" verify cpu --model mnist "${DATA[@]}" --steps 2 \
		--precision bf16
	[[ "$output" == *"all right"* ]]
}

# Plain loops take a minute for 5e10 multiplications.
@test "a backend in double stands in for the reference where that is slow" {
	run -0 "$BENCH" verify cpu --steps 1 --batch 1400 --test-batch 10 \
		--dataset synthetic --synthetic-train 2800 -q
	[[ "$output" == *"cpu: openblas in double stands in for the reference"* ]]
}

@test "cores are compared with their shares, which may round less than all" {
	has_bf16 || skip "this CPU has no bf16"
	# 16 samples are rounded by layers that compute shares of 5 in fp32.
	run -0 "$BENCH" verify cpu -m mnist --precision bf16 -b 16 --steps 1 \
		--dataset synthetic --synthetic-train 64 --synthetic-test 8 \
		--test-batch 8
	[[ "$output" == *"all right"* ]]
}
