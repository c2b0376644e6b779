#!/usr/bin/env bats
# The command as its users meet it: words, exit codes, files.

load command.sh

# fails CODE WORDS ARGUMENT ...: nothing on standard output, one line of error
# with the words in it, and no results folder.
fails() {
	local code=$1 words=$2
	shift 2
	run "-$code" --separate-stderr "$BENCH" "$@"
	[ -z "$output" ]
	[[ "$stderr" == bench:*"$words"* ]] || {
		echo "'$stderr' does not say '$words'"
		return 1
	}
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ ! -e results ]
}

@test "without arguments, help" {
	run -0 --separate-stderr "$BENCH"
	[ -z "$stderr" ]
	[[ "$output" == usage:* ]]
	local help=$output verb
	run -0 "$BENCH" --help
	[ "$output" = "$help" ]
	for verb in run measure table verify devices env data help; do
		[[ "$help" == *"bench $verb"* ]]
		run -0 --separate-stderr "$BENCH" "$verb" --help
		[[ "$output" == "usage: bench $verb"* ]]
		[ -z "$stderr" ]
	done
	run -0 "$BENCH" --version
	[[ "${lines[0]}" == "bench "[0-9]* ]]
	[[ "${lines[1]}" == "built with openblas "[0-9]*"zlib "[0-9]* ]]
}

@test "what is unknown names the choices" {
	fails 2 "data, complete, help" frobnicate
	fails 2 "see bench run --help" run --frobnicate
	fails 2 "mnist-2019, alexnet, ddp-toy, resnet34, resnet50, tiny" \
		run --model vgg
	fails 2 "cpu, openblas, opencl, reference, null" run cpu-1 gpu
	fails 2 "self, threads, fork" measure cpu-2@pigeons
	fails 2 "auto, mnist, fashion-mnist, fashion-scenes, folder, synthetic, fake" \
		run --dataset cifar
	fails 2 "plain, github, post" run --format html
	fails 2 "must be 1 to 100000, not 0" run --epochs 0
	fails 2 "one TARGET" measure
	fails 2 "did you mean 'run'?" rnu
	fails 2 "no option --epohs; did you mean --epochs?" run --epohs 3
	fails 2 "unknown option -x; see bench run --help" run -x
	fails 2 "did you mean 'mnist'?" run --model mnits
	fails 2 "did you mean 'fashion-mnist'?" data get fashion-mnits
	fails 2 "did you mean 'opencl'?" run opncl
	fails 2 "did you mean 'threads'?" measure cpu-2@thread
	fails 2 "it is an option of measure" run --dump-masks m
	fails 2 "cpu, openblas, opencl" verify reference
}

@test "an error does not steer the terminal" {
	fails 4 '\x1B[31mred' table $'\e[31mred'
}

@test "a batch is of a core or of all cores" {
	fails 2 --global-batch run --batch 8 --global-batch 8 "${DATA[@]}"
	fails 2 --global-batch measure --global-batch 8 --batch 8 cpu-2
}

@test "a run says why it failed, whatever its campaign is called" {
	run -0 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]/-q/-v}" \
		--campaign-id mine --run-file row
	[[ "$stderr" == *"epoch 1/1"* ]]
	[ "$(cell row 1 campaign_id)" = mine ]
	run -4 --separate-stderr "$BENCH" measure cpu-1 "${TINY[@]}" \
		--campaign-id mine --run-file row --weights none
	[ "$stderr" = "bench: none: cannot be opened: No such file or directory" ]
}

@test "missing data come with the way to get them" {
	fails 4 "bench data get mnist" run cpu-1 -d mnist --data-dir nowhere
	fails 4 "bench data get mnist" measure cpu-1 -d mnist --data-dir nowhere
}

@test "data that do not fit the model are refused" {
	mkdir images
	python3 - <<-'END'
	import struct
	for name in "train", "t10k":
	    with open("images/%s-images-idx3-ubyte" % name, "wb") as f:
	        f.write(struct.pack(">4I", 0x803, 4, 20, 20) + bytes(4 * 400))
	    with open("images/%s-labels-idx1-ubyte" % name, "wb") as f:
	        f.write(struct.pack(">2I", 0x801, 4) + bytes(4))
	END
	run --separate-stderr "$BENCH" run cpu-1 -d mnist --data-dir images
	[ "$status" -eq 2 ] || [ "$status" -eq 5 ]
	[[ "$stderr" == *28* ]]
	[ ! -e results ]
}

@test "without OpenCL a run skips it, and says why" {
	export OCL_ICD_VENDORS=/nonexistent
	run -0 --separate-stderr "$BENCH" run "${TINY[@]}" --out made
	[[ "$stderr" == *"opencl skipped: "*pocl-opencl-icd* ]]
	[[ "$output" == *skipped* ]]
	[ "$(column made/runs.csv target)" = "cpu-1 cpu-8 opencl" ]
	[ "$(column made/runs.csv status)" = "ok ok skipped" ]
	[[ "$(cell made/runs.csv 3 reason)" == *pocl-opencl-icd* ]]
}

@test "OpenCL asked for by name is missed" {
	export OCL_ICD_VENDORS=/nonexistent
	run -4 --separate-stderr "$BENCH" run opencl cpu-1 "${TINY[@]}" \
		--out made
	[[ "$stderr" == *pocl-opencl-icd* ]]
	# The other target is measured nevertheless.
	[ "$(column made/runs.csv status)" = "error ok" ]
	[ "$(cell made/runs.csv 1 exit_code)" = 4 ]
	run -4 "$BENCH" measure opencl "${TINY[@]}"
}

@test "a run that measures nothing says why, and no more" {
	export OCL_ICD_VENDORS=/nonexistent
	run -4 --separate-stderr "$BENCH" run opencl "${TINY[@]}" --out made
	[ "${#lines[@]}" -le 5 ]
	[[ "$output" == *"opencl: error: "*pocl-opencl-icd* ]]
	[[ "$output" != *"/iter"* ]]
	[[ "$stderr" == "bench: opencl: "*pocl-opencl-icd* ]]
	# With an earlier measurement, it is a column like any other.
	"$BENCH" run cpu-1 "${TINY[@]}" --out made >/dev/null
	run -0 "$BENCH" table made
	[[ "$output" == *"/iter"*"opencl "*failed*cpu-1* ]]
	grep -q 'One iteration' made/tables.md
}

@test "a loss that is not a number ends a run" {
	run -6 --separate-stderr "$BENCH" run cpu-1 null-1 openblas-2 \
		"${TINY[@]}" --lr 1e30 --out made --export-json json
	[[ "$stderr" == *"epoch 1, iteration 2"* ]]
	[ "$(column made/runs.csv status)" = "error ok error" ]
	[[ "$(cell made/runs.csv 1 reason)" == *"iteration 2"* ]]
	[ "$(cell made/runs.csv 3 exit_code)" = 6 ]
	# What was measured before it is kept, and marked.
	grep -q ',cpu-1,1,,step,1,1,0,[0-9].*,ok,' made/observations.csv
	grep -q ',cpu-1,1,,step,1,2,0,,.*,error,' made/observations.csv
	grep -q ',cpu-1,1,,epoch,1,,0,.*,partial,' made/observations.csv
	grep -q ',null-1,1,,loop,.*,ok,' made/observations.csv
	run -1 grep -Eiw -- '-?(nan|inf|infinity)' made/* json
}

@test "standard output that is full or closed" {
	run -7 bash -c '"$0" --help >/dev/full' "$BENCH"
	run -7 bash -c '"$0" measure cpu-1 "$@" >/dev/full' "$BENCH" \
		"${TINY[@]}"
	[[ "$output" == *"standard output"* ]]
	run -7 bash -c '"$0" measure cpu-1 "$@" >&-' "$BENCH" "${TINY[@]}"
	local to
	for to in '>/dev/full' '>&-'; do
		run -7 bash -c '"$0" run cpu-1 "$@" '"$to" "$BENCH" \
			"${TINY[@]}" --out "made$to"
		# The tables are in the folder, and nothing else is in a file.
		[[ "$output" == *"they are in made"* ]]
		[ "$(column "made$to/runs.csv" status)" = ok ]
		[ "$(head -c 6 "made$to/observations.csv")" = schema ]
		[ -s "made$to/tables.md" ]
	done
}

@test "verify finds all right" {
	run -0 --separate-stderr "$BENCH" verify cpu openblas --model tiny \
		"${DATA[@]}" --steps 5
	[[ "$output" == *"all right"* ]]
	[[ "$output" == *"conv2.weight"* ]]
	[[ "$output" == *"cpu: masks equal"* ]]
	[[ "$output" == *"openblas: masks equal"* ]]
	[[ "$output" != *WRONG* ]]
}

@test "verify without OpenCL says that it was skipped" {
	export OCL_ICD_VENDORS=/nonexistent
	run -0 "$BENCH" verify --model tiny "${DATA[@]}" --steps 2
	[[ "$output" == *"opencl skipped: "*pocl-opencl-icd* ]]
	run -4 "$BENCH" verify opencl --model tiny "${DATA[@]}" --steps 2
	[[ "$output" != *"core 0 of 1"* ]]
}

@test "verify names what is broken" {
	local layer
	for layer in conv2 fc1; do
		BENCH_TEST_BREAK=$layer run -1 --separate-stderr "$BENCH" \
			verify cpu openblas --model tiny "${DATA[@]}" --steps 3
		[[ "$output" == *"WRONG: cpu: the gradient of $layer.weight"* ]]
		[[ "$output" == *"WRONG: openblas: "*" of $layer.weight"* ]]
		[[ "$output" != *"all right"* ]]
	done
}

@test "rows are CSV that others read" {
	run -0 --separate-stderr "$BENCH" measure cpu-3 "${TINY[@]}" \
		--run-file row --run-id 'a "b", c'
	[ -z "$stderr" ]
	echo "$output" >rows
	python3 - <<-'END'
	import csv
	with open("rows", newline="") as f:
	    rows = list(csv.DictReader(f, strict=True))
	# Set-up; two steps: the target's, its model's and three cores'; an epoch
	# with test, loader and four parts of both, of the cores too; the loop.
	assert len(rows) == 1 + 2 * (2 + 3) + (2 + 3) * 7 + 2, len(rows)
	for row in rows:
	    assert None not in row and None not in row.values(), row
	    assert row["schema"] == "bench/1" and row["status"] == "ok"
	    assert row["run_id"] == 'a "b", c' and row["target"] == "cpu-3"
	    assert float(row["elapsed_s"]) >= 0
	    assert (row["phase"] != "step" or row["clock"] == "model" or
	            0 < float(row["loss"]) < 10)
	END
	[ "$(cell row 1 run_id)" = 'a "b", c' ]
	[ "$(cell row 1 global_batch)" = 96 ]
}

@test "what was not measured is in a file of its own" {
	local how
	run -0 "$BENCH" run cpu-2 null-1 "${TINY[@]}" --repeat 2 --out made
	python3 - <<-'END'
	import csv
	def read(name):
	    return list(csv.DictReader(open("made/%s.csv" % name)))
	assert {r["clock"] for r in read("observations")} == {"wall"}
	modelled = read("modelled")
	assert {(r["clock"], r["core"]) for r in modelled} == {("model", "")}
	def intervals(rows):
	    return sorted([r["run_id"], r["phase"], r["epoch"], r["iter"]]
	                  for r in rows if not r["core"] and r["phase"] != "setup")
	assert intervals(modelled) == intervals(read("observations"))
	END
	# An older folder has these rows among the others.
	cp -r made older
	sed 1d made/modelled.csv >>older/observations.csv
	rm older/modelled.csv
	for how in --details --cores "--format post --with-post" \
		"--export-csv -" "--export-json -"; do
		# shellcheck disable=SC2086 # several words
		"$BENCH" table made $how >new
		# shellcheck disable=SC2086
		"$BENCH" table older $how >old
		cmp new old
	done
	"$BENCH" table made --details >new
	grep -q model new
	# So do the files, one by one; but each once.
	"$BENCH" table made/modelled.csv made/runs.csv made/observations.csv \
		--details >old
	cmp new old
	run -5 "$BENCH" table made/runs.csv made/modelled.csv made/modelled.csv
	[[ "$output" == *"made/modelled.csv: run "*" was read before"* ]]
}

@test "the queries of results/README.md say what the tables say" {
	python3 -c 'import duckdb' || python3 -c 'import pandas' ||
		skip "neither DuckDB nor pandas for python3"
	run -0 "$BENCH" run cpu-2 null-1 "${TINY[@]}" --epochs 2 --repeat 2 \
		--out made
	"$BENCH" table --columns >columns
	cd made
	python3 - <<-'END'
	import csv, re
	text = open("../columns").read()
	wanted = {}
	for row in csv.DictReader(open("summary.csv")):
	    key = row["target"], row["run_id"]
	    if row["metric"] == "iter_s" and row["run_id"]:
	        wanted[key] = [int(row["n_obs"]), float(row["mean"]),
	                       float(row["std"])]
	    if row["metric"] == "epoch_s" and row["run_id"]:
	        wanted[key].append(float(row["mean"]))
	assert len(wanted) == 4, wanted
	def compare(found):
	    assert found.keys() == wanted.keys(), found
	    for key, values in wanted.items():
	        for value, other in zip(found[key], values, strict=True):
	            assert abs(value - other) <= 1e-6 * other, (key, found[key])
	def block(language):
	    return re.search("```%s\n(.*?)```" % language, text, re.S).group(1)
	try:
	    import duckdb
	except ImportError:
	    pass
	else:
	    compare({tuple(r[:2]): r[2:]
	             for r in duckdb.sql(block("sql")).fetchall()})
	try:
	    import pandas
	except ImportError:
	    pass
	else:
	    names = {}
	    exec(block("python"), names)
	    compare({key: list(row) for key, row in
	             zip(names["result"].index, names["result"].values)})
	END
}

@test "masks are those of the samples, whoever trains them" {
	local target
	for target in reference-1 openblas-1 cpu-1 "cpu-4 --global-batch 32"; do
		# shellcheck disable=SC2086 # two words
		run -0 "$BENCH" measure $target "${TINY[@]}" --epochs 2 \
			--dump-masks "masks $target"
		# 5 planes and 17 units a sample, 70 samples an epoch.
		[ "$(stat -c %s "masks $target")" -eq $((2 * 70 * (5 + 17))) ]
		cmp "masks reference-1" "masks $target"
	done
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --seed 2 --dump-masks other
	run -1 cmp -s -n 1540 other "masks cpu-1"
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --dropout off \
		--dump-masks none
	[ -z "$(tr -d '\001' <none)" ]
}

@test "parameters are saved, and the same again" {
	local file
	for file in one two; do
		run -0 "$BENCH" measure cpu-4 "${TINY[@]}" \
			--save-parameters "$file" --run-file "$file.csv"
		[ "$(stat -c %s "$file")" -eq $((4 * 2492)) ]
	done
	cmp one two
	[ -n "$(cell one.csv 1 parameters_hash)" ]
	[ "$(cell one.csv 1 parameters_hash)" = \
		"$(cell two.csv 1 parameters_hash)" ]
	run -0 "$BENCH" measure cpu-4 "${TINY[@]}" --seed 2 --run-file other
	[ "$(cell one.csv 1 parameters_hash)" != \
		"$(cell other 1 parameters_hash)" ]
}

@test "a target is named once; its repetitions are asked for" {
	local twice
	for twice in "cpu-1 cpu-1" "null-1 null-2 null" "opencl opencl-1"; do
		# shellcheck disable=SC2086 # several words
		run -2 "$BENCH" run $twice "${TINY[@]}" --out made
		[[ "$output" == *" is named twice; "*" use --repeat" ]]
		[ ! -e made ]
	done
}

@test "one warm-up step is one step, and a speed-up has a base" {
	run -0 "$BENCH" run cpu-1 "${TINY[@]}" --out made --details
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"warm-up: 1 step a run, excluded"* ]]
	[[ "$output" == *"divided by the images/s of cpu-1, or of the first target \
with one emulated core"* ]]
}

@test "repeated runs take turns and have seeds of their own" {
	run -0 "$BENCH" run cpu-1 cpu-2 "${TINY[@]}" --repeat 2 --seed 5 \
		--out made --details
	[ "$(column made/runs.csv target)" = "cpu-1 cpu-2 cpu-2 cpu-1" ]
	[ "$(column made/runs.csv seed)" = "5 5 100005 100005" ]
	[ "$(column made/runs.csv status)" = "ok ok ok ok" ]
	[ "$(column made/runs.csv run_id | tr ' ' '\n' | sort -u | wc -l)" = 4 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *", 2 seeds from 5 to 100005;"* ]]
	# Any of them alone, by its seed.
	run -0 "$BENCH" measure cpu-2 "${TINY[@]}" --seed 100005 --run-file one
	[ "$(cell one 1 parameters_hash)" = \
		"$(cell made/runs.csv 3 parameters_hash)" ]
}

@test "repetitions whose seeds would not fit are refused beforehand" {
	fails 2 "--seed 4294967295 with --repeat 2: repetition r (from 0) uses \
seed + 100000 r, which must not exceed 4294967295; the largest --seed here is \
4294867295" run null-1 "${TINY[@]}" --seed 4294967295 --repeat 2
	fails 2 "the largest --seed here is 4294867295" \
		run null-1 "${TINY[@]}" --seed 4294867296 -r 2 --dry-run
	run -0 "$BENCH" run null-1 "${TINY[@]}" --seed 4294867295 --repeat 2 \
		--out made
	[ "$(column made/runs.csv seed)" = "4294867295 4294967295" ]
}

@test "the harness's own cost is a target" {
	run -0 "$BENCH" run null-1 "${TINY[@]}" --out made
	[[ "$output" == *"/iter"*null-1* ]]
	[ "$(cell made/runs.csv 1 updates)" = 3 ]
	[[ "$(cell made/runs.csv 1 iterations_s)" == [0-9]* ]]
}

@test "nothing is measured when nothing was asked for" {
	run -0 "$BENCH" run --list
	[[ "$output" == *mnist-example*openblas*threads* ]]
	local line='tiny +auto +32 +2,492 +0\.[0-9][0-9] +3'
	[[ "$output" =~ $line ]]
	line='resnet34 +fashion-scenes +128 +21,289,802 .*1 \(--steps 1002\)'
	[[ "$output" =~ $line ]]
	line='alexnet +fashion-mnist +8, 32 '
	[[ "$output" =~ $line ]]
	# It is of models as they are, whatever else is asked for.
	local all=$output
	run -0 "$BENCH" run --list --image-size 4096 --batch 999
	[ "$output" = "$all" ]
	run -2 "$BENCH" run --list cpu-1
	[ "$output" = "bench: --list takes no targets, found 'cpu-1'" ]
	run -0 "$BENCH" run cpu-1 cpu-2 "${DATA[@]}" --model tiny --dry-run
	[[ "$output" == *cpu-1*cpu-2* ]]
	[ ! -e results ]
}

@test "a dry run sums up, in time and in memory" {
	run -0 "$BENCH" run cpu-1 null-2 "${DATA[@]}" --model tiny --dry-run
	[[ "${lines[0]}" =~ ^cpu-1.*": about "[0-9]+" s, about "0.0[0-9]" GB" ]]
	[[ "${lines[2]}" =~ ^"in all "\ +"about "[0-9]+" s"$ ]]
	run -0 "$BENCH" run reference-1 "${DATA[@]}" --model tiny \
		--repeat 999 --epochs 999 --dry-run
	[[ "${lines[1]}" =~ ^"in all "\ +"about "[0-9.]+" min"$ ]]
}

@test "lines end between words on a terminal, and are whole elsewhere" {
	needs_terminal
	local line
	script -qec "stty cols 60; '$BENCH' run null-1 ${DATA[*]} --dry-run \
		--model tiny; '$BENCH' devices; '$BENCH' env" typed >/dev/null
	tr -d '\r' <typed >seen
	grep -A1 '^null-1 ' seen >plan
	[ "$(wc -L <plan)" -le 59 ]
	grep -q '^           [^ ]' plan
	for line in '^  *driver [aO]' '^cpu  *this CPU, '; do
		grep -q "$line" seen
		[ "$(grep "$line" seen | wc -L)" -le 59 ]
	done
	"$BENCH" run null-1 "${DATA[@]}" --dry-run --model tiny >whole
	[ "$(wc -l <whole)" -eq 2 ]
}

@test "a batch larger than the data set" {
	local set=(--model tiny --dataset synthetic --synthetic-test 40)
	set+=(--synthetic-train 70)
	local said
	for said in run measure "check --base $BENCH"; do
		# shellcheck disable=SC2086 # two words
		run -2 --separate-stderr "$BENCH" $said null-1 "${set[@]}" -b 71
		[[ "$stderr" == *"--batch 71: data set 'synthetic' has 70 \
training images"* ]]
	done
	run -2 --separate-stderr "$BENCH" run null-1 null-2 "${set[@]}" -b 36
	[[ "$stderr" == *"--batch 36 on each of 2 cores, 72 together: "*" 70 "* ]]
	run -2 --separate-stderr "$BENCH" run null-2 "${set[@]}" \
		--global-batch 71
	[[ "$stderr" == *"--global-batch 71: "*" 70 "* ]]
	[ ! -e results ]
	run -0 "$BENCH" measure null-2 "${set[@]}" -b 35 -q
	# The model's own may be: nobody asked for it.
	run -0 "$BENCH" measure null-8 "${set[@]}" -q
	# But a batch norm needs a sample on each core.
	run -2 --separate-stderr "$BENCH" measure cpu-8 -m xla-mnist -q \
		-d synthetic --synthetic-train 5 --synthetic-test 40
	[[ "$stderr" == *"Choose 5 cores or fewer, or a training set of 8 or more" ]]
}

@test "more memory than there is" {
	local much=(-d synthetic --synthetic-train 499968 --synthetic-test 1
		-b 7812)
	run -4 --separate-stderr "$BENCH" run openblas-64 "${much[@]}"
	[[ "$stderr" == *"openblas-64 needs about "*" GB of memory \
(batches "*", and this machine has "*" GB available: --batch "*" would fit, or choose fewer cores"* ]]
	run -4 --separate-stderr "$BENCH" run cpu-1 -m resnet50 -d fake -b 65536
	[[ "$stderr" == *" GB available: --batch "*" would fit" ]]
	[ ! -e results ]
	run -4 --separate-stderr "$BENCH" measure openblas-64 "${much[@]}"
	[ -z "$output" ]
}

# Of a large network smaller batches, fewer of them and part of the test.
@test "a quick run is quick whatever the network" {
	cd "$BATS_TEST_TMPDIR"
	local data=(--dataset synthetic --synthetic-train 9000
		--synthetic-test 2000)
	settings() {
		local name
		for name in epochs steps global_batch warmup test_batch \
			test_steps; do
			printf '%s ' "$(cell "$1" 1 "$name")"
		done
	}
	"$BENCH" run null-1 --quick "${data[@]}" -q --out small >/dev/null
	[ "$(settings small/runs.csv)" = "1 40 128 10 1000  " ]
	# Half the parameters of alexnet, which take most of the time.
	run -0 "$BENCH" run null-2 --quick --model resnet50 --image-size 96 \
		"${data[@]}" -q --out large
	[ "$(settings large/runs.csv)" = "1 5 32 1 128 2 " ]
	"$BENCH" run null-1 --quick --model resnet50 --image-size 96 \
		--test-batch 32 "${data[@]}" -q --out tested >/dev/null
	[ "$(settings tested/runs.csv)" = "1 5 32 1 32 8 " ]
	[[ "$output" != *"256 of 2000"* ]] # it is quiet
	run -0 "$BENCH" table large
	[[ "$output" == *"accuracy covers the first test images only: null-2 256 of 2000"* ]]
	# Several cores leave out what does not fill an iteration: 9000 - 281 * 32.
	[[ "$output" == *"cut short: null-2 5 of 281 iterations"* ]]
	"$BENCH" run null-1 --quick --model alexnet --image-size 63 --steps 3 \
		--test-steps 2 --batch 4 "${data[@]}" -q --out given >/dev/null
	[ "$(settings given/runs.csv)" = "1 3 4 10 8 2 " ]
}

@test "a results folder that cannot be made is found first" {
	touch file
	run -7 "$BENCH" run cpu-1 "${TINY[@]}" --out file/below
	[[ "$output" == *file/below* ]]
	[[ "$output" != *"/iter"* ]]
}

@test "forward passes are timed alone, and shown as percentiles" {
	cd "$BATS_TEST_TMPDIR"
	local data=(--model tiny --dataset synthetic --synthetic-train 300
		--synthetic-test 100)
	run -0 --separate-stderr "$BENCH" infer cpu-1 cpu-2 "${data[@]}" \
		--count 120 --out made --export-csv out.csv
	[[ "$output" == *"tiny on synthetic, 120 forward passes; n=1"* ]]
	[[ "$output" =~ cpu-2\ +64\  ]]
	[[ "$output" == *"cpu-1 "*" 1.00 "* ]]
	[[ "${output//$'\n'  / }" == *"lift: images/s divided by the first target's"* ]]
	[ "$(column made/runs.csv passes)" = "120 120" ]
	[ "$(column made/runs.csv batch)" = "32 32" ]
	[ "$(column made/runs.csv updates)" = "0 0" ]
	# Another batch each time, and one before that is no pass.
	[ "$(grep -c ',cpu-1,1,,step,1,' made/observations.csv)" -eq 120 ]
	[ "$(grep -c ',cpu-1,1,,step,0,' made/observations.csv)" -eq 1 ]
	[ "$(awk -F, '$3 == "cpu-1" && $6 == "step" && $7 == 1 { print $13 }' \
		made/observations.csv | sort -u | wc -l)" -eq 3 ]
	# numpy's percentiles of the same times.
	python3 - <<-'END'
	import csv, math
	def quantile(values, p):
	    at = p * (len(values) - 1)
	    low = math.floor(at)
	    high = min(low + 1, len(values) - 1)
	    return values[low] + (values[high] - values[low]) * (at - low)
	times = sorted(float(r["elapsed_s"])
	               for r in csv.DictReader(open("made/observations.csv"))
	               if r["target"] == "cpu-1" and r["phase"] == "step" and
	               r["epoch"] == "1" and not r["core"])
	rows = {r["metric"]: float(r["mean"])
	        for r in csv.DictReader(open("made/summary.csv"))
	        if r["target"] == "cpu-1" and not r["run_id"]}
	for p in 50, 90, 95, 99:
	    right = quantile(times, p / 100)
	    assert abs(rows["iter_p%d_s" % p] / right - 1) < 1e-6, p
	END
	# Of fewer than 100 the slowest is no percentile.
	run -0 "$BENCH" infer null-1 "${data[@]}" --count 99 --out few -q
	[[ "$output" == *"null-1"*" - "* ]]
	run -0 "$BENCH" table few
	[[ "$output" == *"- p99: - if a run has fewer than 100 passes"* ]]
	run -0 "$BENCH" table made
	[[ "$output" != *"p99: -"* ]]
	run -0 "$BENCH" infer null-1 "${data[@]}" --dry-run
	[[ "$output" == *"null-1 "*" 256 forward passes of 32 samples"* ]]
	[[ "$output" != *inf\ * ]]
	run -0 "$BENCH" infer null-1 "${data[@]}" --quick --out quick -q
	[ "$(column quick/runs.csv passes)" = 40 ]
	run -2 "$BENCH" infer cpu-1 --epochs 2
	[[ "$output" == *"--epochs"* ]]
}

@test "what was removed names what takes its place" {
	fails 2 "baseline was removed: bench compare DIR DIR" baseline show x
	fails 2 "calibrate was removed: bench check --control on" calibrate
	fails 2 "selftest was removed: tests/tools/gate-works" selftest
	fails 2 "--baseline was removed: bench compare" check --baseline x
	fails 2 "--floors was removed: bench check --control" check --floors x
	fails 2 "--log was removed: plain lines of progress" run --log post
	fails 2 "--trust-host was removed" check --trust-host
}

@test "what forward passes leave out is refused, not ignored" {
	local option
	for option in "--steps 3" "--epochs 2" "--lr 1" \
		"--test-batch 9" "--test-steps 2" "--target-accuracy 50" \
		"--dump-masks m" "--profile p"; do
		# shellcheck disable=SC2086 # an option and its value
		run -2 "$BENCH" measure cpu-1 --infer $option
		[[ "$output" == *"which --infer skips"* ]]
	done
	run -2 "$BENCH" measure cpu-1 --infer --steps 3
	[[ "$output" == *"; --count N sets the number of forward passes" ]]
	run -2 "$BENCH" measure cpu-1 --count 5
	[[ "$output" == *"add --infer"* ]]
	run -2 "$BENCH" measure cpu-1 --model ddp-toy --test-batch 5
	[[ "$output" == *"has no test"* ]]
}

@test "a note says first that --steps leaves the test whole" {
	local few=(null-1 --model tiny "${DATA[@]}" --warmup 1 --epochs 1
		--batch 2 --progress never)
	local says="note: --steps does not cut the test, which takes longer:\
 null-1 trains on 4 images per epoch and tests 40; --test-steps N cuts the test"
	run -0 "$BENCH" run "${few[@]}" --steps 2 --out made
	[ "$(grep -cxF "$says" <<<"$output")" = 1 ]
	run -0 "$BENCH" run "${few[@]}" --steps 2 --dry-run
	[ "$(grep -cxF "$says" <<<"$output")" = 1 ]
	for option in -q "--test off" "--test-steps 1" "--steps 7"; do
		# shellcheck disable=SC2086 # an option and its value
		run -0 "$BENCH" run "${few[@]}" --steps 2 $option --dry-run
		[[ "$output" != *"--steps does not"* ]]
	done
	run -0 "$BENCH" run "${few[@]}" --dry-run
	[[ "$output" != *"--steps does not"* ]]
}

@test "a run of no iteration is refused" {
	run -2 "$BENCH" run cpu-8 --model alexnet --dataset synthetic \
		--synthetic-train 100
	[[ "$output" == *"has 100 training images, but an iteration takes 256"* ]]
	[ ! -e results ]
}

@test "a quick run keeps what was asked for" {
	local data=(--dataset synthetic --synthetic-train 900
		--synthetic-test 200)
	"$BENCH" run null-8 --quick --global-batch 4 "${data[@]}" -q \
		--out made >/dev/null
	[ "$(cell made/runs.csv 1 global_batch)" = 4 ]
	"$BENCH" run null-1 --quick --model alexnet --image-size 112 \
		--batch 300 --warmup 10 --test-batch 100 --test-steps 1 \
		"${data[@]}" -q --out large >/dev/null
	[ "$(cell large/runs.csv 1 batch)" = 300 ]
	[ "$(cell large/runs.csv 1 warmup)" = 10 ]
	[ "$(cell large/runs.csv 1 test_batch)" = 100 ]
}
