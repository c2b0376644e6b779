#!/usr/bin/env bats
# Baselines that are saved: what a folder may be, and what is left of one.

bats_require_minimum_version 1.5.0
load command.sh
load baseline.sh

setup() {
	baseline_setup
}

@test "save takes no folder that holds other things" {
	mkdir other
	echo mine >other/notes
	run -2 "$BENCH" baseline save other null-1 "${WORK[@]}"
	[[ "$output" == *"other: not a baseline's folder, it holds notes"* ]]
	[ "$(ls other)" = notes ]
	"$BENCH" run null-1 "${TINY[@]}" -o run >/dev/null
	cp -r run before
	run -2 "$BENCH" baseline save run null-1 "${WORK[@]}"
	[[ "$output" == *"not a baseline's folder, it holds other results"* ]]
	diff -r run before
	touch file
	run ! "$BENCH" baseline save file null-1 "${WORK[@]}"
	[ ! -s file ]
}

@test "save takes no runs that are slow on purpose, and no other verbs" {
	run -2 "$BENCH" baseline save b null-1 "${WORK[@]}" --inject 5%
	run -2 "$BENCH" baseline save b null-1 "${WORK[@]}" --straggler 0:5
	run -2 "$BENCH" baseline
	run -2 "$BENCH" baseline save
	run -2 "$BENCH" baseline show b c
	run -2 "$BENCH" baseline load b
	[[ "$output" == *"save or show, not 'load'"* ]]
	[ ! -e b ]
}

@test "a target saved anew takes its own place, and no other" {
	save b null-1 null-2
	local old_1
	old_1=$(cell b/runs.csv 1 campaign_id)
	edit b/runs.csv started_utc '"2026-01-01T00:00:00Z"'
	save b null-2 null-4
	run -0 "$BENCH" baseline show b
	[ "$(grep -c '^null-[124] .* 12 ' <<<"$output")" -eq 3 ]
	[ "$(column b/runs.csv target | tr ' ' '\n' | uniq -c | sort -u |
		wc -l)" -gt 1 ]
	python3 - "$old_1" <<-'END'
	import csv, sys
	rows = list(csv.DictReader(open("b/runs.csv")))
	ids = {}
	for row in rows:
	    ids.setdefault(row["target"], set()).add(row["campaign_id"])
	assert ids["null-1"] == {sys.argv[1]}
	assert ids["null-2"] == ids["null-4"] != ids["null-1"]
	kept = {row["run_id"] for row in rows}
	assert {row["run_id"] for row in
	        csv.DictReader(open("b/observations.csv"))} == kept
	END
	[ -z "$(ls -d b/unfinished-* 2>/dev/null)" ]
}

@test "a save of which nothing was measured leaves nothing" {
	OCL_ICD_VENDORS=/nowhere run -4 "$BENCH" baseline save b opencl \
		"${WORK[@]}"
	[[ "$output" == *"note: nothing was measured; b is unchanged"* ]]
	[ ! -e b ]
	mkdir empty
	OCL_ICD_VENDORS=/nowhere run -4 "$BENCH" baseline save empty opencl \
		"${WORK[@]}"
	[ -d empty ]
	[ -z "$(ls -A empty)" ]
	save b null-1
	cp -r b before
	OCL_ICD_VENDORS=/nowhere run -4 "$BENCH" baseline save b opencl \
		"${WORK[@]}"
	diff -r b before
	run -5 "$BENCH" baseline show empty
	[[ "$output" == *"empty: no baseline in this folder: "* ]]
}

