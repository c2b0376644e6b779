# For .bats files: the command on small runs, and what is in its files.
# shellcheck shell=bash disable=SC2034 # others use what is set here

# $BENCH is the program, $TOP the sources; each test has a folder of its own.
command_setup() {
	bats_require_minimum_version 1.5.0
	TOP=${BATS_TEST_DIRNAME%/*/*}
	BENCH=$(realpath -s "${BENCH:-$TOP/build/bench}")
	cd "$BATS_TEST_TMPDIR" || return 1
	unset NO_COLOR
	DATA=(--dataset synthetic --synthetic-train 70 --synthetic-test 40)
	# A shell has SIGINT ignored in what it starts in the background.
	HEEDFUL=(env --default-signal=INT)
	# Three batches of 32, 32 and 6 samples.
	TINY=(--model tiny "${DATA[@]}" --warmup 1 --epochs 1 -q)
}

# Where a file has no other one.
setup() {
	command_setup
}

# Skips a case if there is no OpenCL device. The first case of a file that asks
# finds out for all of them.
needs_opencl() {
	local code=0 known=$BATS_FILE_TMPDIR/opencl
	if [ ! -e "$known" ]; then
		"$BENCH" measure opencl --model ddp-toy -s 1 -e 1 -q \
			>/dev/null 2>&1 || code=$?
		echo "$code" >"$known"
	fi
	[ "$(cat "$known")" = 0 ] || skip "no OpenCL device"
}

# For files whose cases all need one. $BROKEN lets calls of the driver fail.
opencl_setup() {
	command_setup
	needs_opencl
	BROKEN=$(dirname "$BENCH")/tests/break_opencl.so
	[ -e "$BROKEN" ] || skip "make test-programs builds $BROKEN"
	SMALL=(--model tiny --dataset synthetic --synthetic-train 200
		--synthetic-test 40 --warmup 1 --epochs 2 -q)
}

# Has PoCL compile kernels without optimizing them, in less than half the time, for
# cases about everything except the kernels' numbers and speed.
compiles_plainly() {
	[ -n "${CHECK_FULL:-}" ] ||
		export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
}

# Whether the driver is PoCL, whose devices POCL_DEVICES chooses.
is_pocl() {
	[ -z "${TEST_OPENCL:-}" ]
}

needs_pocl() {
	is_pocl || skip "several devices are made by PoCL alone"
}

# catches_sigterm PID: the shell's fork has become bench, which catches SIGTERM.
catches_sigterm() {
	grep -q '^Name:.bench' "/proc/$1/status" &&
		grep -q '^SigCgt:.*4[0-9a-f]\{3\}$' "/proc/$1/status"
}

# Prints milliseconds of a clock that stands while the tests lack a CPU:
# tests/supervise.c. Without tests/run it is the wall's.
patience() {
	local now=${EPOCHREALTIME/[.,]/}
	now=${now%???}
	[ -z "${TEST_CLOCK:-}" ] || read -r now <"$TEST_CLOCK"
	echo $((10#$now))
}

# within SECONDS COMMAND ...: COMMAND succeeds within SECONDS of that clock.
within() {
	local until=$(($(patience) + 1000 * $1))
	shift
	until "$@"; do
		[ "$(patience)" -lt "$until" ] || {
			echo "still not: $*"
			return 1
		}
		sleep 0.1
	done
}

# timed_out DONE COMMAND ...: COMMAND --timeout $LIMIT ends with 6, having got to
# where it hangs, as the command DONE says. A slow machine needs a longer one.
timed_out() {
	local done=$1
	shift
	for LIMIT in 2 8 32 128 512; do
		run -6 --separate-stderr "$@" --timeout "$LIMIT"
		! "$done" || return 0
	done
	return 1
}

# Ends what a failed case has started, as a file's own teardown does too: all
# processes that have the case's folder in their environment. A shell that has yet
# to start its command has the command line and the environment of this shell; the
# run's folder in them distinguishes it from another run of the case. The next
# pass ends what starts during a pass.
end_started() {
	[ -z "${BATS_TEST_COMPLETED:-}" ] || return 0
	local pass place
	local -a started
	for pass in 1 2 3; do
		mapfile -t started < <(jobs -p
			grep -lzsxF "BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR" \
				/proc/[0-9]*/environ | tr -dc '0-9\n')
		for place in /proc/[0-9]*; do
			if [ "${place#/proc/}" != "$$" ] &&
				cmp -s "$place/cmdline" "/proc/$$/cmdline" &&
				cmp -s "$place/environ" "/proc/$$/environ"; then
				started+=("${place#/proc/}")
			fi
		done
		kill -KILL "${started[@]}" 2>/dev/null || :
	done
}

teardown() {
	end_started
}

# The process is there, and does not only wait to be reaped.
running() {
	grep -qs '^State:.[^Z]' "/proc/$1/status"
}

none_running() {
	local pid
	for pid in "$@"; do
		! running "$pid" || return 1
	done
}

# cells ROW COLUMN <FILE: of that row, or for 0 of all, in one line. By awk, since
# python3 takes as long to start as most runs here.
cells() {
	awk -v row="$1" -v column="$2" '
	# Into cells[1], cells[2], ...; their number.
	function part(line,   count, cell) {
		for (line = line ","; line != ""; line = substr(line, RLENGTH + 1)) {
			if (match(line, /^"([^"]|"")*",/)) {
				cell = substr(line, 2, RLENGTH - 3)
				gsub(/""/, "\"", cell)
			} else {
				match(line, /^[^,]*,/)
				cell = substr(line, 1, RLENGTH - 1)
			}
			cells[++count] = cell
		}
		return count
	}
	NR == 1 {
		for (place = part($0); place && cells[place] != column;)
			place--
		next
	}
	$0 != "" && place && (!row || NR == row + 1) {
		part($0)
		printf "%s%s", found++ ? " " : "", cells[place]
	}
	END {
		print ""
		exit !place || (row && !found)
	}'
}

# cell FILE ROW COLUMN: rows count from 1, columns have names.
cell() {
	cells "$2" "$3" <"$1"
}

# column FILE COLUMN: all its cells in one line.
column() {
	cells 0 "$2" <"$1"
}

# needs_terminal: skips where none can be had, as in a bare chroot.
needs_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 ||
		skip "no pseudo-terminal, or no script(1)"
}

# idx_files FOLDER VALUE: images of 28x28 pixels of that value, all of class 0,
# eight for training and four for the test.
idx_files() {
	mkdir -p "$1"
	python3 - "$1" "$2" <<-"END"
	import struct, sys
	for half, count in ("train", 8), ("t10k", 4):
	    name = f"{sys.argv[1]}/{half}"
	    with open(f"{name}-images-idx3-ubyte", "wb") as file:
	        file.write(struct.pack(">4i", 2051, count, 28, 28))
	        file.write(bytes([int(sys.argv[2])]) * 784 * count)
	    with open(f"{name}-labels-idx1-ubyte", "wb") as file:
	        file.write(struct.pack(">2i", 2049, count) + bytes(count))
	END
}
