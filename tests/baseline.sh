# For .bats files: saved baselines of small runs.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by bats, and by command.sh

baseline_setup() {
	command_setup
	WORK=(--model tiny "${DATA[@]}" --warmup 1 -s 3)
}

# save DIR ARGUMENT ...: a baseline of twelve processes a target.
save() {
	"$BENCH" baseline save "$@" "${WORK[@]}" --blocks 12 -q >saved
}

# check ARGUMENT ...: against the baseline b, in six processes, too few for a
# verdict.
check() {
	run --separate-stderr "$BENCH" check --baseline b --blocks 6 \
		-o checked "$@"
	echo "$output" "$stderr"
}

# edit FILE COLUMN EXPRESSION [ROW]: of each cell v, or of that row's.
edit() {
	python3 - "$@" <<-'END'
	import csv, sys
	path, column, expression = sys.argv[1:4]
	rows = list(csv.DictReader(open(path)))
	for i, row in enumerate(rows, 1):
	    if len(sys.argv) < 5 or i == int(sys.argv[4]):
	        v = row[column]
	        row[column] = eval(expression)
	with open(path, "w", newline="") as file:
	    out = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
	    out.writeheader()
	    out.writerows(rows)
	END
}
