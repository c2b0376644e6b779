#!/usr/bin/env bats
# What is to be seen in the pictures of `bench plot`.

bats_require_minimum_version 1.5.0

load command.sh
load plot.sh

setup() {
	plot_setup
}

@test "every colour has one for dark pages" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	python3 - one <<-'END'
	import re, sys
	fills = set(re.search("fills = '(.*)'",
	    open(sys.argv[1] + "/plot/phases.gp").read())[1].split())
	for name in "epochs iterations learning speedup phases".split():
	    svg = open("%s/%s.svg" % (sys.argv[1], name)).read()
	    known = set(re.findall(r'\[stroke="(#......)"\]', svg))
	    assert len(known) > 8, known
	    used = set(re.findall(r"(?:stroke|fill|color)=['\"](#......)",
	                          svg[svg.index("</style>"):]))
	    # The text in a bar stays dark, as the bars stay light.
	    assert used <= known | fills | {"#1a1a1a"}, used - known
	    assert "rgb(" not in svg
	END
}

@test "what was disturbed is hollow, and said at the top of the report" {
	make_campaign one "a label"
	python3 - <<-'END'
	import csv
	with open("one/runs.csv", newline="") as file:
	    rows = list(csv.DictReader(file))
	for row in rows:
	    row.update(steal_pct=0, throttled_s=0, loop_s=1, loop_cpu_s=2,
	               logical_cpus=2, foreign_pct=30 if row["target"] ==
	               "cpu-2" else 0)
	with open("one/runs.csv", "w", newline="") as file:
	    out = csv.DictWriter(file, rows[0], lineterminator="\n")
	    out.writeheader()
	    out.writerows(rows)
	END
	"$BENCH" plot one >/dev/null
	[[ "$(text one/report.html)" == *"a label"*"disturbed: cpu-2 (2 of 2 runs; others used 0.60 of 2 CPUs at most): times too long"*"Pictures"* ]]
	[[ "$(text one/epochs.svg)" == *"mean and spread"*"mean and spread, disturbed"* ]]
	python3 - <<-'END'
	import csv
	for name, hollow in ("epochs", 3), ("iterations", 12):
	    rows = list(csv.DictReader(open("one/plot/%s.csv" % name)))
	    found = {row["series"] for row in rows if row["disturbed"] == "1"}
	    assert found == {"1"}, (name, found)
	    assert {row["disturbed"] for row in rows
	            if row["series"] == "1"} >= {"1"}
	END
	# Two runs, their mean, and both in the key; gnuplot's fifth is a ring.
	[ "$(grep -c "gpPt5' transform" one/epochs.svg)" -eq 5 ]
	sed -i 's/,1$/,0/' one/plot/epochs.csv
	(cd one/plot && gnuplot -d epochs.gp)
	run ! grep -q "gpPt5' transform" one/plot/epochs.svg
	[[ "$(text one/plot/epochs.svg)" != *disturbed* ]]
}

@test "a key names all that there is room for, below each other" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	cd one/plot
	python3 - <<-'END'
	with open("learning.csv", "w") as out:
	    out.write("series,run,seconds,train_loss,test_loss,accuracy,"
	              "target,label\n")
	    for i in range(24):
	        out.write("%d,1,1,,1,9,,-\n%d,1,2,,1,9,,-\n\n" % (i, i))
	        out.write("%d,,,,,,,s%d\n\n" % (i, i))
	with open("speedup.csv", "w") as out:
	    out.write("group,cores,speedup,low,high,emulated,cpus,label\n")
	    for i in range(24):
	        out.write("%d,1,1,,,1,2,s%d\n%d,4,2,,,3,2,s%d\n\n" %
	                  (i, i, i, i))
	END
	gnuplot -d learning.gp
	gnuplot -d speedup.gp
	python3 - learning 24 speedup 48 <<-'END'
	import re, sys
	for name, count in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
	    svg = open(name + ".svg").read()
	    high = float(re.search(r'viewBox="0 0 \d+ (\d+)"', svg)[1])
	    at = re.findall(r"translate\(([0-9.]+),([0-9.]+)\)[^>]*>\s*"
	                    r"<text>s\d+", svg)
	    assert len(at) == count, (name, len(at))
	    assert len({x for x, y in at}) == 1, (name, at)
	    ys = [float(y) for x, y in at]
	    assert ys == sorted(set(ys)) and ys[-1] < high, (name, ys)
	    edge = max(float(y) for y in re.findall(
	        r",([0-9.]+)\)[^>]*>\s*<text>(?:<tspan[^>]*>)?(?:cores|seconds of)", svg))
	    assert ys[0] > edge, (name, ys[0], edge)
	END
}

@test "an axis says that it is logarithmic, just where it is" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	cd one/plot
	for far in 2 900; do
		printf '%s\n' series,kind,seconds,low,high,label,text \
			0,label,,,,a,1 0,measured,1,1,1,-,- \
			1,label,,,,b,2 "1,measured,$far,$far,$far,-,-" >epochs.csv
		printf '%s\n' series,iteration,ms,is_warmup,label 0,1,1,0,a \
			"0,2,$far,0,-" 1,1,1,0,b 1,2,1,0,- >iterations.csv
		gnuplot -d epochs.gp
		gnuplot -d iterations.gp
		text epochs.svg >"epochs $far"
		text iterations.svg >"iterations $far"
	done
	run ! grep logarithmic "epochs 2" "iterations 2"
	grep -q 'seconds per epoch, logarithmic' "epochs 900"
	# One of two panels.
	[ "$(grep -c logarithmic "iterations 900")" = 1 ]
	grep -q 'a, logarithmic' "iterations 900"
	# That of the loss always is.
	[[ "$(text ../learning.svg)" == *"loss, logarithmic"* ]]
}

# learning ROW ...: draws learning.csv of these rows.
learning() {
	printf '%s\n' \
		series,run,seconds,train_loss,test_loss,accuracy,target,label \
		"$@" >learning.csv
	gnuplot -d learning.gp
	text learning.svg
}

@test "what has marks has a name, with a loss above 0 or without" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	cd one/plot
	shown=$(learning 0,1,1,,1,9,,- 0,1,2,,.5,9,,- 0,,,,,,,first \
		1,1,1,,0,9,,- 1,1,2,,0,9,,- 1,,,,,,,second)
	[[ $shown == *first*second* ]]
	# Without any, there is a picture nevertheless.
	shown=$(learning 0,1,1,,0,9,,- 0,1,2,,0,9,,- 0,,,,,,,first)
	[[ $shown == *"test accuracy"*first* ]]
}

@test "the dashed line is the accuracy that was asked for, else 99 %" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	[[ $(text one/learning.svg) != *dashed* ]]
	cd one/plot
	[[ $(learning 0,1,1,,1,96,,- 0,1,2,,1,99,,- 0,,,,,,,a) == \
		*"dashed: 99 %"* ]]
	[[ $(learning 0,1,1,,1,96,97,- 0,1,2,,1,97.5,97,- 0,,,,,,97,a) == \
		*"dashed: 97 %"* ]]
	# One that is far away would press all others together.
	[[ $(learning 0,1,1,,1,9,97,- 0,1,2,,1,10,97,- 0,,,,,,97,a) != \
		*dashed* ]]
	cd ../..
	"$BENCH" run cpu-1 "${TINY[@]}" --target-accuracy 2.5 --out two >/dev/null
	"$BENCH" plot two >/dev/null
	[ "$(cell two/plot/learning.csv 1 target)" = 2.5 ]
}

@test "warm-up is named where there is some" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	[[ $(text one/iterations.svg) == *"orange: warm-up"* ]]
	"$BENCH" run cpu-1 "${TINY[@]}" --warmup 0 --out two >/dev/null
	"$BENCH" plot two >/dev/null
	[[ $(text two/iterations.svg) != *warm-up* ]]
}
