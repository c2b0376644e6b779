#!/usr/bin/env bats
# Seeing the cores: a line for each, a timeline, one that is delayed; and
# losing one.

load command.sh

setup() {
	command_setup
	LONG=(--model tiny --dataset synthetic --synthetic-train 3200
		--synthetic-test 100 --warmup 1 --epochs 300)
}

@test "each core has a line of where its time went" {
	run -0 "$BENCH" run cpu-3 cpu-2@fork cpu-1 "${TINY[@]}" -q --out made
	run -0 --separate-stderr "$BENCH" table made --cores
	[ -z "$stderr" ]
	[ "$(grep -c '^Cores of ' <<<"$output")" -eq 2 ]
	# A line of times and one of losses.
	[ "$(grep -c '^core [0-9] ' <<<"$output")" -eq 10 ]
	[[ "$output" == *"Cores of cpu-2@fork, run "*" (s/epoch)"* ]]
	local word
	for word in compute wait reduce update loader test CPU switch most \
		spread; do
		[[ "$output" == *"$word"* ]]
	done
	# The usual tables do not show single cores.
	run -0 "$BENCH" table made --details
	[[ "$output" != *"core 0 "* ]]
}

@test "each core has the losses of its own samples" {
	run -0 "$BENCH" run cpu-3 "${TINY[@]}" -q --epochs 2 --out made
	python3 - <<-"END"
	import csv
	rows = list(csv.DictReader(open("made/observations.csv")))
	shown = {}
	for phase in "epoch", "test":
	    last = [r for r in rows
	            if (r["phase"], r["epoch"], r["clock"]) == (phase, "2", "wall")]
	    cores = [r for r in last if r["core"]]
	    whole, = [r for r in last if not r["core"]]
	    assert len({r["loss"] for r in cores}) == 3, cores
	    assert sum(int(r["samples"]) for r in cores) == int(whole["samples"])
	    mean = sum(float(r["loss"]) * int(r["samples"]) for r in cores)
	    mean /= int(whole["samples"])
	    assert abs(mean - float(whole["loss"])) < 1e-6
	    shown[phase] = float(whole["loss"])
	    open(phase, "w").write("".join("%.4f\n" % float(r["loss"])
	                                   for r in cores))
	summary = {r["metric"]: float(r["mean"])
	           for r in csv.DictReader(open("made/summary.csv"))}
	assert abs(summary["train_loss"] - shown["epoch"]) < 1e-9
	assert abs(summary["final_loss"] - shown["test"]) < 1e-9
	END
	run -0 "$BENCH" table made --cores
	local r
	for r in 0 1 2; do
		[[ "$output" =~ core\ $r\ +$(sed -n $((r + 1))p epoch)\ +$(
			sed -n $((r + 1))p test) ]]
	done
	run -0 "$BENCH" table made --details
	[[ "$output" == *"training loss"* ]]
}

@test "without several cores there are none to show" {
	run -0 "$BENCH" run cpu-1 "${TINY[@]}" -q --out made
	run -5 --separate-stderr "$BENCH" table made --cores
	[ -z "$output" ]
	[[ "$stderr" == *"no rows of single cores"* ]]
}

@test "what has no export refuses one" {
	"$BENCH" run cpu-2 "${TINY[@]}" --out made
	local option
	for option in csv json markdown; do
		run -2 "$BENCH" table made --cores --export-$option file
		[[ "$output" == *"--export-"*"no effect with --cores"* ]]
		run -2 "$BENCH" table --columns --export-$option file
		[[ "$output" == *"no effect with --columns"* ]]
	done
	[ ! -e file ]
}

@test "an epoch whose rows end in the middle does not count" {
	run -0 "$BENCH" run cpu-2 "${TINY[@]}" -q --epochs 2 --out made
	"$BENCH" table made --cores >whole
	# Of the second epoch core 0 has its compute row, and that is all.
	local last
	last=$(grep -n ',cpu-2,2,0,compute,2,' made/observations.csv)
	head -n "${last%%:*}" made/observations.csv >cut.csv
	run -0 "$BENCH" table cut.csv --cores
	[ "$(grep -c '^core [01] ' <<<"$output")" -eq 4 ]
	[[ "$output" != *inf* && "$output" != *nan* ]]
	last=$(grep -n ',cpu-2,2,0,compute,1,' made/observations.csv)
	head -n "${last%%:*}" made/observations.csv >cut.csv
	run -5 "$BENCH" table cut.csv --cores
	[[ "$output" == *"that finish an epoch"* ]]
}

# Slices of a core do not overlap, except for the straggler's in its compute, and
# their sums equal the sums of the rows.
@test "a trace is a timeline of all cores" {
	run -0 --separate-stderr "$BENCH" measure cpu-3@fork "${TINY[@]}" \
		--epochs 2 --straggler 1:20 --trace trace.json
	echo "$output" >rows
	python3 - <<-'END'
	import collections, csv, json
	events = json.load(open("trace.json"))
	names = {e["tid"]: e["args"]["name"] for e in events
	         if e["name"] == "thread_name"}
	assert names == {0: "core 0", 1: "core 1 (straggler: +20 ms)",
	                 2: "core 2"}, names
	target = [e["args"]["name"] for e in events
	          if e["name"] == "process_name"]
	assert target == ["cpu-3@fork+straggler=1:20"], target
	slices = [e for e in events if e["ph"] == "X"]
	spent = collections.Counter()
	for core in range(3):
	    end = 0
	    for e in sorted((e for e in slices if e["tid"] == core),
	                    key=lambda e: e["ts"]):
	        assert e["dur"] > 0
	        if e["name"] == "straggler":
	            assert core == 1 and 19900 < e["dur"] < 20100
	            inside = [c for c in slices if c["name"] == "compute" and
	                      c["tid"] == 1 and c["ts"] == e["ts"]]
	            assert len(inside) == 1 and inside[0]["dur"] > e["dur"]
	            continue
	        assert e["ts"] >= end - 0.01, (e, end)
	        end = e["ts"] + e["dur"]
	        if e["args"]["epoch"]:
	            spent[core, e["name"]] += e["dur"] * 1e-6
	assert {e["name"] for e in slices} >= {"load", "compute", "wait",
	    "reduce", "update", "test", "straggler"}
	# They exchange the gradients, then the parameters.
	steps = collections.defaultdict(list)
	for e in slices:
	    if e["name"] not in ("load", "straggler", "test"):
	        steps[e["tid"], e["args"]["epoch"], e["args"].get("iteration")] += [
	            (e["ts"], e["name"])]
	steps = {key: [name for at, name in sorted(step)]
	         for key, step in steps.items() if len(step) > 1}
	assert len(steps) == 3 * (2 + 1), len(steps)
	order = ["compute", "wait", "reduce", "update", "wait", "reduce"]
	assert all(step == order for step in steps.values()), steps
	for row in csv.DictReader(open("rows")):
	    assert row["target"] == "cpu-3@fork+straggler=1:20"
	    if row["core"] and not row["iter"] and row["phase"] != "epoch":
	        name = row["phase"].replace("loader", "load")
	        spent[int(row["core"]), name] -= float(row["elapsed_s"])
	assert all(abs(rest) < 1e-5 for rest in spent.values()), spent
	END
}

@test "a straggler makes the others wait, and is named" {
	run -0 "$BENCH" run cpu-2 "${TINY[@]}" -q --straggler 0:300 --out made \
		--export-json made.json --details
	[ "$(cell made/runs.csv 1 target)" = cpu-2+straggler=0:300 ]
	[ "$(cell made/runs.csv 1 straggler)" = 0:300 ]
	[[ "$output" == *"delayed on purpose"*"--straggler 0:300"* ]]
	# Its rank is no device.
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *" verify cpu -m tiny"* ]]
	grep -q 'straggler=0:300' made/summary.csv made/tables.md made.json
	python3 - <<-'END'
	import csv
	rows = [r for name in ("observations", "modelled")
	        for r in csv.DictReader(open("made/%s.csv" % name))
	        if r["epoch"] == "1"]
	def of(phase, core, clock="wall"):
	    return sum(float(r["elapsed_s"]) for r in rows
	               if (r["phase"], r["core"], r["clock"]) ==
	                  (phase, core, clock))
	steps = sum(r["phase"] == "step" and r["core"] == "0" for r in rows)
	assert of("compute", "0") >= 0.3 * steps
	assert of("wait", "1") > of("wait", "0")
	# The delay is in the model as well, though it takes no CPU time.
	assert of("compute", "", "model") >= 0.3 * steps
	END
	run -0 "$BENCH" table made --cores
	[[ "$output" == *"delayed on purpose"* ]]
}

@test "a straggler is a core of the target" {
	local wrong
	for wrong in 2:5 -1:5 0 :5 0: 0:x 0:0 0:-1 0:nan x:5 0:99999999; do
		run -2 --separate-stderr "$BENCH" measure cpu-2 "${TINY[@]}" \
			"--straggler=$wrong"
		[[ "$stderr" == *--straggler* ]]
		[ -z "$output" ]
	done
}

# By construction, however slow the machine: the work comes at the end of the
# update, three times what the core's thread has done in the iteration before.
@test "injected work is done by each core, in the iteration" {
	local target
	for target in cpu-2 cpu-2@fork; do
		run -0 --separate-stderr "$BENCH" measure "$target" \
			"${TINY[@]}" --warmup 0 --epochs 3 --inject 300% \
			--trace trace.json --run-file run.csv
		echo "$output" >rows
		[ "$(cell run.csv 1 target)" = "$target+inject=300%" ]
		[ "$(cell run.csv 1 inject_pct)" = 300 ]
		python3 - <<-'END'
		import collections, csv, json
		cpu = collections.Counter()
		for row in csv.DictReader(open("rows")):
		    assert row["target"].endswith("+inject=300%"), row
		    if row["core"] and row["cpu_s"]:
		        cpu[row["core"], row["phase"]] += float(row["cpu_s"])
		for core in "01":
		    own = sum(cpu[core, p] for p in ("compute", "wait", "reduce"))
		    assert cpu[core, "update"] > 2.99 * own > 0, cpu
		slices = [e for e in json.load(open("trace.json")) if e["ph"] == "X"]
		ends = {(e["tid"], round(e["ts"] + e["dur"])) for e in slices
		        if e["name"] == "update"}
		injected = [e for e in slices if e["name"] == "injected"]
		assert len(injected) == 2 * 3 * 2, len(injected)
		for e in injected:
		    assert any(abs(e["ts"] + e["dur"] - end) <= 1
		               for core, end in ends if core == e["tid"]), e
		END
	done
}

@test "injected work is of the wall time where a device computes" {
	"$BENCH" devices | grep -q '^opencl .*cannot\|no device' &&
		skip "no OpenCL device"
	run -0 "$BENCH" measure opencl "${TINY[@]}" --warmup 0 --inject 300 \
		--trace trace.json
	python3 - <<-'END'
	import collections, json
	spent = collections.Counter()
	for e in json.load(open("trace.json")):
	    if e["ph"] == "X":
	        spent[e["name"]] += e["dur"]
	own = sum(spent[p] for p in ("compute", "wait", "reduce", "update"))
	own -= spent["injected"]
	assert spent["injected"] > 2.99 * own > 0, spent
	END
}

@test "injected work is named wherever its results are" {
	run -0 "$BENCH" run null-1 null-2 "${TINY[@]}" --inject 10-20% -r 2 \
		--out made --export-json made.json --export-csv made.csv \
		--details
	[[ "$output" == *"null-1+inject=10-20%"* ]]
	# Each draws its own share. Two that are alike in three digits, as one
	# pair in a hundred is, have one note.
	tr '\n' ' ' <<<"$output" | tr -s ' ' >notes
	python3 - <<-'END'
	import csv
	notes = open("notes").read()
	runs = list(csv.DictReader(open("made/runs.csv")))
	shares = [float(run["inject_pct"]) for run in runs]
	assert len(set(shares)) == 4, shares
	for run, share in zip(runs, shares):
	    assert 10 <= share <= 20, share
	    note = "%s: INJECTED: every core did %.3g %% more work"
	    assert note % (run["target"], share) in notes, (run, notes)
	END
	grep -Eq '"inject_pct": *(1[0-9]|20)' made.json
	grep -q 'inject=10-20%' made/summary.csv made.csv
	grep -q INJECTED made/tables.md
	run -0 "$BENCH" table made --cores
	[[ "$output" == *INJECTED* ]]
	run -0 "$BENCH" run null-1 "${TINY[@]}" --out plain --details
	[[ "$output" != *INJECTED* ]]
	[ -z "$(cell plain/runs.csv 1 inject_pct)" ]
	run -2 --separate-stderr "$BENCH" run null-1 "${TINY[@]}" --inject 9-1
	[[ "$stderr" == *"--inject: '9-1'"* ]]
}

@test "a trace is of one process, and can be written" {
	run -2 --separate-stderr "$BENCH" run cpu-1 cpu-2 "${TINY[@]}" \
		--trace trace
	[[ "$stderr" == *"--trace"*"one target"* ]]
	run -2 "$BENCH" run cpu-1 "${TINY[@]}" --repeat 2 --trace trace
	run -7 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]}" \
		--trace nowhere/trace
	[[ "$stderr" == *nowhere/trace* ]]
	[ -z "$output" ]
	run -0 "$BENCH" run cpu-1 "${TINY[@]}" -q --out made --trace trace
	python3 -c 'import json; json.load(open("trace"))'
}

# The processes below $1, its own not.
below() {
	local child
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		echo "$child"
		below "$child"
	done
}

# start TARGET: a long campaign that has got to its second epoch; $CORES.
start() {
	"${HEEDFUL[@]}" "$BENCH" run "$1" null-1 "${LONG[@]}" --out made \
		>out 2>err 3>&- &
	PID=$!
	within 60 grep -q "$1 .*epoch 2/" err
	mapfile -t CORES < <(below "$(below "$PID" | head -n 1)")
}

# start_alone: the same without a campaign above it.
start_alone() {
	"${HEEDFUL[@]}" "$BENCH" measure cpu-3@fork "${LONG[@]}" \
		--epochs 100000 --run-file row >out 2>err 3>&- &
	PID=$!
	within 60 grep -q 'epoch 2/' err
	mapfile -t CORES < <(below "$PID")
}

@test "a core that is killed is named, and the others end" {
	start cpu-3@fork
	[ "${#CORES[@]}" -eq 3 ]
	local code=0
	kill -KILL "${CORES[1]}"
	within 60 none_running "${CORES[@]}"
	wait "$PID" || code=$?
	[ "$code" -eq 6 ]
	[ "$(column made/runs.csv status)" = "error ok" ]
	[[ "$(cell made/runs.csv 1 reason)" == \
		"core 1 of 3: process ${CORES[1]} was ended by signal 9"* ]]
	grep -q ',cpu-3@fork,3,,epoch,1,.*,ok,' made/observations.csv
	grep -q 'core 1 of 3' err
}

@test "cores end with their launcher" {
	start cpu-3@fork
	local launcher
	launcher=$(below "$PID" | head -n 1)
	kill -KILL "$launcher"
	within 60 none_running "$launcher" "${CORES[@]}"
	wait "$PID" && false
	[ "$(column made/runs.csv status)" = "error ok" ]
}

@test "Ctrl-C reaches cores that are processes" {
	start cpu-3@fork
	local code=0
	kill -INT "$PID"
	within 60 none_running "${CORES[@]}"
	wait "$PID" || code=$?
	[ "$code" -eq 130 ]
	[ "$(column made/runs.csv status)" = "partial skipped" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 130 ]
}

# As a terminal does: to the launcher and to every core.
@test "so does one that comes to all of them at once" {
	start_alone
	local code=0
	kill -INT "$PID" "${CORES[@]}"
	wait "$PID" || code=$?
	[ "$code" -eq 130 ]
	none_running "${CORES[@]}"
	[ "$(cell row 1 status)" = partial ]
	grep -q ',loop,.*,partial,' out
}

@test "one that comes to a single core ends the run as well" {
	start_alone
	local code=0
	kill -TERM "${CORES[2]}"
	wait "$PID" || code=$?
	[ "$code" -eq 143 ]
	[ "$(cell row 1 exit_code)" = 143 ]
}

has_epochs_or_ended() {
	grep -q 'cpu-3@fork .*epoch 2/' err || none_running "$PID"
}

@test "a core that hangs is ended by --timeout, and all with it" {
	local code limit stopped=
	# A slow machine needs a longer one to get to where a core is stopped.
	for limit in 4 16 64 256; do
		rm -rf made
		code=0
		"$BENCH" run cpu-3@fork null-1 "${LONG[@]}" --timeout $limit \
			--out made >out 2>err 3>&- &
		PID=$!
		within 600 has_epochs_or_ended
		mapfile -t CORES < <(below "$(below "$PID" | head -n 1)")
		! kill -STOP "${CORES[2]:-none}" 2>/dev/null || stopped=1
		wait "$PID" || code=$?
		[ -z "$stopped" ] || break
	done
	[ "$stopped" ]
	[ "$code" -eq 6 ]
	within 60 none_running "${CORES[@]}"
	# The next one is started, and on slow CPUs it is ended as well.
	[[ "$(column made/runs.csv status)" =~ ^partial\ (ok|partial)$ ]]
	[ "$(cell made/runs.csv 1 reason)" = "ended after --timeout ${limit}s" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 6 ]
}

@test "the table says what runs verified of each other, and what not" {
	said() { tr -s ' \n' ' ' <<<"$output"; }
	run -0 "$BENCH" run openblas-1 cpu-1 cpu-2 "${TINY[@]:0:10}" \
		--progress never --out made
	[[ "$(said)" == *"- verified: first losses, within "*" (cpu-1 as openblas-1), equal parameters of the cores of cpu-2; not verified: first losses of cpu-2 (no other begins alike), gradients ($BENCH verify openblas cpu -m tiny) "* ]]
	[[ "$(said)" != *"losses differ"* ]]
	# A command takes a backend once, and ranks by their transport.
	cp -r made named
	sed -i 's/openblas-1/opencl:1/; s/cpu-1/opencl/; s/cpu-2/cpu-2@mpi/' \
		named/*.csv
	run -0 "$BENCH" table named
	[[ "$(said)" == *"gradients ($BENCH verify opencl:1 cpu-2@mpi -m tiny; $BENCH verify opencl -m tiny) "* ]]
	run -0 "$BENCH" table made --details
	[[ "$(said)" == *"- verified: first losses, within "* ]]
	run -0 "$BENCH" table made -q
	[[ "$(said)" != *verified* ]]
	# One that begins elsewhere comes before all that it did.
	awk -F, -v OFS=, '$3 == "cpu-1" && $6 == "step" { $13 += .01 } 1' \
		made/observations.csv >rows
	mv rows made/observations.csv
	run -0 "$BENCH" table made
	[[ "$(said)" == *"- first losses differ: cpu-1 from openblas-1 by 0.00"*"ms/iter"*"- verified: equal parameters"* ]]
	run -0 "$BENCH" run null-1 null-2 "${TINY[@]:0:10}" \
		--progress never --global-batch 32 --out lone
	[[ "$output" == *"In images/s"* || "$output" == *"Not compared"* ]]
	[[ "$(said)" != *verified* && "$(said)" != *"losses differ"* ]]
	# Batch norm has statistics of its own on each core.
	run -0 "$BENCH" run cpu-1 cpu-2 --global-batch 32 -m xla-mnist \
		"${DATA[@]}" -e 1 --progress never --out norm
	[[ "$(said)" == *"not verified: first losses of cpu-1, cpu-2 (no "* ]]
}

@test "no core has the most of what none has" {
	"$BENCH" run cpu-2 --model tiny "${DATA[@]}" --warmup 1 --epochs 1 \
		--test off -q --out made >/dev/null
	"$BENCH" table made --cores >tables
	# The test is the sixth column, its loss the last one.
	grep -Eq '^ +compute +wait +reduce +update +loader +test ' tables
	grep -Eq '^most +core [01]( +(core [01]|-)){4} +- ' tables
	grep -Eq '^most +(core [01]|-) +-$' tables
}
