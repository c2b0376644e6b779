/*
 * One pass of a convolution by Winograd's algorithm, from planes to planes, and
 * the pass of its weight gradient. Scratch memory is the caller's.
 *
 * Blocking: a group of tiles at a time, and 64 outputs at a time within the
 * group, as in the indirect GEMM. If the points of all weights are few (64 to
 * 128 channels in and out), they are computed once. Else the points of 64
 * outputs are computed just before their products, for large groups. Some 45
 * loads and stores for 36 products per tile then cost a few percent.
 */
#ifndef BACKENDS_CPU_SOLVERS_WINOGRAD_PASS_H
#define BACKENDS_CPU_SOLVERS_WINOGRAD_PASS_H

#include "backends/cpu/solvers/igemm.h"

/* A pass from planes of depth channels to planes of outputs channels. */
struct winograd_pass {
	struct winograd_planes in, out;
	int window, pad, depth, outputs;
	int output;	   /* side of a tile's outputs */
	int rows, columns; /* tiles of a sample */
	int points;	   /* per tile */
	int rounds;	   /* 1 = points are rounded to bf16 */
};

/* Use of the scratch by a pass of some samples; strides are floats from point
 * to point. */
struct winograd_space {
	int keeps_weights; /* 1 = of all outputs; 0 = of one block */
	int tiles;	   /* in a group */
	size_t weight_stride, in_stride, out_stride;
	float *weights, *in, *out; /* points of weights, in and out */
	float *rest;
	/* With rounded points: kernels, all weights packed once, and points of
	 * in. NULL = fp32. */
	const struct igemm_kernels *bf16;
	const char *packed;
	uint16_t *rounded;
};

/* Return the floats of scratch that a pass needs in addition to IGEMM_SCRATCH
 * bytes, and its use. */
size_t winograd_space_floats(const struct winograd_pass *pass, int samples);
struct winograd_space winograd_space_at(float *scratch,
					const struct winograd_pass *pass,
					int samples);

/* Returns the products per sample. */
double winograd_products(const struct winograd_pass *pass);

/* Computes out from in. weights has the indirect GEMM's layout; it is not read
 * if the space has packed ones. moments, see igemm.h, get all rows of out. */
void winograd_convolve(const struct cpu_kernels *kernels,
		       const struct winograd_pass *pass,
		       const struct winograd_space *space, int samples,
		       const float *weights, const struct winograd_end *end,
		       const float *in, float *out,
		       struct igemm_moments *moments);

/* Adds the weight gradient to dw, and the bias gradient to dbias unless NULL.
 * in and dy are the planes of a forward pass. */
void winograd_differentiate(const struct cpu_kernels *kernels,
			    const struct winograd_pass *pass,
			    const struct winograd_space *space, int samples,
			    const float *in, const float *dy, float *dw,
			    float *dbias);

/* Return the bytes of all weights' points in bf16, and pack these. */
size_t winograd_packed_bytes(const struct winograd_pass *pass);
void winograd_pack(const struct cpu_kernels *kernels,
		   const struct winograd_pass *pass,
		   const struct winograd_space *space, const float *weights,
		   char *packed);

#endif
