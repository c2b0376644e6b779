#!/usr/bin/env bats
# Ranks of MPI on several hosts, which are network namespaces.

bats_require_minimum_version 1.5.0

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
	[ -z "${HOSTS:-}" ] || hosts_down
}

@test "cores on four hosts learn the bits of threads" {
	local train=(-m mnist -d synthetic --synthetic-train 6400 --batch 16
		-e 1 -s 50 --test off -w 1 -q --out made)
	run -0 on_host a timeout -k 5 250 "$BENCH" run cpu-8@mpi "${train[@]}" \
		--hosts a:2,b:2,c:2,d:2
	run -0 timeout -k 5 250 "$BENCH" run cpu-8 "${train[@]}"
	[ "$(column made/runs.csv steps)" = "50 50" ]
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
	run -0 on_host a timeout -k 5 900 "$BENCH" run cpu-8@mpi "${train[@]}" \
		--hosts a:2,b:2,c:2,d:2
	run -0 timeout -k 5 1200 "$BENCH" run cpu-8 cpu-8@fork cpu-8@mpi \
		"${train[@]}"
	same_bits 4
}
