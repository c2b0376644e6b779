#!/usr/bin/env bats
# OpenCL drivers that fail, hang or abort: the other targets have their rows.

load command.sh

setup() {
	opencl_setup
	# Of few kernels, for what is about compiling them.
	COLD=(--model ddp-toy --warmup 1 --epochs 1 --steps 2 -q)
}

is_pocl() {
	"$BENCH" devices | grep -q PoCL
}

# For cases that compile kernels again, in a cache of their own.
compiles_cold() {
	is_pocl || skip "no PoCL"
	unset POCL_CACHE_DIR
	compiles_plainly
}

# breaks FUNCTION:N:HOW: opencl fails with 6, or $CODE, null-1 does not.
breaks() {
	local how=$1
	BREAK_OPENCL=$how LD_PRELOAD=$BROKEN run "-${CODE:-6}" \
		--separate-stderr "$BENCH" run opencl null-1 "${SMALL[@]}" \
		--out "made $how"
	[ "$(column "made $how/runs.csv" status)" = "error ok" ]
	grep -q ',null-1,1,,loop,.*,ok,' "made $how/observations.csv"
	local reason
	reason=$(cell "made $how/runs.csv" 1 reason)
	[ -n "$reason" ]
	[[ "$stderr" == *"bench: opencl: ${reason:0:60}"* ]]
}

@test "an error at start-up names the call" {
	breaks clCreateContext:1:-2
	[[ "$stderr" == *"clCreateContext: CL_DEVICE_NOT_AVAILABLE"* ]]
	breaks clCreateBuffer:3:-4
	[[ "$stderr" == *"clCreateBuffer of "*" bytes: "*ALLOCATION_FAILURE* ]]
	breaks clBuildProgram:1:-11
	[[ "$stderr" == *"could not be built: clBuildProgram: CL_BUILD_PROGRAM_"* ]]
}

@test "a batch without room names the limits, before kernels are compiled" {
	mkdir cache
	export POCL_CACHE_DIR=$PWD/cache
	# The first four are parameters, gradient and state.
	breaks clCreateBuffer:5:-4
	[[ "$stderr" == *ALLOCATION_FAILURE*" MB of it in one buffer: "*--batch* ]]
	is_pocl || skip "a driver whose compiled kernels are elsewhere"
	local compiled=(find cache -type f ! -name 'tempfile*')
	[ -z "$("${compiled[@]}")" ]
	breaks clEnqueueNDRangeKernel:1:-5
	[ -n "$("${compiled[@]}")" ]
}

@test "no platform, or a driver that cannot list its devices" {
	CODE=4
	breaks clGetPlatformIDs:1:-1001
	[[ "$stderr" == *pocl-opencl-icd* ]]
	breaks clGetDeviceIDs:1:-1
	[[ "$stderr" == *"finds no device"* ]]
	breaks clGetDeviceIDs:1:-6
	[[ "$stderr" == *"clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY"* ]]
	# Where it was not asked for by name, the others are enough.
	BREAK_OPENCL=clGetDeviceIDs:1:-6 LD_PRELOAD=$BROKEN run -0 "$BENCH" \
		run "${SMALL[@]}" --out made
	[[ "$output" == *"opencl skipped: "*CL_OUT_OF_HOST_MEMORY* ]]
}

@test "a kernel that is not compiled says why, in few lines" {
	breaks clBuildProgram:1:source
	BREAK_OPENCL=clBuildProgram:1:source LD_PRELOAD=$BROKEN run -6 \
		"$BENCH" measure opencl "${SMALL[@]}"
	[[ "$output" == *"could not be built: clBuildProgram: "*"error: "* ]]
	# Below the line that says so; PoCL's log has thousands.
	sed '1,/could not be built/d' <<<"$output" >log
	[ "$(wc -l <log)" -ge 5 ]
	[ "$(wc -l <log)" -le 21 ]
}

@test "memory that a device has not" {
	breaks clEnqueueNDRangeKernel:1:-4
	breaks clEnqueueWriteBuffer:12:-4
	breaks clEnqueueNDRangeKernel:150:-4
	[[ "$stderr" == *"clEnqueueNDRangeKernel of "*ALLOCATION_FAILURE* ]]
	grep -q ',opencl,1,,step,1,1,.*,ok,' \
		"made clEnqueueNDRangeKernel:150:-4/observations.csv"
}

@test "an error in the middle keeps the rows so far" {
	breaks clEnqueueNDRangeKernel:1:-5
	breaks clEnqueueReadBuffer:4:-36
	breaks clEnqueueNDRangeKernel:150:-5
	[[ "$stderr" == *"clEnqueueNDRangeKernel of "*CL_OUT_OF_RESOURCES* ]]
	grep -q ',opencl,1,,step,1,1,.*,ok,' \
		"made clEnqueueNDRangeKernel:150:-5/observations.csv"
}

@test "a driver that aborts takes only its own run with it" {
	breaks clBuildProgram:1:abort
	breaks clEnqueueNDRangeKernel:150:abort
	[[ "$stderr" == *"ended by signal 6"* ]]
}

@test "what computed on a device leaves without the driver's destructors" {
	# For the command alone: the test's own destructors would abort as well.
	local bench=(env LD_PRELOAD="$BROKEN" BREAK_OPENCL=destructors:1:abort
		"$BENCH")
	run -134 "${bench[@]}" measure null "${SMALL[@]}"
	run -0 "${bench[@]}" measure opencl "${SMALL[@]}"
	[[ "$output" == *,loop,* ]]
	run -0 "${bench[@]}" verify opencl --model tiny "${DATA[@]}" --steps 1
	[[ "$output" == *"verify: all right" ]]
	run -2 "${bench[@]}" measure opencl --steps 0
	[[ "$output" == "bench: "* ]]
}

# hangs WHERE TARGET: until --timeout ends it, whose null-1 has its row.
hangs() {
	local out="made $2 $1" limit
	export BREAK_OPENCL_MARK="$PWD/$out.mark"
	# A slow machine needs a longer one to get to where the driver hangs.
	for limit in 6 24 96 384; do
		rm -rf "$out" "$BREAK_OPENCL_MARK"
		BREAK_OPENCL=$1:hang LD_PRELOAD=$BROKEN run -6 \
			--separate-stderr "$BENCH" run "$2" null-1 \
			"${SMALL[@]}" --timeout $limit --out "$out"
		[ ! -e "$BREAK_OPENCL_MARK" ] ||
			[ "$(column "$out/runs.csv" status)" != "partial ok" ] ||
			break
	done
	[ "$(column "$out/runs.csv" status)" = "partial ok" ]
	[ "$(cell "$out/runs.csv" 1 reason)" = \
		"ended after --timeout ${limit}s" ]
	[[ "$stderr" == *"bench: $2: ended after --timeout ${limit}s"* ]]
	grep -q ',null-1,1,,loop,.*,ok,' "$out/observations.csv"
}

@test "a driver that hangs is ended by --timeout" {
	local stage waiting=()
	# At once, since all of them do is wait.
	for stage in clGetPlatformIDs:1 clBuildProgram:1 clFinish:5 \
		clEnqueueReadBuffer:4 clEnqueueNDRangeKernel:150; do
		hangs "$stage" opencl 3>&- &
		waiting+=($!)
	done
	for stage in "${waiting[@]}"; do
		wait "$stage"
	done
}

@test "cold starts at once, and a warm one, learn the same" {
	local i
	compiles_cold
	export XDG_CACHE_HOME=$PWD/cache
	for i in 1 2; do
		"$BENCH" measure opencl "${COLD[@]}" --run-file "row$i" \
			>/dev/null 2>&1 3>&- &
	done
	wait
	run -0 "$BENCH" measure opencl "${COLD[@]}" --run-file row3
	for i in 1 2 3; do
		[ "$(cell "row$i" 1 status)" = ok ]
		cell "row$i" 1 parameters_hash
	done | sort -u >hashes
	[ "$(wc -l <hashes)" -eq 1 ]
	[ -s hashes ]
	[ "$(cell row1 1 kernels)" = cold ]
	[ "$(cell row3 1 kernels)" = warm ]
}

@test "compiled kernels are kept in a folder that is only the user's" {
	compiles_cold
	unset XDG_CACHE_HOME
	export HOME=$PWD/home
	mkdir -m 755 home
	run -0 "$BENCH" run opencl "${COLD[@]}" --repeat 2 --out made --details
	[[ "$(tr -s " \n" " " <<<"$output")" == *"compiling kernels, in start-up: "*" s cold, "*" s warm"* ]]
	[ "$(column made/runs.csv kernels)" = "cold warm" ]
	[ "$(stat -c %a home/.cache/bench/pocl)" = 700 ]
	[ ! -e home/.cache/pocl ]
	# What the user says, and only absolute paths.
	POCL_CACHE_DIR=$PWD/mine XDG_CACHE_HOME=$PWD/other run -0 "$BENCH" \
		measure opencl "${COLD[@]}" -v --run-file row
	[[ "$output" == *"compiled in "*" s (cold: its kernels were not cached"* ]]
	[ "$(cell row 1 kernels)" = cold ]
	[ -d mine ]
	[ ! -e other ]
	XDG_CACHE_HOME=other run -0 "$BENCH" measure opencl "${COLD[@]}" \
		--run-file row
	[ "$(cell row 1 kernels)" = warm ]
	[ ! -e other ]
}

@test "a folder for kernels that others can write is refused" {
	compiles_cold
	mkdir -p shared/bench/pocl linked/bench owned/bench/pocl above/bench/pocl
	chmod 777 shared/bench/pocl above/bench
	ln -s "$PWD/shared" linked/bench/pocl
	local way
	for way in shared linked above; do
		XDG_CACHE_HOME=$PWD/$way run -4 "$BENCH" measure opencl \
			"${COLD[@]}"
		[[ "$output" == *"(from XDG_CACHE_HOME)"*POCL_CACHE_DIR* ]]
		[ -z "$(ls -A "$way/bench/pocl/")" ] || [ "$way" = linked ]
	done
	XDG_CACHE_HOME=$PWD/owned run -0 "$BENCH" measure opencl "${COLD[@]}"
	[ "$(id -u)" = 0 ] || return 0
	chown -R 64250 owned
	XDG_CACHE_HOME=$PWD/owned run -4 "$BENCH" measure opencl "${COLD[@]}"
	[[ "$output" == *"can be accessed by other users"* ]]
}

# PoCL's compiler has handlers of its own, which take away its files.
@test "a hang-up that is ignored does not disturb the compiler" {
	compiles_cold
	trap '' HUP
	POCL_CACHE_DIR=$PWD/cold "$BENCH" measure opencl "${COLD[@]}" \
		>out 2>err 3>&- &
	trap - HUP
	local pid=$! code=0
	while running "$pid"; do
		kill -HUP "$pid"
		sleep 0.05
	done
	wait "$pid" || code=$?
	[ "$code" -eq 0 ] || { cat err; return 1; }
}

# PoCL's own choice would be a folder in /tmp that anybody may have made.
@test "without a home, or a PATH, there is no OpenCL, and why" {
	is_pocl || skip "no PoCL"
	local home kept
	kept=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/bench/pocl}
	unset POCL_CACHE_DIR XDG_CACHE_HOME HOME
	for home in "" nowhere "/$(printf '%5000s' '' | tr ' ' x)"; do
		HOME=$home run -4 "$BENCH" measure opencl "${SMALL[@]}"
		[[ "$output" == *HOME*"set HOME, or POCL_CACHE_DIR" ]]
	done
	run -4 "$BENCH" measure opencl "${SMALL[@]}"
	[[ "$output" == *"XDG_CACHE_HOME and HOME are not set"* ]]
	run -0 "$BENCH" devices
	[[ "$output" == *opencl*"XDG_CACHE_HOME and HOME are not set"* ]]
	POCL_CACHE_DIR=$kept run -0 "$BENCH" measure opencl "${SMALL[@]}"
	run -4 env -i POCL_CACHE_DIR="$PWD/cold" "$BENCH" measure opencl \
		"${SMALL[@]}"
	[[ "$output" == *"PATH is not set"* ]]
}

# Two units, whatever CPUs there are.
several() {
	export POCL_MAX_PTHREAD_COUNT=2
}

@test "opencl-2 trains alike by threads and fork, as cpu-2 does" {
	several
	run -0 --separate-stderr "$BENCH" run opencl opencl-2 opencl-2@fork \
		cpu-2 "${SMALL[@]}" --global-batch 64 --out made --details
	[ "$(column made/runs.csv cores)" = "1 2 2 2" ]
	[ "$(column made/runs.csv device_type)" = "CPU CPU CPU CPU" ]
	[ "$(column made/runs.csv device_units)" = "2 2 2 1" ]
	[[ "$output" == *"2 sub-devices"* && "$output" != *GPU* ]]
	run ! grep -q '^[^,]*,[^,]*,opencl' made/modelled.csv
	python3 - <<-'END'
	import collections, csv
	runs = list(csv.DictReader(open("made/runs.csv")))
	assert runs[1]["parameters_hash"] == runs[2]["parameters_hash"]
	assert runs[1]["parameters_hash"] != runs[0]["parameters_hash"]
	losses = collections.defaultdict(list)
	for row in csv.DictReader(open("made/observations.csv")):
	    if row["phase"] == "step" and not row["core"] and \
	       row["clock"] == "wall" and row["is_warmup"] == "0":
	        losses[row["target"]].append(float(row["loss"]))
	for target, found in losses.items():
	    assert len(found) == 8, (target, found)
	    for a, b in zip(found, losses["cpu-2"]):
	        assert abs(a - b) < 1e-3, (target, found, losses["cpu-2"])
	END
}

@test "devices are compiled for one after the other" {
	several
	OPENCL_ALONE=1 LD_PRELOAD="$BROKEN" run -0 "$BENCH" measure \
		opencl-2@threads "${SMALL[@]}"
}

@test "opencl-1 is a whole device, by whatever name" {
	run -0 "$BENCH" measure opencl-1:cpu "${SMALL[@]}" --run-file row
	[ "$(cell row 1 target)" = opencl:cpu ]
	[[ "$(cell row 1 device_driver)" != *sub-device* ]]
}

@test "more sub-devices than there can be" {
	several
	local target
	for target in opencl-3 opencl-3@fork opencl-9:0; do
		run -4 --separate-stderr "$BENCH" measure "$target" \
			"${SMALL[@]}"
		[[ "$stderr" == *"with 2 compute units can be split into at most 2 \
sub-devices, not ${target:7:1}; use opencl-2"* ]]
	done
	run -4 --separate-stderr "$BENCH" run opencl-3 null-1 "${SMALL[@]}" \
		--out made
	[ "$(column made/runs.csv status)" = "error ok" ]
	[[ "$(cell made/runs.csv 1 reason)" == *"use opencl-2"* ]]
	[[ "$stderr" == "opencl-3 will fail: "*"use opencl-2"* ]]
	is_pocl || return 0
	POCL_DEVICES=basic run -4 "$BENCH" measure opencl-2 "${SMALL[@]}"
	[[ "$output" == *"1 compute unit cannot be split into 2"* ]]
}

# By fork: threads of one process on two devices of PoCL 3.1 may meet in its
# list of loaded kernels, where it aborts.
@test "two devices are taken before parts of one" {
	needs_pocl
	POCL_DEVICES="basic basic" run -0 --separate-stderr "$BENCH" run \
		opencl-2@fork "${SMALL[@]}" --out made --details
	[[ "$output" == *"2 devices"* && "$output" != *sub-device* ]]
	[ "$(column made/runs.csv status)" = ok ]
	[ "$(column made/runs.csv device_units)" = 2 ]
	[[ "$(cell made/runs.csv 1 device_name)" != *" and "* ]]
	POCL_DEVICES="basic basic" run -0 "$BENCH" devices
	[[ "$output" == *opencl:0*basic*opencl:1*basic* ]]
}

@test "unlike devices are all named, and their units added" {
	needs_pocl
	several
	export POCL_DEVICES="basic pthread"
	run -0 --separate-stderr "$BENCH" run opencl-2@fork "${SMALL[@]/-q/-v}" \
		--out made --details
	[[ "$stderr" == *"device: basic"*" and pthread"*", 3 units together"* ]]
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"- opencl-2@fork: basic"*" and pthread"*" (type CPU"* ]]
	[[ "$(cell made/runs.csv 1 device_name)" == basic*" and pthread"* ]]
	[ "$(cell made/runs.csv 1 device_type)" = CPU ]
	[ "$(cell made/runs.csv 1 device_units)" = 3 ]
}

@test "a missing device is named before others are trained" {
	run -4 --separate-stderr "$BENCH" run null-1 opencl:9 \
		"${SMALL[@]/-q/--seed=1}" --out made
	[ "$(column made/runs.csv status)" = "ok error" ]
	[[ "${stderr_lines[0]}" == "opencl:9 will fail: no OpenCL device '9'; \
available: 0 "* ]]
	[[ "${stderr_lines[-1]}" == "bench: opencl:9: no OpenCL device '9'"* ]]
	[ "$(grep -c "no OpenCL device" <<<"$stderr")" = 2 ]
	# What is no lack of one is left to the run.
	BREAK_OPENCL=clCreateContext:1:-2 LD_PRELOAD=$BROKEN run -6 \
		--separate-stderr "$BENCH" run null-1 opencl "${SMALL[@]}"
	[[ "$stderr" != *"will fail"* ]]
}

# The device has the host's memory. This batch, with 330 MB per sample, needs twice
# that.
@test "too little memory is named before others are trained" {
	needs_pocl
	local total
	total=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
	run -4 --separate-stderr "$BENCH" run null-1 opencl -m resnet50 \
		--image-size 224 --batch $((total / 160000)) --steps 1 \
		--epochs 1 --warmup 0 --test off --out made
	[[ "$stderr" == *"opencl will fail: opencl needs about "*" GB of \
memory"*"--batch "*" would fit"* ]]
	[ "$(column made/runs.csv status)" = "ok error" ]
}

@test "verify takes a device, as run does" {
	needs_pocl
	POCL_DEVICES="basic pthread" run -0 --separate-stderr "$BENCH" verify \
		opencl:pthread cpu --model tiny "${DATA[@]}" --steps 1 -q
	[[ "$output" == *" opencl:pthread        cpu"* ]]
	[[ "$output" == *"opencl:pthread: masks equal on 1"* ]]
	[[ "$output" == *"verify: all right" ]]
	# A basic device cannot be split: all that verify opens is this one.
	POCL_DEVICES="pthread basic" run -0 "$BENCH" verify opencl:basic -q \
		--model tiny "${DATA[@]}" --steps 1
	[[ "$output" == *"opencl:basic: masks equal on 1 core"* ]]
	[[ "$output" != *"and 2 cores by"* ]]
	run -4 "$BENCH" verify opencl:9 --model tiny -d synthetic --steps 1
	[[ "$output" == *"no OpenCL device '9'"* ]]
	run -2 "$BENCH" verify opencl:0 opencl:1
	[[ "$output" == *"'opencl:1' and 'opencl:0': only one device of a"* ]]
	run -2 "$BENCH" verify gpu-2
	[[ "$output" == *"'gpu-2' is not a backend"* ]]
	run -2 "$BENCH" verify cpu:0
	[[ "$output" == *"leave out the :0"* ]]
}

@test "what hides all devices is named where they are listed" {
	local verb
	for verb in devices env; do
		OCL_ICD_VENDORS=/nonexistent run -0 "$BENCH" "$verb"
		[[ "$output" == *OCL_ICD_VENDORS*"'/nonexistent'"* ]]
		[[ "$output" != *apt-get* ]]
		is_pocl || continue
		POCL_DEVICES=none run -0 "$BENCH" "$verb"
		[[ "$output" == *"cannot be used: the platform finds no \
device: POCL_DEVICES is 'none'"* ]]
		[[ "$output" != *opencl:0* ]]
	done
}

@test "a platform's version ends with a word" {
	run -0 "$BENCH" devices
	local line
	line=$(grep -m1 "  platform " <<<"$output")
	[ "${#line}" -le 84 ]
	[[ "$line" != *[^\ ]".." && "${line#*platform}" != *"  "* ]]
}

@test "a device of several that fails or hangs" {
	several
	local target how hanging=()
	for target in opencl-2 opencl-2@fork; do
		hangs clEnqueueNDRangeKernel:150 "$target" 3>&- &
		hanging+=($!)
		for how in clCreateSubDevices:1:-18 clBuildProgram:2:-11 \
			clEnqueueNDRangeKernel:150:-5; do
			BREAK_OPENCL=$how LD_PRELOAD=$BROKEN run -6 \
				--separate-stderr "$BENCH" run "$target" \
				null-1 "${SMALL[@]}" --out "made $target $how"
			[ "$(column "made $target $how/runs.csv" status)" = \
				"error ok" ]
			[[ "$stderr" == *"${how%%:*}"*CL_* ]]
		done
	done
	for how in "${hanging[@]}"; do
		wait "$how"
	done
}

@test "Ctrl-C ends all devices, and keeps the rows" {
	several
	local target pid code cores
	for target in opencl-2 opencl-2@fork; do
		"${HEEDFUL[@]}" "$BENCH" run "$target" null-1 \
			"${SMALL[@]/-q/--seed=1}" --epochs 100000 --out "made $target" \
			>out 2>err 3>&- &
		pid=$!
		within 60 grep -q 'epoch 3/' err
		mapfile -t cores < <(pgrep -P "$pid"
			pgrep -P "$(pgrep -P "$pid")")
		[ "${#cores[@]}" -ge 1 ]
		kill -INT "$pid"
		code=0
		wait "$pid" || code=$?
		[ "$code" -eq 130 ]
		[ "$(column "made $target/runs.csv" status)" = \
			"partial skipped" ]
		grep -q ',step,2,.*,ok,' "made $target/observations.csv"
		none_running "${cores[@]}"
	done
}

@test "a driver that crashes or hangs is listed as one that cannot be used" {
	local verb
	for verb in devices env; do
		BREAK_OPENCL=clGetPlatformIDs:1:abort LD_PRELOAD=$BROKEN \
			run -0 "$BENCH" $verb
		[[ "$output" == *"ended by signal 6"* ]]
	done
	BREAK_OPENCL=clGetDeviceIDs:1:hang LD_PRELOAD=$BROKEN \
		run -0 "$BENCH" devices
	[[ "$output" == *"opencl"*"cannot be used: a driver did not list its devices"* ]]
	[[ "$output" == *"reference"*"CPUs can be used"* ]]
}

@test "an installed driver that cannot be loaded is named" {
	mkdir vendors
	echo libnone-opencl.so.1 >vendors/none.icd
	OCL_ICD_VENDORS=$PWD/vendors run -4 "$BENCH" measure opencl "${SMALL[@]}"
	[[ "$output" == *"none.icd: its driver libnone-opencl.so.1 cannot be loaded: "*"No such file"*"unset OCL_ICD_VENDORS"* ]]
	OCL_ICD_VENDORS=$PWD/vendors run -0 "$BENCH" devices
	[[ "$output" == *"none.icd"*"libnone-opencl.so.1 cannot be loaded"* ]]
	OCL_ICD_VENDORS=$PWD/vendors/none.icd run -4 "$BENCH" measure opencl \
		"${SMALL[@]}"
	[[ "$output" == *"libnone-opencl.so.1 cannot be loaded"* ]]
	# The others stay, in their places.
	cp /etc/OpenCL/vendors/*.icd vendors || skip "no driver is installed"
	export OCL_ICD_VENDORS=$PWD/vendors
	run -0 "$BENCH" measure opencl:0 "${SMALL[@]}"
	run -4 "$BENCH" measure opencl:none "${SMALL[@]}"
	[[ "$output" == *"'none' (none.icd) cannot be used: its driver"* ]]
}

# on_cache OPTIONS: opencl fails, its kernels' cache being mounted so.
on_cache() {
	mkdir -p cache
	run -"$1" unshare -m sh -c 'mount -t tmpfs -o "$1" tmpfs cache && shift &&
		POCL_CACHE_DIR=$PWD/cache exec "$@"' sh "$2" "$BENCH" measure \
		opencl "${SMALL[@]}"
	[[ "$output" == *"$PWD/cache"*"POCL_CACHE_DIR"* ]]
}

@test "a cache for kernels that cannot be used says why" {
	is_pocl || skip "a driver whose compiled kernels are elsewhere"
	mkdir -p cache
	unshare -m mount -t tmpfs tmpfs cache 2>/dev/null ||
		skip "nothing can be mounted here"
	on_cache 4 noexec
	[[ "$output" == *"mounted noexec"* ]]
	on_cache 4 size=64k
	[[ "$output" == *"No space left on device"* ]]
	on_cache 6 ro
	[[ "$output" == *"Read-only file system"* ]]
}
