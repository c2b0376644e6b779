#!/usr/bin/env bats
# Cores as ranks of MPI.

load command.sh

setup() {
	command_setup
	[ -e "$(dirname "$BENCH")/plugins/mpi.so" ] ||
		skip "no plug-in mpi.so: package libopenmpi-dev was not there"
	# Open MPI requires both variables of root.
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

needs_mpirun() {
	command -v mpirun >/dev/null || skip "no mpirun: package openmpi-bin"
}

by_hand() {
	mpirun --quiet --oversubscribe --bind-to none "$@"
}

@test "ranks, processes and threads learn the same bits" {
	needs_mpirun
	run -0 "$BENCH" run cpu-8 cpu-8@fork cpu-8@mpi \
		-m mnist -d synthetic --synthetic-train 1280 \
		--synthetic-test 1 --batch 16 -e 1 --test off -w 1 -q --out made
	[ "$(column made/runs.csv transport)" = "threads fork mpi" ]
	[ "$(column made/runs.csv updates)" = "10 10 10" ]
	run -0 column made/runs.csv parameters_hash
	[ "$(tr ' ' '\n' <<<"$output" | grep -cE '^[0-9a-f]{16}$')" -eq 3 ]
	[ "$(tr ' ' '\n' <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "a check says why mpirun refuses, not what a base has to be" {
	needs_mpirun
	[ "$(id -u)" = 0 ] || skip "mpirun refuses root alone"
	unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
	run -6 --separate-stderr "$BENCH" check cpu-2@mpi --base "$BENCH" \
		"${TINY[@]:0:6}" -o refused
	[[ "$stderr" == *"cpu-2@mpi, base: mpirun refuses to run as root"* ]]
	[[ "$stderr" != *"expects a bench binary"* ]]
}

@test "each rank has its rows" {
	needs_mpirun
	run -0 --separate-stderr by_hand -np 3 "$BENCH" measure cpu-3@mpi \
		"${TINY[@]}"
	printf '%s\n' "$output" >ranks.csv
	[ -z "$stderr" ]
	# One header, and the same rows as of threads.
	[ "$(grep -c '^schema,' ranks.csv)" -eq 1 ]
	"$BENCH" measure cpu-3 "${TINY[@]}" >threads.csv
	[ "$(column ranks.csv core)" = "$(column threads.csv core)" ]
	[ "$(column ranks.csv phase)" = "$(column threads.csv phase)" ]
	[ "$(column ranks.csv loss)" = "$(column threads.csv loss)" ]
}

@test "other backends learn the same bits as well" {
	needs_mpirun
	run -0 "$BENCH" run openblas-3 openblas-3@mpi \
		"${TINY[@]}" --out made
	[ "$(cell made/runs.csv 1 parameters_hash)" = \
		"$(cell made/runs.csv 2 parameters_hash)" ]
}

# What starts the ranks of another host: this one, by another name.
two_hosts() {
	needs_mpirun
	unshare --uts true 2>/dev/null || skip "no second host name to be had"
	cat >agent <<-"END"
	#!/bin/bash
	while [[ $1 == -* ]]; do shift; done
	name=$1
	shift
	exec unshare --uts bash -c "hostname $name; $*"
	END
	chmod +x agent
	export OMPI_MCA_plm_rsh_agent=$PWD/agent
	HOSTS=$(hostname):2,other:2
}

# differs NAMES ARGUMENT ...: the run is refused, since the hosts have other ones.
# The second host has the folder "other" in the place of "data".
differs() {
	run -5 --separate-stderr "$BENCH" run cpu-4@mpi \
		"${@:2}" --batch 1 --hosts "$HOSTS" --out made
	[[ "$stderr" == *"cores 2 to 3 on host other: $1 differ from core 0 on host $(hostname) ("* ]]
	[ "$(column made/runs.csv exit_code)" = 5 ]
	# Nothing was trained before.
	[ "$(wc -l <made/observations.csv)" -le 1 ]
	rm -r made
}

@test "all files that decide the result are the same on all hosts" {
	two_hosts
	unshare --mount true 2>/dev/null || skip "no second mount table to be had"
	sed -i "s,unshare --uts bash -c \",unshare --uts --mount bash -c \"\
		mount --bind '$PWD/other' '$PWD/data' \&\& ," agent
	idx_files data 1
	local name
	for name in "training images:train-images-idx3" \
		"training labels:train-labels-idx1" \
		"test images:t10k-images-idx3" "test labels:t10k-labels-idx1"; do
		rm -rf other
		cp -r data other
		truncate -s -1 "other/${name#*:}-ubyte"
		printf '\003' >>"other/${name#*:}-ubyte"
		differs "${name%:*}" --model tiny -d mnist \
			--data-dir "$PWD/data" --warmup 1 --epochs 1 -q
	done
	"$BENCH" measure cpu-1 "${TINY[@]}" --save-weights data/w >/dev/null
	"$BENCH" measure cpu-1 "${TINY[@]}" --save-weights other/w --seed 2 \
		>/dev/null
	differs weights "${TINY[@]}" --weights "$PWD/data/w"
}

@test "ranks that begin with other parameters are refused" {
	two_hosts
	local seeds=() host
	for host in "$(hostname)" other; do
		seeds+=(--host "$host:1" -np 1 "$BENCH" measure cpu-2@mpi
			"${TINY[@]}" --seed "${#seeds[@]}" :)
	done
	run -2 --separate-stderr by_hand "${seeds[@]:0:${#seeds[@]} - 1}"
	[[ "$stderr" == *"core 1 on host other: initial parameters, options differ from core 0 on host "* ]]
}

@test "ranks with other options are refused" {
	needs_mpirun
	local option
	"$BENCH" measure cpu-1 "${TINY[@]}" --save-weights w >/dev/null
	# Seeds decide the order of samples, if not the parameters.
	for option in "--lr 0.5" "--batch 3" "--dropout off" \
		"--image-size 20" "--weights w --seed 7"; do
		local first=
		[[ $option != *weights* ]] || first="--weights w"
		# shellcheck disable=SC2086 # several words
		run -2 --separate-stderr by_hand -np 1 "$BENCH" measure \
			cpu-2@mpi "${TINY[@]}" $first \
			: -np 1 "$BENCH" measure cpu-2@mpi "${TINY[@]}" $option
		echo "$option: $stderr"
		[[ "$stderr" == *"core 1 on host $(hostname): options differ from core 0 on host $(hostname) ("*"): start all cores with the same --seed"* ]]
	done
}

@test "clocks of several hosts are not compared" {
	two_hosts
	unshare --time --monotonic 86400 --fork true 2>/dev/null ||
		skip "no clock of its own for a second host"
	sed -i 's/unshare --uts/unshare --uts --time --monotonic 86400 --fork/' \
		agent
	run -0 "$BENCH" run cpu-4@mpi "${TINY[@]}" \
		--hosts "$HOSTS" --out made
	run -0 column made/observations.csv elapsed_s
	[ "$(tr ' ' '\n' <<<"$output" | awk '$1 > 60 || $1 < 0' | wc -l)" -eq 0 ]
}

@test "on several hosts factors are sent, where they are less, or gradients" {
	two_hosts
	run -0 mpirun --host "$HOSTS" -np 4 hostname
	[ "$(sort -u <<<"$output" | wc -l)" -eq 2 ]
	run -0 "$BENCH" run cpu-4@mpi cpu-4 openblas-4@mpi \
		openblas-4 -m mnist -d synthetic --synthetic-train 640 \
		--synthetic-test 1 --batch 16 -e 1 -s 4 --test off -w 1 -q \
		--hosts "$HOSTS" --out made
	[ "$(column made/runs.csv status)" = "ok ok ok ok" ]
	run -0 column made/runs.csv reduced_bytes
	read -r apart together _ <<<"$output"
	[ "$apart" -gt "$together" ]
	read -r -a hashes <<<"$(column made/runs.csv parameters_hash)"
	[ "${hashes[0]}" = "${hashes[1]}" ]
	[ "${hashes[2]}" = "${hashes[3]}" ]
	# The same bits of whole gradients.
	run -0 "$BENCH" run cpu-4@mpi -m mnist -d synthetic \
		--synthetic-train 640 --synthetic-test 1 --batch 16 -e 1 -s 4 \
		--test off -w 1 -q --hosts "$HOSTS" --allreduce whole --out whole
	[ "$(column whole/runs.csv allreduce)" = whole ]
	[ "$(column whole/runs.csv reduced_bytes)" -gt $((2 * apart)) ]
	[ "$(column whole/runs.csv parameters_hash)" = "${hashes[0]}" ]
}

@test "between hosts gradients go in buckets, while cores compute" {
	two_hosts
	whole=(-m mnist -d synthetic --synthetic-train 640 --synthetic-test 1
		--batch 16 -e 1 -s 5 --test off -w 1 -q --allreduce whole)
	for mb in 0 1; do
		run -0 "$BENCH" run cpu-4@mpi "${whole[@]}" \
			--hosts "$HOSTS" --out "$mb" --bucket-mb "$mb"
	done
	run -0 "$BENCH" run cpu-4@mpi "${whole[@]}" \
		--hosts "$HOSTS" --out default
	run -0 "$BENCH" run cpu-4 "${whole[@]/whole/ordered}" \
		--out threads
	run -0 column 1/runs.csv parameters_hash
	[ "$output" = "$(column threads/runs.csv parameters_hash)" ]
	[ "$output" = "$(column 0/runs.csv parameters_hash)" ]
	[ "$output" = "$(column default/runs.csv parameters_hash)" ]
	[ "$(column default/runs.csv bucket_mb)" = 25 ]
	# 4.8 MB in buckets of 1 are sent early, and in one bucket none is.
	[ "$(column 0/runs.csv overlapped_s)" = "" ]
	[[ "$(column 1/runs.csv overlapped_s)" == *[1-9]* ]]
	run -0 "$BENCH" table 1 --cores
	grep -q "reduce *overlap *update" <<<"$output"
	run -0 "$BENCH" table 0 --cores
	[[ "$output" != *overlap* ]]
	run -2 "$BENCH" run cpu-2 "${TINY[@]}" --bucket-mb 1
	[[ "$output" == *"--bucket-mb 1 cannot be used with cpu-2: "*"supports it: cpu-2@mpi" ]]
	run -2 "$BENCH" run cpu-2@mpi "${TINY[@]}" --bucket-mb 1 \
		--allreduce native
	[[ "$output" == *"leave out --bucket-mb"* ]]
}

@test "sums may be made as the library does" {
	needs_mpirun
	run -0 "$BENCH" run cpu-4@mpi "${TINY[@]}" --out ordered
	run -0 "$BENCH" run cpu-4@mpi "${TINY[@]}" --out native \
		--allreduce native
	[ "$(column ordered/runs.csv allreduce)" = ordered ]
	[ "$(column native/runs.csv allreduce)" = native ]
	# MPI's own tree of four ranks adds in another order.
	[ "$(column ordered/runs.csv parameters_hash)" != \
		"$(column native/runs.csv parameters_hash)" ]
	# The sums are the same but for that.
	python3 - <<-"END"
	import csv
	loss = [[float(r["loss"]) for r in csv.DictReader(
	            open(name + "/observations.csv")) if r["phase"] == "test"
	         and not r["core"]][-1] for name in ("ordered", "native")]
	assert abs(loss[0] - loss[1]) < 1e-4 * loss[0], loss
	END
	run -2 "$BENCH" run cpu-2 "${TINY[@]}" --allreduce native
	[[ "$output" == *"--allreduce native cannot be used with cpu-2: "*"supports it: cpu-2@mpi" ]]
	# On one host, too, whole gradients are summed on request.
	run -0 "$BENCH" run cpu-2@mpi -m mnist -d synthetic \
		--synthetic-train 64 --synthetic-test 1 -b 16 -e 1 --test off \
		-w 1 -q --out factors
	run -0 "$BENCH" run cpu-2@mpi -m mnist -d synthetic \
		--synthetic-train 64 --synthetic-test 1 -b 16 -e 1 --test off \
		-w 1 -q --out whole --allreduce whole
	[ "$(column whole/runs.csv reduced_bytes)" -gt \
		$((10 * $(column factors/runs.csv reduced_bytes))) ]
	[ "$(column whole/runs.csv parameters_hash)" = \
		"$(column factors/runs.csv parameters_hash)" ]
}

@test "ranks of devices end as they should" {
	needs_mpirun
	"$BENCH" devices 2>/dev/null | grep -q opencl: || skip "no OpenCL device"
	# Also where there is one CPU.
	POCL_MAX_PTHREAD_COUNT=2 run -0 "$BENCH" run opencl-2@mpi "${TINY[@]}" \
		--out made
	[ "$(column made/runs.csv status)" = ok ]
	[ "$(column made/runs.csv exit_code)" = 0 ]
}

@test "other targets are no ranks, whoever starts them" {
	OMPI_COMM_WORLD_RANK=1 run -0 "$BENCH" run cpu-1 "${TINY[@]}" \
		--out made
	[ "$(column made/runs.csv status)" = ok ]
	run -2 "$BENCH" run cpu-2 "${TINY[@]}" --hosts a:2
	[[ "$output" == *"--hosts a:2 cannot be used with cpu-2: "*"supports it: cpu-2@mpi" ]]
}

@test "without a launcher the command is printed" {
	run -2 --separate-stderr "$BENCH" measure cpu-8@mpi "${TINY[@]}"
	[ -z "$output" ]
	[[ "$stderr" == *"0 of its 8 cores were started"*"mpirun "*" -np 8 bench measure cpu-8@mpi" ]]
	run -2 --separate-stderr env PATH=/nowhere "$BENCH" run cpu-8@mpi cpu-1 \
		"${TINY[@]}" --out made --hosts a:4,b:4
	[[ "$stderr" == *"no mpirun in "*openmpi-bin*"--host a:4,b:4 -np 8 bench measure cpu-8@mpi" ]]
	[ ! -e made ]
}

@test "a mistake in a list of hosts is found before anything starts" {
	local list
	for list in a:x a:0 a:-3 a:2x a: :2 -a:2 a:2,-b:2 "a:2,b:2," ,a:4 \
		"a b:4" a:4,b/c a:99999999999999999999; do
		run -2 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" \
			--hosts "$list" --out made
		[[ "$stderr" == *"--hosts $list: expected NAME or NAME:SLOTS, found '"* ]]
	done
	run -2 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" \
		--hosts a:2,b:1,a:2 --out made
	[[ "$stderr" == *"--hosts a:2,b:1,a:2: host a is named twice" ]]
	run -2 --separate-stderr "$BENCH" run cpu-4@mpi "${TINY[@]}" \
		--hosts a:2,b --out made
	[[ "$stderr" == *"--hosts a:2,b: 3 slots, and cpu-4@mpi has 4 cores" ]]
	[ ! -e made ]
}

@test "variables that a run records reach the other hosts" {
	two_hosts
	sed -i "s,unshare --uts,unshare --uts env -i 'PATH=$PATH'," agent
	idx_files data 1
	BENCH_DATA_DIR=$PWD/data run -0 --separate-stderr \
		"$BENCH" run cpu-4@mpi "${TINY[@]:0:2}" -d mnist --batch 1 \
		-e 1 -w 1 -q --hosts "$HOSTS" --out made
	[[ "$(column made/runs.csv variables)" == *"BENCH_DATA_DIR=$PWD/data"* ]]
}

@test "tables, comparisons and reports name hosts and CPUs" {
	two_hosts
	local cpus
	"$BENCH" run cpu-4@mpi "${TINY[@]}" --out one >/dev/null
	run -0 "$BENCH" run cpu-4@mpi "${TINY[@]:0:12}" \
		--hosts "$HOSTS" --out made
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"- cpu-4@mpi was on the hosts $HOSTS "* ]]
	cpus=$(column made/runs.csv cpu_list)
	[ -n "$cpus" ]
	run -0 "$BENCH" table made --details
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"CPUs used, by number: cpu-4@mpi $cpus of $HOSTS "* ]]
	run -0 "$BENCH" compare one made
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *"- differs: options: hosts: first $(hostname):4, second $HOSTS "* ]]
	# Of one host nothing is said.
	run -0 "$BENCH" table one
	[[ "$output" != *"was on the hosts"* ]]
	command -v gnuplot >/dev/null || skip "no gnuplot"
	run -0 "$BENCH" plot made
	grep -qE "bench run cpu-4@mpi .* --hosts $HOSTS( |\$)" made/report.html
	run -0 "$BENCH" plot one
	run -1 grep -e --hosts one/report.html
}

# a_launcher: a program mpirun of that body, found first.
a_launcher() {
	mkdir -p bin
	printf '#!/bin/sh\n[ "$1" != --version ] || {\n\techo "%s"\n\texit\n}\n%s\n' \
		"$1" "$2" >bin/mpirun
	chmod +x bin/mpirun
	PATH=$PWD/bin:$PATH
}

@test "the launcher of another library is named" {
	a_launcher "HYDRA build details:" "exit 1"
	run -4 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" --out made
	[[ "$stderr" == *'mpirun --version prints "HYDRA build details:", but the plug-in needs Open MPI: install package openmpi-bin, and put its mpirun first in $PATH'* ]]
	[ ! -e made ]
	run -4 --separate-stderr "$BENCH" env --network cpu-2@mpi
	[[ "$stderr" == *"HYDRA build details:"* ]]
	# Its version may come after a warning.
	a_launcher 'warning: setlocale: cannot change locale
mpirun (Open MPI) 4.1.4' 'exit 1'
	run -6 --separate-stderr "$BENCH" env --network cpu-2@mpi
	[[ "$stderr" != *"--version prints"* ]]
}

@test "the launcher's own reason is the run's" {
	a_launcher "mpirun (Open MPI) 4.1.4" \
		'echo "mpirun: no such thing as a slot" >&2; exit 213'
	run -6 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" --out made
	[ "$(cell made/runs.csv 1 reason)" = \
		"ended with exit code 213: mpirun: no such thing as a slot" ]
	run -6 --separate-stderr "$BENCH" check cpu-2@mpi "${TINY[@]:0:6}" \
		--base "$BENCH" --head "$BENCH" --out checked
	[[ "$stderr" == *"mpirun: no such thing as a slot"* ]]
	[[ "$stderr" != *"expects a bench binary"* ]]
}

@test "a core whose connection is reset is named with its host" {
	a_launcher "mpirun (Open MPI) 4.1.4" 'cat >&2 <<-END
	[a][[825,1],0][../opal/mca/btl/tcp/btl_tcp_frag.c:135:mca_btl_tcp_frag_send] mca_btl_tcp_frag_send: writev failed: Broken pipe (32)
	[a:06607] ../ompi/mca/pml/ob1/pml_ob1_sendreq.c:317 FATAL
	$SAID
	END
	exit 255'
	run -6 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" --out made
	[ "$(column made/runs.csv reason)" = "core 0 on host a lost its connection to another core, which has ended, or the link is down" ]
	[ "$(column made/runs.csv exit_code)" = 6 ]
	[[ "$stderr" != *FATAL* ]]
	# A core that fails by itself ends the others.
	SAID="bench: core 1: no memory" run -6 --separate-stderr "$BENCH" run \
		cpu-2@mpi "${TINY[@]}" --out failed
	[ "$(column failed/runs.csv reason)" = "core 1: no memory" ]
}

# The rows of two threads, and no others, on the screen and in the file, which
# the next test may take.
threads_are_left() {
	grep -q '^threads, 2 ranks ' <<<"$output"
	[[ "$output" != *"mpi, "* ]]
	[ "$(column net.csv transport | tr ' ' '\n' | sort -u)" = threads ]
	[ "$(column net.csv transport | wc -w)" -eq 13 ]
	mv net.csv "$BATS_FILE_TMPDIR/rows"
}

@test "a sweep keeps what it has where a target fails" {
	a_launcher "mpirun (Open MPI) 4.1.4" \
		'echo "bench: core 1: no such luck" >&2; exit 213'
	run -6 --separate-stderr "$BENCH" env --network cpu-2@mpi \
		--export-csv net.csv
	[[ "$stderr" == "bench: cpu-2@mpi: core 1: no such luck" ]]
	[[ "$output" != *All-reduce* ]]
	[ ! -e net.csv ]
	# Each failure is printed once, before and after the target that goes well;
	# the table has its exit code, too.
	run -6 --separate-stderr "$BENCH" env --network cpu-2@mpi cpu-2 \
		cpu-3@mpi --export-csv net.csv
	[ "$(sort <<<"$stderr")" = "bench: cpu-2@mpi: core 1: no such luck
cpu-3@mpi: core 1: no such luck" ]
	threads_are_left
}

@test "a sweep that is interrupted keeps what it has" {
	a_launcher "mpirun (Open MPI) 4.1.4" 'touch begun; exec sleep 600'
	"${HEEDFUL[@]}" "$BENCH" env --network cpu-2 cpu-2@mpi cpu-2@fork \
		--export-csv net.csv >out 2>err &
	local pid=$! code=0
	within 60 [ -e begun ]
	kill -INT "$pid"
	wait "$pid" || code=$?
	[ "$code" -eq 130 ]
	output=$(cat out)
	threads_are_left
}

# A launcher that signals bench, and has ended when bench hears of it.
@test "a sweep that is interrupted between two targets says so" {
	local rows=$BATS_FILE_TMPDIR/rows
	[ -e "$rows" ] || "$BENCH" env --network cpu-2 --export-csv "$rows"
	a_launcher "mpirun (Open MPI) 4.1.4" "cat $rows
		kill -STOP \$PPID
		kill -INT \$PPID
		setsid sh -c 'while grep -qs \"^State:[[:blank:]]*[^ZX[:blank:]]\" /proc/'\$\$'/status; do
			sleep .01
		done
		kill -CONT '\$PPID &"
	run -130 --separate-stderr "${HEEDFUL[@]}" "$BENCH" env \
		--network cpu-2@mpi --export-csv net.csv
	[ "$stderr" = "bench: interrupted" ]
	threads_are_left
}

@test "mpirun that does not run as root says how" {
	needs_mpirun
	[ "$(id -u)" = 0 ] || skip "not root"
	unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
	run -6 --separate-stderr "$BENCH" env --network cpu-2@mpi
	[[ "$stderr" == *"cpu-2@mpi: mpirun refuses to run as root: use another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 "* ]]
	run -6 --separate-stderr "$BENCH" run cpu-2@mpi "${TINY[@]}" --out made
	[[ "$(cell made/runs.csv 1 reason)" == "mpirun refuses to run as root"* ]]
}

@test "another number of ranks is refused" {
	needs_mpirun
	run -2 --separate-stderr by_hand -np 2 "$BENCH" measure cpu-3@mpi \
		"${TINY[@]}"
	[[ "$stderr" == *"2 of its 3 cores were started"* ]]
	[ "$(grep -c 'cores were started' <<<"$stderr")" -eq 1 ]
	# As srun --mpi=pmix starts them; a batch script is none of them.
	export SLURM_NTASKS=2 SLURM_PROCID=0
	run -2 "$BENCH" measure cpu-3@mpi "${TINY[@]}"
	[[ "$output" == *"0 of its 3 cores were started"* ]]
	PMIX_RANK=0 run -2 "$BENCH" measure cpu-3@mpi "${TINY[@]}"
	[[ "$output" == *"2 of its 3 cores were started"* ]]
	PMIX_RANK=1 SLURM_PROCID=1 run -2 "$BENCH" measure cpu-3@mpi "${TINY[@]}"
	[ -z "$output" ]
}

@test "what one rank meets, all hear, and one says" {
	needs_mpirun
	run -6 --separate-stderr by_hand -np 3 "$BENCH" measure cpu-3@mpi \
		"${TINY[@]}" --lr 1e38
	[ "$(grep -c 'is not a number' <<<"$stderr")" -eq 1 ]
	# Before they have met.
	run -4 --separate-stderr by_hand -np 3 "$BENCH" measure cpu-3@mpi \
		-m tiny -q -d mnist --data-dir /nowhere
	[ "$(grep -c '/nowhere' <<<"$stderr")" -eq 1 ]
	# Of one alone, the first one says whose it is.
	run -4 --separate-stderr by_hand -np 2 "$BENCH" measure cpu-3@mpi \
		"${TINY[@]}" : -np 1 "$BENCH" measure cpu-3@mpi -m tiny -q \
		-d mnist --data-dir /nowhere
	[[ "$stderr" == *"bench: core 2 of 3: /nowhere"* ]]
}

# The plug-in of this tree, but that every sum is half of what it should be.
halving_plugin() {
	command -v mpicc >/dev/null || skip "no mpicc: package libopenmpi-dev"
	cat >halving.c <<-"END"
	#define bench_plugin whole_plugin
	#include "backends/mpi/mpi.c"
	#undef bench_plugin
	static int halve(struct group *group, struct error *err)
	{
		float *values = ((struct mpi_core *)group)->offered;
		const int buckets = buckets_number(&group->offered);

		if (mpi_reduce_scatter(group, err))
			return -1;
		for (int b = 0; b < buckets; b++) {
			const struct slice own = bucket_slice(
				&group->offered, b, group->rank, group->size);

			for (size_t i = own.from; i < own.to; i++)
				values[i] /= 2;
		}
		return 0;
	}
	static struct transport halving;
	const struct plugin bench_plugin = { PLUGIN_VERSION, &halving };
	__attribute__((constructor)) static void begin_halving(void)
	{
		halving = mpi_transport;
		halving.reduce_scatter = halve;
	}
	END
	mpicc -std=c11 -D_GNU_SOURCE -shared -fPIC -I"$TOP" -o mpi.so halving.c \
		"$TOP"/backends/mpi/{check,exchange,windows}.c
}

@test "verify takes a target's own ranks, and finds wrong sums" {
	needs_mpirun
	halving_plugin
	run -0 "$BENCH" verify cpu-2@mpi --model tiny \
		"${DATA[@]}" --steps 2
	[[ "$output" == *"cpu-2@mpi: masks equal on 2 cores by mpi; replicas equal"* ]]
	run -1 "$BENCH" verify cpu-2@mpi --model tiny \
		"${DATA[@]}" --steps 2 --plugin mpi.so
	[[ "$output" == *"WRONG: cpu-2@mpi: the sum over cores is off by "* ]]
	[ "${lines[-1]}" = "verify: FAILED" ]
	# Another transport of the same backend is right.
	run -0 "$BENCH" verify cpu-2 --model tiny "${DATA[@]}" \
		--steps 2 --plugin mpi.so
	[[ "$output" == *"cpu-2: masks equal on 2 cores by threads; replicas equal"* ]]
	# With batch norm, each rank has statistics of its own.
	run -0 "$BENCH" verify openblas-3@mpi -m xla-mnist \
		-d synthetic --synthetic-train 70 --synthetic-test 40 --steps 2
	[[ "$output" == *"openblas-3@mpi: masks equal on 3 cores by mpi"* ]]
}

@test "a check verifies a target's own ranks" {
	needs_mpirun
	halving_plugin
	export XDG_CACHE_HOME=$PWD/cache
	run -6 --separate-stderr "$BENCH" check cpu-2@mpi \
		--model tiny "${DATA[@]}" --blocks 6 --out made \
		--head-env "BENCH_PLUGIN=$PWD/mpi.so"
	[[ "$stderr" == *"verifying the base on cpu-2@mpi"* ]]
	[[ "$stderr" == *"the head is wrong, speed not compared: see "*"verify cpu-2@mpi "* ]]
}

@test "ranks that cannot verify end as runs do" {
	needs_mpirun
	run -2 "$BENCH" verify cpu-2@mpi --model tiny "${DATA[@]}" --team made
	[[ "$output" == *"0 of its 2 cores were started"* ]]
	run -2 "$BENCH" verify cpu --model tiny "${DATA[@]}" --team made
	[[ "$output" == *"--team needs one target with a number of cores"* ]]
	run -2 env PATH=/nowhere "$BENCH" verify cpu-2@mpi --model tiny \
		"${DATA[@]}" --steps 1
	[[ "$output" == *"no mpirun in "*openmpi-bin* ]]
}

@test "ranks that verify end with the program that started them" {
	needs_mpirun
	local blas
	blas=$(dirname "$BENCH")/tests/scale_blas.so
	[ -e "$blas" ] || skip "no $blas: make test-programs"
	# It starts one rank, which waits in its first product, and is killed.
	a_launcher "mpirun (Open MPI) 4.1.4" "while [ \"\$1\" != -np ]; do shift; done
		shift 2
		OMPI_COMM_WORLD_SIZE=1 LD_PRELOAD=$blas SCALE_WAIT=$PWD/go \
			\"\$@\" &
		echo \$! >rank
		echo \$\$ >launcher
		wait"
	"$BENCH" verify openblas-1@mpi --model tiny "${DATA[@]}" --steps 1 \
		>out 2>&1 3>&- &
	local pid=$!
	within 60 [ -s launcher ]
	within 60 grep -q mpi.so "/proc/$(cat rank)/maps"
	kill -KILL "$(cat launcher)"
	within 20 none_running "$(cat rank)"
	wait "$pid" || true
}

# with_room BYTES ARGUMENT ...: bench, with so much in /dev/shm.
with_room() {
	unshare --mount true 2>/dev/null || skip "no second mount table to be had"
	run "$2" --separate-stderr unshare --mount bash -c '
		mount -t tmpfs -o "size=$1" tmpfs /dev/shm && shift &&
		exec "$@"' - "$1" "$BENCH" "${@:3}"
}

@test "too little room for what ranks have in common is named" {
	needs_mpirun
	local mnist=(-m mnist -d synthetic --synthetic-train 64
		--synthetic-test 1 --batch 16 -e 1 --test off -q --out made)
	# Found before anything is started, ...
	with_room 8m -4 run cpu-2@mpi "${mnist[@]}"
	[[ "$stderr" == "bench: the cores of cpu-2@mpi would share about 24.0 MB of parameters and gradients in /dev/shm. It has 8.4 MB of 8.4 left: enlarge it by docker run --shm-size="*m", or mount -o remount,size="*"m /dev/shm" ]]
	[ ! -e made ]
	# ... or where MPI asks for it.
	with_room 64k -4 run cpu-2@mpi "${TINY[@]}" --out made
	[[ "$stderr" == *"core 0: MPI_Win_allocate_shared: "*"this core needs 0."*" MB of /dev/shm, which has 0."*" MB left for all cores: enlarge it, as by docker run --shm-size=1g"* ]]
	[[ "$(cell made/runs.csv 1 reason)" == "core 0: MPI_Win_allocate_shared: "*--shm-size=1g ]]
	[ "$(cell made/runs.csv 1 exit_code)" = 4 ]
	# Others need none of it.
	with_room 64k -0 run cpu-2 cpu-2@fork "${mnist[@]}"
}

# fails FUNCTIONS ARGUMENT ...: runs two ranks. The second fails in these functions
# of MPI, each between commas. Returns whether it has called one.
fails() {
	rm -rf failed made
	run --separate-stderr env LD_PRELOAD="$FAIL_MPI_SO" FAIL_MPI="$1" \
		FAIL_RANK=1 FAIL_AT="${AT:-1}" FAIL_REPORT="$PWD/failed" \
		"$BENCH" run cpu-2@mpi "${@:2}" --out made
	[ -e failed ]
}

@test "a call of MPI that fails on one rank ends all, and is named" {
	two_hosts
	FAIL_MPI_SO=$(dirname "$BENCH")/tests/fail_mpi.so
	[ -e "$FAIL_MPI_SO" ] || skip "not built"
	command -v nm >/dev/null || skip "no nm: package binutils"
	local whole=(-m mnist -d synthetic --synthetic-train 64
		--synthetic-test 1 --batch 16 -e 1 --test off -w 1 -q --allreduce whole --bucket-mb 1
		--hosts "${HOSTS//:2/:1}") name way
	for name in $(nm -D "$(dirname "$BENCH")/plugins/mpi.so" |
		awk '$1 == "U" && $2 ~ /^MPI_[A-Z]/ { print $2 }'); do
		echo "$name"
		way=("${TINY[@]}")
		case $name in
		# A clock has no error. Others are called after a failure, or by
		# ranks that wait for one that hangs.
		MPI_Wtime | MPI_Abort | MPI_Cancel | MPI_Error_string) continue ;;
		MPI_Iprobe | MPI_Recv | MPI_Request_free) continue ;;
		MPI_Allreduce) way+=(--allreduce native) ;;
		MPI_Irecv | MPI_Isend | MPI_Testall) way=("${whole[@]}") ;;
		esac
		fails ",$name," "${way[@]}"
		echo "$status $stderr"
		[ "$status" -eq 6 ] || [[ $status$name == 4MPI_Win_allocate_* ]]
		[[ "$stderr" == *"core 1: $name: "* ]]
		[ "$(column made/runs.csv exit_code)" = "$status" ]
		[[ "$(column made/runs.csv reason)" == "core 1: $name: "* ]]
	done
	for name in MPI_Abort MPI_Error_string; do
		fails ",MPI_Test,$name," "${TINY[@]}"
		[ "$status" -eq 6 ]
		[[ "$stderr" == *"core 1: MPI_Test: "* ]]
	done
	# In the midst of it, and where cores say how they ended.
	for name in 20:MPI_Iallgather 2:MPI_Allgather; do
		AT=${name%:*} fails ",${name#*:}," "${TINY[@]}"
		[ "$status" -eq 6 ]
		[[ "$stderr" == *"core 1: ${name#*:}: "* ]]
	done
}

@test "bench env says whether it is there" {
	needs_mpirun
	run -0 "$BENCH" env
	[[ "$output" == *$'\n'"mpi  "*"/plugins/mpi.so, mpirun"$'\n'* ]]
	run -0 env PATH=/nowhere "$BENCH" env
	[[ "$output" == *"/plugins/mpi.so; no mpirun: package openmpi-bin"* ]]
	cp "$BENCH" alone
	run -0 env HOME="$PWD" ./alone env
	[[ "$output" == *"no plug-in mpi.so: package libopenmpi-dev, and build again, mpirun"* ]]
	echo broken >mpi.so
	run -0 ./alone env --plugin mpi.so
	[[ "$output" == *"cannot be used: plug-in $PWD/mpi.so cannot be loaded"* ]]
}

@test "the program is not linked with MPI" {
	run -0 ldd "$BENCH"
	[[ "$output" != *mpi* ]]
}
