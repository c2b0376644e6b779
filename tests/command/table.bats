#!/usr/bin/env bats
# `bench table`: tables and exports from rows that are made here.

bats_require_minimum_version 1.5.0

# make_rows DIR ID LABEL REPEAT TARGET:CORES:MS ... writes a campaign of two
# epochs of ten iterations whose times are known. Each core has a CPU, or all
# have those in $CPUS; $FOREIGN is what others used of the machine.
make_rows() {
	mkdir -p "$1"
	awk -v dir="$1" -v id="$2" -v label="$3" -v repeat="$4" \
		-v targets="${*:5}" -v steps="${STEPS:-}" -v cpus="${CPUS:-}" \
		-v foreign="${FOREIGN:-}" '
	function row(phase, epoch, iter, warm, s, samples, loss, accuracy) {
		print "bench/1," run "," t "," cores ",," phase "," epoch "," \
			iter "," warm "," s "," s "," samples "," loss "," \
			accuracy ",ok," >rows
	}
	BEGIN {
		rows = dir "/observations.csv"; runs = dir "/runs.csv"
		print "schema,run_id,target,cores,core,phase,epoch,iter," \
			"is_warmup,elapsed_s,cpu_s,samples,loss," \
			"accuracy_pct,status,reason" >rows
		print "schema,run_id,campaign_id,label,started_utc,status," \
			"reason,target,cores,cpus,device_name,device_type," \
			"device_driver,model,dataset,global_batch,seed," \
			"warmup,setup_s,warmup_s,loop_s,iterations_s," \
			"loader_s,test_s,unaccounted_s,total_s,cpu_user_s," \
			"cpu_sys_s,maxrss_bytes,updates,cpu_model," \
			"logical_cpus,mystery,epochs,steps,train_samples," \
			"test_samples,foreign_pct" >runs
		count = split(targets, list, " ")
		for (r = 1; r <= repeat; r++) for (k = 1; k <= count; k++)
			one(list[k])
	}
	function one(text,   part, e, i, ms, batch) {
		split(text, part, ":")
		t = part[1]; cores = part[2]; ms = part[3] * (1 + (r - 1) / 10)
		run = id "-" r "-" k
		batch = cores * 128
		row("setup", "", "", 0, .5, "", "", "")
		for (i = 1; i <= 3; i++) row("step", 0, i, 1, 1, batch, 2, "")
		for (e = 1; e <= 2; e++) {
			for (i = 1; i <= 10; i++)
				row("step", e, i, 0, (ms + i % 2) / 1000, \
					batch, 1, "")
			row("loader", e, "", 0, .01, "", "", "")
			row("test", e, "", 0, .1, 1000, .03, 98.5 + e / 2)
			row("epoch", e, "", 0, ms / 100 + .2, batch * 10, 1, "")
		}
		row("loop", "", "", 0, ms / 50 + .5, "", "", "")
		device = t ~ /opencl/ ? \
			"pthread-skylake,CPU,Portable Computing Language 3.1" : \
			",,"
		print "bench/1," run "," id "," label ",2026-01-31T23:59:59Z," \
			"ok,," t "," cores "," (t ~ /opencl/ ? 2 : \
			cpus ? cpus : cores) "," device ",mnist,synthetic," \
			batch "," r ",3,.5,3," ms / 50 + .5 "," ms / 50 \
			",.02,.2,.01,1.5,2.5,.5,104857600,20,A CPU,2,what,10," steps ",60000,10000," foreign \
			>runs
	}'
}

setup() {
	export LC_ALL=C.UTF-8
	unset NO_COLOR
	DIR=$BATS_TEST_TMPDIR/one
	make_rows "$DIR" 20260131T235959Z-one one 1 cpu-1:1:40 cpu-8:8:90 \
		opencl:1:20
}

@test "a folder gives the four tables, at most 80 columns wide" {
	run -0 --separate-stderr "$BENCH" table --details "$DIR"
	[[ "$output" == *"Training loop (s)"* ]]
	grep -Eq '^one +1\.300 +2\.300 +0\.900$' <<<"$output"
	[[ "$output" == *"40.500 (±0.500)   90.500 (±0.500)   20.500 (±0.500)"* ]]
	[[ "$output" == *"speed-up             1.00      3.63 "* ]]
	[[ "$output" == *"OpenCL:"*"PoCL, 2 CPUs"* ]]
	[[ "$output" == *"n=1"* ]]
	[ -z "$stderr" ]
	[ "$(wc -L <<<"$output")" -le 80 ]
}

# words TEXT: how many there are.
words() { wc -w <<<"$1"; }

@test "at first there is one table, who is faster, and where the rest is" {
	run -0 --separate-stderr "$BENCH" table "$DIR"
	[ "${#lines[@]}" -le 25 ]
	[ "$(words "$output")" -le 150 ]
	[ "$(wc -L <<<"$output")" -le 80 ]
	[[ "$output" == *"mnist on synthetic, 10 epochs; n=1, ± between iterations"* ]]
	grep -Eq '^target +ms/iter +s/epoch +images/s +updates x +accuracy +start-up +CPUs$' \
		<<<"$output"
	grep -Eq '^cpu-8 +90\.5 ±0\.5 +1\.10 +11191 +20 x 1024 +99\.50 % +0\.50 s +8$' \
		<<<"$output"
	[[ "${output//$'\n'/ }" == *"In images/s (one run each), cpu-8 is 3.63 times as fast as cpu-1, \
opencl (PoCL, 2 CPUs) 1.93 times; global batches differ: compare accuracy too."* ]]
	[ "${lines[-2]}" = "- more: $BENCH table $DIR --details" ] ||
		[[ "${output//$'\n'  / }" == *"- more: $BENCH table $DIR --details"* ]]
	[[ "$output" == *"- the data set is synthetic, not MNIST"* ]]
	# Of two folders as well, as a shell takes them.
	make_rows "$BATS_TEST_TMPDIR/other one" b other 1 cpu-1:1:40
	run -0 "$BENCH" table "$DIR" "$BATS_TEST_TMPDIR/other one"
	[[ "${output//$'\n'  / }" == *"- more: $BENCH table $DIR '$BATS_TEST_TMPDIR/other one' --details"* ]]
	run -0 "$BENCH" table "$DIR"
	# Nothing is explained.
	[[ "$output" != *"slowest"* && "$output" != *"warm-up"* ]]
	run -0 "$BENCH" table "$DIR" -q
	[ "${#lines[@]}" -eq 7 ]
	[[ "${lines[0]}" == *"mnist on synthetic"* && "${lines[6]}" == opencl* ]]
	[[ "$output" != *"- "[a-z]* ]]
	run -0 "$BENCH" table "$DIR" --format github
	[[ "$output" == *"| target | ms/iter | s/epoch | images/s | updates x global batch |"* ]]
	[[ "$output" == *"| cpu-8 | 90.5 ±0.5 | 1.10 | 11191 | 20 x 1024 |"* ]]
}

@test "a run that is partial does not part its table" {
	sed -i 's/,ok,,cpu-8,/,partial,interrupted,cpu-8,/' "$DIR/runs.csv"
	run -0 --separate-stderr "$BENCH" table "$DIR" -q
	[[ "$output" == *"cpu-8, partial "* ]]
	[ "$(grep -c '^---' <<<"$output")" = 1 ]
	[ "$(wc -L <<<"$output")" -le 80 ]
}

@test "a test that was not cut with the iterations is named" {
	STEPS=10 make_rows "$BATS_TEST_TMPDIR/cut" a cut 1 cpu-1:1:40 cpu-8:8:90
	sed -i '/,cpu-8,/s/,\.02,\.2,/,.02,1234.5,/' "$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "${output//$'\n' /}" == *"- the test was not cut, and took longer than the iterations: cpu-8 1234 s against 1.8 s; --test-steps N cuts it"* ]]
	[ "$(grep -c "took longer" <<<"$output")" = 1 ]
	# Nor was anything, or the test was as well.
	sed -i 's/,\.02,\.2,/,.02,1234.5,/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *"not cut"* ]]
	sed -i -e '1s/$/,test_batch,test_steps/' -e '2,$s/$/,100,3/' \
		"$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "$output" != *"not cut"* ]]
	[[ "${output//$'\n' /}" == *"cpu-8 300 of 10000"* ]]
}

# losses LAST EPOCH: of cpu-8's last iteration and its last epoch's mean.
losses() {
	awk -F, -v OFS=, -v last="$1" -v epoch="$2" '
		$3 == "cpu-8" && $6 == "step" && $7 == 2 && $8 == 10 { $13 = last }
		$3 == "cpu-8" && $6 == "epoch" && $7 == 2 { $13 = epoch }
		1' "$DIR/observations.csv" >"$BATS_TEST_TMPDIR/rows"
	mv "$BATS_TEST_TMPDIR/rows" "$DIR/observations.csv"
	run -0 "$BENCH" table "$DIR"
}

@test "a training loss that rose is named, with the rate" {
	sed -i -e '1s/$/,lr/' -e '2,$s/$/,.5/' "$DIR/runs.csv"
	losses 1 1
	[[ "$output" != *rose* ]]
	losses 3 2
	[[ "${output//$'\n' /}" == *"- the training loss rose: cpu-8 from 1 to 3 in 20 iterations at --lr 0.5; a smaller --lr may help"* ]]
	# Nor does it where it has no time (--sync epoch).
	sed -i -E '/,cpu-8,.*,step,2,10,/s/(step,2,10,0,)[0-9.]+/\1/' \
		"$DIR/observations.csv"
	losses 4 2
	[[ "$output" == *"cpu-8 from 1 to 4 in"* ]]
	losses 1.04 1.04
	[[ "$output" != *rose* ]]
	# One of both may be by chance.
	losses 3 .5
	[[ "$output" != *rose* ]]
	losses .5 3
	[[ "$output" != *rose* ]]
	losses 3 3
	sed -i '/,cpu-8,/s/,\.5$/,0/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *rose* ]]
	sed -i -e '/,cpu-8,/s/,0$/,.5/' -e 's/,synthetic,/,fake,/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *rose* ]]
	sed -i 's/,fake,/,synthetic,/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" == *rose* ]]
	# Nine iterations say nothing yet.
	awk -F, -v OFS=, 'NR == 1 { for (at = 1; $at != "updates"; at++); }
		NR > 1 { $at = 9 } 1' "$DIR/runs.csv" >"$BATS_TEST_TMPDIR/rows"
	mv "$BATS_TEST_TMPDIR/rows" "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *rose* ]]
}

@test "a note says that one batch teaches nothing" {
	sed -i -e '1s/$/,final_accuracy_pct/' -e '2,$s/$/,100/' \
		"$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *"say nothing"* ]]
	sed -i 's/,synthetic,/,fake,/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[ "$(grep -c "fake repeats one batch: accuracy and loss" \
		<<<"$output")" = 1 ]
	# Without a test nothing is shown of either.
	sed -i 's/,100$/,/' "$DIR/runs.csv"
	run -0 "$BENCH" table "$DIR"
	[[ "$output" != *"say nothing"* ]]
}

@test "an epoch of microseconds has digits" {
	awk -F, -v OFS=, \
		'$6 == "epoch" { $10 = $3 == "cpu-1" ? "2.34e-4" : "1e-13" } 1' \
		"$DIR/observations.csv" >"$BATS_TEST_TMPDIR/rows"
	mv "$BATS_TEST_TMPDIR/rows" "$DIR/observations.csv"
	run -0 "$BENCH" table "$DIR" -q
	grep -Eq '^cpu-1 +40\.5 ±0\.5 +0\.00023 ' <<<"$output"
	grep -Eq '^cpu-8 +90\.5 ±0\.5 +0\.000000000 ' <<<"$output"
}

@test "who is faster has an interval where there are runs for it" {
	make_rows "$BATS_TEST_TMPDIR/three" b three 3 cpu-1:1:40 cpu-8:8:90
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/three"
	[[ "$output" == *"; n=3, ± between runs, [95 %]"* ]]
	[[ "$output" =~ cpu-8\ is\ ([0-9.]+)\ times\ as\ fast\ as\ cpu-1\ \[([0-9.]+),\ ([0-9.]+)\] ]]
	# As in the export.
	"$BENCH" table "$BATS_TEST_TMPDIR/three" --export-csv - |
		python3 -c 'if 1:
		import csv, sys
		row = list(csv.DictReader(sys.stdin))[1]
		print(*("%.2f" % float(row[name]) for name in
		        ("speedup", "speedup_lo", "speedup_hi")))' >"$BATS_TEST_TMPDIR/numbers"
	[ "${BASH_REMATCH[*]:1}" = "$(cat "$BATS_TEST_TMPDIR/numbers")" ]
}

# said FOLDER OPTION ...: its tables in one line.
said() {
	"$BENCH" table "$@" | tr -s ' \n' ' '
}

@test "a ratio says of how many runs it is, if it has no interval" {
	make_rows "$BATS_TEST_TMPDIR/two" b two 2 cpu-1:1:40 cpu-8:8:90
	[[ "$(said "$BATS_TEST_TMPDIR/two")" == \
		*"In images/s (2 runs each), cpu-8 is 3.6"?" times as fast as cpu-1; "* ]]
	make_rows "$BATS_TEST_TMPDIR/three" b three 3 cpu-1:1:40 cpu-8:8:90
	[[ "$(said "$BATS_TEST_TMPDIR/three")" != *"runs each"* ]]
	# One of them that has but two.
	sed -i '/,cpu-8,/{s/,ok,,/,error,,/;:a;n;ba}' \
		"$BATS_TEST_TMPDIR/three/runs.csv"
	[[ "$(said "$BATS_TEST_TMPDIR/three")" == *" times as fast as cpu-1 (n=2); "* ]]
}

@test "nothing is claimed beyond the CPUs that there are" {
	local made=$BATS_TEST_TMPDIR/few
	CPUS=2 make_rows "$made" b few 1 cpu-1:1:40 cpu-8:8:90 opencl:1:20
	[[ "$(said "$made")" == *"In images/s (one run each), opencl (PoCL, 2 CPUs) is 1.93 times as fast as cpu-1; "* ]]
	[[ "$(said "$made")" == *"Not compared with cpu-1: cpu-8, since 3.63 times exceeds the 2 CPUs of cpu-8."* ]]
	[[ "$(said "$made" --details)" == *"speed-up 1.00 - 1.93 efficiency 1.00 - - "*"left out are speed-up and efficiency of cpu-8, since 3.63 times exceeds"* ]]
	# Four CPUs can bring it, and so can larger batches on each core.
	CPUS=4 make_rows "$BATS_TEST_TMPDIR/four" b four 1 cpu-1:1:40 cpu-8:8:90
	[[ "$(said "$BATS_TEST_TMPDIR/four")" == *"cpu-8 is 3.63 times"* ]]
	sed -i '/,cpu-1,/s/,synthetic,128,/,synthetic,64,/' "$made/runs.csv"
	[[ "$(said "$made")" == *"cpu-8 is 3.63 times"* ]]
	# What the rows have stays what it was.
	[[ "$("$BENCH" table "$made" --export-csv -)" == *,cpu-8,8,1,ok,*,3.62*,0.45* ]]
}

@test "nothing is claimed of what was disturbed" {
	local made=$BATS_TEST_TMPDIR/busy
	FOREIGN=30 make_rows "$made" b busy 3 cpu-1:1:40 cpu-8:8:90 opencl:1:20
	[[ "$(said "$made")" == *"Not compared with cpu-1: cpu-8, opencl (PoCL, 2 CPUs), since cpu-1 was disturbed."* ]]
	[[ "$(said "$made")" != *"times as fast"* && "$(said "$made")" != *"[95 %]"* ]]
	[[ "$(said "$made" --details)" == *"speed-up 1.00 (±0.00) - - "* ]]
	[[ "$(said "$made" --details)" != *"(speed-up): "*"8 cores"* ]]
	[[ "$(said "$made" "$DIR" --details)" == *"efficiency of cpu-8 of busy, since "* ]]
	# One of three runs is enough, and only its target is left out.
	awk -F, -v OFS=, 'NR > 1 && !($8 == "cpu-8" && $2 ~ /-2-/) {
		$NF = 0 } 1' "$made/runs.csv" >"$made/rows"
	mv "$made/rows" "$made/runs.csv"
	[[ "$(said "$made")" == *"In images/s, opencl (PoCL, 2 CPUs) is 1.9"* ]]
	[[ "$(said "$made")" == *"Not compared with cpu-1: cpu-8, since cpu-8 was disturbed."* ]]
}

@test "README.md begins with the first screen of saved rows" {
	run -0 "$BATS_TEST_DIRNAME/../tools/first-screen"
}

@test "without UTF-8 the tables are ASCII" {
	LC_ALL=C run -0 "$BENCH" table --details "$DIR"
	[[ "$output" == *"40.500 (+-0.500)"* ]]
	[ -z "$(LC_ALL=C tr -d '\n -~' <<<"$output")" ]
}

@test "warm-up counts only when asked for" {
	run -0 "$BENCH" table --details "$DIR" --include-warmup
	# The mean is (20 x 40.5 + 3 x 1000) / 23 ms, its deviation larger.
	[[ "$output" == *"41.000 [40.000, 41.000]"* ]]
	[[ "$output" == *"warm-up: 3 steps a run, included"* ]]
}

@test "the post's format has the post's shape, and its figures on request" {
	run -0 "$BENCH" table "$DIR" --format post --with-post
	[ "${lines[0]}" = "| Campaign | 8 cores (s) | 1 core (s) | OpenCL: PoCL, 2 CPUs (s) |" ]
	[ "${lines[1]}" = "| :---: | :---: | :---: | :---: |" ]
	[ "${lines[2]}" = '| one | 2.300 | 1.300 | 0.900 |' ]
	[ "${lines[3]}" = '| post 002, example | 32.868 | 81.551 | 54.401 |' ]
	[[ "$output" == *'| $0.019(\pm 0.043)$ | $0.011(\pm 0.033)$ |'* ]]
	[[ "$output" == *"include start-up"* ]]
}

@test "several runs of a target have a row each, and one together" {
	make_rows "$BATS_TEST_TMPDIR/three" b three 3 cpu-1:1:40 cpu-8:8:90
	run -0 "$BENCH" table --details "$BATS_TEST_TMPDIR/three" --format github
	[[ "$output" == *"| three, run 2 | 1.380 | 2.480 |"* ]]
	[[ "$output" == *"| three, all 3 | **1.380 (± 0.065)** | 2.480 (± 0.147) |"* ]]
	[[ "$output" == *"1 core n=3 \\[1.181, 1.579\\]"* ]]
	[[ "$output" == *"seeds from 1 to 3"* ]]
	# Of the export only the latter, of all three.
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/three" --export-csv -
	[ "${#lines[@]}" -eq 3 ]
	[[ "${lines[2]}" == bench/1,b,three,cpu-8,8,3,ok,,2.48,0.146969* ]]
	# A deviation of iterations is one of iterations, however many runs.
	make_rows "$BATS_TEST_TMPDIR/one" a one 1 cpu-8:8:90
	"$BENCH" table "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/three" \
		--export-csv "$BATS_TEST_TMPDIR/csv" >"$BATS_TEST_TMPDIR/tables"
	python3 - "$BATS_TEST_TMPDIR/csv" <<-'END'
		import csv, sys
		one, three = (r for r in csv.DictReader(open(sys.argv[1]))
		              if r["target"] == "cpu-8")
		for row in one, three:
		    for name, ms in ("std", .5), ("q1", 0), ("q3", 1):
		        value = float(row["iter_%s_s" % name])
		        base = float(row["iter_p50_s"]) - .0005 if ms != .5 else 0
		        assert abs(value - base - ms / 1000) < 1e-9, (name, row)
		    assert abs(float(row["epoch_std_s"])) < 1e-9, row
		for name in "iter_runs_std_s", "epoch_runs_std_s":
		    assert not one[name] and float(three[name]) > .007, name
		assert float(three["iter_runs_std_s"]) < .008, three
	END
}

@test "the best of a row has its mark where no interval overlaps" {
	make_rows "$BATS_TEST_TMPDIR/far" b far 3 cpu-1:1:40 cpu-8:8:90
	make_rows "$BATS_TEST_TMPDIR/near" b near 3 cpu-1:1:40 cpu-2:2:42
	run -0 "$BENCH" table --details "$BATS_TEST_TMPDIR/far"
	grep -Eq '^far, all 3 +1\.380 \(±0\.065\)\* +2\.480 ' <<<"$output"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"- *: the best of its row, by 95 % intervals that do not overlap"* ]]
	run -0 "$BENCH" table --details "$BATS_TEST_TMPDIR/near"
	grep -Eq '^near, all 3 +1\.380 \(±0\.065\) +1\.424 ' <<<"$output"
	# One run has none, and nothing is said of a mark.
	run -0 "$BENCH" table --details "$DIR"
	[[ "$output" != *"*"* ]]
}

@test "titles say what was run, and the post stands beside its like alone" {
	run -0 "$BENCH" table --with-post "$DIR"
	[ "$(grep -c '^post 002, example' <<<"$output")" -eq 3 ]
	[[ "$output" != *"left out"* ]]
	STEPS=10 make_rows "$BATS_TEST_TMPDIR/cut" b cut 1 cpu-1:1:40 cpu-8:8:90
	run -0 "$BENCH" table --with-post "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *"Training loop, epochs of 10 iterations of 128 or 1024 (s)"* ]]
	[[ "$output" == *"Epochs of 10 iterations of 128 or 1024 (s/epoch)"* ]]
	[[ "$output" != *"One epoch"* && "$output" != *"32.868 "*"81.551"* ]]
	# Its iterations are what they are.
	[ "$(grep -c '^post 002, example' <<<"$output")" -eq 1 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"post 002's epochs, of all samples, and loops are left out"* ]]
	run -0 "$BENCH" table --format post --with-post "$BATS_TEST_TMPDIR/cut"
	[[ "${lines[0]}" == "| Campaign, epochs of 10 iterations of 128 or 1024 | "* ]]
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *"- cut short: cpu-1 10 of 469 iterations, cpu-8 10 of 59"* ]]
	[[ "${output//$'\n'/ }" == *" cut to 10 iterations; n=1, ± between iterations "* ]]
	grep -Eq '^target +ms/iter +s/whole ' <<<"$output"
	[[ "${output//$'\n' /}" == *"cpu-8 10 of 59; s/epoch (~) is extrapolated"* ]]
	# Whole epochs: 0.6 s and 58720 of the 3084 images/s; 1.1 s and 49760 of
	# 11191.
	grep -Eq '^cpu-1 +40\.5 ±0\.5 +~19\.6 ' <<<"$output"
	grep -Eq '^cpu-8 +90\.5 ±0\.5 +~5\.55 ' <<<"$output"
	# Each target's own iterations are named.
	sed -i '/,cpu-8,/s/,10,10,60000,/,10,5,60000,/' \
		"$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *" cut to 10 or 5 iterations; n=1"* ]]
	[[ "$output" == *"- cut short: cpu-1 10 of 469 iterations, cpu-8 5 of 59"* ]]
	run -0 "$BENCH" table --details "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *"Epochs of 10 iterations of 128 or 5 of 1024 (s/epoch)"* ]]
	sed -i '/,cpu-8,/s/,10,5,60000,/,10,59,60000,/' \
		"$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table --details "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *"Epochs of 10 iterations of 128 or all of 1024 (s/epoch)"* ]]
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *" cut to 10 or all iterations; n=1"* ]]
	grep -Eq '^cpu-8 +90\.5 ±0\.5 +1\.10 ' <<<"$output"
	# A test that was cut is extrapolated, too: 0.1 s are of 300 images.
	sed -i -e '1s/$/,test_batch,test_steps/' -e '2,$s/$/,100,3/' \
		"$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	grep -Eq '^cpu-1 +40\.5 ±0\.5 +~22\.9 ' <<<"$output"
	# Without the size of the training set nothing is extrapolated.
	sed -i 's/,60000,10000,/,,10000,/' "$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	grep -Eq '^cpu-1 +40\.5 ±0\.5 +- ' <<<"$output"
	[[ "$output" != *extrapolated* ]]
	# What did not run was not cut short.
	STEPS=10 make_rows "$BATS_TEST_TMPDIR/cut" b cut 1 cpu-1:1:40 cpu-8:8:90
	sed -i 's/,ok,,cpu-8,/,skipped,no device,cpu-8,/' \
		"$BATS_TEST_TMPDIR/cut/runs.csv"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/cut"
	[[ "$output" == *"- cut short: cpu-1 10 of 469 iterations"* ]]
	[[ "$output" != *"cpu-8 10 of"* ]]
}

@test "two campaigns are two rows, single files are one" {
	make_rows "$BATS_TEST_TMPDIR/two" b two 1 cpu-1:1:50 cpu-2:2:60
	run -0 "$BENCH" table --details "$DIR" "$BATS_TEST_TMPDIR/two" --format github
	[[ "$output" == *"| one | 1.300 | 2.300 | 0.900 | - |"* ]]
	[[ "$output" == *"| two | 1.500 | - | - | 1.700 |"* ]]
	# Only within the first do global batches differ.
	make_rows "$BATS_TEST_TMPDIR/three" c three 1 cpu-1:1:50 opencl:1:20
	run -0 "$BENCH" table "$DIR" "$BATS_TEST_TMPDIR/three"
	[ "$(grep -o 'compare accuracy too' <<<"${output//$'\n'/ }" | wc -l)" -eq 1 ]
	run -0 "$BENCH" table --details "$DIR/observations.csv" --format github
	[[ "$output" == *"| measured | 1.300 | 2.300 | 0.900 |"* ]]
	run -0 "$BENCH" table --details "$DIR/runs.csv" "$DIR/observations.csv"
	grep -Eq '^one +1\.300 +2\.300 +0\.900$' <<<"$output"
	run -2 "$BENCH" table "$DIR/runs.csv"
	[ "$output" = "bench: $DIR/runs.csv: its times are in observations.csv\
 next to it: name the folder of both, $BENCH table $DIR/" ]
	cd "$DIR"
	run -2 "$BENCH" table runs.csv --details
	[[ "$output" == *"$BENCH table ." ]]
	# Alone it is all there is.
	cp runs.csv "$BATS_TEST_TMPDIR"
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/runs.csv"
	run -5 "$BENCH" table "$DIR" "$DIR"
	[[ "$output" == *"was read before"* ]]
}

@test "exports: one row a target, one JSON document, Markdown" {
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" table --details "$DIR" --export-csv a.csv --export-json a.json \
		--export-markdown a.md >tables
	grep -q 'Training loop' tables
	[ "$(wc -l <a.csv)" -eq 4 ]
	grep -q '^bench/1,20260131T235959Z-one,one,cpu-8,8,1,ok,,2.3,,0.0905,' a.csv
	grep -q '^| one | 1.300 | 2.300 | 0.900 |$' a.md
	python3 - a.json <<-'END'
		import json, sys
		def refuse(text): raise ValueError(text)
		j = json.load(open(sys.argv[1]), parse_constant=refuse)
		assert j["schema"] == "bench/1" and len(j["runs"]) == 3
		assert j["context"]["machine"]["cpu_model"] == "A CPU"
		assert j["runs"][0]["exit_code"] is None
		it = [s for s in j["summary"]
		      if (s["target"], s["metric"]) == ("cpu-8", "iter_s")]
		assert len(it) == 1 and it[0]["mean"] == .0905, it
		assert it[0]["ci95_lo"] is None
	END
}

@test "what was skipped is listed with its reason and no number" {
	sed -i 's/,ok,,opencl,/,skipped,"no device, here",opencl,/' \
		"$DIR/runs.csv"
	run -0 "$BENCH" table --details "$DIR"
	grep -Eq '^one +1\.300 +2\.300 +-$' <<<"$output"
	grep -Eq '^status +ok +ok +skipped$' <<<"$output"
	[[ "$output" == *"one, opencl: skipped: no device, here"* ]]
	run -0 "$BENCH" table "$DIR" --export-csv -
	[[ "${lines[3]}" == *',opencl,1,0,skipped,"no device, here",,,,,,,,,,,,128,,,,,,,,,,,,2,,'* ]]
}

@test "where nothing was measured there are no tables, but why" {
	local file
	sed -i 's/,ok,,opencl,/,error,"no device, here",opencl,/' \
		"$DIR/runs.csv"
	for file in runs observations; do
		sed -i '/cpu-[18]/d' "$DIR/$file.csv"
	done
	sed -i '2,$d' "$DIR/observations.csv"
	run -0 "$BENCH" table "$DIR"
	[ "$output" = "- opencl: error: no device, here" ]
	run -0 "$BENCH" table "$DIR" --export-csv -
	[[ "${lines[1]}" == *',opencl,1,0,error,"no device, here",'* ]]
}

@test "an export to - is all there is on standard output" {
	"$BENCH" table "$DIR" --export-json - |
		python3 -c 'import json, sys; json.load(sys.stdin)'
	run -2 "$BENCH" table "$DIR" --export-json - --export-csv -
	run -2 "$BENCH" table "$DIR" --export-json same --export-csv same
	[[ "$output" == "bench: same of --export-json is same, which \
--export-csv writes: name another file" ]]
	[ ! -e same ]
}

@test "an export replaces an export, and no rows of another folder" {
	local before
	cd "$BATS_TEST_TMPDIR"
	mkdir other
	cp "$DIR"/*.csv other
	ln -s other/runs.csv link
	before=$(cat other/*)
	for file in other/runs.csv other/observations.csv link; do
		run -2 "$BENCH" table "$DIR" --export-csv "$file"
		[ "$output" = "bench: $file of --export-csv has measured rows: \
name another file" ]
	done
	[ "$(cat other/*)" = "$before" ]
	for _ in 1 2; do
		run -0 "$BENCH" table "$DIR" --export-csv own.csv
	done
}

@test "rows can come through a pipe" {
	run -0 "$BENCH" table --details /dev/stdin <"$DIR/observations.csv"
	grep -Eq '^measured +1\.300 +2\.300 +0\.900$' <<<"$output"
}

@test "what is not there, not a number or not ours is exit 4 or 5, by line" {
	cd "$BATS_TEST_TMPDIR"
	run -4 "$BENCH" table nowhere.csv
	[[ "$output" == *"nowhere.csv"* ]]
	run -2 "$BENCH" table
	mkdir empty
	run -5 "$BENCH" table empty
	[[ "$output" == *"no rows"* ]]
	# Of runs that ended well there are rows.
	mkdir timeless
	cp "$DIR/runs.csv" timeless
	for rows in "" "$(head -1 "$DIR/observations.csv")"; do
		printf %s "$rows" >timeless/observations.csv
		run -0 --separate-stderr "$BENCH" table timeless
		[[ "$stderr" == "note: timeless/observations.csv has no rows of the 3 runs that runs.csv has: "* ]]
	done
	head -1 "$DIR/runs.csv" >header.csv
	run -5 "$BENCH" table header.csv
	[[ "$output" == *"no rows"* ]]
	sed '3s/,1,128/,x,128/' "$DIR/observations.csv" >bad.csv
	run -5 "$BENCH" table bad.csv
	[[ "$output" == *"bad.csv:3:"*'found "x"'* ]]
	head -c 100 "$DIR/observations.csv" >cut.csv
	run -5 "$BENCH" table cut.csv
	[[ "$output" == *"cut.csv:1:"* ]]
	head -c 4096 /dev/urandom >noise.csv
	run -5 "$BENCH" table noise.csv
}

@test "what has no rows names what has" {
	cd "$BATS_TEST_TMPDIR"
	mkdir many
	cp -r "$DIR" many/1
	cp -r "$DIR" many/2
	run -5 "$BENCH" table many
	[[ "$output" == *"choose a folder in it, such as many/2" ]]
	cp "$BATS_TEST_DIRNAME"/../../results/2026-11-22-xeon-2-cpus/summary.csv .
	run -5 "$BENCH" table summary.csv
	[[ "$output" == *"summary.csv:2: this is a summary"*observations.csv* ]]
}

@test "a line that a killed process left half written is passed over" {
	"$BENCH" table "$DIR" >"$BATS_TEST_TMPDIR/whole"
	printf 'bench/1,x,cpu-1,1,,step,1,2,0,0.' >>"$DIR/observations.csv"
	printf 'bench/1,x,"ca' >>"$DIR/runs.csv"
	run -0 --separate-stderr "$BENCH" table "$DIR"
	diff "$BATS_TEST_TMPDIR/whole" - <<<"$output"
	count=$(wc -l <"$DIR/observations.csv")
	[[ "$stderr" == *"note: $DIR/observations.csv:$((count + 1)): "* ]]
	[[ "$stderr" == *"note: $DIR/runs.csv:5: "* ]]
	# A whole line after it, and it is not the last.
	printf '\nbench/1,y\n' >>"$DIR/runs.csv"
	run -5 --separate-stderr "$BENCH" table "$DIR"
	[[ "$stderr" == *"$DIR/runs.csv:"* ]]
}

@test "a table is not made of more lines than anybody could read" {
	cd "$BATS_TEST_TMPDIR"
	rest=$(sed -n '6s/^[^,]*,[^,]*//p' "$DIR/observations.csv")
	{ head -n 1 "$DIR/observations.csv"
		seq -f "bench/1,r%.0f$rest" 100001; } >runs.csv
	run -5 "$BENCH" table runs.csv
	[[ "$output" == *"100002 lines of 1 targets are too many"* ]]
	head -n 501 runs.csv | "$BENCH" table --details /dev/stdin >tables
	grep -q ', all 500 ' tables
}

@test "no results file is waited for, whatever it is" {
	mv "$DIR/runs.csv" "$BATS_TEST_TMPDIR/runs.csv"
	mkfifo "$DIR/runs.csv"
	run -5 "$BENCH" table "$DIR"
	[[ "$output" == *"$DIR/runs.csv:1:1: the file is empty"* ]]
	run -5 "$BENCH" table "$DIR/runs.csv"
	rm "$DIR/runs.csv"
	mkdir "$DIR/runs.csv"
	run -5 "$BENCH" table "$DIR"
	[[ "$output" == *"$DIR/runs.csv: Is a directory"* ]]
	# One that has a writer is, though it is slow.
	run -0 "$BENCH" table <(sleep 0.3; cat "$DIR/observations.csv")
}

@test "a table or an export that cannot be written is exit 7" {
	run -7 bash -c '"$BENCH" table "$1" >/dev/full' _ "$DIR"
	cd "$BATS_TEST_TMPDIR"
	echo old >kept.csv
	run -7 "$BENCH" table "$DIR" --export-csv nowhere/a.csv
	[[ "$output" == *"nowhere/a.csv"* ]]
	run -7 "$BENCH" table "$DIR" --export-json /dev/full
	[[ "$output" == *"/dev/full"* ]]
	[ "$(cat kept.csv)" = old ]
}

@test "text from outside cannot steer the terminal or the page" {
	make_rows "$BATS_TEST_TMPDIR/evil" b $'\e[31m|<script>`a`' 1 cpu-1:1:40
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/evil"
	[[ "$output" != *$'\e'* ]]
	[[ "$output" == *'\x1B'* ]]
	run -0 "$BENCH" table "$BATS_TEST_TMPDIR/evil" --format github
	[[ "$output" != *"<script"* && "$output" != *$'\e'* ]]
}

@test "results/README.md is what --columns prints" {
	"$BENCH" table --columns |
		diff "$BATS_TEST_DIRNAME/../../results/README.md" -
}

@test "without a target of one core the first one is compared with" {
	local devices=$BATS_TEST_DIRNAME/../../results/2026-11-22-devices-xeon-2-cpus
	run -0 --separate-stderr "$BENCH" table "$devices"
	local said="${lines[*]}"
	[[ $said == *"In images/s (7 runs each), opencl (PoCL, 2 CPUs) is 0.87 times as fast"* ]]
	[[ $said == *" as cpu-2, opencl-2 (PoCL, 2 CPUs, 2 sub-devices) 0.85 "* ]]
	# Brackets are intervals, and there is none.
	[[ $said != *[][]* ]]
}

@test "a title says how many forward passes were done" {
	cd "$BATS_TEST_TMPDIR"
	run -0 "$BENCH" infer null-1 --model tiny -d synthetic \
		--synthetic-test 40 --count 40 -q --out i
	[ "${lines[0]}" = "tiny on synthetic, 40 forward passes; n=1" ]
	# As after an interruption.
	awk -F, '!/,step,/ || n++ < 18' i/observations.csv >rows
	mv rows i/observations.csv
	sed -i 's/,ok,/,partial,/' i/runs.csv
	run -0 "$BENCH" table i -q
	[[ "$output" == *"tiny on synthetic, 17 forward passes; n=1"* ]]
}

@test "an update has no more samples than there are" {
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" run null-2 -d synthetic --synthetic-train 3 \
		--synthetic-test 40 --warmup 0 --epochs 2 -q --out few >few.txt
	grep -Eq '^null-2 .* 2 x 3 ' few.txt
	"$BENCH" table few --details | grep -Eq '^global batch +3$'
}
