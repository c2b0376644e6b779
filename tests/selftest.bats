#!/usr/bin/env bats
# `bench selftest` says what a gate can do. The next version removes it.

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

@test "where it cannot work: exit 7" {
	TMPDIR=$PWD/none run -7 --separate-stderr "$BENCH" selftest
	[[ "$stderr" == *"cannot write "*none* ]]
	run -2 "$BENCH" selftest cpu-1
}
