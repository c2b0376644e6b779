#!/usr/bin/env bats
# Cores that have to share a CPU.

load command.sh

setup() {
	command_setup
	command -v taskset >/dev/null || skip "taskset is not installed"
	# The first CPU that we may use.
	CPU=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
}

@test "eight cores on one CPU" {
	run -0 --separate-stderr taskset -c "$CPU" "$BENCH" run null-1 cpu-2 \
		cpu-8 "${TINY[@]/-q/--seed=1}" --out made
	[ "$(grep -c "cpu-8: 8 cores share 1 CPU," <<<"$stderr")" = 1 ]
	[[ "$stderr" != *"2 cores share"* ]]
	[ "$(column made/runs.csv status)" = "ok ok ok" ]
	[ "$(column made/runs.csv cpus)" = "1 1 1" ]
	run -0 taskset -c "$CPU" "$BENCH" devices
	local all
	all=$(getconf _NPROCESSORS_ONLN)
	[[ "$output" == *"1 of $all CPUs can be used"* ]]
	# The same two numbers, and each key once.
	run -0 taskset -c "$CPU" "$BENCH" env
	[[ "$output" =~ cpus\ +"$all, 1 allowed by affinity" ]]
	[ -z "$(awk '{ print $1 }' <<<"${output//host key/host_key}" |
		sed 's/built/built_with/' | sort | uniq -d)" ]
	# Quiet is quiet, and one core has nobody to share with.
	run -0 --separate-stderr taskset -c "$CPU" "$BENCH" run cpu-8 \
		"${TINY[@]}" --out made
	[ -z "$stderr" ]
	run -0 --separate-stderr taskset -c "$CPU" "$BENCH" run cpu-1 \
		"${TINY[@]/-q/--seed=1}" --out made
	[[ "$stderr" != *"cores share"* ]]
}

@test "the CPUs that --cpus lists, and no others" {
	run -0 "$BENCH" run cpu-8 null-1 "${TINY[@]}" --cpus "$CPU" --out made
	[ "$(column made/runs.csv cpus)" = "1 1" ]
	[ "$(column made/runs.csv cpu_list)" = "$CPU $CPU" ]
	run -0 "$BENCH" measure null-1 "${TINY[@]}" --cpus "$CPU" \
		--run-file row
	[ "$(cell row 1 cpu_list)" = "$CPU" ]
	# Both programs of a check, though an older one lacks the option.
	cat >older <<-END
	#!/bin/sh
	case "\$*" in *--cpus*) exit 2 ;; esac
	exec "$BENCH" "\$@"
	END
	chmod +x older
	run "$BENCH" check null-1 --model tiny "${DATA[@]}" -q --steps 1 \
		--base ./older --blocks 6 --cpus "$CPU" --out checked
	[[ "$(column checked/runs.csv cpu_list)" =~ ^("$CPU ")+"$CPU"$ ]]
}

@test "a CPU that --cpus cannot have" {
	run -2 --separate-stderr "$BENCH" run null-1 "${TINY[@]}" \
		--cpus "$CPU,99999" --out made
	[[ "$stderr" == *"there is no CPU 99999; this machine has "* ]]
	[ ! -e made ]
	run -2 --separate-stderr "$BENCH" run null-1 --cpus 1- --out made
	[[ "$stderr" == *"must be a list of CPUs such as 0,2-3, not '1-'"* ]]
	[ ! -e made ]
	local other
	other=$(taskset -cp $$ | sed 's/.*[^0-9]//')
	[ "$other" != "$CPU" ] || skip "there is one CPU alone"
	run -2 --separate-stderr taskset -c "$CPU" "$BENCH" measure null-1 \
		--cpus "$other"
	[[ "$stderr" == *"CPU $other may not be used; affinity and control \
groups allow $CPU" ]]
}

@test "cores that a global batch leaves without samples" {
	run -0 --separate-stderr "$BENCH" run null-8 null-2 \
		"${TINY[@]/-q/--seed=1}" --global-batch 4 --out made
	[[ "$stderr" == *"note: null-8: a global batch of 4 leaves 4 of 8 cores \
without samples"* ]]
	[[ "$stderr" != *"null-2: a global"* ]]
}

# Who waits by spinning takes the CPU from the one that is waited for: with such
# barriers it was 38 times the work of one core, and is 1.2 times without.
@test "waiting cores leave the CPU to others" {
	[ -n "${CHECK_FULL:-}" ] || skip "measures; see make check-full"
	local work=("${TINY[@]}" --synthetic-train 6400 --test off
		--global-batch 64 --repeat 3)
	run -0 taskset -c "$CPU" "$BENCH" run cpu-1 cpu-8 \
		"${work[@]}" --out made
	python3 - <<-'END'
	import csv
	times = {}
	for run in csv.DictReader(open("made/runs.csv")):
	    times.setdefault(run["target"], []).append(float(run["loop_cpu_s"]))
	print(times)
	assert min(times["cpu-8"]) < 3 * min(times["cpu-1"])
	END
}

@test "a row has the key of the machine that bench env prints" {
	run -0 "$BENCH" env
	[[ "$output" =~ "host key"\ +([0-9a-f]{16})$'\n' ]]
	local key=${BASH_REMATCH[1]}
	run -0 "$BENCH" measure null-1 "${TINY[@]}" --run-file row
	[ "$(cell row 1 host_key)" = "$key" ]
}
