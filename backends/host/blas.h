/*
 * Matrix products, and what is known about the library that makes them. All
 * matrices are row-major.
 */
#ifndef BACKENDS_HOST_BLAS_H
#define BACKENDS_HOST_BLAS_H

#include <stddef.h>

#include "backends/contract/backend.h"

enum blas_side { BLAS_AS_IS, BLAS_TRANSPOSED };

/*
 * c[m][n] = a[m][k] b[k][n] + add * c, where a and b are given as they are or
 * transposed. Leading dimensions are those of the arrays as stored, dense.
 */
void blas_gemm(enum blas_side a_side, enum blas_side b_side, int m, int n,
	       int k, const float *a, const float *b, float add, float *c);
void blas_gemm_double(enum blas_side a_side, enum blas_side b_side, int m,
		      int n, int k, const double *a, const double *b,
		      double add, double *c);

/*
 * A variable, NAME=VALUE, that the library reads when the process starts; NULL:
 * all is well. OMP_NUM_THREADS=1 for the build that uses OpenMP, since only
 * that holds in every thread. OpenBLAS takes a CPU newer than itself for the
 * oldest one, whose kernels are several times slower: OPENBLAS_CORETYPE=NAME
 * for the best that this CPU has.
 */
const char *blas_variable(void);

/*
 * Makes each call run in the calling thread alone. Refuses a build of the
 * library that is wrong or unusably slow when threads threads of this process
 * call it at once, with the package to install.
 */
int blas_prepare(int threads, struct error *err);

/*
 * Whether products are right while all threads of this process make them. Takes
 * some milliseconds. ERROR_FAILED names the library and a wrong product.
 */
int blas_check(int thread, int threads, struct error *err);

/* Both of these, for struct backend. */
extern const struct library blas_library;

/* "OpenBLAS 0.3.21, pthread, Haswell, 1 thread". */
void blas_describe(char *text, size_t size);

#endif
