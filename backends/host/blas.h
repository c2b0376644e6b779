/* Matrix products of OpenBLAS, and its traits. All matrices are row-major. */
#ifndef BACKENDS_HOST_BLAS_H
#define BACKENDS_HOST_BLAS_H

#include <stddef.h>

#include "backends/contract/backend.h"

enum blas_side { BLAS_AS_IS, BLAS_TRANSPOSED };

/* Computes c[m][n] = a[m][k] b[k][n] + add * c. a and b are given as they are
 * or transposed, and stored densely. */
void blas_gemm(enum blas_side a_side, enum blas_side b_side, int m, int n,
	       int k, const float *a, const float *b, float add, float *c);
void blas_gemm_double(enum blas_side a_side, enum blas_side b_side, int m,
		      int n, int k, const double *a, const double *b,
		      double add, double *c);

/*
 * Returns a variable, NAME=VALUE, that the library must find when the process
 * starts, or NULL if it needs no variable. The OpenMP build needs
 * OMP_NUM_THREADS=1, since only that holds in every thread. OpenBLAS treats a
 * CPU newer than itself as the oldest one, whose kernels are several times
 * slower. It then needs OPENBLAS_CORETYPE=NAME, for the best kernels of this
 * CPU.
 */
const char *blas_variable(void);

/*
 * Makes each call run in the calling thread alone. Returns -1, with the package
 * to install, if the library's build is wrong or unusably slow when this number
 * of threads call it at once.
 */
int blas_prepare(int threads, struct error *err);

/*
 * Checks products while all threads of this process compute them. Returns 0, or
 * -1 with ERROR_FAILED, the library and a wrong product. Takes some
 * milliseconds.
 */
int blas_check(int thread, int threads, struct error *err);

/* blas_variable() and blas_check(), for struct backend. */
extern const struct library blas_library;

/* Writes a description: "OpenBLAS 0.3.21, pthread, Haswell, 1 thread". */
void blas_describe(char *text, size_t size);

#endif
