/* Convolutions and linear layers of any kind, channels last: conv_nhwc.cl. */
#include "backends/opencl/solvers/cpu_class/conv_nhwc.h"

#include <limits.h>

#include "backends/opencl/solvers/cpu_class/cpu_class.h"
#include "backends/opencl/device/status.h"

#define MOST_COLUMNS 64 /* of a tile of products */

/* Activations as conv_spread stores them: with a border before the plane, in
 * pixels, and room after it that kernels read. */
struct spread {
	struct shape plane; /* what it is made of */
	int border, height, width;
	int row, sample; /* in floats */
};

/* What products read: of a step's input, and of its output's gradient. */
struct copies {
	struct spread x, dy;
};

/* Makes a spread at least so large. */
static void spread_widen(struct spread *spread, int height, int width)
{
	spread->height = spread->height > height ? spread->height : height;
	spread->width = spread->width > width ? spread->width : width;
	spread->row = spread->width * spread->plane.channels;
	spread->sample = spread->height * spread->row;
}

static struct spread spread_of(struct shape plane, int border, int height,
			       int width)
{
	struct spread spread = { .plane = plane, .border = border };

	spread_widen(&spread, border + plane.height, border + plane.width);
	spread_widen(&spread, height, width);
	return spread;
}

static struct copies copies_of(const struct sides *s)
{
	/* An input reaches outputs up to this far before its own. */
	const int before = (s->window - 1) / s->stride;

	return (struct copies){
		.x = spread_of(s->in, s->pad,
			       (s->out.height - 1) * s->stride + s->window,
			       (s->out.width - 1) * s->stride + s->window),
		.dy = spread_of(s->out, before,
				before + 1 +
					(s->in.height - 1 + s->pad) / s->stride,
				before + 1 +
					(s->in.width - 1 + s->pad) / s->stride),
	};
}

/* Whether a sample of either copy can be counted by int, and the places in a
 * stride: others have more padding than anything else. */
static int sides_fit(const struct node *node)
{
	const struct layer *layer = node->layer;
	const double around = 2. * layer->pad + layer->window;
	const double stride = layer_stride_within(layer, node->in);
	const double x = (node->in.height + around + stride) *
			 (node->in.width + around + stride) *
			 node->in.channels;
	const double dy = (node->in.height + node->out.height + around) *
			  (node->in.width + node->out.width + around) *
			  node->out.channels;
	const double packed = (layer->window + stride) *
			      (layer->window + stride) * node->in.channels *
			      (node->out.channels + (double)MOST_COLUMNS);

	return x < INT_MAX && dy < INT_MAX && packed < INT_MAX;
}

static int last_takes(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	const struct node *node = &graph->nodes[first];
	const enum layer_kind kind = node->layer->kind;

	(void)options;
	if (kind == LAYER_CONV && !sides_fit(node))
		return plan_decline(why, "its padding makes it too large");
	return kind == LAYER_LINEAR || kind == LAYER_CONV;
}

static size_t weights_of(const struct sides *s)
{
	return (size_t)s->inputs * (size_t)s->out.channels;
}

/* Factors of a row of the window. */
static int run_of(const struct sides *s)
{
	return s->window * s->in.channels;
}

static struct split split_of(const struct opencl_program *program,
			     const struct sides *s)
{
	const struct product_tile tile = product_tile(program);
	const int groups = parts_of(s->out.channels, tile.run_columns) *
			   s->window * parts_of(run_of(s), tile.run_rows);

	return split_batch(program, groups, weights_of(s));
}

/* Returns the floats of the packed weights of a class of outputs. Backward
 * there are stride * stride classes. */
static size_t packed_size(const struct opencl_program *program,
			  const struct sides *s, int back)
{
	const int columns = product_tile(program).columns;
	const int taps = back ? parts_of(s->window, s->stride) : s->window;
	const int factors = back ? s->out.channels : s->in.channels;
	const int outputs = back ? s->in.channels : s->out.channels;

	return (size_t)(taps * taps) * (size_t)factors *
	       (size_t)round_up(outputs, columns);
}

static struct generic_room last_room(const struct opencl_program *program,
				     int index, int samples)
{
	const struct node *node = generic_node(program, index);
	const struct product_tile tile = product_tile(program);
	const struct sides s = sides_of(node);
	const struct copies copies = copies_of(&s);
	struct generic_room room = { 0 };
	const size_t back = packed_size(program, &s, 1) *
			    (size_t)(s.stride * s.stride);

	room.packed = packed_size(program, &s, 0);
	if (node->needs_dx && back > room.packed)
		room.packed = back;
	/* Beyond the last pixel a tile is read whole. */
	room.x = (size_t)samples * (size_t)copies.x.sample + (size_t)tile.wide;
	room.dy = (size_t)batch_most(program) * (size_t)copies.dy.sample +
		  (size_t)tile.wide;
	room.parts = (size_t)split_of(program, &s).parts * weights_of(&s) +
		     (size_t)tile.wide;
	return room;
}

struct launch last_launch(const char *name, int index)
{
	return (struct launch){ .name = name,
				.items = { 1, 1, 1 },
				.batch_arguments = 1,
				.work = { .step = index } };
}

/* Appends what copies planes at `from`, whose samples are so far apart. */
static int add_spread(struct opencl_program *program, struct pass *pass,
		      int index, const struct spread *spread, cl_mem from,
		      int sample, cl_mem to, struct error *err)
{
	struct launch launch = last_launch("conv_spread", index);
	const cl_mem memories[] = { from, to };
	const cl_int words[] = { spread->plane.channels, spread->plane.height,
				 spread->plane.width, sample, spread->border,
				 spread->height, spread->width };

	launch.items[0] = parts_of(spread->plane.channels,
				   product_tile(program).wide);
	launch.items[1] = 0;
	launch.samples = 1;
	launch.work.moved = 2 * (double)shape_size(spread->plane);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_pack(struct opencl_program *program, struct pass *pass,
		    int index, const struct sides *s, int back,
		    struct error *err)
{
	const struct product_tile tile = product_tile(program);
	struct launch launch = last_launch("conv_weights_pack", index);
	const int taps = s->window * s->window;
	const int factors = back ? s->out.channels : s->in.channels;
	const int outputs = back ? s->in.channels : s->out.channels;
	const cl_mem memories[] = { program->products,
				    program->generic_memory.packed };
	const cl_int words[] = {
		factors, outputs, s->window, s->stride, s->pad,
		copies_of(s).dy.border, back,
		(cl_int)generic_node(program, index)->weight,
		back ? taps : s->in.channels * taps,
		back ? s->in.channels * taps : taps,
		(cl_int)packed_size(program, s, back)
	};

	launch.items[0] = parts_of(factors, tile.wide);
	launch.items[1] = parts_of(outputs, tile.columns);
	launch.items[2] = back ? s->stride * s->stride : 1;
	launch.work.moved_once = 2 * (double)weights_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

/* The products of what has been spread and packed. */
static int add_multiply(struct opencl_program *program, struct pass *pass,
			int index, const struct sides *s, int back,
			struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct product_tile tile = product_tile(program);
	const struct copies copies = copies_of(s);
	const struct spread *from = back ? &copies.dy : &copies.x;
	const struct shape to = back ? s->in : s->out;
	const int apart = back ? s->stride : 1;
	const double products = step_products(program, index);
	struct launch launch = last_launch("conv_multiply", index);
	const cl_mem memories[] = {
		back ? program->generic_memory.dy : program->generic_memory.x,
		program->generic_memory.packed, program->products,
		back ? g.x.gradient : g.y.memory
	};
	const cl_int words[] = {
		from->plane.channels, from->row, from->sample, to.channels,
		to.height, to.width, back ? g.x.sample : g.y.sample,
		s->window, s->stride, s->pad, copies.dy.border, back,
		(cl_int)packed_size(program, s, back),
		back || !g.node->has_bias ? -1 : (cl_int)g.node->bias,
		back && g.node->adds_dx
	};

	launch.items[0] = parts_of(pass->most * parts_of(to.height, apart) *
					   parts_of(to.width, apart),
				   tile.rows);
	launch.items[1] = parts_of(to.channels, tile.columns);
	launch.items[2] = apart * apart;
	launch.work.dense = launch.work.done = products;
	launch.work.moved = step_inputs(program, index) +
			    step_outputs(program, index);
	launch.work.moved_once = step_parameters(program, index);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int last_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const struct copies copies = copies_of(&s);

	return add_spread(program, pass, index, &copies.x, g.x.memory,
			  g.x.sample, program->generic_memory.x, err) ||
	       add_pack(program, pass, index, &s, 0, err) ||
	       add_multiply(program, pass, index, &s, 0, err) ? -1 : 0;
}

static int add_sum(struct opencl_program *program, struct pass *pass,
		   int index, const struct sides *s, struct error *err)
{
	const struct product_tile tile = product_tile(program);
	const struct split split = split_of(program, s);
	const struct copies copies = copies_of(s);
	const struct spread *x = &copies.x, *dy = &copies.dy;
	const double products = step_products(program, index);
	struct launch launch = last_launch("conv_sum", index);
	const cl_mem memories[] = { program->generic_memory.x,
				    program->generic_memory.dy,
				    program->generic_memory.parts };
	const cl_int words[] = {
		run_of(s), x->row, 0, s->stride * s->in.channels,
		s->stride * x->row, x->sample, s->out.channels,
		s->out.height, s->out.width, dy->row, dy->sample,
		dy->border * (dy->row + s->out.channels),
		(cl_int)weights_of(s), split.samples,
		generic_node(program, index)->broken
	};

	launch.items[0] = parts_of(s->out.channels, tile.run_columns);
	launch.items[1] = s->window * parts_of(run_of(s), tile.run_rows);
	launch.items[2] = split.parts;
	launch.work.dense = launch.work.done = products;
	launch.work.moved = step_inputs(program, index) +
			    step_outputs(program, index);
	launch.work.moved_once = step_parameters(program, index);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_unpack(struct opencl_program *program, struct pass *pass,
		      int index, const struct sides *s, struct error *err)
{
	const int width = product_tile(program).wide;
	const struct split split = split_of(program, s);
	struct launch launch = last_launch("conv_unpack", index);
	const cl_mem memories[] = { program->generic_memory.parts,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = {
		s->in.channels, s->out.channels, s->window * s->window,
		(cl_int)generic_node(program, index)->weight,
		(cl_int)weights_of(s), split.samples
	};

	launch.items[0] = parts_of(s->out.channels, width);
	launch.items[1] = parts_of(s->in.channels, width);
	launch.work.moved_once = (1. + split.parts) * (double)weights_of(s);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

/* Copies x and dy for the backward pass. */
static int add_copies(struct opencl_program *program, struct pass *pass,
		      int index, const struct copies *copies,
		      struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct generic_memory *own = &program->generic_memory;

	return add_spread(program, pass, index, &copies->x, g.x.memory,
			  g.x.sample, own->x, err) ||
	       add_spread(program, pass, index, &copies->dy, g.y.gradient,
			  g.y.sample, own->dy, err) ? -1 : 0;
}

int add_bias(struct opencl_program *program, struct pass *pass, int index,
	     struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	struct launch launch = last_launch("conv_bias", index);
	const cl_mem memories[] = { g.y.gradient,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = { g.node->out.height * g.node->out.width,
				 g.y.sample, (cl_int)g.node->bias };

	if (!g.node->has_bias)
		return 0;
	launch.items[0] = g.node->out.channels;
	launch.work.moved = step_outputs(program, index);
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int last_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const struct copies copies = copies_of(&s);

	if (add_copies(program, pass, index, &copies, err) ||
	    add_sum(program, pass, index, &s, err) ||
	    add_unpack(program, pass, index, &s, err) ||
	    add_bias(program, pass, index, err))
		return -1;
	return g.node->needs_dx &&
	       (add_pack(program, pass, index, &s, 1, err) ||
		add_multiply(program, pass, index, &s, 1, err)) ? -1 : 0;
}

const struct opencl_solver conv_nhwc = {
	.base = { .name = "conv or linear", .takes = last_takes },
	.build = generic_build,
	.allocate = generic_allocate,
	.room = last_room,
	.forward = last_forward,
	.backward = last_backward,
};
