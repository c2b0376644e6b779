/*
 * The slopes by the stem's second convolution as products of bf16 on AMX's
 * tiles, at Winograd's points:
 *
 *   dU[p][o][i] += sum over tiles t of dM[p][o][t] V[p][i][t]
 *
 * with V = B^T x B of the planes between and dM = A dY A^T of the slopes. The
 * tiles t of a call's samples are in pairs (2 j, 2 j + 1) that lie beside each
 * other in an image. A step is 16 pairs, the 32 k of a product:
 *
 *   s * whole .. (s + 1) * whole - 1   those of sample s alone
 *   from count * whole on              what is left of the samples' pairs, one
 *                                      sample after the other, then zeros
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_WEIGHTS_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_WEIGHTS_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/stem_kernels.h"

#ifdef __AMX_BF16__
#define STEM_STEP 16 /* pairs */
#define STEM_BLOCK (2 * AMX_ROWS)

struct stem_steps {
	int count; /* samples */
	int pairs; /* of a sample */
	int whole; /* steps of a sample alone */
	int rest;  /* pairs of a sample in the steps behind */
	int all;   /* steps of the call */
};

INLINE struct stem_steps stem_steps_of(const struct stem_shape *shape,
				       int count)
{
	struct stem_steps steps = {
		.count = count,
		.pairs = stem_tiles(shape) / 2,
	};

	steps.whole = steps.pairs / STEM_STEP;
	steps.rest = steps.pairs % STEM_STEP;
	steps.all = count * steps.whole +
		    (count * steps.rest + STEM_STEP - 1) / STEM_STEP;
	return steps;
}

/* Pair of a sample: its step, and its row there. */
INLINE int stem_step_of(const struct stem_steps *steps, int sample, int pair,
			int *row)
{
	const int own = steps->whole * STEM_STEP;
	const int behind = sample * steps->rest + pair - own;

	if (pair < own) {
		*row = pair % STEM_STEP;
		return sample * steps->whole + pair / STEM_STEP;
	}
	*row = behind % STEM_STEP;
	return steps->count * steps->whole + behind / STEM_STEP;
}

/*
 * Blocks of 32 planes by 32, tiles in pairs beside each other, and products
 * that may be of bf16: exact ones, six for each, would be slower than lists.
 */
INLINE int stem_slopes_fit_tiles(const struct stem_shape *shape)
{
	return shape->bf16 && shape->outputs % STEM_BLOCK == 0 &&
	       shape->middle % (2 * AMX_COLUMNS) == 0 &&
	       (shape->width - 4) / STEM_TILE % 2 == 0;
}

/* Bytes of V at a point, tiles [step][middle / 16], and some room. */
INLINE size_t stem_data_point(const struct stem_shape *shape, int steps)
{
	return (size_t)(steps * (shape->middle / AMX_COLUMNS)) *
	       sizeof(amx_tile) + AMX_ROW;
}

/*
 * V of all samples of a call, stem_data_point() bytes from point to point;
 * scratch has stem_data_scratch() floats.
 */
size_t ISA_NAME(stem_data_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_data)(const struct stem_shape *shape,
			 const struct stem_weights *weights,
			 const struct stem_batch *batch, uint8_t *data,
			 float *scratch);

/*
 * Slopes in the order of steps, of planes that any sample of a step keeps:
 *
 *   float ready[step][outputs][STEM_READY][LANES]
 *
 * of each plane 2 * q and 2 * q + 1 the slopes of quadrant q of the first and
 * the second tiles of pairs, then integers: the winners of quadrants 0 to 3 of
 * the first ones, in two bits each from the lowest on, and of the second ones.
 *
 *   uint8_t kept[step][outputs / STEM_BLOCK][STEM_KEPT]
 *
 * how many planes of a block these are, and which; behind them the last of them
 * once more.
 */
#define STEM_KEPT (2 + STEM_BLOCK)
#define STEM_READY (2 * STEM_QUADRANTS + 1)

void ISA_NAME(stem_ready)(const struct stem_shape *shape,
			  const struct stem_batch *batch, const float *slopes,
			  const uint8_t *winners, float *ready, uint8_t *kept,
			  float *slopes_by_bias);

/* The slots of backends/cpu/stem.h, for shapes that fill tiles. */
size_t ISA_NAME(stem_weights_amx_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_weights_amx)(const struct stem_shape *shape,
				const struct stem_weights *weights,
				const struct stem_batch *batch,
				const float *slopes, const uint8_t *winners,
				float *sums, float *slopes_by_bias,
				float *scratch);
void ISA_NAME(stem_weights_amx_finish)(const struct stem_shape *shape,
				       const float *sums,
				       float *slopes_by_weights);

#endif
#endif
