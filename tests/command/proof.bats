#!/usr/bin/env bats
# What `bench check` takes for proved: nothing that differs from what it verified.

bats_require_minimum_version 1.5.0
load command.sh

setup() {
	command_setup
	BLAS=$(dirname "$BENCH")/tests/scale_blas.so
	[ -e "$BLAS" ] || skip "no $BLAS: make test-programs"
	export XDG_CACHE_HOME=$PWD/cache
	# Otherwise the program starts itself anew, once more for each process.
	! grep -qw avx2 /proc/cpuinfo ||
		export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell}
}

# Six blocks are too few for a verdict, and quickly done.
check() {
	run --separate-stderr "$BENCH" check openblas-1 "$@" --model tiny \
		"${DATA[@]}" --warmup 1 --blocks 6 -s 3 -o few
}

# verifies NUMBER: that number of sides was verified, and all were right.
verifies() {
	echo "$stderr"
	[ "$status" -eq 3 ]
	[ "$(grep -c '^verifying the ' <<<"$stderr")" -eq "$1" ]
}

refuses_head() {
	echo "$stderr"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"verifying the head"* ]]
	[[ "$stderr" == *"the head is wrong, speed not compared"* ]]
}

# scale FACTOR FILE: in place, as cp does, so that it is the same inode.
scale() {
	LC_ALL=C sed "s/FACTOR=1.00/FACTOR=$1/" "$BLAS" >"$2"
	grep -q "FACTOR=$1" "$2"
}

@test "a library that audits one side is not the other's" {
	scale 1.05 audit.so
	check --head-env "LD_AUDIT=$PWD/audit.so"
	refuses_head
	[[ "$stderr" == *": see env LD_AUDIT=$PWD/audit.so $BENCH verify openblas --model=tiny "* ]]
	check --base-env "LD_AUDIT=$PWD/audit.so"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the base is wrong, speed not compared"* ]]
}

@test "a library with other content is verified again" {
	scale 1.00 lib.so
	touch -d @1700000000 lib.so
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	verifies 2
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	verifies 0
	# As long as before, and as old.
	scale 1.05 lib.so
	touch -d @1700000000 lib.so
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	refuses_head
	# Under a link that leads to another library, and in a folder before.
	mkdir first second
	scale 1.00 second/right.so
	scale 1.05 second/wrong.so
	ln -s right.so second/libmd.so
	check --head-env "LD_PRELOAD=$PWD/second/libmd.so"
	verifies 1
	check --head-env "LD_PRELOAD=$PWD/second/libmd.so"
	verifies 0
	ln -sf wrong.so second/libmd.so
	check --head-env "LD_PRELOAD=$PWD/second/libmd.so"
	refuses_head
	ln -sf right.so second/libmd.so
	local found=LD_LIBRARY_PATH=$PWD/first:$PWD/second
	check --head-env "$found" --head-env LD_PRELOAD=right.so
	verifies 1
	check --head-env "$found" --head-env LD_PRELOAD=right.so
	verifies 0
	mv second/wrong.so first/right.so
	check --head-env "$found" --head-env LD_PRELOAD=right.so
	refuses_head
}

@test "the same library installed again is right as before" {
	scale 1.00 lib.so
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	verifies 2
	rm lib.so
	scale 1.00 lib.so
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	verifies 0
	rm lib.so
	check --head-env "LD_PRELOAD=$PWD/lib.so"
	[ "$(grep -c '^verifying the ' <<<"$stderr")" -eq 1 ]
}

@test "every variable counts, whatever its name, but for the terminal's" {
	check --head-env A=1
	verifies 2
	check --head-env A=1
	verifies 0
	local variable
	for variable in A=2 MKL_CBWR=AVX2 KMP_BLOCKTIME=0 CL_CONFIG_USE_VTUNE=0 \
		UCX_TLS=self OMPI_MCA_btl=self TERM=dumb; do
		check --head-env "$variable"
		verifies 1
		check --head-env "$variable"
		verifies 0
	done
	TERM=other SHLVL=7 OLDPWD=/usr COLUMNS=70 check --head-env A=1
	verifies 0
	SOMETHING=else check --head-env A=1
	verifies 2
	# Only a hash of them is written down.
	run ! grep -rq SOMETHING cache
	# Relative paths in them begin elsewhere.
	mkdir elsewhere
	cd elsewhere
	check --head-env A=1
	verifies 2
}

@test "a library that is replaced while it is verified" {
	scale 1.00 lib.so
	cat >replaces <<-END
	until grep -q '^verifying the head' said; do sleep 0.01; done
	touch lib.so
	touch go-on
	END
	: >said
	sh replaces 3>&- &
	"$BENCH" check openblas-1 --model tiny "${DATA[@]}" --warmup 1 \
		--blocks 6 -s 3 -o few --head-env "LD_PRELOAD=$PWD/lib.so" \
		--head-env "SCALE_WAIT=$PWD/go-on" 2>said || [ $? -eq 3 ]
	wait $!
	cat said
	grep -q "could not be cached and will be repeated next time: $PWD/lib.so has changed" said
	check --head-env "LD_PRELOAD=$PWD/lib.so" \
		--head-env "SCALE_WAIT=$PWD/go-on"
	verifies 1
}

@test "ranks of MPI are verified each time" {
	[ -e "$(dirname "$BENCH")/plugins/mpi.so" ] || skip "no plug-in mpi.so"
	command -v mpirun >/dev/null || skip "no mpirun"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	run --separate-stderr "$BENCH" check cpu-2@mpi --base "$BENCH" \
		--model tiny "${DATA[@]}" --warmup 1 --blocks 6 -s 3 -o few
	verifies 2
	[ ! -e cache/bench/verified ]
	# Cores of other transports are not verified.
	rm -r few
	check --head-env A=1
	verifies 2
	[ -e cache/bench/verified ]
}

@test "bench verify --dry-run opens devices, and compares nothing" {
	run -0 "$BENCH" verify openblas --dry-run
	[[ "$output" == "openblas: "*", OpenBLAS "* ]]
	[ "${#lines[@]}" -eq 1 ]
	run -4 "$BENCH" verify opencl:99 --dry-run
	run -0 "$BENCH" verify --dry-run
	[[ "$output" == *"cpu: "* ]]
}
