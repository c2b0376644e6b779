#!/usr/bin/env bats
# Weights in and out: --save-weights and --weights.

load command.sh

setup() {
	command_setup
	NORM=(--model xla-mnist "${DATA[@]}" --warmup 2 -q)
}

# Some steps of training, into the file w and its row w.csv.
make_weights() {
	run -0 "$BENCH" measure cpu-1 "${NORM[@]}" --batch 10 --epochs 1 \
		--steps 4 --save-weights w --run-file w.csv
}

# The 8 bytes in front of a file as a number.
length_of() {
	od -An -t u8 -N 8 "$1" | tr -d ' '
}

@test "others begin with what was saved, after warm-up as well" {
	local target column
	make_weights
	for target in cpu-1 cpu-3 cpu-2@fork openblas-2 reference-1; do
		run -0 "$BENCH" measure "$target" "${NORM[@]}" --infer \
			--count 2 --weights w --save-weights again \
			--run-file row.csv
		for column in parameters_hash buffers_hash; do
			[ "$(cell row.csv 1 $column)" = \
				"$(cell w.csv 1 $column)" ]
		done
		[ "$(cell row.csv 1 weights)" = \
			"$(sha256sum w | cut -d ' ' -f 1)" ]
		cmp w again
	done
	[ -z "$(cell w.csv 1 weights)" ]
}

# As torch.compile and DataParallel name tensors: a prefix before each name.
put_prefix() {
	local header length i
	header=$(tail -c +9 w | head -c "$(length_of w)" |
		sed 's/"\(conv\|bn\|fc\)[0-9]\./"module._orig_mod.&/g
			s/_mod\."/_mod./g')
	length=${#header}
	{
		for i in 0 8 16 24 32 40 48 56; do
			printf "\\x$(printf %02x $((length >> i & 255)))"
		done
		printf %s "$header"
		tail -c +"$((9 + $(length_of w)))" w
	} >prefixed
}

@test "a prefix of all names is left out, with a note" {
	local note="note: prefixed: 'module._orig_mod.' before each name was\
 left out"
	make_weights
	put_prefix
	run -0 --separate-stderr "$BENCH" measure cpu-1 "${NORM[@]/-q/-v}" \
		--infer --count 1 --weights prefixed --run-file row.csv
	[[ "$stderr" == *"$note"* ]]
	[ "$(cell row.csv 1 parameters_hash) $(cell row.csv 1 buffers_hash)" = \
		"$(cell w.csv 1 parameters_hash) $(cell w.csv 1 buffers_hash)" ]
	run -0 --separate-stderr "$BENCH" infer cpu-1 "${NORM[@]/-q/-v}" \
		--count 1 --weights prefixed --out made
	[ "$(grep -cF "$note" <<<"$stderr")" = 1 ]
	run -0 --separate-stderr "$BENCH" measure cpu-1 "${NORM[@]}" \
		--infer --count 1 --weights prefixed
	[[ "$stderr" != *"left out"* ]]
}

@test "training goes on from them" {
	local before after seed
	make_weights
	# No step, and none of another seed: their parameters.
	run -0 "$BENCH" measure cpu-2 "${NORM[@]}" --batch 10 --epochs 1 \
		--steps 3 --lr 0 --seed 7 --weights w --save-weights still \
		--run-file still.csv
	[ "$(cell still.csv 1 parameters_hash)" = \
		"$(cell w.csv 1 parameters_hash)" ]
	# Each step counts as a batch.
	before=$(tail -c +"$((9 + $(length_of w)))" w | od -An -t d8 -N 16)
	after=$(tail -c +"$((9 + $(length_of still)))" still |
		od -An -t d8 -N 16)
	[ "$(echo $before)" = "4 4" ]
	[ "$(echo $after)" = "7 7" ]
	# So is the loss, whatever the seed.
	for seed in 1 2; do
		run -0 "$BENCH" infer reference-1 "${NORM[@]}" --count 1 \
			--seed $seed --out made$seed --weights w
	done
	[ -n "$(column made1/runs.csv final_loss)" ]
	[ "$(column made1/runs.csv final_loss)" = \
		"$(column made2/runs.csv final_loss)" ]
}

@test "a campaign says which weights its runs began with" {
	local sum
	make_weights
	sum=$(sha256sum w | cut -d ' ' -f 1)
	run -0 "$BENCH" run cpu-1 reference-1 "${NORM[@]}" --epochs 1 \
		--steps 2 --lr 0 --out made --weights w
	[ "$(column made/runs.csv weights)" = "$sum $sum" ]
	[ "$(column made/runs.csv parameters_hash)" = \
		"$(cell w.csv 1 parameters_hash) $(cell w.csv 1 parameters_hash)" ]
	run -0 "$BENCH" table made
	[[ "${output//$'\n' /}" == *"- training began with the weights of a file (--weights), SHA-256 ${sum:0:16}..."* ]]
	run -0 "$BENCH" run cpu-1 "${NORM[@]}" --epochs 1 --steps 2 --out plain
	[ "$(column plain/runs.csv weights)" = "" ]
}

@test "a file that does not fit is named before a campaign begins" {
	local verb
	make_weights
	for verb in run infer; do
		run -5 --separate-stderr "$BENCH" $verb cpu-1 --model tiny \
			"${DATA[@]}" --weights w --out made
		[ "$stderr" = "bench: w: 'conv1.weight' is [10, 1, 5, 5], but [3, 1, 3, 3] in model 'tiny'; choose the --model and --image-size of this file" ]
		[ -z "$output" ]
		[ ! -e made ]
	done
	truncate -s -1 w
	run -5 "$BENCH" run cpu-1 "${NORM[@]}" --weights w --out made
	[[ "$output" == "bench: w: cut short: the data of its tensor 'fc2.bias' end at byte "* ]]
	run -4 "$BENCH" measure cpu-1 "${NORM[@]}" --weights missing
	[ "$output" = "bench: missing: cannot be opened: No such file or directory" ]
	[ ! -e made ]
	run -2 "$BENCH" check cpu-1 --weights w
	[[ "$output" == *"--weights"* ]]
}

@test "a name that steers a terminal is shown, not sent" {
	local entry='{"dtype":"F32","shape":[1],"data_offsets":[0,0]}'
	local header="{\"\\u001b[31mred\":$entry}"
	printf '%b' "\\0$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0" >escape
	printf %s "$header" >>escape
	run -5 "$BENCH" measure cpu-1 --model tiny --weights escape
	[ "$output" = "bench: escape: its tensor '\\x1B[31mred', [1] of F32, takes 4 bytes, but its data_offsets have 0" ]
}

# At a rate that soon leaves what was learned again.
@test "the best epoch is kept, by the loss of all cores" {
	run -0 "$BENCH" measure cpu-2 "${NORM[@]}" --batch 10 --epochs 5 \
		--lr .5 --save-weights w:best --run-file w.csv
	[ -e w ]
	[ ! -e w:best ]
	printf '%s\n' "$output" >rows
	local best last
	best=$(awk -F, '$5 == "" && $6 == "test" && $17 == "wall" {
		print $13, $7 }' rows | sort -g | head -n 1)
	last=$(awk -F, '$5 == "" && $6 == "test" && $17 == "wall" {
		print $13 }' rows | tail -n 1)
	[ "${best% *}" != "$last" ]
	# As many epochs and no more end there.
	run -0 "$BENCH" measure cpu-2 "${NORM[@]}" --batch 10 \
		--epochs "${best#* }" --lr .5 --save-weights again
	cmp w again
	run -2 "$BENCH" measure cpu-2 "${NORM[@]}" --test off \
		--save-weights w:best
	[[ "$output" == *"--save-weights FILE:best needs a test"* ]]
}

@test "after a colon of the file there is only best" {
	local name
	for name in w:worst w: :best w:best:Best; do
		run -2 "$BENCH" measure cpu-1 "${NORM[@]}" --steps 1 \
			--save-weights "$name"
		[[ "$output" == "bench: --save-weights $name: "*"FILE:best"* ]]
	done
	[ -z "$(ls)" ]
	mkdir a:b
	run -0 "$BENCH" measure cpu-1 "${NORM[@]}" --steps 1 \
		--save-weights a:b/w
	[ -e a:b/w ]
}

@test "batch norms folded into convolutions infer the same" {
	local few=(--model resnet50 --image-size 32 --batch 4
		--dataset synthetic --synthetic-train 40 --synthetic-test 40)
	local i targets=(cpu-1 cpu-2)
	[ ! -e "$BATS_FILE_TMPDIR/has-opencl" ] || targets+=(opencl)
	run -0 "$BENCH" measure cpu-1 "${few[@]}" -e 1 --steps 4 --warmup 0 \
		--lr 1e-5 --test off --save-weights w.safetensors
	for i in fast dense; do
		run -0 "$BENCH" infer "${targets[@]}" "${few[@]}" --count 3 -v \
			--algorithm "$i" --weights w.safetensors --out "$i"
		# The plan of each target.
		[ "$(grep -c "^fused steps" <<<"$output")" -eq ${#targets[@]} ]
		[ "$i" != fast ] || [[ "$output" != *batchnorm* ]]
		[ "$i" != dense ] || [[ "$output" == *batchnorm* ]]
	done
	python3 - <<-"END"
	import csv
	def losses(out):
	    return [float(r["loss"]) for r in
	            csv.DictReader(open(out + "/observations.csv"))
	            if r["phase"] == "step" and not r["core"] and r["loss"]]
	fast, dense = losses("fast"), losses("dense")
	assert len(fast) == len(dense) >= 6, (len(fast), len(dense))
	assert max(abs(f - d) for f, d in zip(fast, dense)) < 1e-4 * max(dense)
	# Hashes are of the network that was trained, or there are none.
	hashes = [[r["parameters_hash"] for r in
	           csv.DictReader(open(out + "/runs.csv"))]
	          for out in ("fast", "dense")]
	assert not any(hashes[0]) and all(hashes[1]), hashes
	END
	run -0 "$BENCH" table fast
	[[ "$output" == *"folded into the layers before them on cpu-1, cpu-2"* ]]
	run -0 "$BENCH" table dense
	[[ "$output" != *folded* ]]
	# Nothing was trained.
	! grep -q ,train_loss, fast/summary.csv
}
