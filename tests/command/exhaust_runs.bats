#!/usr/bin/env bats
# Each allocation, thread and process of a run fails in turn, as in exhaust.bats.

load command.sh
load exhaust.sh

# A measuring process that went well has written its whole row.
row_is_whole() {
	[ "$code" -ne 0 ] || [ "$(cell row 1 status)" = ok ] ||
		complain "the row"
	[ "$code" -ne 0 ] || [ "$(cut -d, -f6 out)" = "$phases" ] ||
		complain "the rows"
}

# measure_exhaust STEP ARGUMENT ...
measure_exhaust() {
	local step=$1
	shift
	"$BENCH" measure "$@" "${TINY[@]}" >out
	phases=$(cut -d, -f6 out)
	exhaust memory "$step" nothing row_is_whole -- measure "$@" \
		"${TINY[@]}" --run-file row
}

@test "a run on one core" {
	measure_exhaust "$(every 3)" null-1
	measure_exhaust "$(every 17)" cpu-1
	measure_exhaust "$(every 17)" openblas-1
}

@test "a run on two cores" {
	measure_exhaust "$(every 19)" cpu-2
	measure_exhaust "$(every 19)" reference-2
	measure_exhaust "$(every 9)" null-2@fork
	measure_exhaust "$(every 19)" reference-2@fork
}

# With a cache of its own: each file that is kept there costs allocations.
@test "a run on an OpenCL device" {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR
	"$BENCH" measure opencl "${TINY[@]}" >out || skip "no OpenCL device"
	measure_exhaust "$(every 31)" opencl
}

no_folder() {
	rm -rf made
}

@test "threads and processes that cannot be created" {
	"$BENCH" measure cpu-4 "${TINY[@]}" >out
	phases=$(cut -d, -f6 out)
	exhaust threads 1 nothing row_is_whole -- measure cpu-4 "${TINY[@]}" \
		--run-file row
	"$BENCH" measure cpu-3@fork "${TINY[@]}" >out
	phases=$(cut -d, -f6 out)
	exhaust threads 1 nothing row_is_whole -- measure cpu-3@fork \
		"${TINY[@]}" --run-file row
	exhaust processes 1 nothing row_is_whole -- measure cpu-3@fork \
		"${TINY[@]}" --run-file row
	exhaust threads 1 no_folder nothing FAIL_VERB=measure -- \
		run null-1 "${TINY[@]}" --out made
}

@test "a run on images in files" {
	local images=$BATS_TEST_DIRNAME/../images
	TINY=(--model tiny --dataset folder --data-dir set --warmup 1
		--epochs 1 -q)
	mkdir -p set/train/a set/val/a
	cp "$images"/{rgb,interlaced}.png "$images"/cmyk.jpg set/train/a
	cp "$images"/{grey.png,progressive.jpg} set/val/a
	measure_exhaust "$(every 11)" null-1
	echo path,group,1,2,3,4,5,6,7,8,9,10 >targets.csv
	for image in train/a/{rgb,interlaced}.png val/a/grey.png; do
		echo "$image,g,1,0,0,0,0,0,0,0,0,0"
	done >>targets.csv
	TINY+=(--model resnet34 --image-size 32 --targets-csv targets.csv)
	measure_exhaust "$(every 23)" null-1
}
