#!/usr/bin/env bats
# The builds of OpenBLAS that Debian has, as the loader may find them, and the
# self-check of what they compute.

load command.sh

setup() {
	command_setup
	unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS BENCH_SET LD_LIBRARY_PATH
}

# use_flavour NAME: has the loader find it, from the system or from a cache;
# skips the test where it is not to be had.
use_flavour() {
	local cache=$TOP/build/cache/openblas-$1 library
	if ! library=$(find_library "$1" "$cache") && mkdir -p "$cache"; then
		(cd "$cache" && timeout 60 apt-get download \
			"libopenblas0-$1" && dpkg -x ./*.deb .) >/dev/null 2>&1
		rm -f "$cache"/*.deb
		library=$(find_library "$1" "$cache") ||
			skip "libopenblas0-$1 cannot be had"
	fi
	LD_LIBRARY_PATH=$(dirname "$library")
	export LD_LIBRARY_PATH
	[[ "$(ldd "$BENCH")" == *"$LD_LIBRARY_PATH/libopenblas"* ]]
}

find_library() {
	find /usr/lib/*/"openblas-$1" "$2" -name libopenblas.so.0 2>/dev/null |
		grep -m 1 .
}

# A library in front of OpenBLAS that spoils the 100th product of its threads.
make_spoiler() {
	cat >spoil.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <stdatomic.h>
	static atomic_int calls;
	void cblas_sgemm(int o, int ta, int tb, int m, int n, int k,
			 float alpha, const float *a, int lda, const float *b,
			 int ldb, float beta, float *c, int ldc)
	{
	    void (*real)(int, int, int, int, int, int, float, const float *,
			 int, const float *, int, float, float *, int) =
		dlsym(RTLD_NEXT, "cblas_sgemm");

	    real(o, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	    if (++calls == 100)
		c[5] += 1;
	}
	END
	"${CC:-gcc}" -std=gnu11 -shared -fPIC -o spoil.so spoil.c -ldl ||
		skip "no compiler"
}

# Prints what bench set itself in the first row of $1. The CPU whose kernels
# OpenBLAS is to use is left out: bench sets it if OpenBLAS does not support ours.
chosen() {
	cell "$1" 1 variables | tr ';' '\n' | sed -n 's/^BENCH_SET=//p' |
		tr ' ,' '\n\n' | grep -v OPENBLAS_CORETYPE || true
}

@test "OpenBLAS is not left with a core older than the CPU" {
	grep -qw avx2 /proc/cpuinfo || skip "no AVX2"
	echo 'const char *openblas_get_corename(void) { return "Prescott"; }' \
		>old.c
	"${CC:-gcc}" -shared -fPIC -o old.so old.c || skip "no compiler"
	LD_PRELOAD=$PWD/old.so run -0 "$BENCH" measure openblas-1 \
		"${TINY[@]}" --run-file row
	[[ "$(cell row 1 variables)" == \
		*";OPENBLAS_CORETYPE="*";BENCH_SET=OPENBLAS_CORETYPE" ]]
}

@test "pthread: cores are threads of one process" {
	use_flavour pthread
	run -0 "$BENCH" env
	[[ "$output" == *"OpenBLAS "*", pthread, "*", 1 thread"* ]]
	run -0 "$BENCH" measure openblas-4 "${TINY[@]}" --run-file row
	[[ "$(cell row 1 device_driver)" == *", pthread, "* ]]
	[ -z "$(chosen row)" ]
}

@test "serial: one core a process" {
	use_flavour serial
	run -0 "$BENCH" devices
	[[ "$output" == *"OpenBLAS "*", serial, "* ]]
	run -4 --separate-stderr "$BENCH" measure openblas-2 "${TINY[@]}"
	[[ "$stderr" == *"serial OpenBLAS"*libopenblas0-pthread*@fork* ]]
	run -0 "$BENCH" measure openblas-2@fork "${TINY[@]}" --run-file row
	[[ "$(cell row 1 device_driver)" == *", serial, "* ]]
	# What cpu computes calls none of it.
	run -0 "$BENCH" measure cpu-2 "${TINY[@]}" --run-file row
	[[ "$(cell row 1 device_driver)" == *" kernels" ]]
	# What tests ask for does not let it in.
	BENCH_TEST_BLAS_CALLS=1 run -4 "$BENCH" measure openblas-2 "${TINY[@]}"
	run -4 --separate-stderr "$BENCH" run openblas-1 openblas-2 \
		"${TINY[@]}" --out made
	[ "$(column made/runs.csv status)" = "ok error" ]
	[[ "$(cell made/runs.csv 1 device_driver)" == *", serial, "* ]]
	[[ "$(cell made/runs.csv 2 reason)" == *libopenblas0-pthread* ]]
}

@test "openmp: it makes no threads if asked, and the numbers are equal" {
	run -0 "$BENCH" measure openblas-4 "${TINY[@]}" --run-file usual
	use_flavour openmp
	local own
	for own in "" 1 4; do
		[ -z "$own" ] || export OMP_NUM_THREADS=$own
		run -0 "$BENCH" env
		[[ "$output" == *", openmp, "*", 1 thread"* ]]
		run -0 "$BENCH" measure openblas-4 "${TINY[@]}" --run-file row
		[[ "$(cell row 1 device_driver)" == *", openmp, "* ]]
		[[ "$(cell row 1 variables)" == *OMP_NUM_THREADS=1* ]]
		[ "$(cell row 1 parameters_hash)" = \
			"$(cell usual 1 parameters_hash)" ]
		# Whose choice it was can be seen.
		if [ "$own" = 1 ]; then
			[ -z "$(chosen row)" ]
		else
			[ "$(chosen row)" = OMP_NUM_THREADS ]
		fi
	done
	run -0 "$BENCH" measure openblas-4@fork "${TINY[@]}"
	BENCH_SET=OTHER run -0 "$BENCH" env
	[[ "$output" == *BENCH_SET=OTHER,OMP_NUM_THREADS* ]]
}

@test "a wrong product while all multiply ends a run" {
	make_spoiler
	export LD_PRELOAD=$PWD/spoil.so
	run -6 --separate-stderr "$BENCH" measure openblas-8 "${TINY[@]}" \
		--run-file row
	[[ "$stderr" == *"self-check"*"entry 5 of "* ]]
	[[ "$stderr" == *libopenblas0-pthread* ]]
	# Nothing was trained.
	[[ "$output" != *,step,* ]]
	[ -z "$(cell row 1 loop_s)" ]
	run -6 "$BENCH" verify openblas --model tiny "${DATA[@]}" --steps 1
	[[ "$output" == *"self-check"* ]]
	# With one core there is one thread that multiplies.
	local target
	for target in openblas-1 openblas-8@fork; do
		BENCH_TEST_BLAS_CALLS=1000 run -0 "$BENCH" measure "$target" \
			"${TINY[@]}"
	done
}

# Makes a library that is loaded before OpenBLAS, and reports a build with pthread.
make_disguise() {
	echo 'int openblas_get_parallel(void) { return 1; }' >disguise.c
	"${CC:-gcc}" -shared -fPIC -o disguise.so disguise.c ||
		skip "no compiler"
}

# It is a race: seconds of it are lost on nearly every machine.
@test "the serial library is found out by the self-check" {
	[ -n "${CHECK_FULL:-}" ] || skip "takes long; see make check-full"
	use_flavour serial
	make_disguise
	export LD_PRELOAD=$PWD/disguise.so
	export BENCH_TEST_BLAS_CALLS=300000
	local core
	for core in Haswell SkylakeX Haswell; do
		OPENBLAS_CORETYPE=$core run "$BENCH" measure openblas-8 \
			"${TINY[@]}"
		[ "$status" -ne 6 ] || break
	done
	[ "$status" -eq 6 ] || skip "the race is never lost here"
	[[ "$output" == *"self-check"*"OpenBLAS "* ]]
}
