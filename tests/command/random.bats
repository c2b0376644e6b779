#!/usr/bin/env bats
# verify --random: networks that nobody thought of.

load command.sh

# verified BACKEND N: right, and every solver has taken its share.
verified() {
	run -0 "$BENCH" verify --random "$2" "$1"
	[ "${lines[-1]}" = "verify: all right" ]
	[[ "$output" == *"$1: $2 networks, 0 wrong; "* ]]
	awk '/%$/ && $(NF - 1) < 2 { print; few = 1 } END { exit few }' \
		<<<"$output"
}

@test "random networks on cpu" {
	verified cpu 50
	[ "$(grep -c '%$' <<<"$output")" -eq 12 ]
}

# A device compiles kernels for most of them, so they are few, and some solvers
# have none.
@test "random networks on OpenCL" {
	needs_opencl
	compiles_plainly
	run -0 "$BENCH" verify --random 12 opencl
	[ "${lines[-1]}" = "verify: all right" ]
	[[ "$output" != *"not tried on several cores"* ]]
	[ "$(grep -c '%$' <<<"$output")" -eq 12 ]
	run -0 "$BENCH" verify --random 3 --device-class gpu opencl
	[ "${lines[-1]}" = "verify: all right" ]
}

@test "random networks with the portable kernels" {
	export BENCH_ISA=portable
	verified cpu 20
}

@test "random networks on openblas" {
	verified openblas 40
}

# null decides nothing, and the drivers are hidden.
@test "random networks on whatever can be compared" {
	OCL_ICD_VENDORS=$PWD run -0 --separate-stderr "$BENCH" verify --random 2
	[ "${lines[-1]}" = "verify: all right; without: opencl, null" ]
	[[ "$output" == *"cpu: 2 networks, 0 wrong"* ]]
	[[ "$output" == *"openblas: 2 networks, 0 wrong"* ]]
	[[ "$stderr" == *"note: null skipped: it lacks the slot 'decisions'"* ]]
	OCL_ICD_VENDORS=$PWD run -0 --separate-stderr "$BENCH" verify --random 1 -q
	[[ "$output" == *"cpu: 1 network, 0 wrong"* ]]
	[ -z "$stderr" ]
}

@test "a wrong kernel is found, in a network that was made smaller" {
	BENCH_TEST_BREAK=row0 run -1 "$BENCH" verify --random 2 openblas
	[ "${lines[-1]}" = "verify: FAILED" ]
	[[ "$output" == *"WRONG: openblas: the gradient of row0."* ]]
	# Of a table of layers, the first row at least, and the loss.
	grep -q "{ .kind = LAYER_[A-Z]*, .name = \"row0\"" <<<"$output"
	[ "$(grep -c LAYER_LOSS <<<"$output")" -ge 1 ]
}

@test "outputs that are stored as the next number of fp16 are not wrong" {
	run -0 "$BENCH" verify --random 1 --seed 105 openblas
	[ "${lines[-1]}" = "verify: all right" ]
}

# A ReLU of means that are 0 by construction, and one after a batch norm of few
# values: plain loops in float decide otherwise, too.
@test "a decision that rounding takes is not wrong" {
	local seed
	for seed in 20931 21304; do
		run -0 "$BENCH" verify --random 1 --seed $seed cpu
		[ "${lines[-1]}" = "verify: all right" ]
	done
}

@test "a seed draws the same networks again" {
	run -0 "$BENCH" verify --random 3 --seed 77 openblas
	local first=$output
	run -0 "$BENCH" verify --random 3 --seed 77 openblas
	[ "$output" = "$first" ]
}

@test "a signal ends it with what was found so far" {
	local pid code=0 tried
	"$BENCH" verify --random 1000000 openblas cpu >out 2>err 3>&- &
	pid=$!
	# Signals are noted from the first network on.
	within 60 catches_sigterm "$pid"
	kill -TERM "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	tried=$(sed -n 's/^openblas: \([0-9]*\) networks\?, 0 wrong; .*/\1/p' out)
	[ "$tried" -ge 1 ]
	[ "$tried" -lt 1000000 ]
	[ "$(tail -n 2 out)" = "cpu: not tried
verify: interrupted, all right so far; without: cpu" ]
	[ ! -s err ]
}

# A buffer that is written when it is full has whole pages.
ends_within_a_page() {
	[ $(($(stat -c %s "$1") % 4096)) -ne 0 ]
}

@test "a wrong network is exit 1, interrupted too" {
	local pid code=0
	BENCH_TEST_BREAK=row0 "$BENCH" verify --random 1000000 openblas \
		>out 2>err 3>&- &
	pid=$!
	within 60 grep -q WRONG out
	# At once, not when a buffer of whole pages is full.
	within 60 ends_within_a_page out
	kill -TERM "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 1 ]
	[ "$(tail -n 1 out)" = "verify: FAILED" ]
	[[ "$(tail -n 3 out)" != *" 0 wrong"* ]]
}

# on_terminal ARGUMENT ...: standard error is one, and what it gets in "seen".
on_terminal() {
	script -qec "$BENCH $* >out" /dev/null >seen
}

@test "a terminal sees how far it is, and a log does not" {
	needs_terminal
	on_terminal verify --random 3 --seed 77 openblas
	grep -q "openblas . network [1-3] of 3, 0 wrong" seen
	[ "$(tail -n 1 out)" = "verify: all right" ]
	on_terminal verify --random 3 --seed 77 openblas -q
	[ ! -s seen ]
	run -0 --separate-stderr "$BENCH" verify --random 3 openblas
	[ -z "$stderr" ]
}

@test "what a random network has of its own is no option" {
	run -2 "$BENCH" verify --random 3 -m tiny cpu
	[ "$output" = "bench: --model and --random exclude each other: a random network has its own" ]
	run -2 "$BENCH" verify --random 3 --image-size 32 cpu
	[ "$output" = "bench: --image-size and --random exclude each other: a random network has its own" ]
	run -2 "$BENCH" verify --random 0 cpu
	run -2 "$BENCH" run --random 3 cpu-1
}
