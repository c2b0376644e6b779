#!/usr/bin/env bats
# --resident and --sync: where the data set is, and who waits for the device.

load command.sh

setup() {
	opencl_setup
	# A last batch of 41 samples, and a last slice of 111.
	SMALL=(--model tiny --dataset synthetic --synthetic-train 233
		--synthetic-test 361 --batch 64 --warmup 1 --epochs 2 -q)
}

# measures NAME [OPTION ...]: of $target, or opencl; NAME.csv has the rows,
# NAME.run the run's.
measures() {
	local name=$1
	shift
	run -0 --separate-stderr "$BENCH" measure "${target:-opencl}" \
		"${SMALL[@]}" --run-file "$name.run" "$@"
	printf '%s\n' "$output" >"$name.csv"
}

# learnt NAME: all that was learnt, but for times.
learnt() {
	cell "$1.run" 1 parameters_hash
	python3 - "$1.csv" <<-'END'
	import csv, sys
	for row in csv.DictReader(open(sys.argv[1])):
	    if row["phase"] in ("step", "test"):
	        print(*(row[name] for name in ("phase", "epoch", "iter",
	              "samples", "loss", "accuracy_pct")))
	END
}

@test "resident or not, and ahead or not, the same is learnt" {
	measures held
	measures brought --resident no
	measures ahead --sync epoch
	[ "$(cell held.run 1 resident)" = yes ]
	[ "$(cell held.run 1 sync)" = step ]
	[ "$(cell brought.run 1 resident)" = no ]
	[ -z "$(cell brought.run 1 not_resident_reason)" ]
	[ "$(cell ahead.run 1 sync)" = epoch ]
	learnt held >held
	[ "$(grep -c '^step' held)" -eq 9 ] # a warm-up too
	learnt brought | diff held -
	learnt ahead | diff held -
	measures same --reshuffle off
	measures same-brought --reshuffle off --resident no
	learnt same | diff - <(learnt same-brought)
	! learnt same | diff -q held - >/dev/null
}

@test "fewer commands are given to the device" {
	local name
	for name in held "brought --resident no" "ahead --sync epoch"; do
		# shellcheck disable=SC2086
		measures $name
		name=${name%% *}
		echo "# $name: $(cell "$name.run" 1 launches) in" \
			"$(cell "$name.run" 1 updates) steps" >&3
		cell "$name.run" 1 launches >>counts
	done
	# Eight steps: two uploads become one launch, and eight reads two.
	python3 - <<-'END'
	held, brought, ahead = map(int, open("counts"))
	assert brought == held + 8, (brought, held)
	assert ahead == held - 8 + 2, (ahead, held)
	END
}

@test "iterations that run ahead have a time together, and say so" {
	measures ahead --sync epoch
	python3 - <<-'END'
	import csv
	rows = [r for r in csv.DictReader(open("ahead.csv"))
	        if r["epoch"] == "2"]
	steps = [r for r in rows if r["phase"] == "step"]
	whole, = (r for r in rows if r["phase"] == "steps")
	assert [r["iter"] for r in steps] == ["1", "2", "3", "4"]
	assert not any(r["elapsed_s"] for r in steps)
	assert whole["iter"] == "4" and whole["samples"] == "233"
	assert float(whole["elapsed_s"]) > 0
	# As results/README.md says of the phases.
	phase = {r["phase"]: r["elapsed_s"] for r in rows}
	assert phase["update"] == whole["elapsed_s"]
	assert {phase[p] for p in ("compute", "wait", "reduce")} == {"0"}
	assert 0 < float(phase["loader"]) < float(phase["epoch"])
	END
	run -0 "$BENCH" run opencl null-1 "${SMALL[@]}" --out o --label waits \
		--details
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" != *"epoch's mean"* ]]
	[[ "$output" == *"is the spread of the iterations of one process"* ]]
	run -0 "$BENCH" run opencl "${SMALL[@]}" --sync epoch --out p \
		--label runs --details
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"- epoch's mean (--sync epoch): the device runs"* ]]
	[[ "$output" != *"the spread of the iterations of one process"* ]]
	[[ "$output" == *", epoch's mean"* ]]
	[[ "$output" == *"--sync epoch: no iteration was waited for"* ]]
	[[ "$output" == *"data set resident on the device"* ]]
	python3 - <<-'END'
	import csv
	rows = {r["metric"]: r for r in csv.DictReader(open("p/summary.csv"))}
	assert rows["iter_s"]["n_obs"] == "8", rows["iter_s"]
	assert not rows["iter_s"]["std"] and not rows["iter_s"]["spread"]
	assert "iter_p50_s" not in rows and "iter_p99_s" not in rows
	took = sum(float(r["elapsed_s"]) for r in
	           csv.DictReader(open("p/observations.csv"))
	           if r["phase"] in ("steps", "loader") and r["is_warmup"] == "0")
	rate = 2 * 233 / took
	assert abs(float(rows["images_per_s"]["mean"]) / rate - 1) < 1e-6, rate
	END
	run -0 "$BENCH" table p --include-warmup --details
	[[ "$output" == *", epoch's mean"* && "$output" == *"run, excluded"* ]]
	run -0 "$BENCH" table o p --include-warmup --details
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"is the spread of the iterations of one process"* ]]
	[[ "$output" == *"- opencl of runs: epoch's mean"* ]]
	[[ "$output" == *"included, but in no epoch's mean"* ]]
}

@test "pictures of iterations that have a time together" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	"$BENCH" run opencl "${SMALL[@]}" --sync epoch --out p
	run -0 --separate-stderr "$BENCH" plot p
	# A warm-up alone, which is timed, is no picture of them.
	[[ "$stderr" == *"iterations.svg is not drawn: No iteration"* ]]
	[ ! -e p/iterations.svg ]
	python3 - <<-'END'
	import csv
	kept = [r["loss"] for r in csv.DictReader(open("p/observations.csv"))
	        if r["phase"] == "steps"]
	drawn = [r["train_loss"] for r in csv.DictReader(
	         open("p/plot/learning.csv")) if r["train_loss"]]
	assert len(kept) == 2 and drawn == kept, (drawn, kept)
	END
}

# again FOLDER: the report's command that measures again.
again() {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	"$BENCH" plot "$1" -q >/dev/null
	sed -n 's/.*\(bench run .*\)/\1/p' "$1/report.html"
}

@test "the command that measures again has --resident, whoever ran first" {
	"$BENCH" run null-1 opencl "${SMALL[@]}" --resident no --out o >o.txt
	run -0 again o
	[[ "$output" == "bench run null-1 opencl "*" --resident no"* ]]
	"$BENCH" run null-1 opencl "${SMALL[@]}" --out p >p.txt
	run -0 again p
	[[ "$output" == "bench run null-1 opencl "* ]]
	[[ "$output" != *resident* ]]
}

# refuses WORDS OPTION ...: opencl does, with 2, and says WORDS.
refuses() {
	local words=$1
	shift
	run -2 --separate-stderr "$BENCH" measure "$@" "${SMALL[@]}" --sync epoch
	[[ "$stderr" == *"$words"* ]]
}

@test "what cannot run ahead is a usage error" {
	refuses "--sync epoch cannot be used with cpu-1: " cpu-1
	refuses "a target that supports it: opencl" null-2
	refuses "leave out --resident no" opencl --resident no
	refuses "--profile needs single iterations" opencl --profile p
	refuses "--trace needs single iterations" opencl --trace t
	refuses "--inject needs single iterations" opencl --inject 5
	refuses "--straggler needs single iterations" opencl --straggler 0:5
	run -2 "$BENCH" measure opencl "${SMALL[@]}" --sync never
	run -2 "$BENCH" measure opencl "${SMALL[@]}" --resident yes
	run -2 "$BENCH" measure cpu-1 "${SMALL[@]}" --resident no
	[[ "$output" == *"--resident no cannot be used with cpu-1: "* ]]
	[ ! -e p ] && [ ! -e t ]
}

@test "targets that cannot run ahead, or hold data, do as they do" {
	several
	run -0 --separate-stderr "$BENCH" run null-1 opencl opencl-2 \
		"${SMALL[@]:0:14}" --sync epoch --out ahead
	[[ "$stderr" == *"note: --sync epoch applies to opencl only"* ]]
	[ "$(column ahead/runs.csv sync)" = "step epoch step" ]
	run -0 --separate-stderr "$BENCH" run null-1 opencl opencl-2 \
		"${SMALL[@]:0:14}" --resident no --out brought
	[[ "$stderr" == *"note: --resident no applies to opencl, opencl-2 only"* ]]
	[ "$(column brought/runs.csv resident)" = " no no" ]
}

@test "what does not fit is uploaded, and said" {
	measures held
	export LD_PRELOAD=$BROKEN
	OPENCL_MEMORY=1000000 measures small
	[[ "$(cell small.run 1 not_resident_reason)" == \
		"0.5 MB is more than a quarter of the device's memory"* ]]
	OPENCL_BUFFER=200000 measures pieces
	[[ "$(cell pieces.run 1 not_resident_reason)" == \
		"0.3 MB exceeds the device's largest allocation, 0.2"* ]]
	[ "$(cell small.run 1 resident) $(cell pieces.run 1 resident)" = "no no" ]
	learnt small | diff - <(learnt held)
	learnt pieces | diff - <(learnt held)
	OPENCL_MEMORY=1000000 run -0 --separate-stderr "$BENCH" run opencl \
		"${SMALL[@]}" --details --out o
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"each batch uploaded in its iteration, as 0.5 MB"* ]]
	OPENCL_MEMORY=1000000 run -4 --separate-stderr "$BENCH" measure opencl \
		"${SMALL[@]}" --sync epoch
	[[ "$stderr" == *"--sync epoch needs the data set on the device"* ]]
	# The run failed before it chose where to keep the data.
	BREAK_OPENCL=clBuildProgram:1:-11 run -6 "$BENCH" measure opencl \
		"${SMALL[@]}" --run-file failed.run
	[ -z "$(cell failed.run 1 resident)" ]
}

# Two units, whatever CPUs there are.
several() {
	export POCL_MAX_PTHREAD_COUNT=2
}

# uploads NAME WORDS: the run of that NAME brought its batches, and said why.
uploads() {
	[ "$(cell "$1.run" 1 resident)" = no ]
	[[ "$(cell "$1.run" 1 not_resident_reason)" == "$2"* ]]
}

# residence TARGET FUNCTION:N:STATUS: what a run says of it where the driver
# fails so, or "failed".
residence() {
	rm -f broken.run
	LD_PRELOAD=$BROKEN BREAK_OPENCL=$2 "$BENCH" measure "$1" "${SMALL[@]}" \
		--run-file broken.run >broken.csv 2>broken.err ||
		{ [ $? -eq 6 ] && echo failed && return; }
	cell broken.run 1 resident
}

# calls TARGET FUNCTION: how many calls of it a run makes. The data set's are the
# last ones.
calls() {
	rm -f calls
	[ "$(BREAK_OPENCL_MARK=$PWD/calls residence "$1" "$2:1:count")" = yes ]
	stat -c %s calls
}

@test "copies on one device share the room, those on several do not" {
	several
	local target
	for target in opencl-2 opencl-2@fork; do
		measures "held $target"
		[ "$(cell "held $target.run" 1 resident)" = yes ]
		# Room for one of 0.47 MB.
		export LD_PRELOAD=$BROKEN OPENCL_MEMORY=3000000
		measures "two $target"
		uploads "two $target" "2 times 0.5 MB is more than a quarter"
		OPENCL_MEMORY=4000000 measures "room $target"
		[ "$(cell "room $target.run" 1 resident)" = yes ]
		unset LD_PRELOAD OPENCL_MEMORY
		learnt "two $target" | diff - <(learnt "held $target")
	done
	export OPENCL_MEMORY=3000000 LD_PRELOAD=$BROKEN
	target=opencl measures one
	[ "$(cell one.run 1 resident)" = yes ]
	is_pocl || return 0
	POCL_DEVICES="basic basic" target=opencl-2@fork measures apart
	[ "$(cell apart.run 1 resident)" = yes ]
}

@test "where one core has no room all upload" {
	several
	local target
	export OPENCL_BUFFER=200000
	for target in opencl-2 opencl-2@fork; do
		measures "held $target"
		[ "$(cell "held $target.run" 1 resident)" = yes ]
		export LD_PRELOAD=$BROKEN
		measures none
		OPENCL_LAST=1 measures "last $target"
		uploads "last $target" "0.3 MB exceeds the device"
		# As many commands as where none can: neither gathers.
		[ "$(cell "last $target.run" 1 launches)" = \
			"$(cell none.run 1 launches)" ]
		unset LD_PRELOAD
		learnt "last $target" | diff - <(learnt "held $target")
	done
}

@test "memory that others have taken is no failure" {
	measures held
	local call last n
	for call in clCreateBuffer clEnqueueFillBuffer; do
		last=$(calls opencl $call)
		for n in 0 2 5; do
			[ "$(residence opencl "$call:$((last - n)):-4")" = no ]
			uploads broken "$call"
			cp broken.csv $call.csv
			cp broken.run $call.run
			learnt $call | diff - <(learnt held)
		done
		[[ "$(cell broken.run 1 not_resident_reason)" == \
			*": CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)" ]]
		# What the program needs itself; and which of these is a lack.
		[ "$(residence opencl "$call:$((last - 6)):-4")" = failed ]
		[ "$(residence opencl "$call:$last:-5")" = no ]
		[ "$(residence opencl "$call:$last:-6")" = no ]
		[ "$(residence opencl "$call:$last:-30")" = failed ]
	done
}

@test "memory that others have taken from one of two cores" {
	several
	target=opencl-2 measures held
	local last
	last=$(calls opencl-2 clCreateBuffer)
	# The core that asks last, whichever it is.
	[ "$(residence opencl-2 "clCreateBuffer:$last:-4")" = no ]
	uploads broken clCreateBuffer
	learnt broken | diff - <(learnt held)
}

@test "a loss that is no number is found at the epoch's end" {
	run -6 --separate-stderr "$BENCH" measure opencl "${SMALL[@]}" \
		--sync epoch --lr 1e30
	[[ "$stderr" == *"the loss is not a number at epoch 1, iteration "* ]]
	# Those before it have their rows, and it has one with an error.
	[[ "$output" == *",step,1,1,0,,,64,"* ]]
	[[ "$output" == *",step,1,"*",error,"* ]]
	[[ "$output" != *",steps,"* ]]
}

@test "a signal ends a run that is ahead, with what there is" {
	mkfifo rows
	"${HEEDFUL[@]}" "$BENCH" measure opencl --model tiny -d synthetic \
		-q --sync epoch --epochs 1000 >rows 2>/dev/null 3>&- &
	local pid=$! line code=0
	exec 4<rows
	while read -r line <&4; do
		[[ "$line" != *,steps,2,* ]] || break
	done
	kill -INT $pid
	cat <&4 >rest
	wait $pid || code=$?
	[ "$code" -eq 130 ]
	grep -q ',epoch,.*,partial,' rest
	# Iterations without a time of their own have one together.
	python3 - <<-'END'
	import csv
	names = ("schema run_id target cores core phase epoch iter").split()
	rows = list(csv.DictReader(open("rest"), names))
	last = rows[-2]["epoch"]
	steps = [r for r in rows if (r["phase"], r["epoch"]) == ("step", last)]
	whole = [r for r in rows if (r["phase"], r["epoch"]) == ("steps", last)]
	assert len(whole) == (len(steps) > 0)
	assert not whole or whole[0]["iter"] == str(len(steps)), whole
	END
}
