/* Convolutions and linear layers of any kind in the gpu class:
 * gpu_generic_conv.cl. */
#include "backends/opencl/solvers/generic.h"

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/solvers/gpu_class/gpu_class.h"
#include "backends/opencl/program/steps.h"

static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	const enum layer_kind kind = graph->nodes[first].layer->kind;

	(void)options;
	(void)why;
	return kind == LAYER_CONV || kind == LAYER_LINEAR;
}

static size_t parameters_of(const struct node *node)
{
	const struct sides sides = sides_of(node);

	return (size_t)sides.out.channels *
	       ((size_t)sides.inputs + (size_t)node->has_bias);
}

static struct split split_of(const struct opencl_program *program,
			     const struct node *node)
{
	const struct product_tile tile = product_tile(program);
	const struct sides sides = sides_of(node);
	const int groups = parts_of(sides.inputs + node->has_bias,
				    tile.columns) *
			   parts_of(sides.out.channels, tile.rows);

	return split_batch(program, groups, parameters_of(node));
}

/* Splits a product of matrices over its factors: factors per part. */
struct depths {
	int each, parts;
};

static struct depths depths_of(const struct opencl_program *program,
			       int columns, int rows, int all)
{
	const struct product_tile tile = product_tile(program);
	const int groups = parts_of(columns, tile.columns) *
			   parts_of(rows, tile.rows);
	const int least = gpu_tiling(program)->least_depth;
	const int most = all < 2 * least ? 1 : all / least;
	int parts = split_groups(program, groups);
	struct depths depths;

	if (parts > most)
		parts = most;
	depths.each = round_up(parts_of(all, parts), tile.deep);
	depths.parts = parts_of(all, depths.each);
	return depths;
}

static struct depths depths_forward(const struct opencl_program *program,
				    const struct sides *s, int samples)
{
	return depths_of(program, samples * s->out.height * s->out.width,
			 s->out.channels, s->inputs);
}

static struct depths depths_back(const struct opencl_program *program,
				 const struct sides *s, int samples)
{
	return depths_of(program, samples * s->in.height * s->in.width,
			 s->in.channels,
			 s->window * s->window * s->out.channels);
}

/* Returns the floats of all parts of a product with this output. */
static size_t floats_of(struct depths depths, int samples, struct shape shape)
{
	return depths.parts < 2 ? 0 : (size_t)depths.parts * (size_t)samples *
					      shape_size(shape);
}

static struct generic_room conv_room(const struct opencl_program *program,
				     int index, int samples)
{
	const struct node *node = generic_node(program, index);
	const struct split split = split_of(program, node);
	const struct sides sides = sides_of(node);
	const size_t y = floats_of(depths_forward(program, &sides, samples),
				   samples, sides.out);
	const size_t dx = !node->needs_dx ? 0 :
			  floats_of(depths_back(program, &sides, samples),
				    samples, sides.in);
	const size_t dw = split.parts > 1 ? (size_t)split.parts *
						    parameters_of(node) : 0;

	return (struct generic_room){
		.parts = y > dx ? (y > dw ? y : dw) : dx > dw ? dx : dw
	};
}

static struct launch product_launch(const struct opencl_program *program,
				    const char *name, int index, int columns,
				    int rows)
{
	const struct product_tile tile = product_tile(program);
	const double products = step_products(program, index);

	return (struct launch){
		.name = name,
		.items = { parts_of(columns, tile.columns),
			   parts_of(rows, tile.rows), 1 },
		.group_items = program_device(program)->class->tiling.items,
		.batch_arguments = 1,
		.work = { index, products, products,
			  step_inputs(program, index) +
				  step_outputs(program, index),
			  step_parameters(program, index), 0 },
	};
}

/* A product of matrices, by the kernel conv, and where it goes. */
struct product {
	struct value from, to; /* memory of both: what is multiplied, made */
	struct shape in, out;  /* of from, and of to */
	struct depths depths;
	int by_row, by_channel, bias; /* of the kernel */
	int back, adds;
};

static int reduce_product(struct opencl_program *program, struct pass *pass,
			  int index, const struct product *p, struct error *err)
{
	const int size = (int)shape_size(p->out);
	struct launch launch =
		generic_launch(program, "conv_reduce", index, (size_t)size);
	const cl_mem memories[] = { program->generic_memory.parts,
				    program->products, p->to.memory };
	const cl_int words[] = { size, p->to.sample,
				 p->out.height * p->out.width, p->bias,
				 p->adds, p->depths.parts };

	launch.work.moved = (1 + p->depths.parts) * (double)size;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_product(struct opencl_program *program, struct pass *pass,
		       int index, const struct product *p, struct error *err)
{
	const struct sides s = sides_of(generic_node(program, index));
	const int is_split = p->depths.parts > 1;
	struct launch launch =
		product_launch(program, "conv", index,
			       pass->most * p->out.height * p->out.width,
			       p->out.channels);
	const cl_mem memories[] = {
		p->from.memory, program->products,
		is_split ? program->generic_memory.parts : p->to.memory
	};
	const cl_int words[] = {
		p->in.channels, p->in.height, p->in.width, p->from.sample,
		p->out.channels, p->out.height, p->out.width,
		is_split ? (cl_int)shape_size(p->out) : p->to.sample,
		s.window, s.stride, s.pad,
		(cl_int)generic_node(program, index)->weight, p->by_row,
		p->by_channel, is_split ? -1 : p->bias, p->back,
		is_split ? 0 : p->adds, p->depths.each
	};

	launch.items[2] = p->depths.parts;
	launch.work.moved +=
		(p->depths.parts - 1) * (double)shape_size(p->out);
	if (generic_append(program, pass, &launch, memories, COUNT(memories),
			   words, COUNT(words), err))
		return -1;
	return is_split ? reduce_product(program, pass, index, p, err) : 0;
}

static int conv_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const int taps = s.window * s.window;
	const struct product product = {
		.from = g.x,
		.to = g.y,
		.in = s.in,
		.out = s.out,
		.depths = depths_forward(program, &s, pass->most),
		.by_row = s.in.channels * taps,
		.by_channel = taps,
		.bias = g.node->has_bias ? (cl_int)g.node->bias : -1,
	};

	return add_product(program, pass, index, &product, err);
}

static int add_dx(struct opencl_program *program, struct pass *pass, int index,
		  struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const int taps = s.window * s.window;
	const struct product product = {
		.from = { g.y.gradient, NULL, g.y.sample },
		.to = { g.x.gradient, NULL, g.x.sample },
		.in = s.out,
		.out = s.in,
		.depths = depths_back(program, &s, pass->most),
		.by_row = taps,
		.by_channel = s.in.channels * taps,
		.bias = -1,
		.back = 1,
		.adds = g.node->adds_dx,
	};

	return add_product(program, pass, index, &product, err);
}

static int add_reduce(struct opencl_program *program, struct pass *pass,
		      int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t size = parameters_of(node);
	const struct split split = split_of(program, node);
	struct launch launch =
		generic_launch(program, "weights_reduce", index, size);
	const cl_mem memories[] = { program->generic_memory.parts,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = { (cl_int)node->weight, (cl_int)size,
				 split.samples };

	launch.items[1] = 1;
	launch.work.moved = 0;
	launch.work.moved_once = (1 + (double)split.parts) * (double)size;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_weights(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const struct split split = split_of(program, g.node);
	struct launch launch = product_launch(program, "weights_sum", index,
					s.inputs + g.node->has_bias,
					s.out.channels);
	const cl_mem memories[] = {
		g.x.memory, g.y.gradient,
		split.parts > 1 ? program->generic_memory.parts :
			     program->vectors[VECTOR_GRADIENT]
	};
	const cl_int words[] = {
		s.in.channels, s.in.height, s.in.width, g.x.sample,
		s.out.channels, s.out.height, s.out.width, g.y.sample,
		s.window, s.stride, s.pad, g.node->has_bias,
		split.parts > 1 ? 0 : (cl_int)g.node->weight,
		(cl_int)parameters_of(g.node), split.samples,
		g.node->broken
	};

	launch.items[2] = split.parts;
	if (generic_append(program, pass, &launch, memories, COUNT(memories),
			   words, COUNT(words), err))
		return -1;
	return split.parts > 1 ? add_reduce(program, pass, index, err) : 0;
}

static int conv_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct node *node = generic_node(program, index);

	if (add_weights(program, pass, index, err))
		return -1;
	return node->needs_dx ? add_dx(program, pass, index, err) : 0;
}

const struct opencl_solver generic_conv = {
	.base = { .name = "conv or linear", .takes = conv_takes },
	.build = generic_build,
	.allocate = generic_allocate,
	.room = conv_room,
	.forward = conv_forward,
	.backward = conv_backward,
};
