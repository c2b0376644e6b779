/*
 * All kernels, compiled once for each instruction set and chosen when the
 * program starts: those of stem.h and of linear.h, and direct convolutions for
 * what is no stem, and for --algorithm dense.
 *
 * The latter's planes are channels-last, [row][column][channel], with the
 * channels padded to whole vectors of CPU_LANES; padding is zero. A first
 * layer's few input channels are gathered instead: one pixel holds the
 * window*window*channels values under it, and the convolution becomes one of
 * window 1.
 */
#ifndef BACKENDS_CPU_KERNELS_H
#define BACKENDS_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/linear.h"
#include "backends/cpu/stem.h"
#include "backends/peak.h"
#include "models/random.h"

#define CPU_LANES 16

/* A convolution, and the pooling that follows it (pool 1: none). */
struct conv_shape {
	int in_height, in_width;
	int in_channels;  /* real ones */
	int in_stride;	  /* floats from pixel to pixel: padded channels */
	int out_stride;	  /* likewise, of the output */
	int window;
	int pool;
	int relu;
};

struct cpu_kernels {
	const char *name;
	int (*supported)(void);
	/* What of a CPU its products of bf16 need; NULL: it has none. */
	const char *bf16;
	dropout_chooser *choices; /* those of dropout_choices() */
	const struct stem_kernels *stem;
	const struct linear_kernels *linear;
	/* Its loops: fp32, reading, others; or only what no other build has,
	 * as amx. NULL behind the last. */
	const struct peak *(*peak)(int index);

	/*
	 * One sample: convolution, bias, max pooling, ReLU.
	 * weights[row][column][in_channels][out_stride], bias[out_stride];
	 * out[row][column][out_stride] after pooling; winners likewise, the
	 * place in the window, NULL without pooling. rows is scratch for
	 * pool * output width * out_stride floats.
	 */
	void (*conv_forward)(const struct conv_shape *shape, const float *in,
			     const float *weights, const float *bias,
			     float *rows, float *out, uint8_t *winners);

	/*
	 * One sample, from the slopes by out (after pooling; zero where ReLU
	 * or dropout stopped them). Adds to
	 * weight_slopes[out][row][column][in_stride] and bias_slopes[out];
	 * in_slopes, unless NULL, must be zero before. Each window of the
	 * pooling passes its slope to one pixel, so a quarter of the work of
	 * a plain convolution is left for a pooling of 2.
	 */
	void (*conv_backward)(const struct conv_shape *shape, int outputs,
			      const float *in, const float *weights,
			      const float *out_slopes, const uint8_t *winners,
			      float *weight_slopes, float *bias_slopes,
			      float *in_slopes);

	/*
	 * One sample, every multiplication of the definition: adds to
	 * weight_slopes and bias_slopes as above, from the slopes before
	 * pooling: slopes[row][column][out_stride], slopes_row floats from row
	 * to row.
	 */
	void (*conv_weights_dense)(const struct conv_shape *shape, int outputs,
				   const float *in, const float *slopes,
				   int slopes_row, float *weight_slopes,
				   float *bias_slopes);

	/*
	 * One sample of a convolution with pooling: unpooled[row][column]
	 * [out_stride], row floats from row to row, from the slopes by out.
	 * Each goes to the pixel that won its window, whose others get 0;
	 * pixels in no window are left as they are.
	 */
	void (*conv_unpool)(const struct conv_shape *shape,
			    const float *slopes, const uint8_t *winners,
			    float *unpooled, int row);
};

extern const struct cpu_kernels cpu_kernels_amx;
extern const struct cpu_kernels cpu_kernels_avx512;
extern const struct cpu_kernels cpu_kernels_avx2;
extern const struct cpu_kernels cpu_kernels_portable;

/*
 * Asks the system for AMX's tiles for bf16, for which it keeps 8 KB more for
 * each thread that uses them: whether the CPU has them, and this process may.
 */
int cpu_request_tiles(void);

/* Best first, and a NULL at the end. Other processors than x86-64 have the
 * portable build alone. */
extern const struct cpu_kernels *const cpu_builds[];

/* 0 for a build that is better than the one BENCH_TEST_ISA names: for tests of
 * what a lesser CPU does, it takes such builds away. */
int cpu_is_tested_with(const char *name);

/* Output size before and after pooling. */
static inline int conv_rows(const struct conv_shape *shape)
{
	return shape->in_height - shape->window + 1;
}

static inline int conv_columns(const struct conv_shape *shape)
{
	return shape->in_width - shape->window + 1;
}

#endif
