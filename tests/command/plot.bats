#!/usr/bin/env bats
# `bench plot`: the pictures and the report, whatever names and labels are.

load command.sh
load plot.sh

setup() {
	plot_setup
}

# fake_gnuplot LINE ...: a program of that name comes first in $PATH.
fake_gnuplot() {
	mkdir -p fake
	printf '%s\n' '#!/bin/sh' "$@" >fake/gnuplot
	chmod +x fake/gnuplot
	PATH=$PWD/fake:$PATH
}

@test "five pictures and a report, and nothing but their names on stdout" {
	make_campaign one "a label"
	cp -r one before
	run -0 --separate-stderr "$BENCH" plot one
	[ "$output" = "$(printf 'one/%s.svg\n' "${PICTURES[@]}"
		echo one/report.html)" ]
	[ -z "$stderr" ]
	check_made one
	for name in "${PICTURES[@]}"; do
		[ -s "one/$name.svg" ]
		[ -s "one/plot/$name.gp" ]
		[ -s "one/plot/$name.csv" ]
	done
	[[ "$(text one/epochs.svg)" == *"2 cores"*"mean and spread"* ]]
	[[ "$(text one/report.html)" == *"a label"*"n = 2 fresh processes"*"bench run cpu-1 cpu-2 null-1 --model tiny"*"--repeat 2 --label 'a label'"* ]]
	# What was measured is as it was.
	for file in observations runs summary; do
		cmp "one/$file.csv" "before/$file.csv"
	done
}

@test "another folder for them, and their data as the scripts are given it" {
	make_campaign one "a label"
	runs_with one
	run -0 "$BENCH" plot one --out two/pictures
	check_made two/pictures
	[ ! -e one/plot ]
	[ ! -e one/report.html ]
	(cd two/pictures/plot && gnuplot -d epochs.gp && [ -s epochs.svg ])
	[ "$(cell two/pictures/plot/phases.csv 8 to)" = 100 ]
	# The share of each core and the marks of each step are there.
	python3 - one two/pictures/plot <<-'END'
	import csv, sys
	rows = lambda path: list(csv.DictReader(open(path)))
	runs = rows(sys.argv[1] + "/summary.csv")
	mean = [float(r["mean"]) for r in runs if (r["target"], r["metric"],
	    r["run_id"]) == ("cpu-2", "epoch_s", "")]
	drawn = [float(r["seconds"]) for r in rows(sys.argv[2] +
	    "/epochs.csv") if (r["series"], r["kind"]) == ("1", "measured")]
	assert mean == drawn, (mean, drawn)
	emulated = [float(r["mean"]) for r in runs if (r["target"],
	    r["metric"], r["run_id"]) == ("cpu-2", "model_speedup", "")]
	drawn = [r["emulated"] for r in rows(sys.argv[2] +
	    "/speedup.csv") if r["cores"] == "2"]
	# Above the cores it is noise, and left out.
	assert drawn == [""] if emulated[0] > 2.005 else \
	    emulated == [float(drawn[0])], (emulated, drawn)
	END
}

@test "a picture without data is not drawn, and the report says why" {
	"$BENCH" run cpu-1 "${TINY[@]}" --test off --out one >/dev/null
	echo "of rows that were there before" >one/speedup.svg
	run -0 --separate-stderr "$BENCH" plot one
	[[ "$stderr" == *"speedup.svg is not drawn: There is no target of several cores"* ]]
	[ ! -e one/speedup.svg ]
	check_made one
	[[ "$(text one/report.html)" == *"Not drawn: There is no target"* ]]
}

@test "several campaigns, some of what was not finished" {
	make_campaign one first
	make_campaign one second
	sed -i 's/,ok,,0,null-1,/,error,"no, \& <b>",6,null-1,/' one/runs.csv
	run -0 "$BENCH" plot one
	check_made one
	[[ "$(text one/iterations.svg)" == *"first: 1 core"*"second: 2 cores"* ]]
	[[ "$(text one/iterations.svg)" != *null* ]]
	[[ "$(text one/report.html)" == *"no, & <b>"* ]]
}

# Each of these made a command run somewhere, or broke a file.
HOSTILE=(
	'`touch pwned`'
	'$(touch pwned)'
	'"; system("touch pwned"); "'
	"'; system('touch pwned') #"
	'< touch pwned'
	'| touch pwned'
	$'two\nlines; touch pwned'
	'=cmd|touch pwned'
	']]></title></style><script>pwned()</script>'
	'@x ^_{a} %d %s \n \x41 {/=40 a} ~a{b}, c "" &amp;'
)

@test "ten hostile labels and folders run nothing, and show as text" {
	make_campaign one first
	make_campaign one second
	for label in "${HOSTILE[@]}"; do
		name=${label//\//:}
		mv one "$name"
		python3 - "$name" "$label" <<-'END'
		import csv, sys
		path = sys.argv[1] + "/runs.csv"
		rows = list(csv.DictReader(open(path, newline="")))
		for row in rows:
		    for name in "label", "cpu_model", "device_name", "cflags":
		        row[name] = sys.argv[2][:60]
		with open(path, "w", newline="") as f:
		    out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
		    out.writeheader()
		    out.writerows(rows)
		END
		run -0 --separate-stderr "$BENCH" plot "$name"
		[ -z "$stderr" ]
		[ "${#lines[@]}" = 6 ]
		check_made "$name"
		shown=$(text "$name/report.html")
		[[ "$shown" == *"${name//$'\n'/\\x0A}"* ]]
		label=${label//$'\n'/\\x0A}
		[[ "$shown" == *"${label:0:60}"* ]]
		# A label is cut to 18 columns.
		[[ "$(text "$name/iterations.svg")" == *"${label:0:13}"* ]]
		mv "$name" one
		[ -z "$(find . -name 'pwned*')" ]
	done
}

@test "nor do hostile folders for the pictures" {
	make_campaign one label
	for name in "${HOSTILE[@]}"; do
		name=${name//\//:}
		run -0 "$BENCH" plot one --out "$name"
		rm -r "$name"
		[ -z "$(find . -name 'pwned*')" ]
	done
}

@test "the command that measures again is the shell's for what was asked" {
	"$BENCH" run cpu-1 "${TINY[@]}" --out one \
		--label "it's \$HOME & <b>" >/dev/null
	"$BENCH" plot one >/dev/null
	text one/report.html | sed -n 's/.*\(bench run .*\)/\1/p' >again
	bench() { printf '%s\n' "$@" >words; }
	eval "$(cat again)"
	grep -qxF "it's \$HOME & <b>" words
	[ "$(grep -A 1 -xe --synthetic-train words | tail -1)" = 70 ]
	bench() { "$BENCH" "$@"; }
	eval "$(sed 's/$/ --out two -q/' again)" >/dev/null
	[ "$(cell one/runs.csv 1 parameters_hash)" = \
		"$(cell two/runs.csv 1 parameters_hash)" ]
}

@test "the command of an inference is an inference" {
	"$BENCH" measure cpu-1 "${TINY[@]}" --save-weights w >/dev/null
	"$BENCH" infer cpu-1 -m tiny "${DATA[@]}" -q -w 1 --count 3 \
		--weights w --out one >/dev/null
	run -0 --separate-stderr "$BENCH" plot one
	# Nothing of it is an epoch, to be compared with the post's.
	[ "$output" = "one/iterations.svg"$'\n'"one/report.html" ]
	[ "$(grep -c 'is not drawn: Nothing was trained' <<<"$stderr")" -eq 3 ]
	[[ "$(text one/report.html)" == *"forward passes, without training"* ]]
	text one/report.html | sed -n 's/.*\(bench infer .*\)/\1/p' >again
	grep -q -- '--weights FILE' again
	bench() { "$BENCH" "$@"; }
	eval "$(sed 's/ FILE/ w/; s/$/ --out two -q/' again)" >/dev/null
	[ "$(cell one/runs.csv 1 weights)" = "$(cell two/runs.csv 1 weights)" ]
	[ "$(column two/runs.csv passes)" = 3 ]
}

@test "without gnuplot it is exit 4 with the package, and the scripts stay" {
	make_campaign one label
	mkdir bin
	run -4 --separate-stderr env PATH="$PWD/bin" "$BENCH" plot one
	[[ "$stderr" == *"gnuplot-nox"*"one/plot"* ]]
	[ -s one/plot/epochs.gp ]
	[ -s one/plot/epochs.csv ]
	[ ! -e one/report.html ]
}

@test "a gnuplot that fails is exit 6, and what was drawn before stays" {
	make_campaign one label
	real=$(command -v gnuplot)
	# shellcheck disable=SC2016 # the fake has its own arguments
	fake_gnuplot 'case $2 in learning.gp) exit 3 ;; esac' \
		"exec $real \"\$@\""
	run -6 --separate-stderr "$BENCH" plot one
	[[ "$stderr" == *"exit code 3"*"learning.gp"*"one/plot"* ]]
	[ -s one/epochs.svg ]
	[ -s one/iterations.svg ]
	[ ! -e one/learning.svg ]
	[ ! -e one/report.html ]
	[ -s one/plot/learning.csv ]
	fake_gnuplot 'kill -SEGV $$'
	run -6 "$BENCH" plot one
	[[ "$output" == *"signal 11"* ]]
	fake_gnuplot 'exit 0'
	run -6 "$BENCH" plot one
	[[ "$output" == *"did not write"* ]]
	# shellcheck disable=SC2016
	fake_gnuplot 'echo "<svg/>" >"${2%.gp}.svg"'
	run -6 "$BENCH" plot one
	[[ "$output" == *"not the expected picture"* ]]
}

has_hung() {
	[ -s one/plot/child ]
}

@test "a gnuplot that hangs is ended with all that it started" {
	make_campaign one label
	# shellcheck disable=SC2016
	fake_gnuplot 'sleep 1000 >/dev/null 2>&1 3>&- & echo $! >child; wait'
	timed_out has_hung "$BENCH" plot one
	[[ "$stderr" == *"gnuplot took longer than $LIMIT s and was ended"*"one/plot"* ]]
	CHILD=$(cat one/plot/child)
	within 60 none_running "$CHILD"
	[ -s one/observations.csv ]
}

@test "Ctrl-C ends it, and gnuplot" {
	make_campaign one label
	# shellcheck disable=SC2016
	fake_gnuplot 'echo $$ >started; exec sleep 1000 3>&-'
	"${HEEDFUL[@]}" "$BENCH" plot one 2>/dev/null 3>&- &
	PID=$!
	within 60 test -s one/plot/started
	kill -INT "$PID"
	code=0
	wait "$PID" || code=$?
	CHILD=$(cat one/plot/started)
	[ "$code" = 130 ]
	within 60 none_running "$CHILD"
}

@test "what cannot be written is exit 7, what has no rows 5" {
	make_campaign one label
	run -7 "$BENCH" plot one --out /dev/null/made
	[[ "$output" == *"/dev/null"* ]]
	mkdir two
	: >two/plot
	run -7 "$BENCH" plot one --out two
	[[ "$output" == *"two/plot"* ]]
	mkdir empty
	run -5 "$BENCH" plot empty
	[[ "$output" == *"no rows"* ]]
	head -1 one/runs.csv >empty/runs.csv
	run -5 "$BENCH" plot empty
	# The pairs of a check are nothing that could be drawn.
	python3 - one/runs.csv empty/runs.csv <<-'END'
	import csv, sys
	rows = list(csv.DictReader(open(sys.argv[1])))
	with open(sys.argv[2], "w") as f:
	    out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
	    out.writeheader()
	    out.writerows(dict(row, arm="A") for row in rows)
	END
	run -5 "$BENCH" plot empty
	[[ "$output" == *"only the processes of a bench check"* ]]
	[ ! -e empty/plot ]
	run -4 "$BENCH" plot nowhere
	run -2 "$BENCH" plot
	run -2 "$BENCH" plot one two
	run -2 "$BENCH" plot one/runs.csv
	[[ "$output" == *"not a file of it: $BENCH plot one/" ]]
	run -7 bash -c '"$BENCH" plot one >/dev/full'
}

@test "the user's own settings of gnuplot are left aside" {
	make_campaign one label
	export HOME=$PWD
	echo "set output 'pwned'; exit status 9" >.gnuplot
	cp .gnuplot .config-gnuplotrc
	XDG_CONFIG_HOME=$PWD GNUTERM=nonsense \
		run -0 --separate-stderr "$BENCH" plot one
	[ -z "$stderr" ]
	check_made one
}

@test "folders by other names" {
	make_campaign one label
	run -0 "$BENCH" plot one//
	[ "${lines[0]}" = one/epochs.svg ]
	[ "${lines[5]}" = one/report.html ]
	cd one
	run -0 "$BENCH" plot .
	[ "${lines[0]}" = ./epochs.svg ]
	grep -q '<title>one: bench</title>' report.html
	run -0 "$BENCH" plot ../one/../one/
	grep -q '<title>one: bench</title>' report.html
	run -2 "$BENCH" plot ''
	[[ $output == *"the folder of one campaign"* ]]
	run -2 "$BENCH" plot . --out ''
	[[ $output == *"--out"* ]]
}

@test "quiet has names alone" {
	"$BENCH" run cpu-1 "${TINY[@]}" --out one >/dev/null
	run -0 --separate-stderr "$BENCH" plot one
	[[ $stderr == *"speedup.svg is not drawn"* ]]
	run -0 --separate-stderr "$BENCH" plot one -q
	[ -z "$stderr" ]
	[ "${lines[0]}" = one/epochs.svg ]
}

@test "epochs that took no time are drawn" {
	"$BENCH" run cpu-1 cpu-2 --model tiny "${DATA[@]}" --warmup 1 \
		--epochs 2 -q --out one >/dev/null
	for file in observations modelled; do
		awk -F, -v OFS=, 'NR > 1 { $10 = 0 } 1' "one/$file.csv" >rows
		mv rows "one/$file.csv"
	done
	run -0 "$BENCH" plot one -q
	[ "${lines[0]}" = one/epochs.svg ]
	[[ "$output" == *one/learning.svg*one/report.html ]]
}
