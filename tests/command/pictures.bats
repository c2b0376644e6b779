#!/usr/bin/env bats
# What is to be seen in the pictures of `bench plot`.

load command.sh
load plot.sh

setup() {
	plot_setup
}

# The colours of phases.gp stand next to each other, in any order. How the three
# kinds of colour-blindness see them: Machado, Oliveira, Fernandes 2009, "A
# physiologically-based model for simulation of color vision deficiency",
# severity 1, on linear RGB; distances are in CIE L*a*b* (1976), D65.
@test "the colour-blind distinguish the shares" {
	python3 - "$TOP/plot/phases.gp" <<-'END'
	import math, re, sys
	KINDS = {
	    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
	    "protanopia": ((0.152286, 1.052583, -0.204868),
	                   (0.114503, 0.786281, 0.099216),
	                   (-0.003882, -0.048116, 1.051998)),
	    "deuteranopia": ((0.367322, 0.860646, -0.227968),
	                     (0.280085, 0.672501, 0.047413),
	                     (-0.011820, 0.042940, 0.968881)),
	    "tritanopia": ((1.255528, -0.076749, -0.178779),
	                   (-0.078411, 0.930809, 0.147602),
	                   (0.004733, 0.691367, 0.303900)),
	}
	XYZ = ((0.4124564, 0.3575761, 0.1804375),
	       (0.2126729, 0.7151522, 0.0721750),
	       (0.0193339, 0.1191920, 0.9503041))
	times = lambda m, v: [sum(a * b for a, b in zip(row, v)) for row in m]
	def linear(c):
	    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
	def root(t):
	    return t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
	def lab(colour, kind):
	    rgb = [linear(int(colour[i:i + 2], 16) / 255) for i in (1, 3, 5)]
	    seen = [min(1, max(0, c)) for c in times(KINDS[kind], rgb)]
	    x, y, z = times(XYZ, seen)
	    x, y, z = root(x / 0.95047), root(y), root(z / 1.08883)
	    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
	fills = re.search("^fills = '(.*)'", open(sys.argv[1]).read(), re.M)[1].split()
	assert len(fills) == 8
	for kind in KINDS:
	    seen = [lab(fill, kind) for fill in fills]
	    least = min((math.dist(a, b), i, j) for i, a in enumerate(seen)
	                for j, b in enumerate(seen[:i]))
	    print(kind, least)
	    assert least[0] >= 20, (kind, least)
	# What is written on them is dark.
	assert all(lab(fill, "usual")[0] >= 50 for fill in fills)
	END
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
	runs_with one 'foreign_pct=30 if row["target"] == "cpu-2" else 0' \
		loop_cpu_s=2
	"$BENCH" plot one >/dev/null
	[[ "$(text one/report.html)" == *"a label"*"disturbed: cpu-2 (2 of 2 runs; others used 0.60 of 2 CPUs at most): times inflated"*"Pictures"* ]]
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

# steps_take SECONDS [TARGET]: each iteration in the rows of one.
steps_take() {
	local file
	for file in one/observations.csv one/modelled.csv; do
		awk -F, -v OFS=, -v s="$1" -v target="${2:-.}" '
			$3 ~ target && $6 == "step" { $10 = $11 = s } 1' \
			"$file" >rows
		mv rows "$file"
	done
}

@test "a speed-up of disturbed runs is hollow, and not estimated" {
	make_campaign one "a label"
	# With as long iterations nothing is beyond the CPUs or the cores.
	steps_take 1
	runs_with one
	"$BENCH" plot one >/dev/null
	[ "$(column one/plot/speedup.csv disturbed)" = "0 0" ]
	[ -n "$(cell one/plot/speedup.csv 2 emulated)" ]
	[[ "$(text one/speedup.svg)" == *"estimate"* ]]
	[[ "$(text one/speedup.svg)" != *"disturbed"* ]]
	runs_with one 'foreign_pct=30 if row["target"] == "cpu-2" else 0'
	"$BENCH" plot one >/dev/null
	[ "$(column one/plot/speedup.csv disturbed)" = "0 1" ]
	[ "$(cell one/plot/speedup.csv 2 emulated)" = "" ]
	[[ "$(text one/speedup.svg)" == *"hollow: disturbed"* ]]
	[[ "$(text one/report.html)" == *"Estimates from disturbed runs, and those above the number of cores, are left out."* ]]
	# All are over one core.
	runs_with one 'foreign_pct=30 if row["target"] == "cpu-1" else 0'
	"$BENCH" plot one >/dev/null
	[ "$(column one/plot/speedup.csv disturbed)" = "1 1" ]
	[ "$(column one/plot/speedup.csv emulated)" = " " ]
	# Half the time is more than two cores can bring.
	runs_with one
	steps_take .4 cpu-2
	"$BENCH" plot one >/dev/null
	[ "$(column one/plot/speedup.csv disturbed)" = "0 1" ]
	[ "$(cell one/plot/speedup.csv 2 emulated)" = "" ]
}

@test "epochs that were cut say to how many iterations" {
	make_campaign one "a label"
	"$BENCH" plot one >/dev/null
	[[ "$(text one/epochs.svg)$(text one/phases.svg)" != *iteration* ]]
	runs_with one 'steps=2 if row["target"] == "cpu-1" else ""'
	"$BENCH" plot one >/dev/null
	[[ "$(text one/epochs.svg)" == *" s (2 iterations)"* ]]
	[[ "$(text one/phases.svg)" == *"1 core (2 iterations)"*"2 cores"* ]]
	[[ "$(text one/phases.svg)" != *"2 cores ("* ]]
	[[ "$(text one/report.html)" == *" Epochs were cut short: cpu-1 2 of 3 iterations."* ]]
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
	# Once, above all panels: they have one scale.
	[ "$(grep -c logarithmic "iterations 900")" = 1 ]
	grep -q 'ms per iteration, logarithmic' "iterations 900"
	python3 - <<-'END'
	import re
	svg = open("iterations.svg").read()
	tics = re.findall(r"<text>(?:<tspan[^>]*>)?\s*(1|10|100|1000)<", svg)
	assert tics and all(tics.count(t) == 2 for t in set(tics) - {"1"}), tics
	END
	# The axis of the loss is always logarithmic.
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
