#!/usr/bin/env bats
# Saved baselines: what they hold, and what is compared with them. The next
# version removes them.

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
