#!/usr/bin/env bats
# `bench check` that is interrupted or too slow: what it started ends, too.

bats_require_minimum_version 1.5.0
load command.sh

setup() {
	command_setup
	SMALL=(--model tiny "${DATA[@]}" --warmup 1 --blocks 12 -s 3)
}

@test "Ctrl-C: the rows are kept, exit 130" {
	"${HEEDFUL[@]}" "$BENCH" check null-1 --base "$BENCH" "${SMALL[@]}" -o cut \
		--blocks 50 2>log &
	local pid=$!
	within 20 grep -q ',B,1,' cut/runs.csv
	kill -INT "$pid"
	local status=0
	wait "$pid" || status=$?
	[ "$status" -eq 130 ] || { cat log; return 1; }
	grep -q "verdict: none" log
	grep -q "the rows so far are in cut; .*, start over" log
	[ ! -e cut/verdicts.csv ]
	run "$BENCH" table cut
	[ "$status" -eq 5 ]
	[[ "$output" == *"reached no verdict"* ]]
	run -5 "$BENCH" plot cut
	[[ "$output" == *"only the processes of a bench check"*"reached no \
verdict"* ]]
}

# interrupted PID LOG: it ends at once, by the signal that it is sent alone.
interrupted() {
	local status=0
	kill -INT "$1"
	within 60 none_running "$1" || return 1
	wait "$1" || status=$?
	[ "$status" -eq 130 ] || { cat "$2"; return 1; }
	grep -q interrupted "$2"
	[ "$(grep -c "^bench: " "$2")" -eq 1 ]
}

# lasting NAME: a command that does not end, nor does what it starts.
lasting() {
	echo "sh -c 'sleep 100 & echo \$! \$\$ >$1; sleep 100'"
}

@test "--timeout ends all that a command has started" {
	has_started() {
		[ -s pids ] || {
			rm -r late
			false
		}
	}
	timed_out has_started "$BENCH" check --blocks 6 -o late \
		--base-cmd "$(lasting pids)" --head-cmd true
	[[ "$stderr" == *"ended after --timeout"* ]]
	# shellcheck disable=SC2046 # two of them
	none_running $(cat pids)
}

@test "Ctrl-C ends all that a command has started" {
	"${HEEDFUL[@]}" "$BENCH" check --blocks 6 -o cut --head-cmd true \
		--base-cmd "$(lasting pids)" 2>log &
	local pid=$!
	within 20 test -s pids
	interrupted "$pid" log
	# shellcheck disable=SC2046 # two of them
	none_running $(cat pids)
}

@test "Ctrl-C while an arm is verified: it ends, too, and is not called wrong" {
	cat >hangs <<-END
	#!/bin/sh
	[ "\$1" != verify ] || { echo \$\$ >verifies; exec sleep 60; }
	exec "$BENCH" "\$@"
	END
	chmod +x hangs
	"${HEEDFUL[@]}" "$BENCH" check cpu-1 --base ./hangs "${SMALL[@]}" \
		-o cut 2>log &
	local pid=$!
	within 20 test -s verifies
	interrupted "$pid" log
	none_running "$(cat verifies)"
}

@test "Ctrl-C while the base is built: make ends and its folder goes" {
	command -v git make >/dev/null || skip "no git or make"
	mkdir repo tmp
	git -C repo init -q
	printf 'all:\n\techo $$$$ >%s; sleep 60; true\n' "$PWD/builds" \
		>repo/Makefile
	git -C repo add Makefile
	git -C repo -c user.name=n -c user.email=e commit -qm m
	cd repo
	TMPDIR=$PWD/../tmp "${HEEDFUL[@]}" "$BENCH" check null-1 \
		--base-ref HEAD "${SMALL[@]}" 2>../log &
	local pid=$!
	within 20 test -s ../builds
	interrupted "$pid" ../log
	none_running "$(cat ../builds)"
	[ -z "$(ls ../tmp)" ]
}

@test "Ctrl-C clears the line of the block" {
	needs_terminal
	script -qefc "'$BENCH' check --blocks 50 -o cut --base-cmd 'sleep 0.3' \
		--head-cmd 'sleep 0.3'" typed >/dev/null \
		< <(within 60 grep -qs 'screen block 2' typed >&2
			printf '\003'
			within 60 grep -qs 'ending this run' typed >&2
			sleep 1) || true
	grep -q $'\r\x1b\\[Knote: ending this run' typed
}

# refuses NAME VERSION: a program that calls itself so, and cannot verify
# cpu-2@fork.
refuses() {
	local version
	version=$("$BENCH" --version | awk 'NR == 1 { print $2 }')
	cat >"$1" <<-END
	#!/bin/sh
	case "\$1 \$2" in "verify cpu-2@fork")
		echo "no such luck" >&2
		exit 2
	esac
	"$BENCH" "\$@" || exit
	for word; do
		case \$word in --run-file=*)
			rows=\$(sed 's/,$version,/,${2:-$version},/' "\${word#*=}")
			echo "\$rows" >"\${word#*=}"
		esac
	done
	END
	chmod +x "$1"
}

@test "an older base that cannot verify a target is said not to be verified" {
	refuses older 0.0.1
	local few=(cpu-2@fork --model tiny "${DATA[@]}" --warmup 1 --blocks 6 -s 3)
	run -3 --separate-stderr "$BENCH" check "${few[@]}" --base ./older -o old
	[[ "$stderr" == *"note: the base is not verified: it does not support ./older verify cpu-2@fork "* ]]
	[[ "$stderr" == *"verifying the head on cpu-2@fork"* ]]
	# One of this version has to verify it.
	refuses other
	run -6 --separate-stderr "$BENCH" check "${few[@]}" --base ./other -o own
	[[ "$stderr" == *"no such luck"* ]]
	[[ "$stderr" == *"the base cannot be verified, speed not compared: see ./other verify cpu-2@fork "* ]]
	run -6 --separate-stderr "$BENCH" check "${few[@]}" --head ./older -o new
	[[ "$stderr" == *"the head cannot be verified, speed not compared: see ./older verify cpu-2@fork "* ]]
}
