#!/usr/bin/env bats
# Saved baselines: what they hold, what is compared with them, and when it is
# refused.

bats_require_minimum_version 1.5.0
load command.sh
load baseline.sh

setup() {
	baseline_setup
}

@test "save keeps a folder that says what it holds" {
	save b null-1 cpu-2
	[ "$(find b -type f | sort | xargs)" = "b/observations.csv \
b/runs.csv b/summary.csv b/tables.md" ]
	[ "$(column b/runs.csv target | tr ' ' '\n' | sort | uniq -c |
		xargs)" = "12 cpu-2 12 null-1" ]
	# All iterations that two cores make of 70 samples.
	[ "$(column b/runs.csv steps | tr ' ' '\n' | sort | uniq -c |
		xargs)" = "12 2 12 3" ]
	run -0 --separate-stderr "$BENCH" baseline show b
	[ "$output" = "$(cat saved)" ]
	[[ "$output" == *"null-1 "*" 12 "*" 3 "*" 0.0"* ]]
	[[ "$output" == *"cpu-2: model tiny, data set synthetic, global batch \
64,"* ]]
	[[ "$(tr -s " \n" " " <<<"$output")" =~ ", 1 of "[0-9]+" CPUs;" ]]
	# It is a results folder like others.
	run -0 "$BENCH" table b --details
	[[ "$output" == *"n=12: fresh processes of each target"* ]]
}

@test "a head that does the same work: options come from the baseline" {
	"$BENCH" baseline save b cpu-2 --model tiny "${DATA[@]}" --warmup 3 \
		-s 2 --seed 7 --lr 0.25 --dropout off --reshuffle off \
		--batch 8 --blocks 12 -q >saved
	check
	[ "$status" -eq 3 ]
	for column in model dataset_sha256 train_samples test_samples steps \
		batch global_batch seed lr dropout reshuffle warmup; do
		[ "$(cell b/runs.csv 1 $column)" = \
			"$(cell checked/runs.csv 5 $column)" ]
	done
	[ "$(cell b/runs.csv 1 lr)" = 0.25 ]
	# A pilot, and no process of the base.
	[ "$(column checked/runs.csv arm | tr ' ' '\n' | sort -u)" = B ]
	[ "$(cell checked/runs.csv 1 stage)" = 0 ]
	[[ "$output" == *"6 processes of the screen, 12 are needed"* ]]
}

@test "not slower: exit 0, with the age and number of what it is told from" {
	save b null-1
	# So much slower was the base.
	edit b/observations.csv elapsed_s 'str(100 * float(v))'
	edit b/runs.csv started_utc '"2026-01-01T00:00:00Z"'
	export TZ=EST5
	check --blocks 12
	[ "$status" -eq 0 ]
	[ "$(cell checked/verdicts.csv 1 verdict)" = faster ]
	[ "$(cell checked/verdicts.csv 1 baseline_processes)" = 12 ]
	[[ "$output" == *"null-1: base: 12 processes, "*" days old"* ]]
	[[ "$(cell checked/verdicts.csv 1 base)" == "baseline b, version "* ]]
	[ "${stderr_lines[-1]}" = "verdict: no regression" ]
	python3 - "$(cell checked/verdicts.csv 1 baseline_age_days)" <<-'END'
	import datetime, sys
	utc = datetime.timezone.utc
	age = datetime.datetime.now(utc) - datetime.datetime(2026, 1, 1, tzinfo=utc)
	assert abs(age.total_seconds() / 86400 - float(sys.argv[1])) < 0.01
	END
}

@test "slower: advice and exit 3, however sure" {
	save b null-1
	check --blocks 12 --inject 400%
	[ "$status" -eq 3 ]
	[[ "$(cell checked/verdicts.csv 1 reason)" == "slower than the \
baseline twice, but both times than the same saved processes: "*"--base-ref"* ]]
	[ "$(cell checked/verdicts.csv 1 confirm_pairs)" = 12 ]
	[ "$(cell checked/verdicts.csv 1 verdict)" = "slower (advisory)" ]
	[[ "${output//$'\n'  / }" == *" in 12 new processes: the ratio to quote"* ]]
	[[ "$output" == *"slower (advisory)"* ]]
	[ "${stderr_lines[-1]}" = "verdict: slower (advisory)" ]
	check --blocks 12 --inject 400% --on-inconclusive pass
	[ "$status" -eq 0 ]
	[ "${stderr_lines[-1]}" = "verdict: slower (advisory)" ]
	# An older script is told what to do instead.
	check --blocks 12 --trust-host
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--trust-host was removed: a baseline only \
advises"*"--base-ref"* ]]
}

@test "options for other work than the baseline's: exit 2, each named" {
	save b null-1 null-2
	for option in "model mnist tiny" "seed 2 1" "steps 1 3" "warmup 0 1" \
		"lr 0.5 1" "dropout off on" "reshuffle off on" \
		"batch 16 32" "global-batch 8 32" \
		"dataset fashion-mnist synthetic" "synthetic-train 71 70" \
		"synthetic-test 41 40"; do
		# shellcheck disable=SC2086 # name, other value, saved value
		set -- $option
		check "--$1" "$2"
		[ "$status" -eq 2 ]
		[[ "$stderr" == *"--$1 $2, but the baseline has $3;"* ]]
	done
	check --seed 2 --lr 0.5
	[[ "$stderr" == *"--seed 2,"*"--lr 0.5,"* ]]
	[ ! -e checked ]
	# The same words as those that saved it are fine.
	check "${WORK[@]}" --seed 1 --batch 32
	[ "$status" -eq 3 ]
	[ -e checked ]
}

@test "what else is a base does not go with one that is saved: exit 2" {
	save b null-1
	for words in "--base $BENCH" "--base-ref HEAD" "--base-cmd true" \
		"--base-env A=b" "--head-cmd true" "--control on"; do
		# shellcheck disable=SC2086
		check $words
		[ "$status" -eq 2 ]
		[[ "$stderr" == *"${words%% *}"*"--baseline"* ]]
	done
	check --extend --blocks 51
	[ "$status" -eq 2 ]
}

@test "another machine: exit 3 before anything is measured" {
	save good null-1
	local column value name
	while IFS=: read -r column value name; do
		rm -rf b
		cp -r good b
		edit b/runs.csv "$column" "$value"
		check
		[ "$status" -eq 3 ]
		[[ "$stderr" == *"no verdict: null-1: the baseline differs in \
machine (the "*"$name"*": "*", then "* ]]
		[[ "$stderr" == *"verdict: none"* ]]
		[ ! -e checked ]
	done <<-END
		cpu_model:v+"x":CPU
		logical_cpus:"77":logical CPUs
		cpu_quota:"0.5":quota of CPUs
		mem_bytes:v+"0":memory
		kernel:"Linux 1.2.3":kernel
		os:v+"x":system
	END
	rm -rf b
	cp -r good b
	OPENBLAS_CORETYPE=x check
	[ "$status" -eq 3 ]
	# Where bench chooses one for OpenBLAS, the first has another.
	[[ "$stderr" == *"the baseline differs in environment variables (the \
baseline's first, then this run's): "*"OPENBLAS_CORETYPE=x: only in the second"* ]]
	edit b/runs.csv os 'v+"x"'
	OPENBLAS_CORETYPE=x check
	[[ "$stderr" == *"differs in machine, environment variables (the"* ]]
	rm -rf b
	cp -r good b
	# The same for the head alone is what is asked about.
	check --head-env OPENBLAS_CORETYPE=Haswell
	[[ "$output" == *"12 are needed"* ]]
}

@test "another device or data set: exit 3 after one process" {
	save good cpu-1
	local column value name
	while IFS=: read -r column value name; do
		rm -rf b checked
		cp -r good b
		edit b/runs.csv "$column" "$value"
		check
		[ "$status" -eq 3 ]
		# shellcheck disable=SC2053 # a pattern
		[[ "$stderr" == *$name:*", then "* ]]
		[ "$(column checked/runs.csv stage)" = 0 ]
	done <<-END
		device_name:"x":device
		device_driver:"y":driver
		cpus:"77":CPUs allowed
		dataset_sha256:"0" * 64:workload*dataset_sha256
	END
}

@test "a target that the baseline lacks: exit 3" {
	save b null-1
	check null-1 null-2 cpu-1
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"null-2, cpu-1: not in the baseline b: save it there, \
or leave it out"* ]]
}

@test "another first loss or number of iterations: exit 6" {
	save b cpu-1
	cp -r b good
	edit b/observations.csv loss 'str(1.001 * float(v)) if v else v'
	check
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"result changed"* ]]
	# Another seed makes other parameters.
	rm -r b
	cp -r good b
	edit b/runs.csv seed '"9"'
	check
	[ "$status" -eq 6 ]
}

# refuses WORDS: the baseline b, with exit 5.
refuses() {
	check
	[ "$status" -eq 5 ]
	# shellcheck disable=SC2053 # a pattern
	[[ "$stderr" == *$1* ]]
	run -5 "$BENCH" baseline show b
	rm -rf b
	cp -r good b
}

@test "a broken baseline: exit 5 with name, line and what was expected" {
	save good null-1
	cp -r good b
	edit b/runs.csv warmup '"x"' 3
	refuses "b/runs.csv:4:"
	edit b/runs.csv warmup '"5"' 3
	refuses "b/runs.csv:4:*to do the same, but warmup: 1, then 5"
	edit b/runs.csv lr '""' 2
	refuses "b/runs.csv:3:*lr: expected"
	edit b/runs.csv dropout '"maybe"' 2
	refuses "b/runs.csv:3:"
	edit b/runs.csv steps '"-4"' 1
	refuses "b/runs.csv:2:"
	edit b/runs.csv started_utc '"yesterday"' 1
	refuses "b/runs.csv:2:"
	edit b/runs.csv inject_pct '"5"' 2
	refuses "b/runs.csv:3:"
	edit b/runs.csv straggler '"0:5"' 2
	refuses "b/runs.csv:3:"
	edit b/runs.csv campaign_id '"another"' 2
	refuses "b/runs.csv:3:"
	sed -i 2p b/runs.csv
	refuses "b/runs.csv:3:"
	edit b/runs.csv updates '"4"' 1
	refuses "b/observations.csv: expected 4 iterations"
	sed -i 's/,step,/,stop,/' b/observations.csv
	refuses "b/observations.csv: expected 3 iterations"
	edit b/observations.csv elapsed_s '"-1"' 2
	refuses "b/observations.csv:3:"
	sed -i 1q b/runs.csv
	refuses "b/runs.csv"
	printf '%s' "$(head -c -100 b/runs.csv)" >b/runs.csv
	refuses "b/runs.csv:13: expected a complete row"
	rm b/observations.csv
	refuses "b/observations.csv: no such file"
	: >b/runs.csv
	refuses "b/runs.csv"
}

@test "no baseline: exit 4 says what makes one; other folders exit 5" {
	check
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"bench baseline save b"* ]]
	mkdir b
	check
	[ "$status" -eq 5 ]
	rmdir b
	"$BENCH" run null-1 "${TINY[@]}" -o b >/dev/null
	check
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"expected processes from bench baseline save"* ]]
}
