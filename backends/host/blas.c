#include "backends/host/blas.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Results of openblas_get_parallel(). */
enum flavour { FLAVOUR_SERIAL, FLAVOUR_PTHREAD, FLAVOUR_OPENMP };

static const char *const flavour_names[] = { "serial", "pthread", "openmp" };

void blas_gemm(enum blas_side a_side, enum blas_side b_side, int m, int n,
	       int k, const float *a, const float *b, float add, float *c)
{
	cblas_sgemm(CblasRowMajor, a_side ? CblasTrans : CblasNoTrans,
		    b_side ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
		    a_side ? m : k, b, b_side ? k : n, add, c, n);
}

void blas_gemm_double(enum blas_side a_side, enum blas_side b_side, int m,
		      int n, int k, const double *a, const double *b,
		      double add, double *c)
{
	cblas_dgemm(CblasRowMajor, a_side ? CblasTrans : CblasNoTrans,
		    b_side ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
		    a_side ? m : k, b, b_side ? k : n, add, c, n);
}

#if defined(__x86_64__)
static const char *best_core(void)
{
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return "OPENBLAS_CORETYPE=SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "OPENBLAS_CORETYPE=Haswell";
	return NULL;
}
#else
static const char *best_core(void)
{
	return NULL;
}
#endif

/* Returns 1 if the OpenMP library will create no threads. */
static int omp_is_alone(void)
{
	const char *omp = getenv("OMP_NUM_THREADS");

	return omp && !strcmp(omp, "1");
}

const char *blas_variable(void)
{
	static const char *const oldest[] = { "Prescott", "Core2", "Penryn",
					      "Nehalem", "Generic" };
	const char *chosen = openblas_get_corename();

	if (openblas_get_parallel() == FLAVOUR_OPENMP && !omp_is_alone())
		return "OMP_NUM_THREADS=1";
	if (getenv("OPENBLAS_CORETYPE"))
		return NULL;
	for (size_t i = 0; i < sizeof(oldest) / sizeof(oldest[0]); i++)
		if (!strcasecmp(chosen, oldest[i]))
			return best_core();
	return NULL;
}

int blas_prepare(int threads, struct error *err)
{
	const int flavour = openblas_get_parallel();

	/* Its buffers are not locked: concurrent calls give wrong products. */
	if (threads > 1 && flavour == FLAVOUR_SERIAL)
		return error_set(err, ERROR_MISSING,
				 "the serial OpenBLAS computes wrong products "
				 "if %d threads use it at once: apt-get "
				 "install libopenblas0-pthread, or use one "
				 "process per core, as in cpu-%d@fork", threads,
				 threads);
	/* It waits for its single buffer by spinning. */
	if (threads > 1 && flavour == FLAVOUR_OPENMP && !omp_is_alone())
		return error_set(err, ERROR_MISSING,
				 "the OpenMP OpenBLAS is extremely slow if %d "
				 "threads use it at once: set "
				 "OMP_NUM_THREADS=1, or apt-get install "
				 "libopenblas0-pthread", threads);
	openblas_set_num_threads(1);
	return 0;
}

void blas_describe(char *text, size_t size)
{
	char version[32] = "";

	sscanf(openblas_get_config(), "OpenBLAS %31s", version);
	snprintf(text, size, "OpenBLAS %s, %s, %s, %d thread%s", version,
		 flavour_names[openblas_get_parallel()],
		 openblas_get_corename(), openblas_get_num_threads(),
		 openblas_get_num_threads() == 1 ? "" : "s");
}
