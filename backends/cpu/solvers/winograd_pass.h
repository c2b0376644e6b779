/*
 * One pass of a convolution by Winograd's algorithm, from planes to planes, and
 * that of its weight gradient, in scratch memory of the caller.
 *
 * Blocking: a group of tiles at a time, and for each of them 64 outputs, as
 * gathered products have them. The points of all weights are made once where
 * they are few (64 to 128 channels in and out); else those of 64 outputs just
 * before they are multiplied, for groups of so many tiles that making them,
 * some 45 loads and stores for 36 products of each tile, costs a few percent.
 */
#ifndef BACKENDS_CPU_SOLVERS_WINOGRAD_PASS_H
#define BACKENDS_CPU_SOLVERS_WINOGRAD_PASS_H

#include "backends/cpu/solvers/igemm.h"

/* From planes of depth channels to others of outputs. */
struct winograd_pass {
	struct winograd_planes in, out;
	int window, pad, depth, outputs;
	int output;	   /* side of a tile */
	int rows, columns; /* tiles of a sample */
	int points;	   /* of a tile */
	int rounds;	   /* these, to bf16 */
};

/* How a pass of some samples uses the program's scratch; strides are floats
 * from one point to the next. */
struct winograd_space {
	int keeps_weights; /* of all outputs, not of one block */
	int tiles;	   /* of a group */
	size_t weight_stride, in_stride, out_stride;
	float *weights, *in, *out; /* points of them */
	float *rest;
	/* Where points are rounded: those of all weights, once, and of in. Or
	 * NULL. */
	const struct igemm_kernels *bf16;
	const char *packed;
	uint16_t *rounded;
};

/* Floats of scratch memory that a pass of so many samples takes, beside
 * IGEMM_SCRATCH bytes, and how it uses them. */
size_t winograd_space_floats(const struct winograd_pass *pass, int samples);
struct winograd_space winograd_space_at(float *scratch,
					const struct winograd_pass *pass,
					int samples);

/* Products of a sample. */
double winograd_products(const struct winograd_pass *pass);

/* out of in; weights as of a gathered product, unless the space has packed
 * ones. Moments are those of all rows of out, see igemm.h. */
void winograd_convolve(const struct cpu_kernels *kernels,
		       const struct winograd_pass *pass,
		       const struct winograd_space *space, int samples,
		       const float *weights, const struct winograd_end *end,
		       const float *in, float *out,
		       struct igemm_moments *moments);

/* Adds the weight gradient by in and dy, planes of a pass forward, to dw, and
 * that of the bias to dbias unless it is NULL. */
void winograd_differentiate(const struct cpu_kernels *kernels,
			    const struct winograd_pass *pass,
			    const struct winograd_space *space, int samples,
			    const float *in, const float *dy, float *dw,
			    float *dbias);

/* Points of all weights, rounded to bf16: their bytes, and making them. */
size_t winograd_packed_bytes(const struct winograd_pass *pass);
void winograd_pack(const struct cpu_kernels *kernels,
		   const struct winograd_pass *pass,
		   const struct winograd_space *space, const float *weights,
		   char *packed);

#endif
