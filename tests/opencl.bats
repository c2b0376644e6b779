#!/usr/bin/env bats
# OpenCL drivers that fail, hang or abort: the other targets have their rows.

bats_require_minimum_version 1.5.0

load command.sh

setup() {
	command_setup
	BROKEN=$(dirname "$BENCH")/tests/break_opencl.so
	[ -e "$BROKEN" ] || skip "make test-programs builds $BROKEN"
	"$BENCH" measure opencl --model tiny -d synthetic -s 1 -e 1 -q \
		>/dev/null 2>&1 || skip "no OpenCL device"
	SMALL=(--model tiny --dataset synthetic --synthetic-train 200
		--synthetic-test 40 --warmup 1 --epochs 2 -q)
}

is_pocl() {
	"$BENCH" devices | grep -q pthread
}

# breaks FUNCTION:N:HOW [OPTION ...]: opencl fails with 6, null-1 does not.
breaks() {
	local how=$1
	shift
	BREAK_OPENCL=$how LD_PRELOAD=$BROKEN run -6 --separate-stderr \
		"$BENCH" run opencl null-1 "${SMALL[@]}" --out "made $how" "$@"
	[ "$(column "made $how/runs.csv" status)" = "${STATUS:-error} ok" ]
	grep -q ',null-1,1,,loop,.*,ok,' "made $how/observations.csv"
	local reason
	reason=$(cell "made $how/runs.csv" 1 reason)
	[ -n "$reason" ]
	[[ "$stderr" == *"bench: opencl: ${reason:0:60}"* ]]
}

@test "an error at start-up names the call" {
	breaks clCreateContext:1:-2
	[[ "$stderr" == *"clCreateContext: CL_DEVICE_NOT_AVAILABLE"* ]]
	breaks clCreateBuffer:3:-4
	[[ "$stderr" == *"clCreateBuffer of "*" bytes: "*ALLOCATION_FAILURE* ]]
	breaks clBuildProgram:1:-11
	[[ "$stderr" == *"were not built: clBuildProgram: CL_BUILD_PROGRAM_"* ]]
}

@test "an error in the middle keeps the rows so far" {
	breaks clEnqueueNDRangeKernel:1:-5
	breaks clEnqueueReadBuffer:4:-36
	breaks clEnqueueNDRangeKernel:150:-5
	[[ "$stderr" == *"clEnqueueNDRangeKernel of "*CL_OUT_OF_RESOURCES* ]]
	grep -q ',opencl,1,,step,1,1,.*,ok,' \
		"made clEnqueueNDRangeKernel:150:-5/observations.csv"
}

@test "a driver that aborts takes only its own run with it" {
	breaks clBuildProgram:1:abort
	breaks clEnqueueNDRangeKernel:150:abort
	[[ "$stderr" == *"ended by signal 6"* ]]
}

@test "a driver that hangs is ended by --timeout" {
	STATUS=partial
	breaks clBuildProgram:1:hang --timeout 1
	breaks clEnqueueNDRangeKernel:150:hang --timeout 3
	[[ "$stderr" == *"ended after --timeout"* ]]
}

@test "cold starts at once, and a warm one, learn the same" {
	local i
	is_pocl || skip "no PoCL"
	unset POCL_CACHE_DIR
	export XDG_CACHE_HOME=$PWD/cache
	for i in 1 2 3 4 5 6 7 8; do
		"$BENCH" measure opencl "${SMALL[@]}" --run-file "row$i" \
			>/dev/null 2>&1 3>&- &
	done
	wait
	run -0 "$BENCH" measure opencl "${SMALL[@]}" --run-file row9
	for i in 1 2 3 4 5 6 7 8 9; do
		[ "$(cell "row$i" 1 status)" = ok ]
		cell "row$i" 1 parameters_hash
	done | sort -u >hashes
	[ "$(wc -l <hashes)" -eq 1 ]
	[ -s hashes ]
	[ "$(cell row1 1 kernels)" = cold ]
	[ "$(cell row9 1 kernels)" = warm ]
}

@test "compiled kernels are kept in a folder that is only the user's" {
	is_pocl || skip "no PoCL"
	unset POCL_CACHE_DIR XDG_CACHE_HOME
	export HOME=$PWD/home
	mkdir -m 755 home
	run -0 "$BENCH" run opencl "${SMALL[@]}" --repeat 2 --out made
	[[ "$output" == *"setup has compiling kernels: "*" s cold, "*" s warm"* ]]
	[ "$(column made/runs.csv kernels)" = "cold warm" ]
	[ "$(stat -c %a home/.cache/bench/pocl)" = 700 ]
	[ ! -e home/.cache/pocl ]
	# What the user says, and only absolute paths.
	POCL_CACHE_DIR=$PWD/mine XDG_CACHE_HOME=$PWD/other run -0 "$BENCH" \
		measure opencl "${SMALL[@]}" --run-file row
	[ "$(cell row 1 kernels)" = cold ]
	[ -d mine ]
	[ ! -e other ]
	XDG_CACHE_HOME=other run -0 "$BENCH" measure opencl "${SMALL[@]}" \
		--run-file row
	[ "$(cell row 1 kernels)" = warm ]
	[ ! -e other ]
}

@test "a folder for kernels that others can write is refused" {
	is_pocl || skip "no PoCL"
	unset POCL_CACHE_DIR
	mkdir -p shared/bench/pocl linked/bench owned/bench/pocl above/bench/pocl
	chmod 777 shared/bench/pocl above/bench
	ln -s "$PWD/shared" linked/bench/pocl
	local way
	for way in shared linked above; do
		XDG_CACHE_HOME=$PWD/$way run -4 "$BENCH" measure opencl \
			"${SMALL[@]}"
		[[ "$output" == *"(from XDG_CACHE_HOME)"*POCL_CACHE_DIR* ]]
		[ -z "$(ls -A "$way/bench/pocl/")" ] || [ "$way" = linked ]
	done
	XDG_CACHE_HOME=$PWD/owned run -0 "$BENCH" measure opencl "${SMALL[@]}"
	[ "$(id -u)" = 0 ] || return 0
	chown -R 64250 owned
	XDG_CACHE_HOME=$PWD/owned run -4 "$BENCH" measure opencl "${SMALL[@]}"
	[[ "$output" == *"is not only this user's to write"* ]]
}

@test "a training step is at most 16 launches" {
	run -0 "$BENCH" measure opencl -d synthetic --synthetic-train 8 \
		--synthetic-test 8 --batch 4 --warmup 1 --epochs 1 -q \
		--profile p.csv
	[ "$(grep -c ',iteration,' p.csv)" -eq 1 ]
	python3 - <<-'END'
	import csv
	whole = list(csv.DictReader(open("p.csv")))[-1]
	assert 8 < int(whole["launches"]) <= 16, whole["launches"]
	# Multiply-adds of four samples, by the network's definition.
	assert float(whole["dense_flop"]) == 2 * 4 * 35782656
	END
}
