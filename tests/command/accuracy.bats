#!/usr/bin/env bats
# --target-accuracy: when runs end, what their times are, what tables say.

load command.sh

@test "a run ends with the first test that reaches the accuracy" {
	"$BENCH" run cpu-2 cpu-2@fork cpu-1 "${TINY[@]}" --epochs 4 \
		--target-accuracy 1 --out reached --details >tables
	[ "$(column reached/runs.csv epochs)" = "4 4 4" ]
	[ "$(column reached/runs.csv updates)" = "1 1 1" ]
	[ "$(column reached/runs.csv epochs_to_accuracy)" = "1 1 1" ]
	[ "$(column reached/runs.csv target_accuracy_pct)" = "1 1 1" ]
	[ "$(column reached/runs.csv status)" = "ok ok ok" ]
	grep -Eq '^reached +1 of 1 +1 of 1 +1 of 1$' tables
	grep -Eq '^epochs +1\.0 +1\.0 +1\.0$' tables
	grep -q 'closed: all make their updates' tables
	grep -q 'score: the time of the only run' tables
	# Data and loop, without the rest of start-up.
	python3 - <<-'END'
	import csv
	for row in csv.DictReader(open("reached/runs.csv")):
	    data, loop, time, setup = (float(row[name]) for name in (
	        "data_s", "loop_s", "time_to_accuracy_s", "setup_s"))
	    assert data < time <= data + loop + 1e-6, row
	    assert data < setup
	END
}

@test "what is not reached is said, and is no failure" {
	"$BENCH" run cpu-1 null-1 "${TINY[@]}" --epochs 2 --seed 5 \
		--target-accuracy 100 --out missed --export-csv csv --details \
		>tables
	[ "$(column missed/runs.csv epochs_to_accuracy)" = " " ]
	[ "$(column missed/runs.csv time_to_accuracy_s)" = " " ]
	[ "$(column missed/runs.csv updates)" = "2 2" ]
	grep -q '^Time to 100 %: ' tables
	grep -Eq '^reached +0 of 1 +0 of 1$' tables
	grep -Eq '^success rate, 95 % lower bound \(%\) +0\.0 +0\.0$' tables
	grep -Eq '^score \(s\) +not reached +not reached$' tables
	grep -Eq '^seed 5 \(s\) +not reached +not reached$' tables
	[ "$(column csv n_reached)" = "0 0" ]
	[ "$(column csv time_to_accuracy_s)" = " " ]
	[ "$(column csv target_accuracy_pct)" = "100 100" ]
	"$BENCH" table missed --details >again
	sed -n '/^Time to/,$p' tables | cmp - <(sed -n '/^Time to/,$p' again)
}

@test "the global batch is 128, or what is asked for, and never per core" {
	"$BENCH" run cpu-2 "${TINY[@]}" --target-accuracy 1 --out closed >/dev/null
	[ "$(column closed/runs.csv global_batch)" = 128 ]
	"$BENCH" run cpu-2 "${TINY[@]}" --target-accuracy 1 --global-batch 64 \
		--out other --details >tables
	[ "$(column other/runs.csv global_batch)" = 64 ]
	grep -q 'a global batch of 64' tables
	run ! grep -q 'closed: ' tables
	run -2 "$BENCH" run cpu-2 "${TINY[@]}" --target-accuracy 1 --batch 64
	[[ $output == *--global-batch* ]]
	run -2 "$BENCH" run cpu-2 "${TINY[@]}" --target-accuracy 1 --test off
	[[ $output == *"--test off"* ]]
	run -2 "$BENCH" run --target-accuracy 101
	run -2 "$BENCH" run --target-accuracy 0
	run -0 "$BENCH" run cpu-1 "${TINY[@]}" --target-accuracy 1 --dry-run
	[[ $output == *"at most about"* ]]
}

# rows TIME ...: runs.csv of as many runs, - where it was not reached.
rows() {
	local time seed=0
	echo "schema,run_id,campaign_id,label,started_utc,status,target,cores,model,seed,global_batch,setup_s,warmup_s,data_s,loop_s,final_accuracy_pct,target_accuracy_pct,time_to_accuracy_s,epochs_to_accuracy"
	for time in "$@"; do
		seed=$((seed + 1))
		case $time in
		-) echo "bench/1,r-$seed,c,made,2026-01-31T23:59:59Z,ok,cpu-1,1,mnist,$seed,128,2,1,.5,9,98.$seed,99,," ;;
		failed) echo "bench/1,r-$seed,c,made,2026-01-31T23:59:59Z,error,cpu-1,1,mnist,$seed,128,,,,,,99,," ;;
		*) echo "bench/1,r-$seed,c,made,2026-01-31T23:59:59Z,ok,cpu-1,1,mnist,$seed,128,2,1,.5,9,99.1$seed,99,$time,3" ;;
		esac
	done
}

@test "the score is the mean without the fastest and the slowest" {
	rows 10 1 3 2 100 >runs.csv
	"$BENCH" table runs.csv --details --export-csv csv --export-json json \
		>tables
	grep -Eq '^reached +5 of 5$' tables
	grep -Eq '^score \(s\) +5\.000$' tables
	grep -Eq '^median \(s\) +3\.000$' tables
	grep -Eq '^start-up, not included \(s\) +2\.500$' tables
	grep -Eq '^seed 5 \(s\) +100\.000$' tables
	# The first screen has the table, and not what its words mean.
	"$BENCH" table runs.csv >first
	grep -Eq '^score \(s\) +5\.000$' first
	run ! grep -q 'without the fastest' first
	# A run ends where its test is good: that says nothing of its mean.
	grep -Eq '^success rate, 95 % lower bound \(%\) +54\.9$' tables
	run ! grep -q 'claimed' tables
	[ "$(cell csv 1 score_s)" = 5 ]
	[ "$(cell csv 1 time_to_accuracy_s)" = 23.2 ]
	[ "$(cell csv 1 time_to_accuracy_median_s)" = 3 ]
	[ "$(cell csv 1 n_reached)" = 5 ]
	jq -e '.summary[] | select(.metric == "score_s") |
		.mean == 5 and .n_runs == 5' json
	jq -e '.summary[] | select(.metric == "n_reached") | .mean == 5' json
	rows 10 1 4 >runs.csv
	"$BENCH" table runs.csv --details >tables
	grep -Eq '^score \(s\) +5\.000$' tables
	grep -q 'score: the plain mean' tables
}

@test "one run of five may miss, or fail; two make the score invalid" {
	rows 10 1 3 2 - >runs.csv
	"$BENCH" table runs.csv --details >tables
	grep -Eq '^reached +4 of 5$' tables
	grep -Eq '^score \(s\) +5\.000$' tables
	grep -Eq '^seed 5 \(s\) +not reached$' tables
	# The mean of the others alone is shown nowhere.
	grep -Eq '^time to 99 % \(s\) +-$' tables
	rows 10 1 3 2 failed >runs.csv
	"$BENCH" table runs.csv --details >tables
	grep -Eq '^reached +4 of 5$' tables
	grep -Eq '^success rate, 95 % lower bound \(%\) +34\.2$' tables
	grep -Eq '^score \(s\) +5\.000$' tables
	grep -Eq '^seed 5 \(s\) +failed$' tables
	grep -Eq '^time to 99 % \(s\) +-$' tables
	rows 10 - 3 2 - >runs.csv
	run -0 "$BENCH" table runs.csv --export-csv csv
	grep -Eq '^reached +3 of 5$' <<<"$output"
	grep -Eq '^score \(s\) +invalid$' <<<"$output"
	grep -Eq '^median \(s\) +10\.000$' <<<"$output"
	grep -Eq '^success rate, 95 % lower bound \(%\) +18\.9$' <<<"$output"
	[ "$(cell csv 1 time_to_accuracy_s)" = "" ]
	[ "$(cell csv 1 n_reached)" = 3 ]
	run ! grep -Eqi '(nan|inf)\b' csv
}

@test "without a target the fourth table has the time to 99 %" {
	"$BENCH" run cpu-1 "${TINY[@]}" --out plain --details >tables
	grep -Eq '^time to 99 % \(s\) +-$' tables
	run ! grep -q '^Time to' tables
	[ "$(column plain/runs.csv target_accuracy_pct)" = "" ]
}

@test "no character of a label is cut in half" {
	local stars
	stars=$(printf '*%.0s' $(seq 39))
	rows 10 1 >runs.csv
	sed -i "s/,made,/,${stars}aééééééééééé,/" runs.csv
	"$BENCH" table runs.csv --format github >tables
	iconv -f UTF-8 -t UTF-8 tables >/dev/null
	grep -q '^\*\*Time to 99 %: .*aééééééééééé, all 2\*\*$' tables
}

@test "the title has the epochs that were done" {
	run -0 "$BENCH" run cpu-1 cpu-2 --model tiny "${DATA[@]}" --warmup 1 \
		--epochs 5 --target-accuracy 1 --out early -q
	[[ "${lines[0]}" == "tiny on synthetic, 1 epoch; n=1, "* ]]
	# The other target needs more.
	python3 - <<-'END'
	import csv
	rows = list(csv.DictReader(open("early/runs.csv")))
	rows[1]["epochs_to_accuracy"] = "3"
	with open("early/runs.csv", "w", newline="") as out:
	    writer = csv.DictWriter(out, rows[0])
	    writer.writeheader()
	    writer.writerows(rows)
	END
	run -0 "$BENCH" table early -q
	[[ "${lines[0]}" == "tiny on synthetic, 1 to 3 epochs; n=1, "* ]]
}
