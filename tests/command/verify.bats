#!/usr/bin/env bats
# verify, ended by a signal; what it finds is in test_verify.c and command.bats.

load command.sh

@test "a signal ends it between two steps" {
	local pid code=0
	"$BENCH" verify openblas cpu --model tiny "${DATA[@]}" \
		--steps 1000000 >out 2>err 3>&- &
	pid=$!
	within 60 catches_sigterm "$pid"
	kill -TERM "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 143 ]
	grep -qE "^openblas not verified: interrupted before [123s]" out
	grep -q "^cpu not verified: interrupted before it began" out
	[ "$(tail -n 1 out)" = "verify: interrupted, nothing was compared; \
without: openblas, cpu" ]
	[ ! -s err ]
}
