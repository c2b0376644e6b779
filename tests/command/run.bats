#!/usr/bin/env bats
# `tests/run` itself: what it makes of files that hang, fail or leave something.

load command.sh

setup() {
	command_setup
	RUN=$BATS_TEST_DIRNAME/../run
	# Of this file's own run, whose limits are others.
	unset TEST_CLOCK TEST_TIMEOUT TEST_JOBS CHECK_FULL
}

# file NAME LINE ...: a test program of one case, that passes unless a line ends
# it before.
file() {
	printf '%s\n' '#!/bin/bash' 'echo "[==========] Running 1 test(s)."' \
		"${@:2}" 'echo "[       OK ] case"' >"$1"
	chmod +x "$1"
}

@test "what a file leaves is named and ended, and the file failed" {
	file good 'sleep 0.1 &'
	# In another session, without a parent, and deaf.
	file bad "(setsid bash -c 'trap \"\" TERM; echo \$\$ >deaf; sleep 300' &)" \
		"setsid sleep 301 & echo \$! >left" \
		'until [ -s deaf ]; do sleep 0.1; done'
	run -1 "$RUN" ./good ./bad
	[[ "$output" == *"ok ./good: 1 passed, 0 failed"* ]]
	[[ "$output" == *"supervise: ends process $(cat left): sleep 301"* ]]
	[[ "$output" == *"FAILED ./bad: 1 passed, 1 failed, "*": left 2 processes"* ]]
	[ "${lines[-1]}" = "2 passed, 1 failed" ]
	none_running "$(cat left)" "$(cat deaf)"
}

@test "a file is found by its name alone" {
	mkdir -p build/tests tests/command
	cp "$RUN" tests/run
	ln -s "$(dirname "$BENCH")/tests/supervise" build/tests/supervise
	file build/tests/test_a :
	echo '@test "b" { true; }' >tests/command/b.bats
	BENCH='' run -0 tests/run test_a b.bats
	[[ "${lines[0]}" == "ok build/tests/test_a: 1 passed, 0 failed"* ]]
	[[ "${lines[1]}" == "ok tests/command/b.bats: 1 passed, 0 failed"* ]]
	BENCH='' run -1 tests/run test_b
	[[ "$output" == *"FAILED build/tests/test_b: 0 passed, 1 failed"* ]]
}

@test "a case that fails ends what it had started" {
	sed 's/^case/@test/' >case.bats <<-END
	load $BATS_TEST_DIRNAME/command.sh
	case "fails" {
		sleep 302 3>&- &
		echo \$! >"$PWD/job"
		(setsid sleep 303 & echo \$! >"$PWD/orphan") 3>&-
		(while ! read -rt 1; do :; done <>"$PWD/pipe" & echo \$! >"$PWD/shell") 3>&-
		false
	}
	case "the next one" {
		! running "\$(cat "$PWD/job")"
	}
	END
	mkfifo pipe
	TEST_TIMEOUT=20 run -1 "$RUN" case.bats
	[[ "$output" == *"FAILED case.bats: 1 passed, 1 failed, "*" of CPU"$'\n'* ]]
	none_running "$(cat job)" "$(cat orphan)" "$(cat shell)"
}

@test "a case that fails leaves another run of the case alone" {
	sed 's/^case/@test/' >case.bats <<-END
	load $BATS_TEST_DIRNAME/command.sh
	setup() { :; }
	case "in two runs" {
		touch begun
		[ -z "\$FAIL" ] || false
		until [ -e failed ]; do sleep 0.1; done
	}
	END
	FAIL='' bats case.bats >log 2>&1 3>&- &
	until [ -e begun ]; do sleep 0.1; done
	FAIL=1 run -1 bats case.bats
	touch failed
	wait "$!"
}

@test "a file that is silent is ended, one that goes on is not" {
	file sleeps 'exec sleep 304'
	file spins 'while :; do :; done'
	file threads 'exec python3 -c "import threading, time' \
		'threading.Thread(target=time.sleep, args=(307,)).start()' \
		'while True: pass"'
	file talks 'for i in {1..10}; do echo $i; sleep 0.5; done'
	TEST_TIMEOUT=2 run -1 "$RUN" ./sleeps ./spins ./threads ./talks
	[[ "$output" == *"FAILED ./sleeps: "*": silent for 2 s"* ]]
	[[ "$output" == *"FAILED ./spins: "*": silent for 2 s"* ]]
	[[ "$output" == *"FAILED ./threads: "*": silent for 2 s"* ]]
	[[ "$output" == *"ok ./talks: 1 passed, "* ]]
}

# Two processes need one CPU, and one of them is watched: its clock goes on by the
# CPU time that it gets.
@test "the clock stands while a file lacks a CPU" {
	file lacks 'before=$(cat "$TEST_CLOCK")' \
		'while read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ <"/proc/$$/stat"' \
		'	[ $((user + system)) -lt 100 ]; do :; done' \
		'echo "$before" "$(cat "$TEST_CLOCK")" >clock'
	local cpu others=()
	cpu=$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' \
		/proc/self/status)
	for _ in 1 2 3; do
		taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- &
		others+=($!)
	done
	run -0 taskset -c "$cpu" "$RUN" ./lacks
	kill "${others[@]}"
	# A second of CPU time, which takes about four.
	awk '{ print; exit !($2 - $1 > 700 && $2 - $1 < 1800) }' clock
	[[ "$output" =~ 0\ skipped,\ ([0-9]+)\ s ]]
	[ "${BASH_REMATCH[1]}" -ge 2 ]
}

@test "a process that cannot be ended is named, and does not last for ever" {
	[ "$(id -u)" = 0 ] || skip "root alone makes one"
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod a+rwx .
	cp "$(command -v setpriv)" as_root
	chmod u+s as_root
	"${nobody[@]}" ./as_root --reuid=0 true ||
		skip "no program becomes another user's here"
	file bad './as_root --reuid=0 sleep 305 & echo $! >pid' \
		'until grep -qs sleep "/proc/$!/comm"; do sleep 0.1; done'
	run -1 "${nobody[@]}" "$RUN" ./bad
	kill "$(cat pid)"
	[[ "$output" == *"supervise: cannot end process $(cat pid): sleep 305"* ]]
	[[ "$output" == *"FAILED ./bad: 1 passed, 1 failed, "*": left 1 processes"* ]]
}

@test "what fails beside others is repeated alone, and counted" {
	local cpu other
	cpu=$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' \
		/proc/self/status)
	file unsure 'sleep 1; [ -e again ] || { touch again; exit 1; }'
	file never 'sleep 1; exit 1'
	# These need no CPU, and are not repeated.
	file reports 'sleep 1; [ -e said ] || echo "x.c:1: runtime error: x"' \
		'touch said'
	file leaves 'sleep 1; [ -e left ] || { setsid sleep 306 & }' \
		'touch left'
	file crashes 'sleep 1; [ -e died ] || { touch died; kill -SEGV $$; }'
	taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- &
	other=$!
	run -1 taskset -c "$cpu" "$RUN" ./unsure ./never ./reports ./leaves \
		./crashes
	kill "$other"
	[[ "$output" == *"./unsure is repeated alone: "*"ok ./unsure: 1 passed"* ]]
	[ "${lines[-3]}" = "2 repeated" ]
	[[ "$output" == *"FAILED ./reports: "*": a sanitizer reported"* ]]
	[[ "$output" == *"FAILED ./leaves: "*": left 1 processes"* ]]
	[[ "$output" == *"FAILED ./crashes: "*": ended by signal 11"* ]]
	[ "${lines[-2]}" = "failed: ./reports ./leaves ./crashes ./never" ]
	[ "${lines[-1]}" = "3 passed, 4 failed" ]
}
