#!/usr/bin/env bats
# Ranks of MPI on several hosts, which are network namespaces.

load command.sh
load hosts.sh

setup_file() {
	hosts_lack >"$BATS_FILE_TMPDIR/lack"
}

setup() {
	command_setup
	[ -e "$(dirname "$BENCH")/plugins/mpi.so" ] ||
		skip "no plug-in mpi.so: package libopenmpi-dev was not there"
	[ ! -s "$BATS_FILE_TMPDIR/lack" ] ||
		skip "$(cat "$BATS_FILE_TMPDIR/lack")"
	hosts_up a b c d
}

teardown() {
	end_started
	[ -z "${HOSTS:-}" ] || hosts_down
}

@test "cores on four hosts learn the bits of threads" {
	local train=(-m mnist -d synthetic --synthetic-train 1280
		--synthetic-test 1 --batch 16 -e 1 --test off -w 1 -q --out made)
	run -0 on_host a "$BENCH" run cpu-8@mpi "${train[@]}" \
		--hosts a:2,b:2,c:2,d:2
	run -0 "$BENCH" run cpu-8 "${train[@]}"
	[ "$(column made/runs.csv updates)" = "10 10" ]
	same_bits 2
}

# same_bits RUNS
same_bits() {
	run -0 column made/runs.csv parameters_hash
	[ "$(tr ' ' '\n' <<<"$output" | grep -cE '^[0-9a-f]{16}$')" -eq "$1" ]
	[ "$(tr ' ' '\n' <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "and so they do of a deep network" {
	[ -n "${CHECK_FULL:-}" ] || skip "takes minutes: CHECK_FULL=1"
	local train=(-m resnet34 --image-size 64 --batch 2 -e 1
		-s 5 --test off -w 1 -q --out made)
	run -0 on_host a "$BENCH" run cpu-8@mpi "${train[@]}" \
		--hosts a:2,b:2,c:2,d:2
	run -0 "$BENCH" run cpu-8 cpu-8@fork cpu-8@mpi \
		"${train[@]}"
	same_bits 4
}

# A training that goes on until something ends it.
train() {
	on_host a "${HEEDFUL[@]}" "$BENCH" run \
		cpu-4@mpi -m tiny "${DATA[@]}" -e 100000 -q --hosts a:2,b:2 \
		--out made "$@" >out 2>err &
	RUN=$!
	within 30 trains
	BEFORE=$(wc -l <made/observations.csv)
}

# It has rows enough, or is over.
trains() {
	! running "$RUN" || {
		[ -e made/observations.csv ] &&
			[ "$(wc -l <made/observations.csv)" -gt 100 ]
	}
}

# ends CODE WITHIN_S REASON [PATTERN]: the run ends for that reason, or for one that
# the pattern describes, with its rows and no process left.
ends() {
	local began reason expected=$3 code=0
	began=$(patience)
	wait "$RUN" || code=$?
	cat err # shown where it is another
	[ "$code" -eq "$1" ]
	[ $(($(patience) - began)) -le $((1000 * $2)) ]
	reason=$(cell made/runs.csv 1 reason)
	# shellcheck disable=SC2053 # it is a pattern
	[[ -z "${4:-}" || "$reason" != $4 ]] || expected=$reason
	[[ "$reason" == *"$expected"* && "$(cat err)" == *"$expected"* ]]
	[ "$(wc -l <made/observations.csv)" -ge "$BEFORE" ]
	run -0 "$BENCH" table made
	nothing_left
}

nothing_left() {
	local name
	for name in a b; do
		within 25 host_is_empty "$name"
	done
}

@test "a core that dies is named with its host" {
	train
	kill -KILL "$(host_rank b 3)"
	# Two seconds, and what a busy machine takes to end all of it.
	ends 6 20 "core 3 on host b was ended by signal 9 (Killed)"
}

@test "so it is with buckets under way, and a link that is cut" {
	local buckets=(-m mnist --batch 16 --bucket-mb 1
		--allreduce whole)
	# Most of an iteration passes while they are sent.
	host_link b 400mbit
	run -0 on_host a "$BENCH" run cpu-4@mpi "${DATA[@]}" \
		-e 2 -q --hosts a:2,b:2 --out made "${buckets[@]}"
	awk -v s="$(cell made/runs.csv 1 overlapped_s)" 'BEGIN { exit !(s > 0) }'
	rm -r made
	train "${buckets[@]}"
	kill -KILL "$(host_rank b 3)"
	# A connection that is reset while a core sends ends that core, perhaps
	# before mpirun hears of the first one.
	ends 6 20 "core 3 on host b was ended by signal 9 (Killed)" \
		"*core* on host [ab] lost its connection to *"
	rm -r made
	train "${buckets[@]}"
	host_link b down
	ends 6 30 "host b does not answer any more, nor do its cores, 2 to 3"
}

@test "a host whose link is cut is named with its cores" {
	train
	host_link b down
	ends 6 30 "host b does not answer any more, nor do its cores, 2 to 3"
}

@test "so is one whose link is cut before its cores are there" {
	[ -n "${CHECK_FULL:-}" ] || skip "CHECK_FULL=1 waits for it"
	host_link b down
	run -6 on_host a "$BENCH" run cpu-4@mpi -m tiny \
		"${DATA[@]}" -q --hosts a:2,b:2 --out made
	[[ "$output" == *"the cores on hosts a:2,b:2 have not met within 60 s: "* ]]
	host_link b up
	nothing_left
}

@test "a core that hangs is named after the timeout" {
	local limit
	# A slow machine needs a longer one to get to where a core is stopped.
	for limit in 10 40 160 640; do
		rm -rf made
		train --timeout $limit
		! kill -STOP "$(host_rank b 2)" 2>/dev/null || break
		wait "$RUN" || :
	done
	ends 6 60 "ended after --timeout ${limit}s; core 0: waits for core 2 on host b"
}

@test "Ctrl-C reaches the cores of all hosts" {
	train
	kill -INT "$(host_program a "$BENCH run")"
	ends 130 60 interrupted
	[ "$(column made/runs.csv status)" = partial ]
	[ "$(column made/runs.csv hosts)" = a:2,b:2 ]
}

@test "Ctrl-C ends cores that hang, a minute later" {
	[ -n "${CHECK_FULL:-}" ] || skip "CHECK_FULL=1 waits for it"
	TRAIN_S=180 train
	kill -STOP "$(host_rank b 2)"
	kill -INT "$(host_program a "$BENCH run")"
	ends 130 80 interrupted
	[[ "$(cell made/runs.csv 1 reason)" == *"waits for core 2 on host b" ]]
	[ "$(column made/runs.csv status)" = partial ]
}

# host_program NAME WORDS: the process on it whose command begins with them.
host_program() {
	local pid
	for pid in $(host_processes "$1"); do
		[[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" != "$2 "* ]] ||
			echo "$pid"
	done
}

@test "cores end with the run, and with what started them" {
	train
	# No more rows, whose writer would notice.
	kill -STOP "$(host_rank b 2)"
	kill -KILL "$(host_program a "$BENCH run")"
	wait "$RUN" || true
	nothing_left
	mv made first
	train
	kill -KILL "$(host_program a mpirun)"
	ends 6 60 "signal 9"
}

# short HOSTS ARGUMENT ...
short() {
	run "$1" --separate-stderr on_host a "$BENCH" run \
		cpu-4@mpi "${TINY[@]}" --hosts a:2,b:2 --out made "${@:2}"
}

@test "another version on one of the hosts is named" {
	cp "$BENCH" other
	# As long as the one that it has.
	sed -i "s/$("$BENCH" --version | awk 'NR == 1 { print $2 }')/9.9.9/" \
		other
	on_host b mount --bind other "$BENCH"
	short -4
	[[ "$stderr" == *"core 2 on host b is bench 9.9.9 "*", and core 0 on host a bench "*"install the same"* ]]
	[ "$(cell made/runs.csv 1 exit_code)" = 4 ]
	nothing_left
}

@test "data that one of the hosts lacks, or has otherwise, is named" {
	local given=(-d mnist --data-dir "$PWD/data" --batch 1)
	local TINY=(--model tiny --warmup 1 --epochs 1 -q)
	idx_files own 7
	idx_files data 1
	mkdir nothing
	on_host b mount --bind nothing data
	short -4 "${given[@]}"
	[[ "$stderr" == *"core 2 of 4: host b: $PWD/data"* ]]
	[[ "$(column made/runs.csv reason)" == *"host b: $PWD/data"* ]]
	on_host b umount data
	on_host b mount --bind own data
	short -5 "${given[@]}"
	[[ "$stderr" == *"cores 2 to 3 on host b: training images, test images differ from core 0 on host a ("*"copy the files from there"* ]]
	nothing_left
}

@test "a program that one of the hosts lacks is named" {
	cp -r "$(dirname "$BENCH")/plugins" "$BENCH" .
	BENCH=$PWD/bench
	mkdir nothing
	on_host b mount --bind nothing "$PWD"
	short -6
	[[ "$stderr" == *"mpirun: "*"unable to launch"*"Node: b"* ]]
	nothing_left
}

@test "the first host has to be this one" {
	run -2 --separate-stderr on_host b "$BENCH" run cpu-4@mpi "${TINY[@]}" \
		--hosts a:2,b:2 --out made
	[[ "$stderr" == *"--hosts a:2,b:2: the first host has to be this one, which is called b" ]]
}

@test "each host has CPUs of its own" {
	# The first that may be used.
	local cpu
	cpu=$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' \
		/proc/self/status)
	short -0 --cpus "$cpu"
	[ "$(column made/runs.csv cpus)" = 2 ]
	[ "$(column made/runs.csv cpu_list)" = "$cpu" ]
	# What b computes is not ours, though it is on our CPUs here.
	run -0 on_host a "$BENCH" run cpu-4@mpi -m mnist -e 1 \
		-s 10 -d synthetic --synthetic-train 6400 --synthetic-test 1 \
		--test off -w 1 -q --hosts a:2,b:2 --out busy
	run -0 column busy/runs.csv foreign_pct
	[ "${output%.*}" -ge 1 ]
}

@test "memory counts the cores on this host only" {
	local all here
	# gigabytes ARGUMENT ...: prints the memory in the plan.
	gigabytes() {
		on_host a "$BENCH" run cpu-4@mpi -m tiny -d synthetic --dry-run \
			"$@" 2>&1 | sed -n 's/.*, about \(.*\) GB of memory/\1/p'
	}
	all=$(gigabytes)
	here=$(gigabytes --hosts a:1,b:3)
	echo "$all $here"
	awk "BEGIN { exit !($here > 0 && $all > 3 * $here) }"
}

@test "ranks that are killed at random moments" {
	run -0 "$BATS_TEST_DIRNAME/../tools/stress-hosts" rank 1 7
	[[ "$output" == *"exit 6: 1 time"* ]]
}
