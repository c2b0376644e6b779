#!/usr/bin/env bats
# The table of `bench check`: what was compared, the words, and its files.

bats_require_minimum_version 1.5.0
load command.sh

# Six blocks are too few for a verdict, and quickly done.
few() {
	run --separate-stderr "$BENCH" check "$@" --model tiny "${DATA[@]}" \
		--warmup 1 --blocks 6 -s 3 -o few
}

@test "a verdict says what was compared, under the table and in its row" {
	few null-1 --head "$BENCH" --base-env OMP_A=1 --head-env OMP_B=2 \
		--head-env $'OMP_C=\e[31m|x' --label first
	[ "$status" -eq 3 ]
	local version
	version=$(cell few/runs.csv 1 version)
	for text in "$(cell few/verdicts.csv 1 base)" "${output//$'\n'  / }"; do
		[[ "$text" == *"/bench, version $version, commit "*", with OMP_A=1"* ]]
	done
	[[ "$(cell few/verdicts.csv 1 head)" == \
		"$BENCH, version $version, commit "*", with OMP_B=2 OMP_C="* ]]
	[[ "${output//$'\n'  / }" == *"null-1: model tiny, data set synthetic, \
global batch 32, 3 iterations per process"* ]]
	[[ "${output//$'\n'  / }" == *"started $(cell few/runs.csv 1 started_utc), label first"* ]]
	[[ "$output" == *" logical CPU"* && "$output" != *$'\e'* ]]
	grep -q '^- head: .*C= .*\[31m.*|x' few/verdicts.md
	run ! grep -q $'\e' few/verdicts.md
	for column in model dataset global_batch cpu_model logical_cpus \
		started_utc; do
		[ "$(cell few/verdicts.csv 1 $column)" = \
			"$(cell few/runs.csv 1 $column)" ]
	done
	[ "$(cell few/verdicts.csv 1 iterations)" = 3 ]
	# Two checks in one folder are distinguished.
	run -3 "$BENCH" check --base-cmd "true one" --head-cmd "true two" \
		--label second --blocks 6 -o few
	run -0 "$BENCH" table few
	[[ "$output" == *"label first"*"base: command true one"*\
"head: command true two"*"label second"* ]]
}

# A table of rows that are made up.
@test "four digits, the verdict beside them, and what the words mean" {
	few null-1 --base "$BENCH"
	python3 - <<-'END'
	import csv
	rows = list(csv.DictReader(open("few/verdicts.csv")))
	row = dict(rows[0], base_s="0.2016482", head_s="0.0769304", pairs="20",
	           ratio="1.052", ratio_lo="1.041", ratio_hi="1.066",
	           screen_ratio="1.061", screen_lo="1.051", screen_hi="1.071",
	           detectable_pct="3.31", verdict="slower (advisory)",
	           confirm_pairs="20", confirm_ratio="1.052", confirm_lo="1.041",
	           confirm_hi="1.066", processes="80", disturbed="48", redone="1")
	with open("few/verdicts.csv", "w", newline="") as file:
	    out = csv.DictWriter(file, row.keys(), lineterminator="\n")
	    out.writeheader()
	    out.writerow(dict(row, target="opencl"))
	    # Of an older bench, whose ratio was the screen's.
	    out.writerow(dict(row, target="cpu-1", base_s="0.0007395432",
	                      verdict="inconclusive", ratio="1.062",
	                      ratio_lo="1.052", ratio_hi="1.072",
	                      screen_ratio="", screen_lo="", screen_hi=""))
	END
	run -0 "$BENCH" table few
	[[ "$output" == *"opencl   201.6   76.93   1.052 [1.041, 1.066] "*\
"3.3 %"*"slower (advisory)"*"cpu-1 "*" 0.7395 "*" 1.052 ["*" inconclusive"* ]]
	[ "$(grep -c '^Target' <<<"$output")" -eq 1 ]
	output=${output//$'\n'  / }
	[[ "$output" == *"1 block measured again, 48 of 80 processes still disturbed"* ]]
	[[ "$output" == *"opencl: screen 1.061 [1.051, 1.071], flagged \
for being large; confirmation 1.052 [1.041, 1.066] in 20 new pairs: "* ]]
	[[ "$output" == *"cpu-1: screen 1.062 [1.052, 1.072], flagged "* ]]
	[[ "$output" == *"at least nine of ten checks (simulated: flagged in 97 %, confirmed in 94 %"* ]]
}

@test "one folder for runs and checks: each has its file, tables have both" {
	"$BENCH" run null-1 "${TINY[@]}" -o few >/dev/null
	few null-1 --base "$BENCH"
	"$BENCH" run null-2 "${TINY[@]}" -o few >/dev/null
	grep -q "Training loop" few/tables.md
	grep -q "null-2" few/tables.md
	run ! grep -q "Is the head slower" few/tables.md
	grep -q "Is the head slower" few/verdicts.md
	run ! grep -q "Training loop" few/verdicts.md
	run -0 "$BENCH" table few
	[[ "$output" == *"Is the head slower"*"/iter"*null-2* ]]
	# What is for another program has no table before it.
	run -0 "$BENCH" table few --export-csv -
	[[ "$output" == schema,* && "$output" != *"Is the head"* ]]
}

@test "the remaining time is estimated from the blocks, not from a fast pilot" {
	cat >later <<-'END'
	#!/bin/sh
	[ ! -e began ] || sleep 0.25
	: >began
	END
	chmod +x later
	run -3 --separate-stderr "$BENCH" check --blocks 6 -o slow \
		--progress always --base-cmd ./later --head-cmd ./later
	tr '\r' '\n' <<<"$stderr" | grep 'screen block 3 of 6' >third
	grep -q ' left' third
	run -1 grep '0m00s left' third
}

@test "base and head are medians, and their quotient is not the ratio" {
	few null-1 --base "$BENCH"
	[[ "${lines[0]}" == "Is the head slower? (medians in "* ]]
	[[ "${output//$'\n'  / }" == *"base and head: each side's own median of \
the median iteration of 6 processes. head/base is not their quotient"* ]]
}

@test "bench table exports the verdicts of checks" {
	few null-1 --base "$BENCH" --export-markdown few.md
	run -3 "$BENCH" check --base-cmd true --head-cmd true --blocks 6 \
		-o more
	run -0 "$BENCH" table few more --export-csv v.csv --export-json v.json \
		--export-markdown v.md
	[ "$(column v.csv target)" = "null-1 command" ]
	[ "$(head -n 2 v.csv)" = "$(cat few/verdicts.csv)" ]
	[ "$(python3 -c 'import json
print(*(v["target"] for v in json.load(open("v.json"))["verdicts"]))')" = \
		"null-1 command" ]
	[ "$(grep -cE '^\| (null-1|command) \|' v.md)" -eq 2 ]
	run -0 "$BENCH" table few --export-markdown -
	[ "$output" = "$(cat few.md)" ]
	# With runs and a check, the runs are exported, and a note says it.
	"$BENCH" run null-1 "${TINY[@]}" --out few
	run -0 --separate-stderr "$BENCH" table few --export-csv r.csv
	[[ "$stderr" == *"the exports have runs only; the verdicts"* ]]
	[ "$(column r.csv target)" = null-1 ]
}
