#!/usr/bin/env bats
# The estimate of memory, which refuses runs, against what runs take. (Refusals
# are in command.bats and opencl.bats.)

load command.sh

# takes_what_is_told TARGET ...: at least that, which a run is let in for, and
# not far less, which would be refused for nothing.
takes_what_is_told() {
	local of=("$@" -d synthetic --synthetic-train 1024 --synthetic-test 300
		--epochs 1 --warmup "${WARMUP:-1}")
	run -0 "$BENCH" run "${of[@]}" -q --dry-run
	[[ "${lines[0]}" =~ "about "([0-9.]+)" GB" ]]
	"$BENCH" measure "${of[@]}" -q --steps 1 --test-steps 1 \
		--run-file row >/dev/null
	awk -v took="$(cell row 1 maxrss_bytes)" -v told="${BASH_REMATCH[1]}" \
		-v of="$*" 'BEGIN {
		took *= 1e-9
		printf "%s: took %.3f GB, told %.2f GB\n", of, took, told
		# The message has two decimals.
		exit !(took < told + 0.005 && told - 0.005 < took * 1.3)
	}'
}

@test "large batches take what was estimated" {
	# A step before the first one has nothing to add but parameters.
	local WARMUP=0
	takes_what_is_told null-1 -b 1024
	takes_what_is_told cpu-1 -b 1024
	takes_what_is_told openblas-1 -b 1024
	takes_what_is_told cpu-1 -m resnet50 --image-size 64 -b 24
}

@test "many parameters take what was estimated" {
	takes_what_is_told cpu-2 -m resnet50 --image-size 64 -b 8
	# Cores of cpu have one copy, of others each their own.
	takes_what_is_told openblas-2 -m resnet50 --image-size 64 -b 2
}

# What PoCL takes is in the estimate.
@test "an OpenCL device takes what was estimated" {
	needs_opencl
	is_pocl || skip "another driver takes other memory"
	takes_what_is_told opencl
}

# told_of BATCH: the gigabytes of a run of it, which is refused.
told_of() {
	run "$BENCH" run opencl -m resnet50 --image-size 2048 -d fake -b "$1" \
		--dry-run
	[[ "$output" =~ "needs about "([0-9]+)\.[0-9]+" GB" ]]
	told=${BASH_REMATCH[1]}
}

@test "a batch that OpenCL kernels cannot count is estimated like others" {
	needs_opencl
	is_pocl || skip "another driver takes other memory"
	local told
	told_of 100
	local of_100=$told
	told_of 60000
	echo "$of_100 GB, $told GB"
	[ "$told" -gt $((500 * of_100)) ]
}

# most_of OPTION ...: the bytes of a run of many parameters that also does that.
most_of() {
	"$BENCH" measure cpu-1 -m alexnet -b 2 -d synthetic --warmup 0 \
		--synthetic-train 2 --epochs 1 --test off -q \
		--run-file row "$@" >/dev/null
	cell row 1 maxrss_bytes
}

@test "saving weights takes no memory of their size, and reading is estimated" {
	local without
	without=$(most_of)
	# 230 MB of them are written in pieces.
	[ "$(most_of --save-weights w)" -lt $((without + 20000000)) ]
	[ "$(stat -c %s w)" -gt 200000000 ]
	takes_what_is_told cpu-1 -m alexnet -b 8 --weights w
}

@test "an image takes what was estimated while it is decoded" {
	local took
	mkdir -p set/{train,val}/{a,b}
	python3 - set/train/a/large.png <<-'END'
		import struct, sys, zlib
		def chunk(name, data):
		    sum = zlib.crc32(name + data)
		    return struct.pack(">I", len(data)) + name + data + struct.pack(
		        ">I", sum)
		head = struct.pack(">IIBBBBB", 5000, 4000, 8, 2, 0, 0, 0)
		rows = zlib.compress((b"\0" + bytes(15000)) * 4000, 1)
		open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(
		    b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
	END
	for part in train/b val/a val/b; do
		cp "$BATS_TEST_DIRNAME/../images/rgb.png" "set/$part"
	done
	run -0 "$BENCH" run cpu-1 -m xla-mnist -b 2 -e 1 -d folder \
		--data-dir set -q --dry-run
	[[ "${lines[0]}" =~ "about "([0-9.]+)" GB" ]]
	"$BENCH" measure cpu-1 -m xla-mnist -b 2 -e 1 -d folder --data-dir set \
		-q --run-file row >/dev/null
	took=$(cell row 1 maxrss_bytes)
	[ "$took" -gt 60000000 ]
	awk -v took="$took" -v told="${BASH_REMATCH[1]}" \
		'BEGIN { exit !(took < (told + 0.005) * 1e9) }'
}

@test "rows of all runs count" {
	run "$BENCH" run null-1 -m tiny -d synthetic -e 100000 --repeat 1000 \
		--dry-run --out made
	[ "$status" -eq 4 ]
	[[ "$output" == *"the rows of all runs would take about "*" GB"* ]]
	[[ "$output" == *"choose fewer --epochs, --steps or --repeat"* ]]
}
