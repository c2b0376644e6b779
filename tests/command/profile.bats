#!/usr/bin/env bats
# Where an iteration goes, and what a core can do at most.

load command.sh

# adds_up FILE TARGET SAMPLES: the parts are the iteration, and numbers fit.
adds_up() {
	python3 - "$@" <<-'END'
	import csv, sys
	rows = list(csv.DictReader(open(sys.argv[1])))
	*parts, whole = rows
	assert [r["part"] for r in rows[-2:]] == ["other", "iteration"]
	for name in "elapsed_s", "share_pct":
	    total = sum(float(r[name]) for r in parts)
	    assert abs(total / float(whole[name]) - 1) < 1e-6, (name, total)
	assert abs(float(whole["share_pct"]) - 100) < 1e-6
	for name in "dense_flop", "done_flop":
	    total = sum(float(r[name]) for r in parts if r[name])
	    assert total == float(whole[name]) > 0, (name, total)
	for row in rows:
	    assert row["schema"] == "bench/1" and row["target"] == sys.argv[2]
	    assert row["core"] == "0" and row["samples"] == sys.argv[3]
	    assert float(row["elapsed_s"]) >= 0 <= float(row["median_s"])
	    if row["nonzero_pct"]:
	        assert 0 <= float(row["nonzero_pct"]) <= 100
	assert len(set(r["part"] for r in rows)) == len(rows)
	END
}

@test "the parts of an iteration are all of it" {
	run -0 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]}" \
		--profile p.csv
	[[ "${lines[0]}" == schema,run_id,target,* ]]
	# It was asked for, so it is shown whatever -q says.
	[[ "$stderr" == "An iteration of cpu-1"* ]]
	adds_up p.csv cpu-1 32
	# The third batch, of 6, is no such iteration.
	[ "$(cell p.csv 1 iterations)" = 2 ]
	[ "$(grep -c ',wait,\|,reduce,' p.csv)" -eq 0 ]
	grep -q ',update,' p.csv
	run -1 grep -Eiw -- '-?(nan|inf|infinity)' p.csv
}

@test "and are shown as a table" {
	run -0 --separate-stderr "$BENCH" measure cpu-1 --model tiny \
		"${DATA[@]}" --warmup 1 --epochs 1 --profile p.csv
	[[ "$output" != *"An iteration"* ]]
	[[ "$stderr" == *"An iteration of cpu-1"* ]]
	local part
	for part in loss update other iteration; do
		grep -q "^$part " <<<"$stderr"
	done
	[[ "$stderr" == *"of peak: done divided by the "*" GFLOP/s"* ]]
	[[ "$stderr" == *"- not 0: "* && "$stderr" != *launches* ]]
	[ "$(awk 'length > 80' <<<"$stderr")" = "" ]
}

@test "of several cores the first is watched" {
	local target
	for target in cpu-2 cpu-2@fork; do
		run -0 "$BENCH" measure "$target" "${TINY[@]}" --batch 16 \
			--profile p.csv
		adds_up p.csv "$target" 16
		[ "$(grep -c ',wait,\|,reduce,' p.csv)" -eq 2 ]
	done
}

@test "a device says how long its kernels and transfers took" {
	needs_opencl
	run -0 --separate-stderr "$BENCH" measure opencl "${TINY[@]}" \
		--profile p.csv
	adds_up p.csv opencl 32
	python3 - <<-'END'
	import csv
	*parts, other, whole = csv.DictReader(open("p.csv"))
	for part in parts:
	    assert part["launches"] == "1" and float(part["elapsed_s"]) > 0
	assert other["launches"] == ""
	assert whole["launches"] == str(len(parts))
	assert len(set(p["part"] for p in parts)) == len(parts)
	END
	local launches
	launches=$(column p.csv launches | sed 's/.* //')
	grep -q "^iteration ($launches launches) " <<<"$stderr"
	[[ "$stderr" == *"- launches: "* ]]
	[ "$(awk 'length > 80' <<<"$stderr")" = "" ]
	[ "$(grep -c '^gather ' <<<"$stderr")" -eq 1 ]
	"$BENCH" measure cpu-1 "${TINY[@]}" --profile c.csv >/dev/null
	run -0 python3 - <<-'END'
	import csv
	print(*(float(list(csv.DictReader(open(f)))[-1]["dense_flop"])
	        for f in ("p.csv", "c.csv")))
	END
	[ "${output% *}" = "${output#* }" ]
}

@test "what a kernel does of two layers is named by both" {
	local class
	needs_opencl
	for class in cpu gpu; do
		run -0 --separate-stderr "$BENCH" measure opencl "${DATA[@]}" \
			--batch 4 --warmup 0 --epochs 1 --steps 1 --test off \
			-q --device-class $class --profile p.csv
		[ "$(grep -Ec '^conv1\+conv2 .*(for|back)ward ' \
			<<<"$stderr")" -eq 2 ]
		[[ "$stderr" != *"of peak: "* ]]
	done
	# This class multiplies zeros, too.
	[[ "$stderr" != *"not 0"* ]]
	[ "$(grep -c '^fc1+fc2 ' <<<"$stderr")" -eq 2 ]
	run -1 grep -c '^conv[12] ' <<<"$stderr"
}

@test "devices that wait for each other have no part below nothing" {
	export POCL_MAX_PTHREAD_COUNT=2
	"$BENCH" measure opencl-2 --model tiny -d synthetic -s 1 -e 1 -q \
		>/dev/null 2>&1 || skip "no two OpenCL devices"
	local target
	for target in opencl-2 opencl-2@fork; do
		run -0 "$BENCH" measure "$target" "${TINY[@]}" --batch 16 \
			--profile p.csv
		adds_up p.csv "$target" 16
		[ "$(grep -c ',wait,\|,reduce,' p.csv)" -eq 2 ]
	done
}

@test "dense work is the same, whatever is done" {
	"$BENCH" measure cpu-1 "${TINY[@]}" --profile f.csv >/dev/null
	"$BENCH" measure cpu-1 "${TINY[@]}" --profile d.csv \
		--algorithm dense >/dev/null
	adds_up d.csv cpu-1 32
	python3 - <<-'END'
	import csv
	fast, dense = (list(csv.DictReader(open(f)))[-1]
	               for f in ("f.csv", "d.csv"))
	assert fast["dense_flop"] == dense["dense_flop"]
	assert float(dense["done_flop"]) >= float(dense["dense_flop"])
	END
}

@test "what has no profile says so, and nothing is measured" {
	local target
	for target in null-1 reference-1 openblas-1; do
		run -2 --separate-stderr "$BENCH" measure "$target" \
			"${TINY[@]}" --profile p.csv
		[ -z "$output" ]
		[[ "$stderr" == *"backend ${target%-1} does not support it"* ]]
		[ ! -e p.csv ]
	done
	run -2 --separate-stderr "$BENCH" run cpu-1 --profile p.csv
	[[ "$stderr" == *"it is an option of measure"* ]]
}

@test "a profile that cannot be written is known before" {
	run -7 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]}" \
		--profile no/such/p.csv
	[ -z "$output" ]
	[[ "$stderr" == *no/such/p.csv* ]]
	run -2 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]}" \
		--profile -
	[ -z "$output" ]
	[[ "$stderr" == *"--profile -"*"name a file"* ]]
}

@test "a run that fails leaves no profile" {
	run -6 "$BENCH" measure cpu-1 "${TINY[@]}" --lr 1e30 --profile p.csv
	[ ! -e p.csv ]
}

@test "the peaks of a core" {
	run -0 --separate-stderr "$BENCH" env --peak --export-csv p.csv
	[ -z "$stderr" ]
	[[ "$output" == *"host key"*"Peaks of one core"* ]]
	grep -q '^fp32 multiply-add, portable ' <<<"$output"
	grep -q '^read memory, ' <<<"$output"
	python3 - <<-'END'
	import csv
	rows = list(csv.DictReader(open("p.csv")))
	for row in rows:
	    assert row["unit"] == ("GB/s" if row["level"] else "GFLOP/s")
	    assert float(row["best"]) >= float(row["median"]) > 0
	    assert bool(row["memory_bytes"]) == bool(row["level"])
	assert len(set((r["name"], r["isa"], r["level"]) for r in rows)) == \
	    len(rows)
	END
	run -0 --separate-stderr "$BENCH" env --peak --export-csv -
	[[ "${lines[0]}" == schema,started_utc,* ]]
	[ "${#lines[@]}" -eq "$(wc -l <p.csv)" ]
}

@test "peaks are only measured when they are asked for" {
	run -0 "$BENCH" env
	[[ "$output" != *"Peaks"* ]]
	run -2 --separate-stderr "$BENCH" env --export-csv p.csv
	[[ "$stderr" == *--peak* ]]
	run -7 "$BENCH" env --peak --export-csv no/such/p.csv
	run -2 "$BENCH" env --peak now
}
