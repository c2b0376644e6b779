#!/usr/bin/env bats
# `bench env --network` and `bench scale`: what a sum over cores costs, and what
# more cores would bring.

load command.sh
load plot.sh

# A folder of two runs of one core, and a sweep of 2 to 8 threads: 1 ms and
# 1 GB/s for each rank.
make_inputs() {
	"$BENCH" run cpu-1 "${TINY[@]}" --epochs 2 --repeat 2 --out one \
		>/dev/null
	{
		echo schema,transport,hosts,ranks,vector_bytes,median_s
		for ranks in 2 4 8; do
			for bytes in 4096 65536 1048576; do
				awk -v r=$ranks -v b=$bytes 'BEGIN { printf \
					"bench/1,threads,,%d,%d,%.9g\n", r, b,
					r * (1e-3 + b / 1e9) }'
			done
		done
	} >sweep.csv
}

@test "a sum over cores is timed for each transport, number and size" {
	run -0 --separate-stderr "$BENCH" env --network cpu-2 cpu-3@fork \
		--export-csv net.csv
	[ -z "$stderr" ]
	[[ "$output" == *"host key"*"All-reduce of ranks on this host"* ]]
	grep -q '^threads, 2 ranks ' <<<"$output"
	grep -q '^fork, 3 ranks ' <<<"$output"
	python3 - <<-'END'
	import csv
	rows = list(csv.DictReader(open("net.csv")))
	assert len(rows) == 26
	assert len(set((r["transport"], r["ranks"], r["vector_bytes"])
	               for r in rows)) == 26
	for row in rows:
	    assert 0 < float(row["q1_s"]) <= float(row["median_s"]) <= \
	        float(row["q3_s"])
	    assert int(row["repetitions"]) >= 5 and row["host_key"]
	for transport in ("threads", "fork"):
	    times = [float(r["median_s"]) for r in rows
	             if r["transport"] == transport]
	    # Where ranks share a CPU a small sum waits for as long as a large one
	    # works: only what holds on every machine is asked for.
	    assert times[-1] > sorted(times)[len(times) // 2], times
	    assert times[-1] > int(rows[-1]["vector_bytes"]) / 1e11, times
	END
}

@test "so it is between ranks of MPI" {
	[ -e "$(dirname "$BENCH")/plugins/mpi.so" ] ||
		skip "no plug-in mpi.so: package libopenmpi-dev was not there"
	command -v mpirun >/dev/null || skip "no mpirun: package openmpi-bin"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# Rows on standard output, and no table.
	run -0 --separate-stderr "$BENCH" env --network cpu-2@mpi --export-csv -
	[[ "${lines[0]}" == schema,started_utc,* ]]
	[ "${#lines[@]}" -eq 14 ]
	echo "$output" >net.csv
	[ "$(column net.csv transport | tr ' ' '\n' | sort -u)" = mpi ]
	[ "$(column net.csv ranks | tr ' ' '\n' | sort -u)" = 2 ]
}

@test "what is wrong with a sweep is said" {
	run -2 "$BENCH" env cpu-2
	[[ "$output" == *"for --network only"* ]]
	run -2 "$BENCH" env --network cpu-1
	[[ "$output" == *"cpu-1 has one core"* ]]
	run -2 "$BENCH" env --network cpu-2 cpu-2
	[[ "$output" == *"named twice"* ]]
	run -2 "$BENCH" env --network cpu-2 --hosts a:1,b:1
	[[ "$output" == *"--hosts a:1,b:1 cannot be used with cpu-2"* ]]
	run -2 "$BENCH" env --network --peak cpu-2 --export-csv net.csv
	[[ "$output" == *"add one of them"* ]]
	run -7 "$BENCH" env --network cpu-2 --export-csv no/such.csv
}

@test "more cores are predicted, and measured rows left alone" {
	make_inputs
	cp -r one before
	"$BENCH" table one --details >table
	run -0 --separate-stderr "$BENCH" scale one
	[ -z "$stderr" ]
	[[ "$output" == "A model, not measured: tiny, from the iterations of cpu-1"* ]]
	[ "$(grep -c '^model, [0-9]' <<<"$output")" -eq 12 ]
	[[ "$(tr '\n' ' ' <<<"$output")" == *" 3.45 (example),"*"0.85 (Colab)"* ]]
	for file in observations runs summary; do
		cmp "one/$file.csv" "before/$file.csv"
	done
	[ "$(column one/scale.csv cores)" = \
		"1 2 4 8 16 32 64 128 256 512 1024 2048" ]
	[ "$(column one/scale.csv clock | tr ' ' '\n' | sort -u)" = model ]
	python3 - <<-'END'
	import csv
	steps = [float(r["elapsed_s"]) for r in
	         csv.DictReader(open("one/observations.csv"))
	         if (r["phase"], r["is_warmup"], r["core"]) == ("step", "0", "")]
	texts = "schema clock campaign_id label target model topology".split()
	rows = [{k: float(v) for k, v in r.items() if v and k not in texts}
	        for r in csv.DictReader(open("one/scale.csv"))]
	first, last = rows[0], rows[-1]
	assert abs(first["iter_s"] / (sum(steps) / len(steps)) - 1) < 1e-6
	assert first["efficiency"] == 1 and first["exposed_s"] == 0
	for row in rows:
	    assert row["efficiency_lo"] <= row["efficiency"] <= \
	        row["efficiency_hi"] <= 1
	    assert abs(row["images_per_s"] * row["iter_s"] /
	               (row["cores"] * row["batch"]) - 1) < 1e-6
	# 2 (32 + 32 - 2) messages of 1 us and 1023/1024 of the vector twice.
	wanted = 124e-6 + 2 * 1023 / 1024 * last["gradient_bytes"] / 332.03125e9
	assert abs(last["exposed_s"] / wanted - 1) < 1e-6, wanted
	END
	# The same again, and in no table of what was measured.
	"$BENCH" scale one --export-csv again.csv >/dev/null
	cmp one/scale.csv again.csv
	"$BENCH" table one --details | cmp - table
}

# Gives each iteration of `one` the same time: compute_s of N cores is the mean of
# the slowest of N, which a busy machine may put at any multiple of the mean.
even_out() {
	awk -F, -v OFS=, 'NR == 1 { while (++i <= NF) at[$i] = i }
		NR > 1 && $at["phase"] == "step" { $at["elapsed_s"] = .001 }
		1' one/observations.csv >even.csv
	mv even.csv one/observations.csv
}

@test "the network is named by its parameters" {
	make_inputs
	even_out
	run -0 "$BENCH" scale one --topology ring --latency 5 --bandwidth 1 \
		--node-cores 1 --most-cores 8 --export-csv -
	printf '%s\n' "$output" >ring.csv
	[ "$(column ring.csv cores)" = "1 2 4 8" ]
	bytes=$(cell ring.csv 4 gradient_bytes)
	awk -v s="$(cell ring.csv 4 exposed_s)" -v b="$bytes" 'BEGIN {
		w = 14 * 5e-6 + 1.75 * b / 1e9; exit s / w < .999 || s / w > 1.001 }'
	run -0 "$BENCH" scale one --topology measured --sweep sweep.csv \
		--shared-cpus 2 --export-csv -
	printf '%s\n' "$output" >shared.csv
	[ "$(column shared.csv cores)" = "1 2 4 8" ]
	awk -v s="$(cell shared.csv 4 exposed_s)" -v b="$bytes" \
		-v c="$(cell shared.csv 4 compute_s)" \
		-v one="$(cell shared.csv 1 compute_s)" 'BEGIN {
		w = 8 * (1e-3 + b / 1e9)
		exit s / w < .999 || s / w > 1.001 || c / one < 3.999 ||
			c / one > 4.001 }'
	# Of as many ranks as there are.
	grep -v ',threads,,[24],' sweep.csv >eight.csv
	run -0 "$BENCH" scale one --topology measured --sweep eight.csv \
		--export-csv -
	printf '%s\n' "$output" >eight-cores.csv
	[ "$(column eight-cores.csv cores)" = "1 8" ]
	# Other transports may have other numbers of ranks.
	sed -n 's/,threads,,4,/,mpi,,3,/p' sweep.csv >other.csv
	[ -s other.csv ]
	cat sweep.csv other.csv >both-sweeps.csv
	run -0 "$BENCH" scale one --topology measured \
		--sweep both-sweeps.csv --export-csv -
	[ "$output" = "$("$BENCH" scale one --topology measured \
		--sweep sweep.csv --export-csv -)" ]
	run -0 "$BENCH" scale one --topology measured --sweep both-sweeps.csv
	[[ "$output" == *"left out of both-sweeps.csv, because threads comes first: mpi"* ]]
	# Within a node as measured, between nodes by the formula.
	run -0 "$BENCH" scale one --topology tree --latency 0 --bandwidth 1 \
		--node-cores 2 --most-cores 4 --sweep sweep.csv --export-csv -
	printf '%s\n' "$output" >both.csv
	awk -v s="$(cell both.csv 3 exposed_s)" -v b="$bytes" 'BEGIN {
		w = 2 * (1e-3 + b / 1e9) + 2 * b / 1e9
		exit s / w < .999 || s / w > 1.001 }'
}

@test "what is wrong with a prediction is said" {
	make_inputs
	run -2 "$BENCH" scale
	[[ "$output" == *"bench scale results/NAME"* ]]
	run -2 "$BENCH" scale one --topology measured
	[[ "$output" == *"needs --sweep FILE"* ]]
	run -2 "$BENCH" scale one --topology measured --sweep sweep.csv \
		--latency 1
	[[ "$output" == *"have no effect"* ]]
	run -2 "$BENCH" scale one --format post
	[[ "$output" == *"plain and github"* ]]
	grep -v ',8,4096,' sweep.csv >few.csv
	run -5 "$BENCH" scale one --topology measured --sweep few.csv
	[[ "$output" == *"few.csv: it has fewer than three sizes for 8 ranks by threads"* ]]
	run -5 "$BENCH" scale one --sweep sweep.csv --node-cores 16
	[[ "$output" == *"sweep.csv: it has fewer than three sizes for 16 ranks"* ]]
	sed 's/,[^,]*$/,0/' sweep.csv | sed '1s/0$/median_s/' >zero.csv
	run -5 "$BENCH" scale one --sweep zero.csv
	[[ "$output" == *"zero.csv: row 1: "* ]]
	run -5 "$BENCH" scale one --sweep one/runs.csv
	"$BENCH" run cpu-2 "${TINY[@]}" --out two >/dev/null
	run -5 "$BENCH" scale two
	[[ "$output" == *"two: there is no finished run of one core"* ]]
	[ ! -e two/scale.csv ]
	run -7 --separate-stderr "$BENCH" scale one --export-csv no/such.csv
	[[ "$output" == *"model, 2048"* ]]
}

@test "a folder that cannot be written is read" {
	make_inputs
	unshare --mount true 2>/dev/null || skip "no folder to be had read-only"
	run -0 --separate-stderr unshare --mount bash -c '
		mount --bind one one && mount -o remount,bind,ro one &&
		"$1" scale one' - "$BENCH"
	[[ "$output" == *"model, 2048"* ]]
	[[ "$stderr" == "note: "*one/scale.csv*"Read-only file system"*"--export-csv FILE writes the rows elsewhere" ]]
	[ ! -e one/scale.csv ]
}

@test "a prediction is drawn where there is one" {
	plot_setup
	make_inputs
	run -0 --separate-stderr "$BENCH" plot one
	[[ "$stderr" != *scale* ]]
	[ ! -e one/scale.svg ]
	[[ "$(text one/report.html)" != *"A model"* ]]
	"$BENCH" scale one >/dev/null
	run -0 --separate-stderr "$BENCH" plot one
	[[ "$stderr" != *scale* ]]
	[[ "$output" == *one/scale.svg* ]]
	check_made one
	[[ "$(text one/scale.svg)" == *"tiny from cpu-1, model"* ]]
	[[ "$(text one/report.html)" == *"A model, not measured"* ]]
	[ "$(grep -c '^0,' one/plot/scale.csv)" -eq 12 ]
}
