#!/usr/bin/env bats
# Processes leave nothing, whether they go well or fail.

load command.sh
load exhaust.sh

# descriptors_at N: of the campaign, once that many of its runs have ended.
descriptors_at() {
	until [ -e made/runs.csv ] &&
		[ "$(wc -l <made/runs.csv)" -gt "$1" ]; do
		running "$PID" || return 1
		sleep 0.02
	done
	find "/proc/$PID/fd" -type l | wc -l
}

# It has more runs than are waited for, so that it is there when it is asked.
@test "a campaign of many runs keeps no descriptors" {
	"$BENCH" run cpu-1 --repeat 1000 --model tiny --dataset synthetic \
		--synthetic-train 320 --synthetic-test 20 --warmup 0 \
		--epochs 2 -q --out made >out 2>err 3>&- &
	PID=$!
	local now runs early=0 late=0 ended
	for runs in 2 3 4; do
		now=$(descriptors_at "$runs")
		[ "$now" -le "$early" ] || early=$now
	done
	ended=$(wc -l <made/runs.csv)
	for runs in 12 13 14; do
		now=$(descriptors_at $((ended + runs)))
		[ "$now" -le "$late" ] || late=$now
	done
	running "$PID"
	kill "$PID"
	wait "$PID" || true
	[ "$early" -gt 0 ]
	[ "$late" -le $((early + 3)) ] || {
		echo "$late descriptors 12 runs later, $early before"
		return 1
	}
}

# valgrind ARGUMENT ...: the command under memcheck; 99 if that complains.
# Nothing is suppressed: every byte is freed, by libraries too.
memcheck() {
	valgrind -q --leak-check=full --error-exitcode=99 "$@"
}

needs_memcheck() {
	[ -n "${CHECK_FULL:-}" ] || skip "only with CHECK_FULL=1"
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	exhaust_setup
	RUN=(measure reference-2@threads "${TINY[@]}" --run-file row)
}

@test "memcheck has nothing to say of a run" {
	needs_memcheck
	memcheck --show-leak-kinds=all --errors-for-leak-kinds=all \
		"$BENCH" "${RUN[@]}" >out 2>err || { cat err && return 1; }
	[ ! -s err ] && [ "$(cell row 1 status)" = ok ]
}

# The library that lets calls fail stands before memcheck's own.
@test "nor of cores that are processes" {
	needs_memcheck
	RUN[1]=reference-2@fork
	# A core leaves what it did not make itself, as its launcher's.
	memcheck --show-leak-kinds=definite,indirect,possible \
		--errors-for-leak-kinds=definite,indirect,possible \
		"$BENCH" "${RUN[@]}" >out 2>err || { cat err && return 1; }
	[ ! -s err ] && [ "$(cell row 1 status)" = ok ]
}

@test "nor of runs that fail for lack of memory" {
	needs_memcheck
	for N in $(seq 25 9 400); do
		rm -f where
		code=0
		FAIL_VERB=measure FAIL_AT=$N FAIL_REPORT="$PWD/where" \
			LD_PRELOAD="$CALLS" memcheck \
			--soname-synonyms=somalloc=nouserintercepts \
			"$BENCH" "${RUN[@]}" >out 2>err || code=$?
		[ -e where ] || break
		ended_cleanly '[Mm]emory|thread'
	done
	[ "$code" -eq 0 ] && [ "$N" -gt 100 ]
}
