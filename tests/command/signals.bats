#!/usr/bin/env bats
# Runs that are interrupted, killed or too long: the rows so far are kept, and
# no process stays.

load command.sh

setup() {
	command_setup
	# So long that it has to be ended.
	LONG=(--model tiny --dataset synthetic --synthetic-train 3200
		--synthetic-test 100 --warmup 1 --epochs 200)
}

# start ARGUMENT ...: in the background, as $PID.
start() {
	# Else what an earlier one said may be read before it is cut.
	rm -f out err
	"${HEEDFUL[@]}" "$BENCH" "$@" >out 2>err 3>&- &
	PID=$!
}

# ended CODE [SECONDS]: $PID ends with CODE, within SECONDS.
ended() {
	local code=0
	within "${2:-60}" none_running "$PID"
	wait "$PID" || code=$?
	[ "$code" -eq "$1" ] || {
		echo "exit $code, not $1"
		cat err
		return 1
	}
}

# The process that measures for $PID.
child() {
	CHILD=$(cat "/proc/$PID/task/$PID/children")
	CHILD=${CHILD% }
	[ -n "$CHILD" ]
}

@test "Ctrl-C keeps the rows so far and leaves no child" {
	start run cpu-1 cpu-2 "${LONG[@]}" --out made
	within 60 grep -q 'epoch 2/' err
	child
	kill -INT "$PID"
	ended 130
	none_running "$CHILD"
	[ "$(column made/runs.csv status)" = "partial skipped" ]
	[ "$(cell made/runs.csv 2 reason)" = "interrupted before it began" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 130 ]
	grep -q ',step,2,.*,ok,' made/observations.csv
	grep -q ',loop,.*,partial,' made/observations.csv
	grep -q partial out
	grep -q "rows so far are in made: $BENCH table made shows them" err
}

@test "so do SIGTERM, and Ctrl-C for a single run" {
	start run null-2 cpu-1 "${LONG[@]}" --out made
	within 60 grep -q 'cpu-1 .*epoch 2/' err
	kill -TERM "$PID"
	ended 143
	[ "$(column made/runs.csv status)" = "ok partial" ]
	start measure cpu-2 "${LONG[@]}" --epochs 100000 --run-file row
	within 60 grep -q 'epoch 2/' err
	kill -INT "$PID"
	ended 130
	[ "$(cell row 1 status)" = partial ]
	[ "$(cell row 1 exit_code)" = 130 ]
	grep -q ',loop,.*,partial,' out
}

# By a shell, nohup and env: SIGINT, SIGHUP and SIGTERM.
@test "a signal ends a test between two batches" {
	local target
	for target in reference-1 reference-2@threads reference-2@fork; do
		start run "$target" --model mnist --dataset synthetic \
			--synthetic-train 64 --synthetic-test 20000 \
			--test-batch 16 --warmup 0 --steps 1 -b 16 --out "$target"
		within 60 grep -q ',step,1,1,' "$target/observations.csv"
		kill -TERM "$PID"
		ended 143 20
		[ "$(cell "$target/runs.csv" 1 status)" = partial ]
		[ "$(cell "$target/runs.csv" 1 reason)" = terminated ]
		grep -q ',epoch,1,.*,partial,' "$target/observations.csv"
	done
}

@test "signals that were ignored at the start stay so, in all processes" {
	nohup env --ignore-signal=TERM "$BENCH" run cpu-2@fork "${LONG[@]}" \
		--epochs 5 --straggler 0:50 --out made >out 2>err 3>&- &
	PID=$!
	within 60 grep -q 'epoch 2/' err
	child
	local signal cores
	cores=$(cat "/proc/$CHILD/task/$CHILD/children")
	[ "$(wc -w <<<"$cores")" -eq 2 ]
	for signal in INT HUP TERM; do
		# shellcheck disable=SC2086 # words
		kill "-$signal" "$PID" "$CHILD" $cores
	done
	ended 0
	[ "$(column made/runs.csv status)" = ok ]
}

# A run whose first iteration takes longer than anybody waits, half a minute of
# a CPU; it has begun.
start_slow() {
	start run reference-1 --dataset synthetic --synthetic-train 3000 \
		--synthetic-test 10 --batch 3000 --warmup 0 --out made
	within 60 has_computed 150
}

# has_computed TICKS: the child has used TICKS hundredths of a second of a CPU. The
# first child may be another one, which only looks for devices.
has_computed() {
	local stat fields
	child && stat=$(cat "/proc/$CHILD/stat") || return
	read -r -a fields <<<"${stat##*) }"
	[ "${fields[11]}" -ge "$1" ]
}

@test "the second Ctrl-C ends at once" {
	start_slow
	kill -INT "$PID"
	within 60 grep -q 'ending this run' err
	kill -INT "$PID"
	ended 130 20
	within 20 none_running "$CHILD"
}

@test "a child that hangs is killed a minute after one signal" {
	start run cpu-1 "${LONG[@]}" --out made
	within 60 grep -q 'epoch 1/' err
	child
	kill -STOP "$CHILD"
	kill -TERM "$PID"
	ended 143 200
	none_running "$CHILD"
	[ "$(column made/runs.csv status)" = partial ]
	[[ "$(cell made/runs.csv 1 reason)" == "interrupted, and ended "*" s later" ]]
	grep -q ',cpu-1,1,,step,1,' made/observations.csv
}

@test "a child does not outlive its parent" {
	start_slow
	kill -KILL "$PID"
	within 20 none_running "$CHILD"
}

@test "a child that is killed is a failed run" {
	start run cpu-1 null-1 "${LONG[@]}" --out made
	within 60 grep -q 'epoch 1/' err
	child
	kill -KILL "$CHILD"
	ended 6 240
	[ "$(column made/runs.csv status)" = "error ok" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 137 ]
	[[ "$(cell made/runs.csv 1 reason)" == *"signal 9"* ]]
}

# Stopped for as long as others might have kept it from its CPU.
# nap SECONDS: $CHILD has no CPU meanwhile.
nap() {
	kill -STOP "$CHILD" && sleep "$1" && kill -CONT "$CHILD"
} 2>/dev/null

@test "a measurement that did not get its CPU says so, as a run does" {
	local verb began epochs
	# As many as take two seconds here.
	began=${EPOCHREALTIME/./}
	"$BENCH" measure cpu-1 "${LONG[@]}" --epochs 4 -q >/dev/null
	epochs=$((4 * 2000000 / (${EPOCHREALTIME/./} - began) + 3))
	for verb in "measure --profile parts" run; do
		# shellcheck disable=SC2086 # words
		start $verb cpu-1 "${LONG[@]}" --epochs $epochs
		within 60 grep -qs 'epoch 2/' err
		CHILD=$PID
		[[ "$verb" != run* ]] || child
		# More than a tenth of its time, however slow it is.
		nap 1
		until none_running "$CHILD"; do
			sleep 1
			nap .3 || :
		done
		ended 0
		# On a busy machine others explain it.
		grep -Eq 'note: cpu-1 was disturbed: (it lacked [0-9.]+ of 1 CPU|others used [0-9.]+ of [0-9]+ CPUs?|its CPU quota stopped it for [0-9]+ % of the time(, and others .*)?);' err
	done
}

@test "a run that takes too long is ended" {
	has_begun() {
		grep -q ',cpu-1,1,,step,1,' made/observations.csv || {
			rm -r made
			false
		}
	}
	timed_out has_begun "$BENCH" run cpu-1 null-1 "${LONG[@]}" -q \
		--epochs 20000 --out made
	[[ "$stderr" == *"--timeout"* ]]
	[ "$(cell made/runs.csv 1 status)" = partial ]
	[ "$(cell made/runs.csv 1 reason)" = "ended after --timeout ${LIMIT}s" ]
	grep -q ',cpu-1,1,,loop,.*,partial,' made/observations.csv
}
