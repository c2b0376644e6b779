#!/usr/bin/env bats
# bench and its peers in turns: what compare makes of what they say. PyTorch is
# not needed, but for its networks; programs here only print what they would.

bats_require_minimum_version 1.5.0

setup() {
	PEERS=$BATS_TEST_DIRNAME/../peers
	cd "$BATS_TEST_TMPDIR" || return 1
	unset BENCH_DATA_DIR
	mkdir data peer peer/bin
	printf images >data/train-images-idx3-ubyte
	make_bench
	make_peer
	ARGS=(--data data --bench ./bench --python peer/bin/python --out out)
}

# Ten steps of 128 images in 0.01 s, a test of 10,000 in 1 s.
make_bench() {
	cat >bench <<-'END'
	#!/bin/sh
	echo "bench OPENBLAS=${OPENBLAS_CORETYPE-} ISA=${BENCH_ISA-} $*" >>calls
	[ "$1" != --version ] || { echo "bench 9"; exit; }
	case $* in *--infer*) LOSS=${INFER_LOSS-} ;; esac
	echo core,phase,is_warmup,elapsed_s,samples,loss,clock
	echo ,step,1,9,128,2.4,wall
	case $* in *bf16*) step=0.005 ;; *) step=0.01 ;; esac
	echo ,step,0,$step,128,${LOSS:-2.3},wall
	echo ,step,0,0.001,128,,model
	echo 0,step,0,0.001,128,2.3,wall
	[ "$6" != --test ] || exit
	echo ,test,0,1,10000,2.3,wall
	END
	chmod +x bench
}

# Rates by arguments; ${BAD} is what it does with the row of that argument.
make_peer() {
	cat >peer/bin/python <<-'END'
	#!/bin/sh
	echo "peer OPENBLAS=${OPENBLAS_CORETYPE-} DNNL=${DNNL_MAX_CPU_ISA-} $*" \
		>>calls
	[ "${ONEDNN_VERBOSE-}" ] && cat kernels 2>/dev/null
	rate=1000
	case $* in
	*tinygrad*--parity*)
		echo "{\"off\": ${TINY_OFF:-0}, \"version\": \"0.1\"," \
			"\"isa\": \"a device\"}"
		[ "${TINY_OFF-}" ] || exit "${NO_TINY:-0}"
		exit 1 ;;
	*--parity*)
		echo "{\"off\": ${OFF:-0}, \"version\": \"2.0\", \"onednn\": \"3\"}"
		exit ;;
	*"${BAD:-nothing}"*) echo "it broke" >&2; exit "${STATUS:-1}" ;;
	*--bf16*) rate=4000 ;;
	*--compile*) rate=1600 ;;
	*--channels-last*) rate=800 ;;
	*--fold*) rate=1280 ;;
	*tinygrad*) rate=$((100 * ${BEAM:-1})) ;;
	*"--device xla"*) rate=500 loss=${XLA_LOSS:-2.3} ;;
	esac
	echo "noise of a library"
	echo "{\"images_per_s\": $rate, \"step_s\": 0.1, \"version\": \"2\"," \
		"\"first_loss\": ${loss:-2.3}," \
		"\"allocator\": \"libc\"}"
	END
	chmod +x peer/bin/python
	cat >grid.csv <<-'END'
	name,who,modes,models,precision,floor,arguments,environment
	bench,bench,train test infer opencl,,fp32,,,
	eager,torch,train test infer opencl,,fp32,yes,,
	last,torch,train,,fp32,yes,--channels-last,
	compiled,torch,train,,fp32,,--compile all,
	half,torch,train,,bf16,,--bf16,
	other,torch,train,,fp32,,,LD_PRELOAD=libjemalloc.so.2
	folded,torch,infer,resnet34 resnet50,fp32,,--fold,
	tiny,tinygrad,opencl,mnist,fp32,,,
	tiny-beam,tinygrad,opencl,mnist,fp32,,,BEAM=2
	END
}

# compare STATUS ARGUMENT ...: on the grid above, its words shown if it fails.
compare() {
	local status=$1
	shift
	run "-$status" --separate-stderr "$PEERS/compare" "${ARGS[@]}" \
		--grid grid.csv "$@"
	echo "$output" "$stderr"
}

# line WHO: the cells of its row in the table, without blanks.
line() {
	awk -F'|' -v who="$1" '{ name = $3; gsub(/^ +| +$/, "", name) }
		name == who { gsub(/ /, ""); print }' <<<"$output"
}

@test "the fastest and the plain one run in turns with bench" {
	compare 0 --contests train-1 --turns 3 --floor off
	[ "$(line bench)" = \
		"|train,1thread,batch128|bench|12,800|12,800..12,800|||3|" ]
	[[ $(line "PyTorch eager") == *"|1,000|1,000..1,000|12.80|12.80..12.80|3|" ]]
	[[ $(line "PyTorch compiled") == *"|1,600|"*"|8.00|"* ]]
	[[ $(line "PyTorch half (bf16)") == *"|4,000|"*"|3.20|"* ]]
	[ "$(line "PyTorch last")" = "" ]
	# Who is first in the turns: each once.
	[ "$(awk -F, '$2 == "turn" && $4 == 1 { print $5 }' out/turns.csv |
		sort -u | wc -l)" -eq 3 ]
	grep -q '^| train-1 *| PyTorch last *| *800 | *--channels-last' \
		out/tables.md
	grep -q '^train-1,first,0,5,other,.*,skipped,"\?jemalloc was not loaded' \
		out/turns.csv
}

@test "nothing that tunes a library reaches either side" {
	OPENBLAS_CORETYPE=Haswell BENCH_ISA=portable \
		compare 0 --contests train-1 --turns 1 --floor off
	grep -q 'OPENBLAS= ISA= measure' calls
	grep -q 'peer OPENBLAS= DNNL= ' calls
	! grep -v -- --version calls | grep -E 'Haswell|portable' || false
}

@test "both are held to AVX2 where that is compared" {
	compare 0 --contests train-1-avx2 --turns 1 --names eager
	grep -q 'ISA=avx2 measure cpu-1' calls
	grep -q 'DNNL=AVX2 .*torch_train.py --data .*--mode train' calls
	[[ $(line bench) == "|train,1thread,batch128,heldtoavx2|"* ]]
}

@test "a test is ten batches of bench and one of the peer" {
	compare 0 --contests test-1 --turns 1 --names eager
	[[ $(line bench) == "|test,1thread,batch1000|bench|10,000|"* ]]
	[[ $(line "PyTorch eager") == *"|10.00|n=1|1|" ]]
	grep -q -- '--mode test .*--batch 1000' calls
	[ "$(awk -F, 'NR == 2 { print $13 }' out/turns.csv)" = 0.1 ]
}

@test "two threads: a batch each, or one for both" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	compare 0 --contests train-2,train-2-strong --turns 1 --names eager
	grep -q 'cpu-2@threads .*--batch 128' calls
	grep -q 'cpu-2@threads .*--global-batch 128' calls
	grep -q -- '--threads 2 --batch 256' calls
	grep -q -- '--threads 2 --batch 128' calls
}

@test "another network has its own batch, data set and rate" {
	compare 0 --model alexnet --contests train-1 --turns 1 --names eager
	grep -q 'measure cpu-1 .*--model alexnet --dataset fashion-mnist ' calls
	grep -q 'measure cpu-1 .*--lr 1e-05 .*--batch 8' calls
	grep -q -- '--model alexnet --mode train --threads 1 --batch 8' calls
	[[ $(line bench) == "|train,1thread,batch8|"* ]]
	grep -q '^model,alexnet' out/machine.csv
	rm -r out calls
	compare 0 --model resnet34 --contests train-1 --turns 1 --names eager
	grep -q -- '--dataset fashion-scenes .*--batch 32' calls
	rm -r out calls
	compare 0 --model xla-mnist --contests train-1 --turns 1 --names eager
	grep -q -- '--model xla-mnist --steps .*--batch 128' calls
	! grep -E -- '--lr|--dataset|--image-size' calls || false
}

@test "batch and size of images are as asked, and kept with the rows" {
	ARGS+=(--model resnet50 --contests train-1 --turns 1 --names eager)
	compare 0 --batch 4 --image-size 64
	grep -q 'measure .*--image-size 64 .*--batch 4$' calls
	grep -q 'measure .*--batch 4 --dropout off' calls
	grep -q -- '--image-size 64 --mode train --threads 1 --batch 4 ' calls
	! grep -E 'measure|torch_train.py --data' calls |
		grep -v -- '--image-size 64 .*--batch 4' || false
	[[ $(line bench) == "|train,1thread,batch4of64x64|"* ]]
	local printed=$output
	run -0 --separate-stderr "$PEERS/compare" --table out
	[ "$output" = "$printed" ]
	compare 5 --add --batch 8 --image-size 64
	[[ $stderr == *"out has 4 as batch, and this is 8"* ]]
	compare 5 --add --batch 4
	[[ $stderr == *"out has 64 as image_size, and this is the model's"* ]]
	sed -i s/resnet50/vgg/ out/machine.csv
	run -5 "$PEERS/compare" --table out
	[[ $output == *"machine.csv: model is 'vgg', expected mnist, "* ]]
}

@test "a ratio is to bench in the same precision, if that runs" {
	sed -i '/^bench,/a bench-half,bench,train,,bf16,,--precision bf16,' grid.csv
	compare 0 --contests train-1 --turns 1 --floor off
	[[ $(line "bench-half (bf16)") == *"|25,600|n=1|0.50|"* ]]
	[[ $(line "PyTorch half (bf16)") == *"|4,000|n=1|6.40|"* ]]
	[[ $(line "PyTorch eager") == *"|1,000|n=1|12.80|"* ]]
	run -0 env PYTHONPATH="$PEERS" PYTHONDONTWRITEBYTECODE=1 python3 -c \
		'from tables import rate_form as f; print(f(4.56), f(12800))'
	[ "$output" = "4.6 12,800" ]
}

@test "inference: forward passes, and the rows that are for a network" {
	compare 0 --model resnet34 --contests infer-1 --turns 1 --floor off
	grep -q 'measure cpu-1 .*--infer --count 60 --warmup 3 --batch 32' calls
	grep -q -- '--mode infer --threads 1 --batch 32' calls
	[[ $(line bench) == "|infer,1thread,batch32|bench|12,800|"* ]]
	[[ $(line "PyTorch folded") == *"|1,280|"*"|10.00|"* ]]
	[[ $stderr == *"off by 0 (train)"*"off by 0 (infer)"* ]]
	! grep -E -- '--infer.*(--lr|--dropout|--epochs)' calls || false
	rm -r out
	compare 0 --model alexnet --contests infer-1 --turns 1 --floor off
	! grep folded out/turns.csv || false
	compare 2 --model alexnet --contests infer-1 --names folded
	[[ $stderr == *"grid.csv has no 'folded' for alexnet"* ]]
}

@test "other networks train and infer on one thread and on two" {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	compare 0 --model resnet34 --turns 1 --names eager
	grep -q 'cpu-2@threads .*--infer .*--batch 32' calls
	grep -q -- '--mode infer --threads 2 --batch 64' calls
	[ "$(line bench | wc -l)" -eq 4 ]
}

@test "OpenCL: the best of each framework, with one batch for all CPUs" {
	BEAM=9 compare 0 --contests opencl-1 --turns 1
	grep -q 'measure opencl .*--global-batch 128' calls
	grep -q 'tinygrad_train.py .*--threads 1 --batch 128' calls
	[[ $(line bench) == "|train,1thread,batch128,OpenCL|bench|12,800|"* ]]
	[[ $(line tiny-beam) == *"|200|"*"|64.00|"* ]]
	[[ $(line "PyTorch eager") == *"|1,000|"*"|12.80|"* ]]
	[ "$(line tiny)$(line "PyTorch last")" = "" ]
	grep -q '^tinygrad,0.1' out/machine.csv
	grep -q '^opencl,a device' out/machine.csv
	[ ! -e out/floor.csv ]
}

@test "tinygrad must lose as PyTorch does, where it can be had" {
	TINY_OFF=1e-4 compare 1 --contests opencl-1 --turns 1
	[[ $stderr == *"losses of tinygrad differ by more than 1e-05"* ]]
	TINY_OFF=NaN compare 1 --contests opencl-1 --turns 1
	[ ! -e out/turns.csv ]
	TINY_OFF=1e-4 compare 0 --contests train-1 --turns 1 --names eager
	rm -r out
	NO_TINY=4 BAD=tinygrad STATUS=4 compare 0 --contests opencl-1 --turns 1
	grep -q ',tiny,tinygrad,.*,skipped,exit 4: it broke' out/turns.csv
	! grep -q '^tinygrad' out/machine.csv || false
}

@test "PyTorch/XLA has a PyTorch of its own, whose first loss is the same" {
	echo "xla,xla,train,mnist,fp32,,," >>grid.csv
	ARGS+=(--contests train-1 --turns 1 --floor off)
	compare 0 --xla-python peer/bin/python
	grep -q 'torch_train.py --device xla --data .*--batch 128' calls
	[[ $(line PyTorch/XLA) == *"|500|"*"|25.60|"* ]]
	grep -q '^pytorch_xla,2' out/machine.csv
	rm -r out
	XLA_LOSS=2.301 compare 1 --xla-python peer/bin/python
	[[ $stderr == *"first loss of PyTorch/XLA differs by more than 1e-05"* ]]
	rm -rf out
	compare 0 --xla-python none/python
	[[ $stderr == *"PyTorch/XLA: no "*"none/python; \`make peers-xla\` makes"* ]]
	grep -q ',xla,xla,.*,skipped,no .*none/python' out/turns.csv
}

# scaling STATUS ARGUMENT ...
scaling() {
	local status=$1
	shift
	run "-$status" --separate-stderr "$PEERS/scaling" --data data \
		--bench ./bench --python peer/bin/python "$@"
}

@test "scaling: what grows, in turns, as tables" {
	scaling 0 --name compile-all --turns 2 --batches 1,8 --sizes 64 \
		--out rows.csv
	[[ $output == *"| 8 "*" 12,800 "*" 1,600 "*" 8.00 "* ]]
	[[ $output == *"side of images"*"| 64 "*"compile-all"* ]]
	grep -q 'measure cpu-1 .*--model resnet34 .*--batch 8' calls
	grep -q 'measure cpu-1 .*--image-size 64 .*--batch 32' calls
	grep -q -- '--image-size 64 .*--batch 32 .*--compile all' calls
	[ "$(grep -c '^[12],resnet34,batch,1,' rows.csv)" -eq 4 ]
	local first=$output
	run -0 "$PEERS/scaling" --table rows.csv
	[ "$output" = "$first" ]
	scaling 2 --out rows.csv
	scaling 2 --name none
	scaling 2 --batches 0
	BAD=compile scaling 6 --name compile-all --turns 1 --batches 1
	[[ $stderr == *"compile-all, batch 1: exit 1: it broke"* ]]
	echo turn,model >cut.csv
	echo 1,resnet34 >>cut.csv
	run -5 "$PEERS/scaling" --table cut.csv
}

@test "scaling draws a picture, by gnuplot" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	scaling 0 --name compile-all --turns 1 --batches 1 --sizes 64 \
		--plot picture.svg
	grep -q '<svg' picture.svg
}

@test "the floor is the sum of each kernel's fastest median" {
	# Warm-up steps and what is outside of steps do not count.
	local step verbose=onednn_verbose,v1,primitive
	local conv=$verbose,exec,cpu,convolution,jit,forward,s,,alg:d,mb1
	{
		for step in $(seq 0 12); do
			echo "step $step"
			echo "$verbose,exec,cpu,reorder,jit,undef,s,,,1x1,900"
			echo "$verbose,create:hit,cpu,convolution,jit,f,s,,,1,900"
			echo "$conv,$((step < 10 ? 500 : 10 * (13 - step)))"
			echo "$conv,10"
			echo "MKL_VERBOSE SGEMM(T,N,128,10,9216,0x7,0x5,128)" \
				"34.00ms CNR:OFF"
		done
		echo end
		echo "$conv,900"
	} >kernels
	# Steps of 40, 30 and 20 ms, and three of 34 ms.
	compare 0 --contests train-1 --turns 1 --names eager,last
	[[ $output == *"take 64.00 ms a step: a framework that runs these does at most 2,000 images/s."* ]]
	[[ $output == *"2,000 images/s. \`bench\` is at 6.40 times that."* ]]
	grep -q '| train-1, fp32 | convolution forward mb1 *| *2 | *30.000 |' \
		out/tables.md
}

@test "rows are kept, read again and added to" {
	compare 0 --contests train-1 --turns 2 --names eager
	compare 2 --contests train-1
	[[ $stderr == *"holds a comparison; --add goes on with it"* ]]
	compare 0 --contests train-1 --turns 1 --names eager --add
	[[ $(line bench) == *"|3|" ]]
	local printed=$output
	run -0 --separate-stderr "$PEERS/compare" --table out
	[ "$output" = "$printed" ]
	sed -i 's/^bench,bench 9/bench,bench 8/' out/machine.csv
	compare 5 --contests train-1 --add
	[[ $stderr == *"out has bench 8 as bench, and this is bench 9"* ]]
}

@test "first losses that differ end it before any clock" {
	LOSS=2.3001 compare 1 --contests train-1
	[[ $stderr == *"first losses differ by more than 1e-05"* ]]
	INFER_LOSS=2.3001 compare 1 --contests train-1,infer-1
	OFF=1e-4 compare 1 --contests train-1
	OFF=NaN compare 1 --contests train-1
	[ ! -e out/turns.csv ]
}

@test "what a peer lacks is skipped, and what fails is exit 6" {
	BAD=compile STATUS=4 compare 0 --contests train-1 --turns 1 --floor off
	grep -q ',skipped,exit 4: it broke' out/turns.csv
	grep -q 'PyTorch compiled *| *skipped | *exit 4: it broke' out/tables.md
	rm -r out
	BAD=bf16 compare 6 --contests train-1 --turns 1 --floor off
	grep -q ',error,exit 1: it broke' out/turns.csv
	[[ $stderr == *"1 runs failed"*"exit 1: it broke"* ]]
}

@test "interrupted, it keeps and prints its rows" {
	sed -i '2i case "$*" in *"--steps 10 "*) exec sleep 30 ;; esac' \
		peer/bin/python
	"$PEERS/compare" "${ARGS[@]}" --grid grid.csv --contests train-1 \
		--names eager --steps 10 --turns 2 >printed 2>said &
	local pid=$! status=0
	for _ in $(seq 600); do
		[ ! -e out/turns.csv ] || break
		sleep 0.1
	done
	[ -e out/turns.csv ]
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	grep -q '| bench *| *12,800 |' printed
	grep -q '| bench *| *12,800 |' out/tables.md
	ARGS=(--data data --bench ./bench --python peer/bin/python)
	compare 7 --out /proc/none --contests train-1 --names eager
}

@test "what is missing is named, with what brings it" {
	run -4 "$PEERS/compare" --data data --bench ./bench --python no/python
	[[ $output == *"no no/python; \`make peers\` makes it" ]]
	run -4 "$PEERS/compare" --data data --bench ./no \
		--python peer/bin/python
	[[ $output == *"no ./no; \`make\` makes it" ]]
	rm data/train-images-idx3-ubyte
	compare 4 --contests train-1
	[[ $stderr == *"train-images-idx3-ubyte"*"No such file"* ]]
	! python3 -c 'import torch' 2>/dev/null || skip "PyTorch is installed"
	run -4 "$PEERS/torch_train.py" --parity
	[[ $output == *"\`make peers\` installs PyTorch" ]]
}

@test "bad arguments and files are refused" {
	compare 2 --contests train-9
	compare 2 --turns 0
	compare 2 --batch 0
	compare 2 --model vgg
	compare 2 --image-size 64
	[[ $stderr == *"--image-size is not for mnist, whose images are 28x28"* ]]
	compare 2 --model alexnet --contests test-1
	[[ $stderr == *"too many for alexnet: take infer-1"* ]]
	compare 2 --contests train-1 --names nobody
	run -2 "$PEERS/compare"
	[[ $output == *"--data is missing"* ]]
	echo 'name,who' >grid.csv
	echo 'bench,bench' >>grid.csv
	compare 5 --contests train-1
	[[ $stderr == *"grid.csv: row 1 has too few cells"* ]]
	make_peer
	sed -i s/resnet34/resnet43/ grid.csv
	compare 5 --contests train-1
	[[ $stderr == *"folded is for 'resnet43', expected mnist, "* ]]
	make_peer
	sed -i s/torch/flax/ grid.csv
	compare 5 --contests train-1
	[[ $stderr == *"of 'flax', expected bench or torch or tinygrad"* ]]
	run -5 "$PEERS/compare" --table nowhere
	make_peer
	compare 0 --contests train-1 --turns 1 --names eager
	sed -i '2s/,ok,,[0-9.]*,/,ok,,fast,/' out/turns.csv
	run -5 "$PEERS/compare" --table out
	[[ $output == *"turns.csv: row 1: images_per_s is 'fast'"* ]]
}

@test "the grid is one that the peers and bench understand" {
	awk -F, 'NR > 1 { print NF; print $3 }' "$PEERS/grid.csv" |
		tr ' ' '\n' | sort -u >found
	printf '%s\n' 8 infer opencl test train >expected
	diff expected found
	awk -F, 'NR > 1 { print $1 }' "$PEERS/grid.csv" | sort | uniq -d >twice
	[ ! -s twice ]
	local argument
	for argument in $(awk -F, '$2 == "torch" { print $7 }' \
		"$PEERS/grid.csv" | tr ' ' '\n' | grep '^--' | sort -u); do
		grep -q "add(\"$argument\"" "$PEERS/torch_train.py"
	done
	! grep -vE '^#|^[a-z0-9-]+==[0-9.]+(; platform_machine == "x86_64")?$' \
		"$PEERS/requirements.txt" || false
}

@test "scenes are those of bench" {
	# The sums of tests/unit/test_scenes.c.
	PYTHONPATH=$PEERS PYTHONDONTWRITEBYTECODE=1 python3 - >found <<-'END'
	import struct
	import zlib
	import scenes
	for for_test in False, True:
	    made = scenes.scenes(60000, for_test)
	    sums = zlib.crc32(b"".join(struct.pack("<4I", *of) for of in made))
	    print(len(made), made[0], f"{sums:x}")
	END
	printf '%s\n' '48007 [6, 2, 4, 1] aa77a178' \
		'12002 [9, 14, 12, 8] e2693f88' >expected
	diff expected found
}

@test "PyTorch's networks have bench's parameters, and fold norms" {
	local python=${BENCH%/bench}/peers/bin/python
	"$python" -c 'import torch' 2>/dev/null ||
		skip "no PyTorch: \`make peers\` installs it"
	PYTHONPATH=$PEERS PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
		"$python" - >found <<-'END'
	import torch
	import contests
	import networks
	for model in contests.MODELS:
	    network = networks.make(model, dropout=True)
	    print(model, f"{sum(p.numel() for p in network.parameters()):,}")
	torch.manual_seed(1)
	network = networks.make("resnet50", dropout=False).eval()
	for module in network.modules():
	    if isinstance(module, torch.nn.BatchNorm2d):
	        module.running_mean.uniform_(-.1, .1)
	        module.running_var.uniform_(.9, 1.1)
	with torch.no_grad():
	    images = torch.rand(1, 3, 64, 64)
	    before = network(images)
	    networks.fold_norms(network)
	    assert torch.allclose(network(images), before, 1e-3, 1e-3)
	assert not any(isinstance(module, torch.nn.BatchNorm2d)
	               for module in network.modules())
	END
	local model number
	while read -r model number; do
		"$BENCH" run --list | grep -E "^  $model .* $number " ||
			{ echo "$model: not $number" && false; }
	done <found
	[ "$(wc -l <found)" -eq 7 ]
}

learned() {
	echo who,seed,epoch,accuracy_pct,test_loss
	printf 'cpu-1,%s,1,%s,.03\n' 1 "$1" 100001 "$2"
	printf 'PyTorch,%s,1,%s,.03\n' 1 "$3" 100001 "$4"
}

@test "accuracies within 2.6 standard errors are the same" {
	learned 98.1 98.3 98.5 98.3 >"$BATS_TEST_TMPDIR/learned.csv"
	run -0 "$PEERS/learn" --data none --epochs 1 --seeds 2 \
		--torch-seeds 2 --out "$BATS_TEST_TMPDIR/learned.csv"
	[[ $output == *"cpu-1 | 2 | 98.200 | 0.100 | 98.10 | 98.30"* ]]
	[[ $output == *"Difference -0.200, its standard error 0.141: 1.4 of"* ]]
}

@test "accuracies further apart are not" {
	learned 98.1 98.3 98.9 98.7 >"$BATS_TEST_TMPDIR/learned.csv"
	run -1 "$PEERS/learn" --data none --epochs 1 --seeds 2 \
		--torch-seeds 2 --out "$BATS_TEST_TMPDIR/learned.csv"
	[[ $output == *"Difference -0.600, its standard error 0.141: 4.2 of"* ]]
}

# Half a second a step, of `bench run` on the first host.
make_bench_of_hosts() {
	cat >bench <<-'END'
	#!/bin/bash
	[ "$(hostname)" = a ] || exit 9
	[[ $* == "run cpu-2@mpi --hosts a:1,b:1 "* ]] || exit 9
	readlink /proc/self/ns/net >>nets
	while [ "$1" != --out ]; do shift; done
	{
		echo core,phase,is_warmup,elapsed_s,samples,loss,clock
		echo ",step,0,0.5,64,${LOSS:-2.25},wall"
	} >"$2/observations.csv"
	END
	cat >peer/bin/python <<-'END'
	#!/bin/bash
	all=$*
	echo "$(hostname):${all#*--world-size}" >>ranks
	readlink /proc/self/ns/net >>nets
	[ "$(hostname)" != "${BAD-}" ] || { echo "no such thing" >&2; exit 3; }
	[ -z "${BAD-}" ] || exec sleep 300
	echo '{"step_s": 1, "steps": 8, "first_loss": 2.25}'
	END
}

# hosts ARGUMENT ...: without what tunes a test run's programs.
hosts() {
	"$PEERS/hosts" --data data --bench bench --python peer/bin/python "$@"
}

# Of all hosts that were made.
no_process_stays() {
	local net place
	while read -r net; do
		for place in /proc/[0-9]*/ns/net; do
			[ "$(readlink "$place" 2>/dev/null)" != "$net" ] ||
				return 1
		done
	done <nets
}

@test "two hosts take turns with PyTorch's, and go away" {
	. "$BATS_TEST_DIRNAME/hosts.sh"
	local lack
	lack=$(hosts_lack)
	[ -z "$lack" ] || skip "$lack"
	[ "$(nproc)" -ge 2 ] || skip "two hosts want two CPUs"
	make_bench_of_hosts
	run -0 hosts --turns 2 --out rows.csv
	[[ $output == *"| factors "*" 0.500  | 0.500..0.500 | "*" 2.00 | 2.00..2.00 |     2 |"* ]]
	[ "$(wc -l <rows.csv)" -eq 9 ]
	[ "$(grep -c '^a: 2 --rank 0 --meet a:' ranks)" -eq 3 ]
	[ "$(grep -c '^b: 2 --rank 1 --meet a:' ranks)" -eq 3 ]
	[ "$(sort -u nets | wc -l)" -eq 2 ]
	no_process_stays
	local table=$output
	run -0 "$PEERS/hosts" --table rows.csv
	[ "$output" = "$table" ]
	run -2 hosts --out rows.csv
	[[ $output == "hosts: rows.csv holds a comparison; --table shows it" ]]
	LOSS=2.2501 run -1 hosts --turns 1
	[[ $output == "hosts: first losses differ: bench 2.2501, PyTorch 2.25" ]]
	BAD=b run -6 hosts --turns 1
	[[ $output == "hosts: exit 3: no such thing" ]]
	no_process_stays
	run -4 hosts --rate fast
}

@test "rows of two hosts that are none, and programs that are not there" {
	echo turn,way,step_s,steps,first_loss >rows.csv
	run -5 "$PEERS/hosts" --table rows.csv
	[[ $output == "hosts: rows.csv: no rows" ]]
	echo 1,factors,-1,8,2 >>rows.csv
	run -5 "$PEERS/hosts" --table rows.csv
	[[ $output == *"rows.csv: row 1: step_s is '-1', not a number above 0" ]]
	run -2 hosts --bench no/bench
	[[ $output == *"no no/bench; \`make\` and \`make peers\` make it" ]]
}
