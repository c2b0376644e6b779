/*
 * Indirect GEMM: convolutions and linear layers as one matrix product, whose
 * rows are gathered through a table of offsets (Dukhan, "The Indirect
 * Convolution Algorithm", 2019):
 *
 *   out[p][o] = bias[o] + sum over t, k of in[table[t][p] + k] w[t][k][o]
 *
 * A row is a pixel p of a sample's output; the rows of all samples form one
 * product. A tap t is a run of depth input values, contiguous in memory. It has
 * the channels of a pixel under the window, or a whole row of the window if
 * pixels have no gaps. A linear layer has one tap. Taps in the padding read a
 * row of zeros.
 *
 * Weights and their gradients are in blocks of IGEMM_BLOCK outputs,
 * [block][tap][k][output of the block], so that the product reads them in
 * sequence. The last block is rounded up to whole vectors; its padding is 0 and
 * stays 0.
 */
#ifndef BACKENDS_CPU_KERNELS_IGEMM_IGEMM_H
#define BACKENDS_CPU_KERNELS_IGEMM_IGEMM_H

#include <stddef.h>
#include <stdint.h>

#define IGEMM_BLOCK 64
#define IGEMM_LANES 16	  /* divides the outputs of a block */
#define IGEMM_ZEROS (-1) /* in table: the tap is in the padding */

struct igemm {
	int taps, depth, outputs;
	int pixels;	       /* per sample's output */
	const int32_t *table;  /* [taps][pixels]: offsets in a sample of in */
	const int32_t *places; /* [pixels]: offsets in a sample of out */
	const float *zeros;    /* [depth] */
	/*
	 * NULL = outputs are contiguous. Else [outputs / IGEMM_LANES]: offset
	 * of each vector of outputs from its pixel. Vectors of two pixels may
	 * coincide: they are added, and end->adds must be set. For dx of
	 * convolutions without padding (solvers/igemm_conv.c).
	 */
	const int32_t *spread;
	int channels; /* with spread: outputs per offset, without padding */
	/*
	 * Products per partial sum, which is then added to out; 0 = the
	 * kernel's own length. Shorter sums have a smaller error, by the square
	 * root.
	 */
	int run;
};

/* Samples of a product. Sample i reads in + i * in_sample; its output, or the
 * gradient of its output, is at out + i * out_sample. */
struct igemm_batch {
	int count;
	const float *in;
	size_t in_sample, out_sample;
};

/* Returns outputs rounded up to whole vectors. */
static inline int igemm_whole(int outputs)
{
	return (outputs + IGEMM_LANES - 1) / IGEMM_LANES * IGEMM_LANES;
}

/*
 * Returns the width of the block that begins at output first, padding included.
 */
static inline int igemm_width(const struct igemm *igemm, int first)
{
	const int left = igemm->outputs - first;

	return left >= IGEMM_BLOCK ? IGEMM_BLOCK : igemm_whole(left);
}

/* Returns the number of outputs and of biases, padding included. */
static inline int igemm_padded(const struct igemm *igemm)
{
	return igemm_whole(igemm->outputs);
}

static inline size_t igemm_weights(const struct igemm *igemm)
{
	return (size_t)igemm->taps * (size_t)igemm->depth *
	       (size_t)igemm_padded(igemm);
}

static inline size_t igemm_weight_at(const struct igemm *igemm, int output,
				     int tap, int k)
{
	const int first = output / IGEMM_BLOCK * IGEMM_BLOCK;
	const size_t run = (size_t)tap * (size_t)igemm->depth + (size_t)k;

	return (size_t)igemm->taps * (size_t)igemm->depth * (size_t)first +
	       run * (size_t)igemm_width(igemm, first) +
	       (size_t)(output - first);
}

/* Epilogue of a product: initial sums, and what happens to the results. */
struct igemm_end {
	const float *bias; /* [igemm_padded()]; NULL = 0 */
	int adds;	   /* 1 = the sums are added to out */
	int relu;
	/* Called after each group of rows, in order, while they are in the
	 * cache; out is the first row's output. NULL = no call. */
	void (*wrote)(void *to, const float *out, int rows);
	void *to;
	/*
	 * For multiply_packed() only: outputs are rounded to bf16 and stored
	 * here, at their offsets in out, which is then only read. NULL = stored
	 * in out.
	 */
	uint16_t *rounded;
};

static inline void igemm_report(const struct igemm_end *end, const float *out,
				int rows)
{
	if (end->wrote)
		end->wrote(end->to, out, rows);
}

/* Kernels of one instruction set. scratch has IGEMM_SCRATCH bytes, aligned to
 * 64; bf16 kernels need igemm_rounded() and igemm_rounded_rows() bytes more. */
struct igemm_kernels {
	/* Computes out; writes no other float. */
	void (*multiply)(const struct igemm *igemm,
			 const struct igemm_batch *batch,
			 const float *weights, const struct igemm_end *end,
			 float *out, void *scratch);

	/* Adds the gradient of the weights to dw, and the gradient of the
	 * biases to dbias unless that is NULL. dy is the gradient of out. */
	void (*differentiate)(const struct igemm *igemm,
			      const struct igemm_batch *batch,
			      const float *dy, float *dw, float *dbias,
			      void *scratch);

	void (*transpose)(const float *from, size_t from_stride, int rows,
			  int columns, float *to, size_t to_stride);

	/*
	 * Optional, all three NULL without: products with weights that are
	 * rounded once for many products. packed has igemm_rounded() bytes,
	 * aligned to 64. in is the batch's input, already rounded; NULL = round
	 * it, with igemm_rounded_rows() bytes of scratch.
	 */
	void (*pack)(const struct igemm *igemm, const float *weights,
		     void *packed);
	void (*multiply_packed)(const struct igemm *igemm,
				const struct igemm_batch *batch,
				const uint16_t *in, const void *packed,
				const struct igemm_end *end, float *out,
				void *scratch);
	void (*round)(const float *from, size_t count, uint16_t *to);
	int spreads; /* 1 = multiply() accepts spread */
};

/* Bytes; the largest need: see igemm_bf16_weights.c. */
#define IGEMM_SCRATCH (512 << 10)

/* Returns an upper bound of the bytes of all weights in bf16. AMX pads runs to
 * whole tiles, and a pair has two values of one tap. */
static inline size_t igemm_rounded(const struct igemm *igemm)
{
	const size_t run = (size_t)igemm->taps *
			   (size_t)(igemm->depth + igemm->depth % 2);

	return (run + 31) / 32 * 32 * (size_t)igemm_padded(igemm) *
	       sizeof(uint16_t);
}

/* Rows that are rounded together, whole tiles of them. A vector of zeros may
 * follow the last one. */
#define IGEMM_ROUNDED_ROWS 48

static inline size_t igemm_rounded_rows(const struct igemm *igemm)
{
	const size_t run = (size_t)igemm->taps *
			   (size_t)(igemm->depth + igemm->depth % 2);

	return (IGEMM_ROUNDED_ROWS * run + IGEMM_LANES) * sizeof(uint16_t);
}

/* Processors other than x86-64 have only the portable ones. */
extern const struct igemm_kernels igemm_kernels_amx;
extern const struct igemm_kernels igemm_kernels_avx512;
extern const struct igemm_kernels igemm_kernels_avx2;
extern const struct igemm_kernels igemm_kernels_portable;

/* Kernels that round factors to bf16 and add in fp32: on AMX's tiles, or on
 * vectors of CPUs with avx512_bf16. */
extern const struct igemm_kernels igemm_bf16_amx;
extern const struct igemm_kernels igemm_bf16_avx512;

#endif
