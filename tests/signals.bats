#!/usr/bin/env bats
# Runs that are interrupted, killed or too long: the rows so far are kept, and
# no process stays behind.

bats_require_minimum_version 1.5.0

load command.sh

setup() {
	command_setup
	# So long that it has to be ended.
	LONG=(--model tiny --dataset synthetic --synthetic-train 3200
		--synthetic-test 100 --warmup 1 --epochs 200)
}

teardown() {
	[ -z "${PID:-}" ] || kill -KILL "$PID" 2>/dev/null || true
}

# start ARGUMENT ...: in the background, as $PID.
start() {
	"$BENCH" "$@" >out 2>err 3>&- &
	PID=$!
}

# until_true COMMAND ...: or 30 s later, which is a failure.
until_true() {
	for _ in $(seq 300); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "still not: $*"
	return 1
}

# ended CODE: $PID ends with it, soon.
ended() {
	local code=0
	until_true gone "$PID"
	wait "$PID" || code=$?
	PID=
	[ "$code" -eq "$1" ] || {
		echo "exit $code, not $1"
		cat err
		return 1
	}
}

# A process that is no more, or waits to be reaped.
gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"
}

# The process that measures for $PID.
child() {
	CHILD=$(cat "/proc/$PID/task/$PID/children")
	CHILD=${CHILD% }
	[ -n "$CHILD" ]
}

@test "Ctrl-C keeps the rows so far and leaves no child" {
	start run cpu-1 cpu-2 "${LONG[@]}" --out made
	until_true grep -q 'epoch 2/' err
	child
	kill -INT "$PID"
	ended 130
	gone "$CHILD"
	[ "$(column made/runs.csv status)" = partial ]
	[ "$(cell made/runs.csv 1 exit_code)" = 130 ]
	grep -q ',step,2,.*,ok,' made/observations.csv
	grep -q ',loop,.*,partial,' made/observations.csv
	grep -q partial out
	grep -q 'made' err
}

@test "so do SIGTERM, and Ctrl-C for a single run" {
	start run null-2 cpu-1 "${LONG[@]}" --out made
	until_true grep -q 'cpu-1 .*epoch 2/' err
	kill -TERM "$PID"
	ended 143
	[ "$(column made/runs.csv status)" = "ok partial" ]
	start measure cpu-2 "${LONG[@]}" --run-file row
	until_true grep -q 'epoch 2/' err
	kill -INT "$PID"
	ended 130
	[ "$(cell row 1 status)" = partial ]
	grep -q ',loop,.*,partial,' out
}

@test "the second Ctrl-C ends at once" {
	# An iteration of this takes longer than anybody waits.
	start run reference-1 --dataset synthetic --synthetic-train 1000 \
		--synthetic-test 10 --batch 1000 --warmup 0 --out made
	until_true child
	sleep 1
	kill -INT "$PID"
	sleep 0.5
	kill -INT "$PID"
	ended 130
	until_true gone "$CHILD"
}

@test "a child does not outlive its parent" {
	start run cpu-1 "${LONG[@]}" --out made
	until_true grep -q 'epoch 1/' err
	child
	kill -KILL "$PID"
	until_true gone "$CHILD"
}

@test "a child that is killed is a failed run" {
	start run cpu-1 null-1 "${LONG[@]}" --out made
	until_true grep -q 'epoch 1/' err
	child
	kill -KILL "$CHILD"
	ended 6
	[ "$(column made/runs.csv status)" = "error ok" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 137 ]
	[[ "$(cell made/runs.csv 1 reason)" == *"signal 9"* ]]
}

@test "a run that takes too long is ended" {
	run -6 --separate-stderr "$BENCH" run cpu-1 null-1 "${LONG[@]}" -q \
		--timeout 1 --out made
	[[ "$stderr" == *"--timeout"* ]]
	[ "$(cell made/runs.csv 1 status)" = partial ]
	[ "$(cell made/runs.csv 1 reason)" = "ended after --timeout" ]
	grep -q ',cpu-1,1,,loop,.*,partial,' made/observations.csv
}
