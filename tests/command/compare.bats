#!/usr/bin/env bats
# `bench compare`: two campaigns side by side.

load command.sh

setup() {
	command_setup
	unset NO_COLOR
	campaign one old cpu-1:2 cpu-1:3 cpu-1:4 cpu-1:5 cpu-2:1
	campaign two new cpu-1:4 cpu-1:6 cpu-1:8 cpu-1:10 opencl:1
}

# campaign DIR LABEL TARGET:SECONDS ... makes runs.csv alone.
campaign() {
	local run number=0
	mkdir "$1"
	{
		echo "schema,run_id,campaign_id,label,started_utc,status,target,cores,seed,loop_s,setup_s,final_accuracy_pct,compiler,logical_cpus,foreign_pct"
		for run in "${@:3}"; do
			number=$((number + 1))
			echo "bench/1,$1-$number,$1,$2,2026-01-31T23:59:59Z,ok,${run%:*},1,1,${run##*:},.5,99,cc of $2,2,${FOREIGN:-0}"
		done
	} >"$1/runs.csv"
}

@test "disturbed runs are named with their side" {
	run -0 "$BENCH" compare one two
	[[ $output != *disturbed* ]]
	FOREIGN=40 campaign busy new cpu-1:4 cpu-1:6
	run -0 "$BENCH" compare one busy
	[[ $output == *"- second: disturbed: cpu-1 (2 of 2 runs; others used 0.80 of 2 CPUs at most)"* ]] ||
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"- second: disturbed: cpu-1 (2 of 2 runs; others used 0.80 of 2 CPUs at most): times inflated"* ]]
	[[ $output != *"first: disturbed"* ]]
}

@test "ratios with their intervals, after what differs" {
	run -0 --separate-stderr "$BENCH" compare one two --export-csv csv
	[ -z "$stderr" ]
	[ "${lines[0]}" = "- first: old" ]
	[ "${lines[1]}" = "- second: new" ]
	[[ ${lines[2]} == *"build: compiler: first cc of old, second cc of new" ]]
	[[ $output == *"cpu-2 is not compared: only the first has"* ]]
	[[ $output == *"opencl is not compared: only the second has"* ]]
	grep -Eq '^training loop \(s\) +3\.500 +7\.000 +4, 4 +2\.000 +\[0\.800, 5\.000\]$' \
		<<<"$output"
	grep -Eq '^start-up \(ms\) +500\.000 .* 1\.000 +\[1\.000, 1\.000\]$' <<<"$output"
	[[ $output != *n=1* ]]
	[ "$(wc -L <<<"$output")" -le 80 ]
	[ "$(cell csv 1 metric)" = loop_s ]
	[ "$(cell csv 1 ratio)" = 2 ]
	[ "$(cell csv 1 ratio_lo)" = 0.8 ]
	[ "$(cell csv 1 ratio_hi)" = 5 ]
	[ "$(cell csv 1 n_second)" = 4 ]
}

@test "a slower second is no failure, and single files do" {
	run -0 "$BENCH" compare one/runs.csv two/runs.csv --format github
	[[ $output == *"| training loop (s) | 3.500 | 7.000 | 4, 4 | 2.000 | [0.800, 5.000] |"* ]]
	run -0 --separate-stderr "$BENCH" compare two one --export-csv -
	[ "${lines[0]%%,*}" = schema ]
	[[ ${lines[1]} == bench/1,new,old,cpu-1,loop_s,s,4,4,7,3.5,0.5,0.2,1.25, ]]
}

@test "--fail-above advises against a slower second" {
	campaign base old cpu-1:2 cpu-1:3 cpu-1:4 cpu-1:5
	campaign slow new cpu-1:8 cpu-1:12 cpu-1:16 cpu-1:20
	run -3 --separate-stderr "$BENCH" compare base slow --fail-above 50
	[[ $output == *"training loop (s)"* ]]
	[[ $stderr == *"slower by more than 50 %: cpu-1, training loop: 4.000 [1.600, 10.000]; "*"bench check --base-ref"* ]]
	run -0 "$BENCH" compare base slow --fail-above 60
	run -0 "$BENCH" compare slow base --fail-above 0
	# Start-up is no training.
	mkdir late
	sed 's/,\.5,99,/,5,99,/' base/runs.csv >late/runs.csv
	run -0 "$BENCH" compare base late --fail-above 0
	grep -Eq '^start-up \((m?)s\) .* 10\.000 ' <<<"$output"
}

@test "--fail-above fails if it cannot know" {
	campaign base old cpu-1:2 cpu-1:3 cpu-1:4 cpu-1:5
	campaign few few cpu-1:30
	run -3 --separate-stderr "$BENCH" compare base few --fail-above 5
	[[ $stderr == *"cpu-1: no time has an interval, which needs four finished runs of the target on each side (bench run --repeat 4)"* ]]
	# one has cpu-2 as well.
	run -3 --separate-stderr "$BENCH" compare one base --fail-above 5
	[[ $stderr == *"--fail-above: cpu-2: no time"* ]]
}

@test "the folder of an old bench baseline is compared" {
	mkdir kept
	awk 'NR == 1 { print $0 ",arm,stage,block"; next }
		{ print $0 ",,1," NR - 1 }' one/runs.csv >kept/runs.csv
	run -0 --separate-stderr "$BENCH" compare kept two --export-csv csv
	[ "$(cell csv 1 ratio)" = 2 ]
	[ "$(cell csv 1 n_first)" = 4 ]
}

@test "too few runs have no interval, and it is said why" {
	campaign few few cpu-1:3
	run -0 "$BENCH" compare few two --export-csv csv
	grep -Eq '^training loop \(s\) +3\.000 +7\.000 +1, 4 +2\.309 +-$' <<<"$output"
	[[ $output == *"n=1"* ]]
	tr '\n' ' ' <<<"$output" | grep -q 'need at least 4 runs on'
	[ "$(cell csv 1 ratio_lo)" = "" ]
	[[ $(cell csv 1 reason) == "too few runs"* ]]
}

# worked DIR CPU MODEL EPOCHS STEPS: a run of cpu-1 and one of cpu-2, of all
# images of an epoch or of as many iterations.
worked() {
	local target
	mkdir "$1"
	{
		echo "schema,run_id,campaign_id,label,started_utc,status,target,cores,loop_s,setup_s,final_accuracy_pct,cpu_model,logical_cpus,model,dataset,train_samples,test_samples,test_batch,global_batch,epochs,steps,compiler,cpu_list"
		for target in cpu-1:128 cpu-2:256; do
			echo "bench/1,$1-$target,$1,,2026-01-31T23:59:59Z,ok,${target%:*},1,2,.5,99,$2,2,$3,mnist,60000,10000,100,${target#*:},$4,$5,cc of $1,on $1"
		done
	} >"$1/runs.csv"
}

@test "other work has no ratio, but is named with why" {
	worked whole "A CPU" mnist 1 ""
	worked cut "A CPU" mnist 1 40
	run -0 "$BENCH" compare whole cut --export-csv csv
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"- cpu-1: not compared, as the work differs (epochs of 60000 images against 5120): training loop, test accuracy (%) "* ]]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"- cpu-2: not compared, as the work differs (epochs of 60000 images against 10240): training loop, test accuracy (%) "* ]]
	[[ $output != *"training loop (s)"* ]]
	# Start-up does not depend on it.
	[ "$(grep -Ec '^start-up \(ms\) +500.000 +500.000 +1, 1 +1.000' <<<"$output")" = 2 ]
	[ "$(cell csv 1 metric) $(cell csv 1 ratio)" = "loop_s " ]
	[ "$(cell csv 1 reason)" = "epochs of 60000 images against 5120" ]
	worked longer "A CPU" mnist 3 ""
	run -0 "$BENCH" compare whole longer
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"(epochs: 1 against 3): training loop, test accuracy (%)"* ]]
	# A target accuracy ended both sides early, at different epochs.
	for side in first:1 second:3; do
		worked "${side%:*}" "A CPU" mnist 10 ""
		sed -i "1s/\$/,target_accuracy_pct,time_to_accuracy_s,epochs_to_accuracy/; 2,\$s/\$/,95,2,${side#*:}/" \
			"${side%:*}/runs.csv"
	done
	run -0 "$BENCH" compare first second
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"(epochs: 1 against 3): training loop, test accuracy (%)"* ]]
	# As many iterations as an epoch has are the same work.
	worked all "A CPU" mnist 1 469
	sed -i '/cpu-2/d' all/runs.csv
	run -0 "$BENCH" compare whole all
	[[ $output != *"work differs"* && $output == *"training loop (s)"* ]]
	# Runs of one side that differ are no sample of anything.
	sed '1d;s/^bench.1,cut-/bench\/1,more-/' cut/runs.csv >>whole/runs.csv
	run -0 "$BENCH" compare whole all
	[[ $output == *"work differs"* ]]
}

@test "nothing to compare is an error" {
	worked one-net "A CPU" mnist 1 ""
	worked other-net "A CPU" alexnet 1 ""
	run -5 "$BENCH" compare one-net other-net
	[[ $output == *" cannot be compared, because their work differs: mnist against alexnet" ]]
	for verb in run infer; do
		"$BENCH" "$verb" null-1 -m tiny -d synthetic \
			--synthetic-train 64 -q --out "$verb" >/dev/null
	done
	run -5 "$BENCH" compare infer run
	[[ $output == *" cannot be compared, because their work differs: inference against training" ]]
}

@test "another machine comes first" {
	worked here "A CPU" mnist 1 ""
	worked there "B CPU" mnist 1 ""
	run -0 "$BENCH" compare here there
	[ "${lines[0]}" = "- another machine: cpu_model: first A CPU, second B CPU" ]
	[ "${lines[1]}" = "- first: here" ]
	[[ $output == *"differs: machine: cpu_list: first on here, second on there"* ]]
	[[ $output == *"differs: build: compiler: "* ]]
	[ "$(grep -c cpu_model <<<"$output")" = 1 ]
	run -0 "$BENCH" compare here here
	[[ $output != *"another machine"* ]]
}

@test "what differs beyond what is shown of it, and not in order alone" {
	local long
	long=$(printf 'A%03d=1 ' $(seq 42))
	local head=schema,campaign_id,started_utc,status,target,cores,loop_s
	local run=bench/1,c,2026-01-31T23:59:59Z,ok,cpu-1,1,2
	for side in left right; do
		mkdir "$side"
		printf '%s\n' "$head,run_id,governor,variables" \
			"$run,$side-1,powersave,${long}B=$side" \
			"$run,$side-2,performance,${long}B=$side" \
			>"$side/runs.csv"
	done
	run -0 "$BENCH" compare left right
	[[ $output == *"differs: variables: variables: first A001=1"*".., second"* ]]
	[[ $output != *"no recorded difference"* && $output != *governor* ]]
	sed -i '2s/powersave/performance/;3s/performance/powersave/;s/B=right/B=left/' \
		right/runs.csv
	run -0 "$BENCH" compare left right
	[[ $output == *"no recorded difference"* ]]
	sed -i 's/performance/powersave/' right/runs.csv
	run -0 "$BENCH" compare left right
	[[ $output == *"governor: first powersave, performance, second"* ]]
}

@test "campaigns with equal labels are named by their folders" {
	campaign three old cpu-1:1
	run -0 "$BENCH" compare one three
	[ "${lines[0]}" = "- first: one" ]
	[ "${lines[1]}" = "- second: three" ]
	run -0 "$BENCH" compare one one
	[[ $output == *"no recorded difference"* ]]
}

@test "a straggler is compared with its like alone" {
	campaign late late cpu-2+straggler=1:5:3 cpu-1:1
	run -0 "$BENCH" compare one late
	[[ $output == *"cpu-2 is not compared: only the first"* ]]
	[[ $output == *"cpu-2+straggler=1:5 is not compared: only the second"* ]]
}

@test "what cannot be compared is refused" {
	run -2 "$BENCH" compare one
	[[ $output == *"two campaigns"* ]]
	run -2 "$BENCH" compare one two one
	run -2 "$BENCH" compare one two --format post
	[[ $output == *"plain and github"* ]]
	campaign other other cpu-8:1
	run -5 "$BENCH" compare one other
	[[ $output == *cpu-8* ]]
	mkdir empty
	run -5 "$BENCH" compare one empty
	echo "schema,nothing" >bad.csv
	run -5 "$BENCH" compare one bad.csv
	run ! "$BENCH" compare one missing
	run -7 "$BENCH" compare one two --export-csv /proc/none
}

@test "campaigns that were run" {
	local out
	for out in left right; do
		"$BENCH" run cpu-1 cpu-2 "${TINY[@]}" --repeat 4 --out "$out" \
			>/dev/null
	done
	run -0 "$BENCH" compare left right --export-csv csv
	[[ $output == *"no recorded difference"* ]]
	[ "$(column csv target | tr ' ' '\n' | uniq -c | awk '{ print $1, $2 }' |
		tr '\n' ' ')" = "7 cpu-1 7 cpu-2 " ]
	python3 - <<-'END'
	import csv
	for row in csv.DictReader(open("csv")):
	    low, ratio, high = (float(row[name]) for name in (
	        "ratio_lo", "ratio", "ratio_hi"))
	    assert 0 < low <= ratio <= high, row
	    if row["metric"] == "final_accuracy_pct":
	        assert row["median_first"] == row["median_second"], row
	END
}

@test "two programs of one commit are distinguished" {
	local out
	cp "$BENCH" other
	printf 'x' >>other # no part of what runs, but another program
	for out in left right; do
		"$BENCH" run null-1 "${TINY[@]}" --out "$out" >/dev/null
	done
	[ "$(column left/runs.csv binary_sha256)" = \
		"$(sha256sum <"$BENCH" | cut -d ' ' -f 1)" ]
	./other run null-1 "${TINY[@]}" --out right >/dev/null
	run -0 "$BENCH" compare left right
	[[ ${output//$'\n'/ } == *"build: binary_sha256: first "* ]]
}

@test "a note says that a campaign is compared with itself, or in part" {
	run -0 --separate-stderr "$BENCH" compare one ./one/
	[ "$stderr" = "note: one and ./one/ are the same campaign: \
comparing it with itself" ]
	# There is no other half.
	run -0 --separate-stderr "$BENCH" compare one/runs.csv two
	[ -z "$stderr" ]
	echo schema,run_id,target,core,phase,epoch,iter,is_warmup,elapsed_s,status \
		>one/observations.csv
	run -0 --separate-stderr "$BENCH" compare one/runs.csv two
	[ "$stderr" = "note: one/runs.csv is compared without observations.csv, \
which was not given: name the folder one/ to use both" ]
	cd one
	run -0 --separate-stderr "$BENCH" compare runs.csv ../two
	[[ "$stderr" == *"name the folder . to use both" ]]
}
