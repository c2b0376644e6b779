#include "backends/cpu/solvers/winograd_pass.h"

#include <string.h>

/* Floats between planes of points: at distances of a power of 2 they would
 * compete for few sets of the cache. */
#define GAP 16
#define MOST_KEPT (3 << 20) /* bytes of all weights' points, to keep them */
/* bytes of a group's points if weights are kept */
#define GROUP_KEPT (768 << 10)
/* and if weights are computed again for each group */
#define GROUP_MADE (8 << 20)
/* Bytes of rounded weights, all of them present, that stay in the cache; more
 * come from memory for each group. */
#define MOST_NEAR (8 << 20)
#define GROUP_FAR (16 << 20)
#define FEWEST_TILES 16
/* Products at a point per partial sum: these sums cause most of the algorithm's
 * error. */
#define RUN 64

static const int32_t only_place; /* offset in a sample of one pixel */

/* Returns the bytes of a group's points in fp32; weights: floats of all
 * weights' points. */
static size_t group_bytes(const struct winograd_pass *pass, size_t weights,
			  int keeps)
{
	if (pass->rounds)
		return weights * sizeof(uint16_t) <= MOST_NEAR ? GROUP_KEPT :
								 GROUP_FAR;
	return keeps ? GROUP_KEPT : GROUP_MADE;
}

static struct winograd_space size_space(const struct winograd_pass *pass,
					int samples)
{
	const size_t depth = cpu_whole_lanes(pass->depth);
	const size_t outputs = cpu_whole_lanes(pass->outputs);
	const size_t block = outputs < IGEMM_BLOCK ? outputs : IGEMM_BLOCK;
	const size_t weights = (size_t)pass->depth * outputs;
	const size_t point = (size_t)pass->points * sizeof(float);
	const size_t tiles = (size_t)samples * (size_t)pass->rows *
			     (size_t)pass->columns;
	const int keeps = !pass->rounds && point * weights <= MOST_KEPT;
	size_t most = group_bytes(pass, (size_t)pass->points * weights, keeps) /
		      (point * depth);

	if (most < FEWEST_TILES)
		most = FEWEST_TILES;
	if (most > tiles)
		most = tiles;
	return (struct winograd_space){
		.keeps_weights = keeps,
		.tiles = (int)most,
		.weight_stride = (keeps ? weights :
				  (size_t)pass->depth * block) + GAP,
		.in_stride = most * depth + GAP,
		.out_stride = most * block + GAP,
	};
}

size_t winograd_space_floats(const struct winograd_pass *pass, int samples)
{
	const struct winograd_space space = size_space(pass, samples);

	return (size_t)pass->points *
	       (space.weight_stride + space.in_stride + space.out_stride);
}

struct winograd_space winograd_space_at(float *scratch,
					const struct winograd_pass *pass,
					int samples)
{
	const size_t points = (size_t)pass->points;
	struct winograd_space space = size_space(pass, samples);

	space.weights = scratch;
	space.in = space.weights + points * space.weight_stride;
	space.out = space.in + points * space.in_stride;
	space.rest = space.out + points * space.out_stride;
	space.rounded = (uint16_t *)(void *)space.in;
	return space;
}

/* Returns the outputs of the block that begins at first. */
static int block_of(const struct winograd_pass *pass, int first)
{
	const int left = pass->outputs - first;

	return left < IGEMM_BLOCK ? left : IGEMM_BLOCK;
}

/* Return the floats of weights per place of the window: in the block that
 * begins at first, and before it. */
static size_t block_weights(const struct winograd_pass *pass, int first)
{
	return (size_t)pass->depth * cpu_whole_lanes(block_of(pass, first));
}

static size_t weights_before(const struct winograd_pass *pass, int first)
{
	return (size_t)pass->depth * (size_t)first;
}

/* Returns the points of the block's weights. */
static float *block_points(const struct winograd_space *space,
			   const struct winograd_pass *pass, int first)
{
	return space->weights +
	       (space->keeps_weights ? weights_before(pass, first) : 0);
}

static void make_weights(const struct winograd_kernels *kernels,
			 const struct winograd_pass *pass, const float *weights,
			 int first, const struct winograd_space *space)
{
	const size_t places = (size_t)(pass->window * pass->window);

	kernels->from_weights(pass->window, pass->output,
			      weights + places * weights_before(pass, first),
			      block_weights(pass, first),
			      block_points(space, pass, first),
			      space->weight_stride);
}

static void add_weights(const struct winograd_kernels *kernels,
			const struct winograd_pass *pass,
			const struct winograd_space *space, int first,
			float *dw)
{
	const size_t places = (size_t)(pass->window * pass->window);

	kernels->to_weights(pass->window, pass->output,
			    block_points(space, pass, first),
			    space->weight_stride, block_weights(pass, first),
			    dw + places * weights_before(pass, first));
}

/* Returns the group from tile number first of all on. */
static struct winograd_tiles group_from(const struct winograd_pass *pass,
					const struct winograd_space *space,
					int first, int all)
{
	const int left = all - first;

	return (struct winograd_tiles){
		.window = pass->window, .output = pass->output,
		.rows = pass->rows, .columns = pass->columns, .first = first,
		.count = left < space->tiles ? left : space->tiles,
		.point = space->in_stride,
		.tile = cpu_whole_lanes(pass->depth),
	};
}

/* Returns the group's tiles with the strides of a block of outputs. */
static struct winograd_tiles outputs_of(const struct winograd_pass *pass,
					const struct winograd_space *space,
					struct winograd_tiles group, int first)
{
	group.point = space->out_stride;
	group.tile = cpu_whole_lanes(block_of(pass, first));
	return group;
}

/* Returns the product at one point, of a group and a block of outputs: a tile
 * is a sample of one pixel. */
static struct igemm product_of(const struct winograd_pass *pass, int first)
{
	return (struct igemm){ .taps = 1, .depth = pass->depth,
				.outputs = block_of(pass, first), .pixels = 1,
				.table = &only_place, .places = &only_place,
				.run = RUN };
}

static struct igemm_batch batch_at(const struct winograd_space *space,
				    const struct winograd_tiles *group,
				    const struct igemm *product, size_t point)
{
	return (struct igemm_batch){
		.count = group->count,
		.in = space->in + point * space->in_stride,
		.in_sample = group->tile,
		.out_sample = cpu_whole_lanes(product->outputs),
	};
}

static void multiply(const struct igemm_kernels *kernels,
		     const struct winograd_pass *pass,
		     const struct winograd_space *space,
		     const struct winograd_tiles *group, int first)
{
	const struct igemm product = product_of(pass, first);
	const struct igemm_end end = { .bias = NULL };
	const float *weights = block_points(space, pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct igemm_batch batch = batch_at(space, group,
							   &product, p);

		kernels->multiply(&product, &batch,
				  weights + p * space->weight_stride, &end,
				  space->out + p * space->out_stride,
				  space->rest);
	}
}

/* Returns the bytes of packed weights of a point and a block of outputs. */
static size_t packed_bytes(const struct winograd_pass *pass, int first)
{
	const struct igemm product = product_of(pass, first);

	return igemm_rounded(&product);
}

/* Returns the bytes of the blocks before first, which all have full width. */
static size_t packed_before(const struct winograd_pass *pass, int first)
{
	return (size_t)pass->points * (size_t)(first / IGEMM_BLOCK) *
	       packed_bytes(pass, 0);
}

static void multiply_rounded(const struct winograd_pass *pass,
			     const struct winograd_space *space,
			     const struct winograd_tiles *group, int first)
{
	const struct igemm product = product_of(pass, first);
	const struct igemm_end end = { .bias = NULL };
	const char *packed = space->packed + packed_before(pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct igemm_batch batch = batch_at(space, group,
							   &product, p);

		space->bf16->multiply_packed(
			&product, &batch, space->rounded + p * space->in_stride,
			packed + p * packed_bytes(pass, first), &end,
			space->out + p * space->out_stride, space->rest);
	}
}

/* Adds the products of points to the points of dw. */
static void differentiate(const struct igemm_kernels *kernels,
			  const struct winograd_pass *pass,
			  const struct winograd_space *space,
			  const struct winograd_tiles *group, int first)
{
	const struct igemm product = product_of(pass, first);
	float *weights = block_points(space, pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct igemm_batch batch = batch_at(space, group,
							   &product, p);

		kernels->differentiate(&product, &batch,
				       space->out + p * space->out_stride,
				       weights + p * space->weight_stride,
				       NULL, space->rest);
	}
}

/* Computes a group's outputs from the points of its data. */
static void convolve_group(const struct cpu_kernels *kernels,
			   const struct winograd_pass *pass,
			   const struct winograd_space *space,
			   const struct winograd_tiles *group,
			   const float *weights, const struct winograd_end *end,
			   float *out)
{
	for (int o = 0; o < pass->outputs; o += IGEMM_BLOCK) {
		const struct winograd_tiles outputs =
			outputs_of(pass, space, *group, o);
		const struct winograd_end own = {
			.outputs = block_of(pass, o),
			.bias = end->bias ? end->bias + o : NULL,
			.adds = end->adds,
			.relu = end->relu,
			.rounded = end->rounded ? end->rounded + o : NULL,
		};

		if (space->packed) {
			multiply_rounded(pass, space, group, o);
		} else {
			if (!space->keeps_weights)
				make_weights(kernels->winograd, pass, weights,
					     o, space);
			multiply(kernels->igemm, pass, space, group, o);
		}
		kernels->winograd->to_outputs(&pass->out, &outputs, &own,
					      space->out, out + o);
	}
}

/* Adds the moments of the samples that a group has completed, after the ones
 * already added; returns their number. */
static int add_samples(const struct winograd_pass *pass,
		       const struct winograd_tiles *group,
		       struct igemm_moments *moments, int told,
		       const float *out)
{
	const int whole = (group->first + group->count) /
			  (pass->rows * pass->columns);

	if (moments->value && whole > told)
		igemm_add_moments(moments,
				   out + (size_t)told * pass->out.sample,
				   (whole - told) * pass->out.height *
					   pass->out.width);
	return whole;
}

void winograd_convolve(const struct cpu_kernels *kernels,
		       const struct winograd_pass *pass,
		       const struct winograd_space *space, int samples,
		       const float *weights, const struct winograd_end *end,
		       const float *in, float *out,
		       struct igemm_moments *moments)
{
	const int all = samples * pass->rows * pass->columns;
	int told = 0;

	for (int o = 0; space->keeps_weights && o < pass->outputs;
	     o += IGEMM_BLOCK)
		make_weights(kernels->winograd, pass, weights, o, space);
	for (int t = 0; t < all; t += space->tiles) {
		const struct winograd_tiles group = group_from(pass, space, t,
							       all);

		if (space->packed)
			kernels->winograd->from_data_rounded(
				&pass->in, &group, pass->pad, (int)group.tile,
				in, space->rounded);
		else
			kernels->winograd->from_data(&pass->in, &group,
						     pass->pad, (int)group.tile,
						     in, space->in);
		convolve_group(kernels, pass, space, &group, weights, end, out);
		told = add_samples(pass, &group, moments, told, out);
	}
}

static void clear_weights(const struct winograd_pass *pass,
			  const struct winograd_space *space)
{
	memset(space->weights, 0, (size_t)pass->points *
				  space->weight_stride * sizeof(float));
}

/* Adds a group's products to dw, or to the points of dw that are kept. */
static void differentiate_group(const struct cpu_kernels *kernels,
				const struct winograd_pass *pass,
				const struct winograd_space *space,
				const struct winograd_tiles *group,
				const float *dy, float *dw, float *dbias)
{
	for (int o = 0; o < pass->outputs; o += IGEMM_BLOCK) {
		const struct winograd_tiles outputs =
			outputs_of(pass, space, *group, o);

		kernels->winograd->from_outputs(&pass->out, &outputs,
						(int)outputs.tile, dy + o,
						space->out,
						dbias ? dbias + o : NULL);
		if (!space->keeps_weights)
			clear_weights(pass, space);
		differentiate(kernels->igemm, pass, space, group, o);
		if (!space->keeps_weights)
			add_weights(kernels->winograd, pass, space, o, dw);
	}
}

double winograd_products(const struct winograd_pass *pass)
{
	return (double)pass->points * pass->rows * pass->columns *
	       pass->depth * pass->outputs;
}

void winograd_differentiate(const struct cpu_kernels *kernels,
			    const struct winograd_pass *pass,
			    const struct winograd_space *space, int samples,
			    const float *in, const float *dy, float *dw,
			    float *dbias)
{
	const int all = samples * pass->rows * pass->columns;

	if (space->keeps_weights)
		clear_weights(pass, space);
	for (int t = 0; t < all; t += space->tiles) {
		const struct winograd_tiles group = group_from(pass, space, t,
							       all);

		kernels->winograd->from_data(&pass->in, &group, pass->pad,
					     (int)group.tile, in, space->in);
		differentiate_group(kernels, pass, space, &group, dy, dw,
				    dbias);
	}
	for (int o = 0; space->keeps_weights && o < pass->outputs;
	     o += IGEMM_BLOCK)
		add_weights(kernels->winograd, pass, space, o, dw);
}

size_t winograd_packed_bytes(const struct winograd_pass *pass)
{
	const int last = (pass->outputs - 1) / IGEMM_BLOCK * IGEMM_BLOCK;

	return packed_before(pass, last) +
	       (size_t)pass->points * packed_bytes(pass, last);
}

void winograd_pack(const struct cpu_kernels *kernels,
		   const struct winograd_pass *pass,
		   const struct winograd_space *space, const float *weights,
		   char *packed)
{
	for (int o = 0; o < pass->outputs; o += IGEMM_BLOCK) {
		const struct igemm product = product_of(pass, o);

		make_weights(kernels->winograd, pass, weights, o, space);
		for (size_t p = 0; p < (size_t)pass->points; p++) {
			space->bf16->pack(&product,
					  space->weights +
						  p * space->weight_stride,
					  packed);
			packed += packed_bytes(pass, o);
		}
	}
}
