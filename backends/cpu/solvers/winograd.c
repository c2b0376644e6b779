/*
 * A convolution of 3x3 to 5x5 windows and stride 1, with what is behind it, by
 * Winograd's algorithm: see kernels/winograd_conv.h. Its parameters are those
 * of a gathered product, whose kernels multiply points, too. A first layer of
 * another stride is folded to such a convolution: see gather_conv.h.
 *
 * Blocking: a group of tiles at a time, and for each of them 64 outputs, as
 * gathered products have them. The points of all weights are made once where
 * they are few (64 to 128 channels in and out); else those of 64 outputs just
 * before they are multiplied, for groups of so many tiles that making them,
 * some 45 loads and stores for 36 products of each tile, costs a few percent.
 */
#include <math.h>
#include <string.h>

#include "backends/cpu/profile.h"
#include "backends/cpu/solvers/winograd_choice.h"

/* Between planes of points: a power of two apart, they would compete for few
 * sets of the cache. */
#define GAP 16
#define MOST_KEPT (3 << 20) /* bytes of all weights' points, to be kept */
#define GROUP_KEPT (768 << 10) /* bytes of a group's points beside these */
#define GROUP_MADE (8 << 20) /* and beside weights that are made anew */
/* Of rounded weights, which are all there, more than this come from memory, for
 * each group. */
#define MOST_NEAR (8 << 20)
#define GROUP_FAR (16 << 20)
#define FEWEST_TILES 16
/* Products at a point that are summed at once: most of the algorithm's error is
 * that of these sums. */
#define RUN 64

/* Points are rounded of tiles of so many outputs, and of so many channels. */
#define ROUNDED_OUTPUT 4
#define LEAST_ROUNDED 64

static const int32_t only_place; /* in a sample of one pixel */

/* From planes of depth channels to others of outputs. */
struct conv_pass {
	struct winograd_planes in, out;
	int window, pad, depth, outputs;
	int output;	   /* side of a tile */
	int rows, columns; /* tiles of a sample */
	int points;	   /* of a tile */
	int rounds;	   /* these, to bf16 */
};

struct winograd_step {
	struct gather_step gather;
	struct conv_pass forward, back; /* back from dy to dx */
};

/* How a pass of some samples uses the program's scratch; strides are floats
 * from one point to the next. */
struct work_space {
	int keeps_weights; /* of all outputs, not of one block */
	int tiles;	   /* of a group */
	size_t weight_stride, in_stride, out_stride;
	float *weights, *in, *out; /* points of them */
	float *rest;
	/* Where points are rounded: those of all weights, once, and of in. Or
	 * NULL. */
	const struct gather_kernels *bf16;
	const char *packed;
	uint16_t *rounded;
};

static struct winograd_planes planes_of(const struct cpu_value *value)
{
	return (struct winograd_planes){ value->shape.height,
					 value->shape.width, value->by_pixel,
					 value->size };
}

/* From planes of depth channels to a value. */
static struct conv_pass pass_of(struct winograd_planes in, int depth,
				const struct cpu_value *out, int window,
				int pad, int samples, int rounds)
{
	const int output = rounds ? ROUNDED_OUTPUT :
				    winograd_output(out->shape, window,
						    samples);

	return (struct conv_pass){
		.in = in, .out = planes_of(out), .rounds = rounds,
		.window = window, .pad = pad, .output = output,
		.depth = depth, .outputs = out->shape.channels,
		.rows = winograd_tiles_of(out->shape.height, output),
		.columns = winograd_tiles_of(out->shape.width, output),
		.points = winograd_points(window, output),
	};
}

/* Bytes of a group's points, as floats; weights in floats of all points. */
static size_t group_bytes(const struct conv_pass *pass, size_t weights,
			  int keeps)
{
	if (pass->rounds)
		return weights * sizeof(uint16_t) <= MOST_NEAR ? GROUP_KEPT :
								 GROUP_FAR;
	return keeps ? GROUP_KEPT : GROUP_MADE;
}

static struct work_space size_space(const struct conv_pass *pass, int samples)
{
	const size_t depth = cpu_whole_lanes(pass->depth);
	const size_t outputs = cpu_whole_lanes(pass->outputs);
	const size_t block = outputs < GATHER_BLOCK ? outputs : GATHER_BLOCK;
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
	return (struct work_space){
		.keeps_weights = keeps,
		.tiles = (int)most,
		.weight_stride = (keeps ? weights :
				  (size_t)pass->depth * block) + GAP,
		.in_stride = most * depth + GAP,
		.out_stride = most * block + GAP,
	};
}

static size_t space_floats(const struct conv_pass *pass, int samples)
{
	const struct work_space space = size_space(pass, samples);

	return (size_t)pass->points *
	       (space.weight_stride + space.in_stride + space.out_stride);
}

static struct work_space space_at(float *scratch, const struct conv_pass *pass,
				  int samples)
{
	const size_t points = (size_t)pass->points;
	struct work_space space = size_space(pass, samples);

	space.weights = scratch;
	space.in = space.weights + points * space.weight_stride;
	space.out = space.in + points * space.in_stride;
	space.rest = space.out + points * space.out_stride;
	space.rounded = (uint16_t *)(void *)space.in;
	return space;
}

static void lay_out_folded(struct cpu_program *program,
			   struct winograd_step *winograd)
{
	struct gather_step *gather = &winograd->gather;
	const struct cpu_step *step = &gather->step;
	const struct node *node = cpu_node(program, step->first);
	const struct gather_conv *conv = &gather->conv;
	struct winograd_planes planes;

	gather_conv_fold(&gather->conv, node->layer, node->in,
			 step->out->by_pixel);
	planes = (struct winograd_planes){ conv->folded.height,
					   conv->folded.width, conv->in_stride,
					   gather_conv_joined_size(conv) };
	gather_lay_out_parameters(program, gather);
	winograd->forward = pass_of(planes, conv->folded.channels, step->out,
				    conv->folded_window, 0,
				    program->host.base.options.batch, 0);
}

/* Whether points are rounded to bf16, in inference. Of few channels there is
 * little to save. F(4x4, 3x3) is off by 1.1e-2 then (L2, relative; largest
 * 1.8e-2 of the largest value), where rounded factors make 2.5e-3 (2.9e-3); the
 * usual points, 1 and 2, would make 2.0e-2 (5.2e-2), and larger tiles more. */
static int rounds_points(const struct cpu_program *program,
			 const struct node *node)
{
	return cpu_packed_products(program) &&
	       program->kernels->winograd->from_data_rounded &&
	       node->layer->window == 3 &&
	       node->in.channels >= LEAST_ROUNDED &&
	       node->out.channels >= LEAST_ROUNDED;
}

static int lay_out_own(struct cpu_program *program,
		       struct winograd_step *winograd)
{
	struct cpu_step *step = &winograd->gather.step;
	const int samples = program->host.base.options.batch;
	const struct node *node = cpu_node(program, step->first);
	const int window = node->layer->window, pad = node->layer->pad;

	step->in = cpu_common_value(program, node->source);
	if (gather_lay_out_conv(program, step, GATHER_DX_PIXELS))
		return -1;
	winograd->forward = pass_of(planes_of(step->in), node->in.channels,
				    step->out, window, pad, samples,
				    rounds_points(program, node));
	program->rounds_forward |= winograd->forward.rounds;
	winograd->back = pass_of(planes_of(step->out), node->out.channels,
				 step->in, window, window - 1 - pad, samples,
				 0);
	return 0;
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct winograd_step *winograd = (struct winograd_step *)step;
	const int samples = program->host.base.options.batch;
	size_t floats, back = 0;

	if (winograd_folds(cpu_node(program, step->first)))
		lay_out_folded(program, winograd);
	else if (lay_out_own(program, winograd))
		return -1;
	floats = space_floats(&winograd->forward, samples);
	/* Transposed weights are in front of the points of the way back. */
	if (winograd->gather.conv.class_count)
		back = winograd->gather.conv.transposed +
		       space_floats(&winograd->back, samples);
	if (floats < back)
		floats = back;
	step->scratch = floats * sizeof(float) + GATHER_SCRATCH;
	step->can_round = cpu_packed_products(program) != NULL;
	return 0;
}

/* The forward pass's planes. */
static const float *input_of(const struct winograd_step *winograd)
{
	return winograd->gather.joined ? winograd->gather.joined :
					 winograd->gather.step.in->out;
}

/* Outputs of the block that begins with first. */
static int block_of(const struct conv_pass *pass, int first)
{
	const int left = pass->outputs - first;

	return left < GATHER_BLOCK ? left : GATHER_BLOCK;
}

/* The block's weights, in floats of one place of the window: how many, and how
 * many are before them. */
static size_t block_weights(const struct conv_pass *pass, int first)
{
	return (size_t)pass->depth * cpu_whole_lanes(block_of(pass, first));
}

static size_t weights_before(const struct conv_pass *pass, int first)
{
	return (size_t)pass->depth * (size_t)first;
}

/* Where the points of the block's weights are. */
static float *block_points(const struct work_space *space,
			   const struct conv_pass *pass, int first)
{
	return space->weights +
	       (space->keeps_weights ? weights_before(pass, first) : 0);
}

static void make_weights(const struct winograd_kernels *kernels,
			 const struct conv_pass *pass, const float *weights,
			 int first, const struct work_space *space)
{
	const size_t places = (size_t)(pass->window * pass->window);

	kernels->from_weights(pass->window, pass->output,
			      weights + places * weights_before(pass, first),
			      block_weights(pass, first),
			      block_points(space, pass, first),
			      space->weight_stride);
}

static void add_weights(const struct winograd_kernels *kernels,
			const struct conv_pass *pass,
			const struct work_space *space, int first, float *dw)
{
	const size_t places = (size_t)(pass->window * pass->window);

	kernels->to_weights(pass->window, pass->output,
			    block_points(space, pass, first),
			    space->weight_stride, block_weights(pass, first),
			    dw + places * weights_before(pass, first));
}

/* The group from tile number first on, of all that the samples have. */
static struct winograd_tiles group_from(const struct conv_pass *pass,
					const struct work_space *space,
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

/* The same tiles, as the block of outputs has their points. */
static struct winograd_tiles outputs_of(const struct conv_pass *pass,
					const struct work_space *space,
					struct winograd_tiles group, int first)
{
	group.point = space->out_stride;
	group.tile = cpu_whole_lanes(block_of(pass, first));
	return group;
}

/* The product at one point, of a group and the outputs of a block: a sample of
 * one pixel is a tile. */
static struct gather product_of(const struct conv_pass *pass, int first)
{
	return (struct gather){ .taps = 1, .depth = pass->depth,
				.outputs = block_of(pass, first), .pixels = 1,
				.table = &only_place, .places = &only_place,
				.run = RUN };
}

static struct gather_batch batch_at(const struct work_space *space,
				    const struct winograd_tiles *group,
				    const struct gather *product, size_t point)
{
	return (struct gather_batch){
		.count = group->count,
		.in = space->in + point * space->in_stride,
		.in_sample = group->tile,
		.out_sample = cpu_whole_lanes(product->outputs),
	};
}

static void multiply(const struct gather_kernels *kernels,
		     const struct conv_pass *pass,
		     const struct work_space *space,
		     const struct winograd_tiles *group, int first)
{
	const struct gather product = product_of(pass, first);
	const struct gather_end end = { .bias = NULL };
	const float *weights = block_points(space, pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct gather_batch batch = batch_at(space, group,
							   &product, p);

		kernels->multiply(&product, &batch,
				  weights + p * space->weight_stride, &end,
				  space->out + p * space->out_stride,
				  space->rest);
	}
}

/* Bytes of the packed weights of a point and a block of outputs. */
static size_t packed_bytes(const struct conv_pass *pass, int first)
{
	const struct gather product = product_of(pass, first);

	return gather_rounded(&product);
}

/* Those of the blocks before it are all of the same width. */
static size_t packed_before(const struct conv_pass *pass, int first)
{
	return (size_t)pass->points * (size_t)(first / GATHER_BLOCK) *
	       packed_bytes(pass, 0);
}

static void multiply_rounded(const struct conv_pass *pass,
			     const struct work_space *space,
			     const struct winograd_tiles *group, int first)
{
	const struct gather product = product_of(pass, first);
	const struct gather_end end = { .bias = NULL };
	const char *packed = space->packed + packed_before(pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct gather_batch batch = batch_at(space, group,
							   &product, p);

		space->bf16->multiply_packed(
			&product, &batch, space->rounded + p * space->in_stride,
			packed + p * packed_bytes(pass, first), &end,
			space->out + p * space->out_stride, space->rest);
	}
}

/* The same on the way back, added to the points of dw. */
static void differentiate(const struct gather_kernels *kernels,
			  const struct conv_pass *pass,
			  const struct work_space *space,
			  const struct winograd_tiles *group, int first)
{
	const struct gather product = product_of(pass, first);
	float *weights = block_points(space, pass, first);

	for (size_t p = 0; p < (size_t)pass->points; p++) {
		const struct gather_batch batch = batch_at(space, group,
							   &product, p);

		kernels->differentiate(&product, &batch,
				       space->out + p * space->out_stride,
				       weights + p * space->weight_stride,
				       NULL, space->rest);
	}
}

/* A group's outputs, of points of its data. */
static void convolve_group(const struct cpu_kernels *kernels,
			   const struct conv_pass *pass,
			   const struct work_space *space,
			   const struct winograd_tiles *group,
			   const float *weights, const struct winograd_end *end,
			   float *out)
{
	for (int o = 0; o < pass->outputs; o += GATHER_BLOCK) {
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
			multiply(kernels->gather, pass, space, group, o);
		}
		kernels->winograd->to_outputs(&pass->out, &outputs, &own,
					      space->out, out + o);
	}
}

/* Adds the moments of the samples that a group has completed, of which number
 * told is the first; returns the next one. */
static int add_samples(const struct conv_pass *pass,
		       const struct winograd_tiles *group,
		       struct gather_moments *moments, int told,
		       const float *out)
{
	const int whole = (group->first + group->count) /
			  (pass->rows * pass->columns);

	if (moments->value && whole > told)
		gather_add_moments(moments,
				   out + (size_t)told * pass->out.sample,
				   (whole - told) * pass->out.height *
					   pass->out.width);
	return whole;
}

/* out of in; weights as of a gathered product. */
static void convolve(const struct cpu_kernels *kernels,
		     const struct conv_pass *pass,
		     const struct work_space *space, int samples,
		     const float *weights, const struct winograd_end *end,
		     const float *in, float *out,
		     struct gather_moments *moments)
{
	const int all = samples * pass->rows * pass->columns;
	int told = 0;

	for (int o = 0; space->keeps_weights && o < pass->outputs;
	     o += GATHER_BLOCK)
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

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct winograd_step *winograd = (struct winograd_step *)step;
	const struct conv_pass *pass = &winograd->forward;
	const int last = (pass->outputs - 1) / GATHER_BLOCK * GATHER_BLOCK;

	if (!pass->rounds)
		return gather_allocate_joined(program, step);
	winograd->gather.packed =
		host_allocate(packed_before(pass, last) +
			      (size_t)pass->points * packed_bytes(pass, last));
	return winograd->gather.packed ? 0 : -1;
}

/* Points of weights that are rounded, once for many passes. */
static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct conv_pass *pass = &winograd->forward;
	const struct work_space space = space_at(
		program->scratch, pass, program->host.base.options.batch);
	const struct gather_kernels *bf16 = cpu_packed_products(program);
	char *packed = winograd->gather.packed;

	(void)training;
	for (int o = 0; packed && o < pass->outputs; o += GATHER_BLOCK) {
		const struct gather product = product_of(pass, o);

		make_weights(program->kernels->winograd, pass,
			     program->parameters + winograd->gather.weight, o,
			     &space);
		for (size_t p = 0; p < (size_t)pass->points; p++) {
			bf16->pack(&product,
				   space.weights + p * space.weight_stride,
				   packed);
			packed += packed_bytes(pass, o);
		}
	}
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct winograd_end end = {
		.bias = gather_bias(program, &winograd->gather,
				    program->parameters),
		.adds = winograd->gather.other != NULL,
		.relu = winograd->gather.relu != CPU_NO_ROW,
		.rounded = step->out->rounded,
	};
	struct work_space space = space_at(program->scratch,
					   &winograd->forward, pass->count);
	struct gather_moments moments = gather_begin_moments(program, step,
							     pass);

	space.bf16 = cpu_packed_products(program);
	space.packed = winograd->gather.packed;
	gather_bring_other(&winograd->gather, pass->count);
	gather_join(&winograd->gather, pass->count);
	convolve(program->kernels, &winograd->forward, &space, pass->count,
		 program->parameters + winograd->gather.weight, &end,
		 input_of(winograd), step->out->out, &moments);
}

static void backward_data(struct cpu_program *program,
			  const struct winograd_step *winograd, int count)
{
	const struct cpu_step *step = &winograd->gather.step;
	const struct winograd_end end = {
		.adds = cpu_node(program, step->first)->adds_dx
	};
	struct gather_moments none = { 0 };
	float *transposed = program->scratch;
	const struct work_space space = space_at(
		transposed + winograd->gather.conv.transposed, &winograd->back,
		count);

	gather_conv_transpose(&winograd->gather.conv, program->kernels->gather,
			      program->parameters + winograd->gather.weight,
			      transposed);
	convolve(program->kernels, &winograd->back, &space, count, transposed,
		 &end, step->out->gradient, step->in->gradient, &none);
}

static void clear_weights(const struct conv_pass *pass,
			  const struct work_space *space)
{
	memset(space->weights, 0, (size_t)pass->points *
				  space->weight_stride * sizeof(float));
}

/* What a group, by points of its data, adds to dw, or to points of it that are
 * kept. */
static void differentiate_group(const struct cpu_kernels *kernels,
				const struct conv_pass *pass,
				const struct work_space *space,
				const struct winograd_tiles *group,
				const float *dy, float *dw, float *dbias)
{
	for (int o = 0; o < pass->outputs; o += GATHER_BLOCK) {
		const struct winograd_tiles outputs =
			outputs_of(pass, space, *group, o);

		kernels->winograd->from_outputs(&pass->out, &outputs,
						(int)outputs.tile, dy + o,
						space->out,
						dbias ? dbias + o : NULL);
		if (!space->keeps_weights)
			clear_weights(pass, space);
		differentiate(kernels->gather, pass, space, group, o);
		if (!space->keeps_weights)
			add_weights(kernels->winograd, pass, space, o, dw);
	}
}

static void backward_weights(struct cpu_program *program,
			     const struct winograd_step *winograd, int count)
{
	const struct cpu_kernels *kernels = program->kernels;
	const struct conv_pass *pass = &winograd->forward;
	const struct cpu_step *step = &winograd->gather.step;
	const int all = count * pass->rows * pass->columns;
	const struct work_space space = space_at(program->scratch, pass,
						 count);
	float *g = program->host.vectors[VECTOR_GRADIENT];
	float *dw = g + winograd->gather.weight;

	if (space.keeps_weights)
		clear_weights(pass, &space);
	for (int t = 0; t < all; t += space.tiles) {
		const struct winograd_tiles group = group_from(pass, &space, t,
							       all);

		kernels->winograd->from_data(&pass->in, &group, pass->pad,
					     (int)group.tile,
					     input_of(winograd), space.in);
		differentiate_group(kernels, pass, &space, &group,
				    step->out->gradient, dw,
				    gather_bias(program, &winograd->gather,
						g));
	}
	for (int o = 0; space.keeps_weights && o < pass->outputs;
	     o += GATHER_BLOCK)
		add_weights(kernels->winograd, pass, &space, o, dw);
	if (winograd->gather.conv.folded_window)
		gather_conv_clear_unused(&winograd->gather.conv, dw);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct node *node = cpu_node(program, step->first);

	gather_stop_gradient(&winograd->gather, pass->count);
	if (pass->count > node->broken)
		backward_weights(program, winograd, pass->count - node->broken);
	if (node->wants_dx)
		backward_data(program, winograd, pass->count);
}

static double products(const struct conv_pass *pass)
{
	return (double)pass->points * pass->rows * pass->columns *
	       pass->depth * pass->outputs;
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct winograd_step *winograd =
		(const struct winograd_step *)step;

	gather_work(program, step, products(&winograd->forward),
		    products(&winograd->back), parts);
}

const struct cpu_solver cpu_winograd_solver = {
	.base = { .name = "conv[+add][+relu], winograd",
		  .takes = winograd_takes },
	.size = sizeof(struct winograd_step),
	.lay_out = lay_out,
	.place = gather_place,
	.allocate = allocate,
	.release = gather_release,
	.copy = gather_copy_conv,
	.refresh = refresh,
	.forward = forward,
	.backward = backward,
	.decide = gather_decide,
	.work = work,
};
