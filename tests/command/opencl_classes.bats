#!/usr/bin/env bats
# The classes of kernels that an OpenCL device can be given.

load command.sh

setup() {
	opencl_setup
}

# launches CLASS FEWEST MOST: kernels and transfers of a training step.
launches() {
	run -0 "$BENCH" measure opencl --device-class "$1" -d synthetic \
		--synthetic-train 8 --batch 4 --warmup 1 --epochs 1 \
		--test off -q --profile "$1.csv"
	[ "$(grep -c ',iteration,' "$1.csv")" -eq 1 ]
	python3 - "$@" <<-'END'
	import csv, sys
	device_class, fewest, most = sys.argv[1:]
	whole = list(csv.DictReader(open(device_class + ".csv")))[-1]
	assert int(fewest) <= int(whole["launches"]) <= int(most), whole
	# Multiply-adds of four samples, by the network's definition.
	assert float(whole["dense_flop"]) == 2 * 4 * 35782656
	END
}

@test "a training step is at most 16 launches, 8 in the gpu class" {
	launches cpu 9 16
	launches gpu 6 8
}

is_listed() {
	"$BENCH" devices | grep -q ', [cg]pu class$'
}

@test "a class of devices is said in every row, and is opencl's alone" {
	local class
	for class in cpu gpu; do
		run -0 "$BENCH" measure opencl --device-class "$class" \
			--model tiny "${DATA[@]}" --steps 1 -e 1 -q \
			--test off --warmup 0 --run-file "$class.csv"
		[ "$(cell "$class.csv" 1 device_class)" = "$class" ]
	done
	is_listed
	run -0 "$BENCH" measure cpu-1 "${SMALL[@]}" --run-file none.csv
	[ -z "$(cell none.csv 1 device_class)" ]
	run -2 "$BENCH" measure cpu-1 "${SMALL[@]}" --device-class gpu
	[[ "$output" == *"--device-class gpu cannot be used with cpu-1: "*": opencl" ]]
	run -2 "$BENCH" run null-1 cpu-2 "${SMALL[@]}" --device-class cpu
	[[ "$output" == *"--device-class cpu cannot be used with null-1, cpu-2: "* ]]
	run -2 "$BENCH" verify cpu --model tiny -d synthetic --steps 1 \
		--device-class gpu
	[[ "$output" == *"--device-class gpu cannot be used with cpu: "* ]]
	run -2 "$BENCH" measure opencl "${SMALL[@]}" --device-class dsp
	[[ "$output" == *"must be one of cpu, gpu, not 'dsp'"* ]]
}

@test "beside others opencl alone gets the class, and that is said" {
	run -0 --separate-stderr "$BENCH" run null-1 opencl "${SMALL[@]:0:12}" \
		--steps 1 --device-class gpu --out made
	[[ "$stderr" == *"note: --device-class gpu applies to opencl only"* ]]
	[ "$(column made/runs.csv device_class)" = " gpu" ]
	[ "$(column made/runs.csv status)" = "ok ok" ]
	run -0 --separate-stderr "$BENCH" run null-1 opencl "${SMALL[@]}" \
		--steps 1 --device-class gpu --dry-run
	[ -z "$stderr" ]
	run -0 --separate-stderr "$BENCH" verify cpu opencl --model tiny \
		"${DATA[@]}" --steps 1 --batch 3 --device-class gpu
	[[ "$stderr" == *"note: --device-class gpu applies to opencl only"* ]]
	[[ "$output" == *"all right"* ]]
}

@test "tables, comparisons and reports say the class" {
	local class
	for class in cpu gpu; do
		run -0 "$BENCH" run opencl "${SMALL[@]}" --steps 1 \
			--device-class "$class" --label "of $class" --out "$class" \
			--details
		output=$(tr -s ' \n' ' ' <<<"$output")
		[[ "$output" == *", class $class); data set resident"* ]]
	done
	run -0 "$BENCH" table cpu gpu --details
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"- of cpu, opencl: "*", class cpu)"* ]]
	[[ "$output" == *"- of gpu, opencl: "*", class gpu)"* ]]
	"$BENCH" table cpu gpu --export-csv one.csv >/dev/null
	[ "$(column one.csv target)" = "opencl opencl" ]
	[ "$(column one.csv device_class)" = "cpu gpu" ]
	[ "$(column one.csv resident) $(column one.csv sync)" = \
		"yes yes step step" ]
	[ "$(column one.csv algorithm)" = "$(cell cpu/runs.csv 1 algorithm) \
$(cell gpu/runs.csv 1 algorithm)" ]
	[ "$(column one.csv precision)" = "fp32 fp32" ]
	[ "$(cell one.csv 1 batch)" = "$(cell cpu/runs.csv 1 batch)" ]
	[ "$(column gpu/summary.csv device_class | tr ' ' '\n' | sort -u)" = gpu ]
	[ "$(cell gpu/summary.csv 1 sync)" = step ]
	run -0 "$BENCH" compare cpu gpu
	[[ "$output" == *"options: device_class: first cpu, second gpu"* ]]
}

@test "the command that measures again has the class, where all do" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	"$BENCH" run opencl "${SMALL[@]}" --steps 1 --device-class gpu --out one
	"$BENCH" plot one
	grep -q 'bench run opencl .* --device-class gpu' one/report.html
	run ! grep -q -e --sync one/report.html
	# Targets on cores have no class, and do not run ahead.
	"$BENCH" run cpu-1 opencl "${SMALL[@]}" --steps 1 --device-class cpu \
		--sync epoch --out two
	"$BENCH" plot two
	grep -q 'bench run cpu-1 opencl .* --device-class cpu --sync epoch' \
		two/report.html
}

@test "verify holds the gpu class to the same bounds" {
	run -0 "$BENCH" verify opencl --device-class gpu --model tiny \
		"${DATA[@]}" --steps 2 --batch 3 -q
	[[ "$output" == *"all right"* ]]
	BENCH_TEST_BREAK=conv2 run -1 "$BENCH" verify opencl --model tiny \
		--device-class gpu "${DATA[@]}" --steps 1 --batch 3 -q
	[[ "$output" == *"WRONG: opencl: the gradient of conv2.weight"* ]]
}
