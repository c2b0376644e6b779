#!/usr/bin/env bats
# The ladder: its rungs agree, and the table says what was measured.

load command.sh

setup() {
	command_setup
	LADDER=$BATS_TEST_DIRNAME/../peers/ladder
	TOOL=$(dirname "$BENCH")/tests/ladder
	# Seconds of the rungs: 0.1, 0.02, 0.0128.
	cat >tool <<-'END'
	#!/bin/sh
	echo "tool OPENBLAS=${OPENBLAS_CORETYPE-} ISA=${BENCH_ISA-} $*" >>calls
	[ -z "${FAIL-}" ] || { echo "it broke" >&2; exit "$FAIL"; }
	printf '%s,' rung isa samples steps elapsed_s best_s dense_flop
	echo done_flop,peak_gflops,gradient_error
	tail=,9e9,9e9,200,0
	echo "dense,avx2,128,9,0.1,0.1$tail"
	echo "fast,avx2,128,9,0.02,0.02,9e9,2e9,200,0"
	echo "fused,avx2,128,9,0.0128,0.01,9e9,1.28e9,200,1e-6"
	END
	cat >bench <<-'END'
	#!/bin/sh
	echo "bench OPENBLAS=${OPENBLAS_CORETYPE-} ISA=${BENCH_ISA-} $*" >>calls
	seconds=${DENSE:-0.1}
	case $* in *"--algorithm fast"*) seconds=0.0128 ;; esac
	echo core,phase,is_warmup,elapsed_s,samples,loss,clock
	echo ,step,1,9,128,2.4,wall
	echo ,step,0,$seconds,128,2.3,wall
	END
	chmod +x tool bench
	FAKE=(--bench ./bench --ladder ./tool --turns 2)
}

@test "every rung trains the same network" {
	[ -x "$TOOL" ] || skip "make test-programs builds $TOOL"
	local build
	for build in amx avx512 avx2 portable; do
		BENCH_ISA=$build run --separate-stderr "$TOOL" --turns 1 \
			--steps 1 --batch 5 --dataset synthetic
		# What this CPU lacks.
		[ "$status" != 4 ] || continue
		[ "$status" = 0 ]
		echo "$output" >rows.csv
		python3 - $build <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open("rows.csv")))
		assert len(rows) == 3
		assert len(set(row["dense_flop"] for row in rows)) == 1
		done = [float(row["done_flop"]) for row in rows]
		assert done[0] > done[1] == done[2]
		for row in rows:
		    assert row["isa"] == sys.argv[1] and row["samples"] == "5"
		    assert float(row["elapsed_s"]) >= float(row["best_s"]) > 0
		    # Rounding alone, where it does not choose another winner.
		    assert float(row["gradient_error"]) < 2e-2
		END
	done
	[ -s rows.csv ]
	# Of three channels, with norms and targets that are vectors.
	run -0 --separate-stderr "$TOOL" --model resnet34 --turns 1 --steps 1 \
		--batch 2
	[ "${#lines[@]}" = 4 ]
	# Whose optimizer has one value of state.
	run -0 --separate-stderr "$TOOL" --model mnist-2019 --turns 1 \
		--steps 1 --batch 2 --dataset synthetic
	run -2 "$TOOL" --model none
	run -2 "$TOOL" --turns none
	run -2 "$TOOL" more
}

@test "a table of medians, with what they are of" {
	OPENBLAS_CORETYPE=Haswell BENCH_ISA=avx2 \
		run -0 --separate-stderr "$LADDER" "${FAKE[@]}" --eager 640 \
		--out rows.csv
	[ -z "$stderr" ]
	# images/s, of PyTorch, of dense, GFLOP/s and of the peak, twice each.
	grep -Eq '^\| dense +\| 1,280 .* 2\.00 .* 1\.00 .* 90\.0 .* 90\.0 .* 0\.45 .* 45 %' \
		<<<"$output"
	grep -Eq '^\| fused +\| 10,000 .* 15\.62 .* 7\.81 .* 703\.1 .* 100\.0 .* 3\.52 .* 50 %' \
		<<<"$output"
	[[ "$output" == *"dense: +0.0 % of what bench measure"* ]]
	# In turns, by the same library settings.
	[ "$(cut -d ' ' -f 1 calls | uniq -c | tr -s ' \n' ' ')" = \
		" 2 bench 1 tool 4 bench 1 tool 2 bench " ]
	run -1 grep -v "OPENBLAS= ISA=avx2 " calls
	run -0 "$LADDER" --table rows.csv
	grep -Eq '^\| fused +\| 10,000 .* - .* 7\.81 ' <<<"$output"
}

@test "a rung that bench does not measure is named" {
	DENSE=0.05 run -1 "$LADDER" "${FAKE[@]}"
	[[ "$output" == *"dense: +100.0 % of what bench"*"more than 10 %"* ]]
}

@test "bad input" {
	run -2 "$LADDER" --turns 0
	run -2 "$LADDER" --eager -1
	run -4 --separate-stderr "$LADDER" --bench ./bench --ladder ./none
	[[ "$stderr" == *"none"* ]]
	FAIL=6 run -6 --separate-stderr "$LADDER" "${FAKE[@]}"
	[[ "$stderr" == "ladder: tool: it broke" ]]
	FAIL=4 run -4 "$LADDER" "${FAKE[@]}"
	run -5 --separate-stderr "$LADDER" --table none.csv
	[[ "$stderr" == *none.csv* ]]
	printf 'turn,rung\n1,dense\n' >cut.csv
	run -5 --separate-stderr "$LADDER" --table cut.csv
	[[ "$stderr" == *cut.csv* ]]
	run -7 "$LADDER" "${FAKE[@]}" --out no/such.csv
}
