/*
 * Type and functions of files that are compiled twice: in double, and in float
 * by a file that defines REAL_FLOAT and includes the other one. The functions
 * are in blas.h, host.h, reference_base.h, storage.h and math.h.
 */
#ifndef BACKENDS_HOST_REAL_H
#define BACKENDS_HOST_REAL_H

#ifdef REAL_FLOAT
typedef float real;
#define real_gemm blas_gemm
#define real_loss host_loss
#define real_optimize host_optimize
#define real_update_vectors host_update_vectors
#define real_sqrt sqrtf
#define real_round storage_round
#define real_vector(base, which) ((base)->host.vectors[which])
#else
typedef double real;
#define real_gemm blas_gemm_double
#define real_loss host_loss_double
#define real_optimize host_optimize_double
#define real_update_vectors host_update_vectors_double
#define real_sqrt sqrt
#define real_round storage_round_double
#define real_vector(base, which) ((base)->vectors[which])
#endif

#endif
