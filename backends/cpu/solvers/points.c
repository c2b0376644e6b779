/*
 * A convolution of 3x3 or 5x5 windows and stride 1, with the ReLU behind it, by
 * Winograd's F(4x4, 3x3) or F(2x2, 5x5): see kernels/points.h. Its parameters
 * are those of a gathered product, whose kernels multiply the points, too.
 *
 * Tiles pass in blocks, and for each of them the outputs in those of a gathered
 * product. The points of all weights are made once where they fit into the
 * cache; else those of a block of outputs just before they are multiplied,
 * which costs little beside that where many tiles take them.
 */
#include <math.h>
#include <string.h>

#include "backends/cpu/kernels/points.h"
#include "backends/cpu/profile.h"
#include "backends/cpu/solvers/gather.h"

#define GAP 16 /* floats between the planes of points: no power of two apart */
#define WEIGHTS_BYTES (3 << 20) /* of points of weights that stay */
#define STAYING_BYTES (512 << 10) /* of data's points beside them */
#define PASSING_BYTES (8 << 20) /* and of such whose weights are made anew */

static const int32_t here; /* the one place of a product's one pixel */

/* One pass over a batch: from planes of depth channels to others of outputs. */
struct side {
	struct points_planes in, out;
	int window, pad, depth, outputs;
	int output;	   /* side of a tile */
	int rows, columns; /* tiles of a sample */
};

struct points_step {
	struct gather_step gather;
	struct side forward, back; /* back from dy to dx */
};

/* Where in the program's scratch what is, and how much of it. */
struct work_space {
	size_t point;  /* floats of a point of all weights, or of a block's */
	int weights_stay;
	int tiles;     /* of a block */
	size_t data, block; /* floats of a point of a block's tiles */
	float *weights, *from, *to; /* points of weights, of in, of out */
	float *rest;
};

/* Of F(output x output, window x window), whose points are as many. */
static int output_of(int window)
{
	return POINTS_DATA + 1 - window;
}

static int tiles_of(int length, int output)
{
	return (length + output - 1) / output;
}

/* A sample's products and, weighed as some of them, what makes them points
 * cost less than those of the definition. */
static int is_worth_it(struct shape out, int window)
{
	const int output = output_of(window);
	const double tiles = (double)tiles_of(out.height, output) *
			     tiles_of(out.width, output);

	return tiles * POINTS * 1.25 <
	       (double)out.height * out.width * window * window;
}

static int takes(const struct graph *graph, int first,
		 const struct program_options *options)
{
	static const enum layer_kind kinds[] = { LAYER_CONV, LAYER_RELU };
	const struct node *node = &graph->nodes[first];
	const struct layer *layer = node->layer;

	if (layer->kind != LAYER_CONV ||
	    (layer->window != 3 && layer->window != 5) ||
	    layer_stride_within(layer, node->in) != 1 ||
	    layer->pad >= layer->window || node->in.channels < CPU_LANES ||
	    layer->outputs < CPU_LANES ||
	    node->in.height * node->in.width == 1 ||
	    !is_worth_it(node->out, layer->window))
		return 0;
	if (options->algorithm != ALGORITHM_FAST ||
	    precision_rounds(options->precision))
		return 0;
	return plan_chain(graph, first, kinds, 2);
}

static struct points_planes planes_of(const struct cpu_value *value)
{
	return (struct points_planes){ value->shape.height, value->shape.width,
				       value->by_pixel, value->size };
}

static struct side side_of(const struct cpu_value *in,
			   const struct cpu_value *out, int window, int pad)
{
	const int output = output_of(window);

	return (struct side){
		.in = planes_of(in), .out = planes_of(out),
		.window = window, .pad = pad, .output = output,
		.depth = in->shape.channels, .outputs = out->shape.channels,
		.rows = tiles_of(out->shape.height, output),
		.columns = tiles_of(out->shape.width, output),
	};
}

static size_t whole_lanes(int channels)
{
	return ((size_t)channels + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

/* Of a side, for so many samples. */
static void size_space(const struct side *side, int samples,
		       struct work_space *space)
{
	const size_t depth = whole_lanes(side->depth);
	const size_t outputs = whole_lanes(side->outputs);
	const size_t all = (size_t)side->depth * outputs;
	const size_t block = outputs < GATHER_BLOCK ? outputs : GATHER_BLOCK;
	const int tiles = samples * side->rows * side->columns;
	size_t most;

	space->weights_stay = POINTS * all * sizeof(float) <= WEIGHTS_BYTES;
	most = (space->weights_stay ? STAYING_BYTES : PASSING_BYTES) /
	       (POINTS * sizeof(float) * depth);
	space->tiles = most < 16 ? 16 : most < (size_t)tiles ? (int)most :
							       tiles;
	space->point = (space->weights_stay ? all :
			(size_t)side->depth * block) + GAP;
	space->data = (size_t)space->tiles * depth + GAP;
	space->block = (size_t)space->tiles * block + GAP;
}

static size_t space_floats(const struct side *side, int samples)
{
	struct work_space space;

	size_space(side, samples, &space);
	return POINTS * (space.point + space.data + space.block);
}

static struct work_space space_at(float *scratch, const struct side *side,
				  int samples)
{
	struct work_space space;

	size_space(side, samples, &space);
	space.weights = scratch;
	space.from = space.weights + POINTS * space.point;
	space.to = space.from + POINTS * space.data;
	space.rest = space.to + POINTS * space.block;
	return space;
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct points_step *points = (struct points_step *)step;
	const int samples = program->host.base.options.batch;
	const struct layer *layer = cpu_node(program, step->first)->layer;
	const int window = layer->window, pad = layer->pad;
	size_t floats, back;

	step->in = cpu_common_value(program,
				    cpu_node(program, step->first)->source);
	if (gather_lay_out_conv(program, step))
		return -1;
	points->forward = side_of(step->in, step->out, window, pad);
	points->back = side_of(step->out, step->in, window,
			       window - 1 - pad);
	/* Weights, transposed, are in front of what is backward. */
	floats = space_floats(&points->forward, samples);
	back = space_floats(&points->back, samples) +
	       points->gather.conv.transposed;
	floats = (floats > back ? floats : back) * sizeof(float) +
		 GATHER_SCRATCH;
	if (step->scratch < floats)
		step->scratch = floats;
	return 0;
}

/* The product at one point, of the outputs of a block. */
static struct gather product_of(const struct side *side, int outputs)
{
	return (struct gather){ .taps = 1, .depth = side->depth,
				.outputs = outputs, .pixels = 1,
				.table = &here, .places = &here };
}

static struct points_tiles tiles_from(const struct side *side,
				      const struct work_space *space, int first,
				      int all, size_t point, size_t tile)
{
	const int left = all - first;

	return (struct points_tiles){
		.output = side->output, .rows = side->rows,
		.columns = side->columns, .first = first,
		.count = left < space->tiles ? left : space->tiles,
		.point = point, .tile = tile,
	};
}

/* Outputs of the block that begins with first. */
static int block_of(const struct side *side, int first)
{
	const int left = side->outputs - first;

	return left < GATHER_BLOCK ? left : GATHER_BLOCK;
}

static const struct points_form *form_of(const struct points_kernels *kernels,
					 const struct side *side)
{
	return side->window == kernels->square3.window ? &kernels->square3 :
							 &kernels->square5;
}

/* Floats of the weights of all outputs before this one. */
static size_t weights_before(const struct side *side, int output)
{
	return (size_t)(side->window * side->window) * (size_t)side->depth *
	       (size_t)output;
}

/* Points of the weights of a block of outputs, which are whole vectors. */
static void make_weights(const struct points_form *form,
			 const struct side *side, const float *weights,
			 int first, const struct work_space *space)
{
	const size_t before = (size_t)side->depth * (size_t)first;
	const size_t count = (size_t)side->depth *
			     whole_lanes(block_of(side, first));

	form->from_weights(weights + weights_before(side, first), count,
			   space->weights + (space->weights_stay ? before : 0),
			   space->point);
}

static void make_all_weights(const struct points_form *form,
			     const struct side *side, const float *weights,
			     const struct work_space *space)
{
	if (!space->weights_stay)
		return;
	for (int o = 0; o < side->outputs; o += GATHER_BLOCK)
		make_weights(form, side, weights, o, space);
}

/* Products of a block of tiles and one of outputs. */
static void multiply(const struct gather_kernels *kernels,
		     const struct side *side, const struct work_space *space,
		     const struct points_tiles *data, int first)
{
	const struct gather product = product_of(side, block_of(side, first));
	const struct gather_end end = { .bias = NULL };
	const size_t before = space->weights_stay ?
			(size_t)side->depth * (size_t)first : 0;

	for (size_t p = 0; p < POINTS; p++) {
		const struct gather_batch batch = {
			.count = data->count,
			.in = space->from + p * data->point,
			.in_sample = data->tile,
			.out_sample = whole_lanes(product.outputs),
		};

		kernels->multiply(&product, &batch,
				  space->weights + before + p * space->point,
				  &end, space->to + p * space->block);
	}
}

/* out of in; weights as of a gathered product, tap by tap. */
static void convolve(const struct cpu_kernels *kernels, const struct side *side,
		     const struct work_space *space, int samples,
		     const float *weights, const struct points_end *end,
		     const float *in, float *out)
{
	const struct points_form *form = form_of(kernels->points, side);
	const int all = samples * side->rows * side->columns;
	const size_t depth = whole_lanes(side->depth);

	make_all_weights(form, side, weights, space);
	for (int t = 0; t < all; t += space->tiles) {
		struct points_tiles tiles = tiles_from(side, space, t, all,
						       space->data, depth);

		kernels->points->from_data(&side->in, &tiles, side->pad,
					   (int)depth, in, space->from);
		for (int o = 0; o < side->outputs; o += GATHER_BLOCK) {
			struct points_end here_end = *end;
			struct points_tiles made = tiles;

			here_end.outputs = block_of(side, o);
			if (end->bias)
				here_end.bias = end->bias + o;
			made.point = space->block;
			made.tile = whole_lanes(here_end.outputs);
			if (!space->weights_stay)
				make_weights(form, side, weights, o, space);
			multiply(kernels->gather, side, space, &tiles, o);
			form->to_outputs(&side->out, &made, &here_end,
					 space->to, out + o);
		}
	}
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct points_step *points = (struct points_step *)step;
	const struct points_end end = {
		.bias = gather_bias(program, &points->gather,
				    program->parameters),
		.relu = points->gather.relu != CPU_NO_ROW,
	};
	const struct work_space space = space_at(
		program->scratch, &points->forward, pass->count);

	convolve(program->kernels, &points->forward, &space, pass->count,
		 program->parameters + points->gather.weight, &end,
		 step->in->out, step->out->out);
}

static void backward_data(struct cpu_program *program,
			  const struct points_step *points, int count)
{
	const struct cpu_step *step = &points->gather.step;
	const struct points_end end = {
		.adds = cpu_node(program, step->first)->adds_dx
	};
	float *transposed = program->scratch;
	const struct work_space space = space_at(
		transposed + points->gather.conv.transposed, &points->back,
		count);

	gather_conv_transpose(&points->gather.conv, program->kernels->gather,
			      program->parameters + points->gather.weight,
			      transposed);
	convolve(program->kernels, &points->back, &space, count, transposed,
		 &end, step->out->gradient, step->in->gradient);
}

/* Products of a block of tiles and one of outputs, added to points of dw. */
static void differentiate(const struct gather_kernels *kernels,
			  const struct side *side,
			  const struct work_space *space,
			  const struct points_tiles *data, int first)
{
	const struct gather product = product_of(side, block_of(side, first));
	const size_t before = space->weights_stay ?
			(size_t)side->depth * (size_t)first : 0;

	for (size_t p = 0; p < POINTS; p++) {
		const struct gather_batch batch = {
			.count = data->count,
			.in = space->from + p * data->point,
			.in_sample = data->tile,
			.out_sample = whole_lanes(product.outputs),
		};

		kernels->differentiate(&product, &batch,
				       space->to + p * space->block,
				       space->weights + before +
					       p * space->point,
				       NULL, space->rest);
	}
}

static void clear_weights(const struct work_space *space)
{
	memset(space->weights, 0, POINTS * space->point * sizeof(float));
}

static void add_weights(const struct points_form *form,
			const struct side *side,
			const struct work_space *space, int first, float *dw)
{
	const size_t before = (size_t)side->depth * (size_t)first;

	form->to_weights(space->weights + (space->weights_stay ? before : 0),
			 space->point,
			 (size_t)side->depth *
				 whole_lanes(block_of(side, first)),
			 dw + weights_before(side, first));
}

static void add_tiles(const struct cpu_kernels *kernels,
		      const struct side *side, const struct work_space *space,
		      const struct points_tiles *data, const float *dy,
		      float *dw, float *dbias)
{
	const struct points_form *form = form_of(kernels->points, side);

	for (int o = 0; o < side->outputs; o += GATHER_BLOCK) {
		const size_t width = whole_lanes(block_of(side, o));
		struct points_tiles tiles = *data;

		tiles.point = space->block;
		tiles.tile = width;
		form->from_outputs(&side->out, &tiles, (int)width, dy + o,
				   space->to, dbias ? dbias + o : NULL);
		if (!space->weights_stay)
			clear_weights(space);
		differentiate(kernels->gather, side, space, data, o);
		if (!space->weights_stay)
			add_weights(form, side, space, o, dw);
	}
}

static void backward_weights(struct cpu_program *program,
			     const struct points_step *points, int count)
{
	const struct cpu_kernels *kernels = program->kernels;
	const struct side *side = &points->forward;
	const struct cpu_step *step = &points->gather.step;
	const int all = count * side->rows * side->columns;
	const size_t depth = whole_lanes(side->depth);
	float *g = program->host.vectors[VECTOR_GRADIENT];
	float *dw = g + points->gather.weight;
	const struct work_space space = space_at(program->scratch, side,
						 count);

	if (space.weights_stay)
		clear_weights(&space);
	for (int t = 0; t < all; t += space.tiles) {
		const struct points_tiles tiles = tiles_from(
			side, &space, t, all, space.data, depth);

		kernels->points->from_data(&side->in, &tiles, side->pad,
					   (int)depth, step->in->out,
					   space.from);
		add_tiles(kernels, side, &space, &tiles, step->out->gradient,
			  dw, gather_bias(program, &points->gather, g));
	}
	for (int o = 0; space.weights_stay && o < side->outputs;
	     o += GATHER_BLOCK)
		add_weights(form_of(kernels->points, side), side, &space, o,
			    dw);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct points_step *points = (struct points_step *)step;
	const struct node *node = cpu_node(program, step->first);

	gather_stop_gradient(&points->gather, pass->count);
	if (pass->count > node->broken)
		backward_weights(program, points, pass->count - node->broken);
	if (node->wants_dx)
		backward_data(program, points, pass->count);
}

static double products(const struct side *side)
{
	return (double)POINTS * side->rows * side->columns * side->depth *
	       side->outputs;
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct points_step *points = (const struct points_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const double count = work_samples(program);
	const double in = count * (double)shape_size(node->in);
	const double out = count * (double)shape_size(node->out);
	const double weights = work_parameters(node);
	struct profile_part part = {
		.dense = count * work_of_node(node),
		.done = count * products(&points->forward),
		.bytes = WORK_FLOAT * (in + out + weights),
		.nonzero = NAN,
	};

	work_name(program, step, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	work_name(program, step, "backward", &part);
	if (node->wants_dx) {
		part.dense *= 2;
		part.done += count * products(&points->back);
		part.bytes += WORK_FLOAT * (in + 2 * weights);
	}
	part.bytes += WORK_FLOAT * weights;
	parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
}

const struct cpu_solver cpu_points_solver = {
	.base = { .name = "conv[+relu], winograd", .takes = takes },
	.size = sizeof(struct points_step),
	.lay_out = lay_out,
	.place = gather_place,
	.release = gather_release,
	.copy = gather_copy_conv,
	.forward = forward,
	.backward = backward,
	.decide = gather_decide,
	.work = work,
};
