#!/usr/bin/env bats
# The gate on recorded pairs, and its statistics against SciPy's.

load command.sh

setup() {
	command_setup
	RESAMPLE=$(dirname "$BENCH")/tests/resample
}

# record DIR BLOCKS PCT SPREAD [ARM]: what `bench check` would leave of a head,
# or another arm, that takes PCT more on cpu-1; the times of both targets drift,
# and spread by SPREAD percent.
record() {
	mkdir -p "$1"
	python3 - "$@" <<-'END'
	import math, random, sys
	folder, blocks, percent, spread = sys.argv[1], *map(float, sys.argv[2:5])
	slower = (sys.argv + ["B"])[5]
	draw = random.Random(7).gauss
	rows = open(folder + "/observations.csv", "w")
	runs = open(folder + "/runs.csv", "w")
	print("schema,run_id,target,core,phase,epoch,iter,is_warmup,elapsed_s,"
	      "status", file=rows)
	print("schema,run_id,campaign_id,started_utc,status,target,arm,stage,"
	      "block,attempt", file=runs)
	drift = 0
	for block in range(int(blocks)):
	    drift = .9 * drift + draw(0, .02)
	    for target in "cpu-1", "cpu-8":
	        for arm in "A", "B", "A2":
	            run = f"{target}-{block}-{arm}"
	            s = .01 * math.exp(drift + draw(0, spread / 100))
	            if target == "cpu-1" and arm == slower:
	                s *= 1 + percent / 100
	            for i in range(3):
	                print(f"bench/1,{run},{target},,step,1,{i + 1},0,"
	                      f"{s * (1 + i / 100):.9g},ok", file=rows)
	            # Two checks, one after the other.
	            print(f"bench/1,{run},c{block // 60},2026-01-31T23:59:59Z,"
	                  f"ok,{target},{arm},1,{block % 60 + 1},1", file=runs)
	END
}

# times TARGET WHAT: how often, as resample said.
times() {
	# shellcheck disable=SC2154 # bats sets output
	awk -v target="$1" -v what="$2" \
		'index($0, target) == 1 && substr($0, 18, length(what)) == what {
			print $(NF - 6)
		}' <<<"$output"
}

@test "a base against itself is not flagged, and the interval is 95 %" {
	record aa 80 0 2
	run -0 --separate-stderr "$RESAMPLE" aa
	[[ $output == *"cpu-1                80        4 "* ]]
	[ "$(times cpu-1 "flagged slower")" -le 3 ]
	[ "$(times "whole check" regression)" = 0 ]
	# 285, and four standard errors of what is drawn.
	[ "$(times cpu-1 "interval holds")" -ge 270 ]
	[ "$(times cpu-8 "interval holds")" -ge 270 ]
}

@test "what is added to recorded pairs is found" {
	record aa 80 0 2
	run -0 --separate-stderr "$RESAMPLE" --add 10 --checks 50 aa
	[ "$(times cpu-1 regression)" = 50 ]
	[ "$(times "whole check" regression)" = 50 ]
	run -0 --separate-stderr "$RESAMPLE" --add -10 --checks 50 aa
	[ "$(times cpu-1 "flagged faster")" = 50 ]
	[ "$(times "whole check" regression)" = 0 ]
	# Below this margin nothing is.
	run -0 --separate-stderr "$RESAMPLE" --add 10 --margin 20 aa
	[ "$(times cpu-1 "flagged slower")" = 0 ]
}

@test "a slower head is found as recorded, and not where arms are exchanged" {
	record slower 80 8 1
	run -0 --separate-stderr "$RESAMPLE" --as-recorded slower
	[ "$(times cpu-1 regression)" = 300 ]
	[ "$(times cpu-8 regression)" = 0 ]
	run -0 --separate-stderr "$RESAMPLE" slower
	[ "$(times cpu-1 regression)" = 0 ]
	# The base against itself is in the same rows.
	run -0 --separate-stderr "$RESAMPLE" --control slower
	[ "$(times cpu-1 regression)" = 0 ]
	[ "$(times cpu-1 "interval holds")" -ge 270 ]
}

@test "where the base differs from itself there is no verdict" {
	record odd 40 8 1 A2
	run -0 --separate-stderr "$RESAMPLE" --as-recorded odd
	[ "$(times cpu-1 inconclusive)" = 300 ]
	[ "$(times cpu-8 inconclusive)" = 0 ]
}

@test "noise has no verdict" {
	record loud 40 0 15
	run -0 --separate-stderr "$RESAMPLE" --checks 50 loud
	[ "$(times cpu-1 inconclusive)" -ge 45 ]
}

@test "the same seed, the same checks; several folders are one record" {
	record one 40 0 2
	run -0 --separate-stderr "$RESAMPLE" --pairs --checks 5 one
	first=$output
	run -0 --separate-stderr "$RESAMPLE" --pairs --checks 5 one
	[ "$output" = "$first" ]
	run -0 --separate-stderr "$RESAMPLE" --pairs --checks 5 --seed 2 one
	[ "$output" != "$first" ]
	record two 40 0 2
	sed -i 's/cpu-[18]-/second-&/; s/,c\([01]\),/,other\1,/' two/*.csv
	run -0 --separate-stderr "$RESAMPLE" one two
	[[ $output == *"cpu-1                80 "* ]]
}

@test "a confirmation has no pair of its screen" {
	record slower 41 8 1
	"$RESAMPLE" --pairs --as-recorded slower >pairs.csv
	python3 - <<-'END'
	import csv
	screens, confirmations = {}, 0
	for row in csv.DictReader(open("pairs.csv")):
	    which, pairs = (row["check"], row["target"]), row["differences"].split()
	    assert len(set(pairs)) == 20
	    if row["stage"] == "screen":
	        screens[which] = set(pairs)
	    else:
	        confirmations += 1
	        assert not screens[which] & set(pairs)
	assert confirmations == 300
	END
}

# invocation ID TARGET VERDICT CONFIRMATION: a row of verdicts.csv.
invocation() {
	echo "bench/1,$1,$2,$3,$4"
}

@test "--live counts invocations, not their targets" {
	mkdir same twin
	{
		echo schema,campaign_id,target,verdict,confirm_pairs
		invocation a cpu-1 ok 0
		invocation a cpu-8 REGRESSION 20
		invocation a opencl REGRESSION 20
		invocation b cpu-1 faster 0
		invocation c cpu-1 inconclusive 0
		invocation d cpu-1 ok 20
	} >same/verdicts.csv
	{
		echo schema,campaign_id,target,verdict,confirm_pairs
		for id in e f g h; do
			invocation $id cpu-1 ok 0
		done
	} >twin/verdicts.csv
	run -0 --separate-stderr "$RESAMPLE" --live same twin
	[ "$(tr -s ' ' <<<"$output" | grep ^same)" = \
		"same 4 6 2 1 1 1 1.3 75.1" ]
	# None of four: 1 - .05^(1 / 4).
	[ "$(tr -s ' ' <<<"$output" | grep ^twin)" = \
		"twin 4 4 0 0 0 0 0.0 52.7" ]
	[ "$(tr -s ' ' <<<"$output" | grep ^all)" = \
		"all 8 10 2 1 1 1 0.6 47.1" ]
	run -5 --separate-stderr "$RESAMPLE" --live nowhere
	# shellcheck disable=SC2154 # bats sets stderr
	[[ $stderr == *"nowhere: no verdicts"* ]]
}

@test "too few pairs, and rows of no check, are refused" {
	record few 39 0 2
	run -5 --separate-stderr "$RESAMPLE" few
	# shellcheck disable=SC2154 # bats sets stderr
	[[ $stderr == *"cpu-1 has 39 pairs; two windows of 20 need 40"* ]]
	"$BENCH" run null-1 "${TINY[@]}" --out plain >/dev/null
	run -5 --separate-stderr "$RESAMPLE" plain
	[[ $stderr == *"no rows of bench check"* ]]
	run -2 --separate-stderr "$RESAMPLE" --blocks 0 few
	run -2 --separate-stderr "$RESAMPLE"
}

@test "estimates, bounds and p-values are SciPy's" {
	local python=python3 peer=$BATS_TEST_DIRNAME/../peers/signed_rank.py
	"$python" -c "import scipy" 2>/dev/null || python=/usr/bin/python3
	record aa 80 0 2
	"$RESAMPLE" --pairs --checks 50 --add 5 aa >pairs.csv
	run "$python" "$peer" <pairs.csv
	[ "$status" != 77 ] || skip "$output"
	[ "$status" = 0 ]
	[[ $output == *"p-values; furthest apart by "* ]]
	"$RESAMPLE" --pairs --checks 50 --blocks 13 aa | "$python" "$peer"
	# In one cell the ninth digit is another.
	awk -F, -v OFS=, 'NR == 7 { $5 *= 1 + 1e-9 } { print }' \
		CONVFMT=%.17g OFMT=%.17g pairs.csv >spoiled.csv
	run -1 "$python" "$peer" <spoiled.csv
	[[ $output == *"lower of check "* ]]
}
