#!/usr/bin/env bats
# Whether iterations cost the same on all images: what same_cost makes of what
# bench says.

load command.sh

setup() {
	command_setup
	SAME=$BATS_TEST_DIRNAME/../peers/same_cost
	mkdir data
	# Steps of 0.02 s, of ${NOISE} where the images are noise.
	cat >bench <<-'END'
	#!/bin/sh
	echo "OPENBLAS=${OPENBLAS_CORETYPE-} ISA=${BENCH_ISA-} $*" >>calls
	[ -z "${FAIL-}" ] || { echo "it broke" >&2; exit "$FAIL"; }
	seconds=0.02
	case $* in
	*"mnist --data-dir data"* | *fashion-mnist*) ;;
	*) seconds=${NOISE:-0.0204} ;;
	esac
	echo core,phase,is_warmup,elapsed_s,samples,loss,clock
	echo ,step,1,9,128,2.4,wall
	echo ,step,0,$seconds,128,2.3,wall
	END
	chmod +x bench
	ARGS=(--bench ./bench --data data --turns 3)
}

@test "ratios of three sets of images, in turns" {
	OPENBLAS_CORETYPE=Haswell BENCH_ISA=avx2 run -0 --separate-stderr \
		"$SAME" "${ARGS[@]}" --out rows.csv -- --lr 0.5
	grep -Eq '^\| Fashion-MNIST +\| 20\.00 .* 1\.000 ' <<<"$output"
	grep -Eq '^\| noise +\| 20\.40 .* 1\.020 ' <<<"$output"
	[[ "$output" == *"3 turns; all within 5 %" ]]
	[ "$(wc -l <rows.csv)" = 10 ]
	run -1 grep -v "OPENBLAS= ISA=avx2 .* --lr 0.5" calls
	# Each turn begins with another one.
	[ "$(grep -c "" calls)" = 9 ]
	sed -n 4p calls | grep -q fashion-mnist
	run -0 "$SAME" --table rows.csv
	[[ "$output" == *"all within 5 %" ]]
}

@test "images that cost more, or less, are named" {
	NOISE=0.0212 run -1 "$SAME" "${ARGS[@]}"
	[[ "$output" == *"not all within 5 %" ]]
	NOISE=0.0188 run -1 "$SAME" "${ARGS[@]}"
	NOISE=0.0188 run -0 "$SAME" "${ARGS[@]}" --within 7
}

@test "the noise is images that bench reads, and none is blank" {
	cat >bench <<-END
	#!/bin/sh
	case \$* in
	*"--data-dir data"* | *fashion*) shift \$# ;;
	esac
	case \$* in *--data-dir*)
		cp -r "\$(echo "\$*" | sed 's/.*--data-dir \([^ ]*\).*/\1/')" kept
		BENCH_DATA_DIR= "$BENCH" "\$@" ;;
	*)
		echo core,phase,is_warmup,elapsed_s,samples,loss,clock
		echo ,step,0,1,128,2.3,wall ;;
	esac
	END
	run "$SAME" "${ARGS[@]}" --turns 1 --epochs 1 --within 1000
	[ "$status" = 0 ]
	python3 - <<-'END'
	pixels = open("kept/train-images-idx3-ubyte", "rb").read()[16:]
	assert len(pixels) == 2560 * 784
	assert max(pixels.count(v) for v in set(pixels)) < len(pixels) / 50
	END
}

@test "bad input" {
	run -2 "$SAME" --bench ./bench
	[[ "$output" == *BENCH_DATA_DIR* ]]
	run -2 "$SAME" "${ARGS[@]}" --turns 0
	FAIL=5 run -6 --separate-stderr "$SAME" "${ARGS[@]}"
	[[ "$stderr" == *"it broke"* ]]
	run -5 --separate-stderr "$SAME" --table none.csv
	[[ "$stderr" == *none.csv* ]]
	printf 'turn,images,step_s,steps,first_loss\n1,MNIST,fast,1,2\n' >bad.csv
	run -5 --separate-stderr "$SAME" --table bad.csv
	[[ "$stderr" == *"'fast'"* ]]
	# No time is above 0 seconds.
	printf 'turn,images,step_s,steps,first_loss\n1,MNIST,0,1,2\n' >bad.csv
	run -5 --separate-stderr "$SAME" --table bad.csv
	[[ "$stderr" == *"'0'"* ]]
	run -7 "$SAME" "${ARGS[@]}" --out no/such.csv
}

@test "turns without MNIST have no ratio" {
	printf 'turn,images,step_s,steps,first_loss\n' >rows.csv
	run -5 --separate-stderr "$SAME" --table rows.csv
	[[ "$stderr" == "same_cost: rows.csv: no rows" ]]
	echo 1,noise,0.02,1,2 >>rows.csv
	run -5 --separate-stderr "$SAME" --table rows.csv
	[[ "$stderr" == *"rows.csv: no turn has both MNIST and noise" ]]
	# Of other turns it is no better.
	echo 2,MNIST,0.02,1,2 >>rows.csv
	run -5 --separate-stderr "$SAME" --table rows.csv
	[[ "$stderr" == *"no turn has both MNIST and noise" ]]
	# One turn that has both is enough.
	echo 2,noise,0.02,1,2 >>rows.csv
	run -0 "$SAME" --table rows.csv
}

@test "rows of two comparisons are not mixed" {
	run -0 "$SAME" "${ARGS[@]}" --out rows.csv
	cp rows.csv before.csv
	rm calls
	run -2 --separate-stderr "$SAME" "${ARGS[@]}" --out rows.csv
	[[ "$stderr" == *"rows.csv holds a comparison"* ]]
	cmp rows.csv before.csv
	# It was said before anything was measured.
	[ ! -e calls ]
	# What is no such file is not added to either.
	echo other >other.csv
	echo cells >>other.csv
	run -5 "$SAME" "${ARGS[@]}" --out other.csv
}
