/* What passes.h computes with: float, or double in the file that says so. */
#ifndef BACKENDS_OPENBLAS_REAL_H
#define BACKENDS_OPENBLAS_REAL_H

#include "backends/host/blas.h"
#include "backends/host/host.h"

#ifdef OPENBLAS_DOUBLE
typedef double real;
#define real_gemm blas_gemm_double
#define real_loss host_loss_double
#define real_vector(oracle, which) ((oracle)->vectors[which])
#else
typedef float real;
#define real_gemm blas_gemm
#define real_loss host_loss
#define real_vector(oracle, which) ((oracle)->host.vectors[which])
#endif

#endif
