#!/usr/bin/env bats
# Each allocation, thread and process of the command fails in turn: exit 6 and
# one message, or the whole result where it can do without.

load command.sh
load exhaust.sh

# The same output as without a failure, or none of the exit code 0.
output_is_whole() {
	[ "$code" -ne 0 ] || cmp out expected || complain "the output"
}

# output_exhaust STEP ARGUMENT ...: in ASCII, because the locale's letters need
# memory.
output_exhaust() {
	local step=$1
	shift
	export LC_ALL=C
	fail_at 0 -- "$@"
	mv out expected
	exhaust memory "$step" nothing output_is_whole -- "$@"
}

@test "what this machine is, and what it has" {
	# Without plug-ins: the system's loader has many words for it.
	cp "$BENCH" alone
	HOME=$PWD BENCH=$PWD/alone output_exhaust "$(every 11)" env
	output_exhaust "$(every 11)" devices
	output_exhaust "$(every 11)" data list
	output_exhaust "$(every 11)" run --list
}

@test "is a backend right" {
	output_exhaust "$(every 61)" verify cpu --model tiny "${DATA[@]}" \
		--steps 3 -q
}

@test "tables of a folder" {
	"$BENCH" run null-1 cpu-1 "${TINY[@]}" --repeat 2 --out saved >out
	output_exhaust "$(every 7)" table saved
	output_exhaust "$(every 7)" table saved --with-post
	output_exhaust "$(every 23)" table saved --export-csv - \
		--export-json x.json --export-markdown x.md
}

no_results() {
	rm -rf made
	echo old >x.csv
}

# What is there can be read, and belongs to all who went well.
results_are_whole() {
	if [ "$code" -eq 0 ]; then
		[ "$(column made/runs.csv status)" = "ok ok" ] ||
			complain "the runs"
		[ "$(column x.csv target)" = "null-1 null-2" ] ||
			complain "the exported rows"
		[ -s made/summary.csv ] && [ -s made/tables.md ] ||
			complain "the other files"
		return
	fi
	[ "$(cat x.csv)" = old ] || column x.csv target >/dev/null
	[ ! -s made/runs.csv ] || [ "$(wc -l <made/runs.csv)" -eq 1 ] ||
		"$BENCH" table made >table 2>&1 || complain "$(cat table)"
	# A child that failed leaves the other one alone.
	! grep -q '^bench: null-1: ' err || [ "$sticky" = 1 ] ||
		[ "$(cell made/runs.csv 2 status)" = ok ] ||
		complain "the other run"
}

@test "a campaign" {
	local line=(run null-1 null-2 "${TINY[@]}" --out made
		--export-csv x.csv)
	exhaust memory "$(every 13)" no_results results_are_whole \
		FAIL_VERB=run -- "${line[@]}"
	exhaust processes 1 no_results results_are_whole -- "${line[@]}"
}

@test "a plan" {
	exhaust memory "$(every 11)" nothing nothing FAIL_VERB=run -- \
		run null-1 null-2 "${TINY[@]}" --dry-run
}

@test "images in files" {
	mkdir -p set/train/a/more set/val/a
	cp "$BATS_TEST_DIRNAME/../images/rgb.png" set/train/a/more
	cp "$BATS_TEST_DIRNAME/../images/rgb.png" set/val/a
	exhaust memory "$(every 3)" nothing nothing -- measure null-1 \
		--model tiny --dataset folder --data-dir set --epochs 1 \
		--steps 1 --test off --warmup 0 -q
}
