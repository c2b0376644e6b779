/*
 * The indirect GEMM (Dukhan, "The Indirect Convolution Algorithm", 2019):
 * convolutions and linear layers as one matrix product, whose rows are gathered
 * from where they lie by a table:
 *
 *   out[p][o] = bias[o] + sum over t, k of in[table[t][p] + k] w[t][k][o]
 *
 * A row is a pixel p of a sample's output; all samples are rows of one product.
 * A tap t is a run of depth values of the input that are neighbours in memory:
 * the channels of a pixel under the window, or those of a whole row of the
 * window where pixels follow each other without gaps. A linear layer is one
 * tap. Of what lies in the padding there is a row of zeros.
 *
 * Weights, and what there is one of for each, are in blocks of IGEMM_BLOCK
 * outputs, [block][tap][k][output of the block]: the product reads them one
 * after the other. The last block is as narrow as whole vectors can be; what it
 * has too much is 0 and stays 0.
 */
#ifndef BACKENDS_CPU_KERNELS_IGEMM_IGEMM_H
#define BACKENDS_CPU_KERNELS_IGEMM_IGEMM_H

#include <stddef.h>
#include <stdint.h>

#define IGEMM_BLOCK 64
#define IGEMM_LANES 16	  /* outputs of a block are a multiple */
#define IGEMM_ZEROS (-1) /* as a place of the input: padding */

struct igemm {
	int taps, depth, outputs;
	int pixels;	       /* of a sample's output */
	const int32_t *table;  /* [taps][pixels]: places in a sample of in */
	const int32_t *places; /* [pixels]: places in a sample of out */
	const float *zeros;    /* [depth] */
	/* Or NULL, as all want it but a multiplication of kernels that spread:
	 * [outputs / IGEMM_LANES], where so many outputs go, from the place
	 * of their pixel on. Those of two pixels may go to one place: they are
	 * added, and end has to say so. */
	const int32_t *spread;
	int channels; /* where spread: outputs of each place but padding */
	/* Or 0: products that are summed before the sum is added to others. Of
	 * few the error is less, by the square root. */
	int run;
};

/* Sample i of count has its input at in + i * in_sample, likewise its output or
 * the gradient by that. */
struct igemm_batch {
	int count;
	const float *in;
	size_t in_sample, out_sample;
};

/* As many outputs, and padding to fill the last vector. */
static inline int igemm_whole(int outputs)
{
	return (outputs + IGEMM_LANES - 1) / IGEMM_LANES * IGEMM_LANES;
}

/* Output number first begins a block: how many there are, padding included. */
static inline int igemm_width(const struct igemm *igemm, int first)
{
	const int left = igemm->outputs - first;

	return left >= IGEMM_BLOCK ? IGEMM_BLOCK : igemm_whole(left);
}

/* All outputs, padding included: of the biases, too. */
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

/* What the sums begin with, and what is done to them in the end. */
struct igemm_end {
	const float *bias; /* [igemm_padded()]; NULL: 0 */
	int adds;	   /* and what out holds */
	int relu;
	/* Unless NULL: hears of rows, in their order, while the cache still has
	 * them; out is the first one's. */
	void (*wrote)(void *to, const float *out, int rows);
	void *to;
	/* Of multiply_packed(): unless NULL, outputs are rounded to bf16 and go
	 * here, in the places that they have in out, which is only read. */
	uint16_t *rounded;
};

static inline void igemm_tell(const struct igemm_end *end, const float *out,
			      int rows)
{
	if (end->wrote)
		end->wrote(end->to, out, rows);
}

/* scratch is of IGEMM_SCRATCH bytes, aligned to 64, and where factors are
 * rounded of igemm_rounded() and igemm_rounded_rows() more. */
struct igemm_kernels {
	/* Nothing is written but the outputs themselves. */
	void (*multiply)(const struct igemm *igemm,
			 const struct igemm_batch *batch,
			 const float *weights, const struct igemm_end *end,
			 float *out, void *scratch);

	/* From dy, the gradient by out, adds the gradients by weights to dw
	 * and, unless that is NULL, those by biases to dbias. */
	void (*differentiate)(const struct igemm *igemm,
			      const struct igemm_batch *batch,
			      const float *dy, float *dw, float *dbias,
			      void *scratch);

	/* to[column * to_stride + row] = from[row * from_stride + column] */
	void (*transpose)(const float *from, size_t from_stride, int rows,
			  int columns, float *to, size_t to_stride);

	/* Or NULL, all three: weights that are rounded before, once for many
	 * products, to igemm_rounded() bytes that are aligned to 64. Where in
	 * is not NULL it is the batch's, rounded before as well; of scratch
	 * such a product has igemm_rounded_rows() bytes. */
	void (*pack)(const struct igemm *igemm, const float *weights,
		     void *packed);
	void (*multiply_packed)(const struct igemm *igemm,
				const struct igemm_batch *batch,
				const uint16_t *in, const void *packed,
				const struct igemm_end *end, float *out,
				void *scratch);
	void (*round)(const float *from, size_t count, uint16_t *to);
	int spreads; /* multiply() takes products whose outputs are spread */
};

/* What the largest of them packs at once: see igemm_bf16_weights.c. */
#define IGEMM_SCRATCH (512 << 10)

/* Bytes of all weights in bf16, at most: AMX fills runs to whole tiles, and
 * pairs are of one tap. */
static inline size_t igemm_rounded(const struct igemm *igemm)
{
	const size_t run = (size_t)igemm->taps *
			   (size_t)(igemm->depth + igemm->depth % 2);

	return (run + 31) / 32 * 32 * (size_t)igemm_padded(igemm) *
	       sizeof(uint16_t);
}

/* Rows that are rounded at once, whole tiles of them, and their bytes; behind
 * the last there may be 0. */
#define IGEMM_ROUNDED_ROWS 48

static inline size_t igemm_rounded_rows(const struct igemm *igemm)
{
	const size_t run = (size_t)igemm->taps *
			   (size_t)(igemm->depth + igemm->depth % 2);

	return (IGEMM_ROUNDED_ROWS * run + IGEMM_LANES) * sizeof(uint16_t);
}

/* Those of other processors than x86-64 are the portable ones alone. */
extern const struct igemm_kernels igemm_kernels_amx;
extern const struct igemm_kernels igemm_kernels_avx512;
extern const struct igemm_kernels igemm_kernels_avx2;
extern const struct igemm_kernels igemm_kernels_portable;

/* Factors are rounded to bf16, sums are of fp32: by AMX's tiles, and by vectors
 * of CPUs with avx512_bf16. */
extern const struct igemm_kernels igemm_bf16_amx;
extern const struct igemm_kernels igemm_bf16_avx512;

#endif
