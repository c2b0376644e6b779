# For .bats files: the command on small runs, and what is in its files.
# shellcheck shell=bash disable=SC2034 # others use what is set here

# $BENCH is the program; each test has a folder of its own.
command_setup() {
	BENCH=$(realpath -s "${BENCH:-$BATS_TEST_DIRNAME/../build/bench}")
	cd "$BATS_TEST_TMPDIR" || return 1
	DATA=(--dataset synthetic --synthetic-train 70 --synthetic-test 40)
	# A shell has SIGINT ignored in what it starts in the background.
	HEEDFUL=(env --default-signal=INT)
	# Three batches of 32, 32 and 6 samples.
	TINY=(--model tiny "${DATA[@]}" --warmup 1 --epochs 1 -q)
}

# within SECONDS COMMAND ...: it becomes true.
within() {
	local seconds=$1
	shift
	for _ in $(seq $((10 * seconds))); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "still not: $*"
	return 1
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

# cell FILE ROW COLUMN: rows count from 1, columns have names.
cell() {
	python3 - "$@" <<-'END'
	import csv, sys
	rows = list(csv.DictReader(open(sys.argv[1])))
	print(rows[int(sys.argv[2]) - 1][sys.argv[3]])
	END
}

# column FILE COLUMN: all its cells in one line.
column() {
	python3 - "$@" <<-'END'
	import csv, sys
	print(*(row[sys.argv[2]] for row in csv.DictReader(open(sys.argv[1]))))
	END
}

# needs_terminal: skips where none can be had, as in a bare chroot.
needs_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 ||
		skip "no pseudo-terminal, or no script(1)"
}
