#!/usr/bin/env bats
# `bench selftest` says what a gate can do, and notices one that cannot.

bats_require_minimum_version 1.5.0
load command.sh

setup() {
	command_setup
	mkdir tmp
	export TMPDIR=$PWD/tmp
}

left_behind() {
	ls -A tmp
}

@test "every exit code can happen here" {
	run --separate-stderr "$BENCH" selftest -q
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$stderr" = "" ]
	for word in 'exit '{0,1,2,3,4,5,6,7,130}; do
		echo "$output" | grep -q "  $word  *$word  *ok\$"
	done
	[[ "${lines[-1]}" == "selftest: "*" cases, all as expected" ]]
	[ "$(left_behind)" = "" ]
}

@test "a gate that works no more: exit 1, and what it said instead" {
	# No program passes verify: check says so instead of a regression.
	BENCH_TEST_BREAK=fc1 run -1 --separate-stderr "$BENCH" selftest
	echo "$output"
	[[ "$output" == *"four times the work"*"exit 1 "*"exit 6 "*WRONG* ]]
	[[ "$output" == *"  | "*"is wrong, speed not compared"* ]]
	[[ "${lines[-1]}" == "selftest: 2 of "*" WRONG: "* ]]
	[ "$(left_behind)" = "" ]
}

@test "where it cannot work: exit 7; interrupted: exit 130; nothing stays" {
	TMPDIR=$PWD/none run -7 --separate-stderr "$BENCH" selftest
	[[ "$stderr" == *"cannot write "*none* ]]
	"${HEEDFUL[@]}" "$BENCH" selftest >out 2>err 3>&- &
	local pid=$! code=0
	within 60 grep -q 'as long' out
	[ -n "$(left_behind)" ]
	kill -INT "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 130 ]
	run -1 grep WRONG out
	[ "$(left_behind)" = "" ]
	run -2 "$BENCH" selftest cpu-1
}

@test "SIGTERM to it alone ends a case and its commands, and not twice" {
	"$BENCH" selftest >out 2>err 3>&- &
	local pid=$! code=0 place
	within 60 grep -q 'tried' out
	within 60 compgen -G 'tmp/*/play' >/dev/null
	place=$(compgen -G 'tmp/*')
	# What the cases run from now on has no end.
	echo 'echo $$ >../hangs; exec sleep 100' >hangs
	mv hangs "$place/play"
	within 60 test -s "$place/hangs"
	local hangs
	hangs=$(cat "$place/hangs")
	kill -TERM "$pid"
	kill -TERM "$pid"
	within 20 none_running "$pid" "$hangs"
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	[ "$(left_behind)" = "" ]
}
