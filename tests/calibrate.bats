#!/usr/bin/env bats
# `bench calibrate`, and what `bench check` makes of its file.

bats_require_minimum_version 1.5.0
load command.sh

setup() {
	command_setup
	SMALL=(--model tiny "${DATA[@]}" --warmup 1 -s 3 --blocks 6)
}

calibrate() {
	run --separate-stderr "$BENCH" calibrate "$@"
}

# The margin that a check of null-1 uses; its output is $output and $stderr.
margin() {
	rm -rf checked
	run --separate-stderr "$BENCH" check null-1 --base "$BENCH" \
		-o checked "${SMALL[@]}" "$@"
	[ "$status" -eq 3 ]
	MARGIN=$(cell checked/verdicts.csv 1 margin_pct)
}

# set_cells COLUMN VALUE: in all rows of the usual file.
set_cells() {
	python3 - "$@" <<-'END'
	import csv, sys
	path = 'results/floors.csv'
	rows = list(csv.DictReader(open(path)))
	out = csv.DictWriter(open(path, 'w'), rows[0])
	out.writeheader()
	for row in rows:
	    row[sys.argv[1]] = sys.argv[2]
	    out.writerow(row)
	END
}

@test "too few blocks are warned of" {
	run --separate-stderr "$BENCH" calibrate null-1 --model tiny \
		"${DATA[@]}" --blocks 39 --floors floors.csv --dry-run
	[[ "$stderr" == *"note: only 39 blocks: with fewer than 40 "* ]]
	run --separate-stderr "$BENCH" calibrate null-1 --model tiny \
		"${DATA[@]}" --blocks 40 --floors floors.csv --dry-run
	[[ "$stderr" != *"are few"* ]]
}

@test "a row for each target and metric, and a table" {
	calibrate null-1 cpu-1 "${SMALL[@]}" -o made
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "The noise floor of this machine (%)" ]]
	[[ "$output" == *null-1*cpu-1*"6 pairs each"* ]]
	[[ "$stderr" == *"6 blocks of 2 processes a target, about "* ]]
	[[ "$stderr" == *"floors: results/floors.csv"* ]]
	[ "$(column results/floors.csv target)" = \
		"null-1 null-1 null-1 cpu-1 cpu-1 cpu-1" ]
	[ "$(column results/floors.csv metric)" = \
		"iter_p50_s setup_s loop_cpu_s iter_p50_s setup_s loop_cpu_s" ]
	[ "$(column results/floors.csv pairs)" = "6 6 6 6 6 6" ]
	[ "$(column results/floors.csv check_pairs)" = "6 6 6 6 6 6" ]
	[ "$(cell results/floors.csv 1 host_key)" = \
		"$(cell made/runs.csv 1 host_key)" ]
	[ "$(cell results/floors.csv 1 git_commit)" = \
		"$(cell made/runs.csv 1 git_commit)" ]
	[[ "$(column results/floors.csv floor_pct)" != *[!0-9.\ e-]* ]]
	# Pilots, and two processes in each block of each target; again where
	# something disturbed them.
	[ "$(column made/runs.csv attempt | tr ' ' '\n' | grep -cx 1)" -eq \
		$((2 + 2 * 2 * 6)) ]
}

@test "check takes a floor of its own machine and work for its margin" {
	margin
	[ "$MARGIN" = 3 ]
	calibrate null-1 "${SMALL[@]}"
	[ "$status" -eq 0 ]
	set_cells floor_pct 40
	margin
	[ "$MARGIN" = 40 ]
	[[ "$output" == *"a slowdown counts only from 40.0 % on"* ]]
	# A quiet machine does not make the gate finer.
	set_cells floor_pct 0.5
	margin
	[ "$MARGIN" = 3 ]
	# Another batch is other work.
	set_cells floor_pct 40
	margin --batch 16
	[ "$MARGIN" = 3 ]
	[[ "$stderr" != *"other machines"* ]]
	# Another machine's says nothing here.
	set_cells host_key 0123456789abcdef
	margin
	[ "$MARGIN" = 3 ]
	[[ "$stderr" == *"null-1: all noise floors are from other machines"* ]]
	mv results/floors.csv mine.csv
	margin --floors mine.csv
	[[ "$stderr" == *"are from other machines"*"bench calibrate"* ]]
}

@test "what is wrong with the file is said before anything is measured" {
	echo broken >broken.csv
	calibrate null-1 "${SMALL[@]}" --floors broken.csv -o made
	[ "$status" -eq 5 ]
	[[ "$stderr" == *broken.csv* ]]
	run -5 "$BENCH" check null-1 --base "$BENCH" "${SMALL[@]}" \
		--floors broken.csv -o made
	run -4 "$BENCH" check null-1 --base "$BENCH" "${SMALL[@]}" \
		--floors none.csv -o made
	calibrate null-1 "${SMALL[@]}" --floors broken.csv/below -o made
	[ "$status" -eq 7 ]
	[ ! -e made ]
}

@test "what is refused makes no folder" {
	calibrate none-1 "${SMALL[@]}"
	[ "$status" -eq 2 ]
	calibrate null-1 "${SMALL[@]}" --batch 71
	[ "$status" -eq 2 ]
	[ ! -e results ]
}

@test "nothing is measured slower on purpose, or for a plan" {
	calibrate null-1 "${SMALL[@]}" --inject 5% -o made
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"no option --inject"* ]]
	[ ! -e made ]
	calibrate null-1 "${SMALL[@]}" --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == "6 blocks of 2 processes a target, about "* ]]
	[ ! -e results/floors.csv ]
}

@test "a process that fails leaves the file as it was" {
	echo broken >broken.csv
	calibrate cpu-1 "${SMALL[@]}" --lr 1e30
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"not a number"* ]]
	[ ! -e results/floors.csv ]
}
