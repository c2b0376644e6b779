/* Convolutions and linear layers of any kind in the gpu class:
 * gpu_generic_conv.cl. */
#include "backends/opencl/program/generic.h"

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/gpu_class/gpu_class.h"
#include "backends/opencl/program/steps.h"

static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options)
{
	const enum layer_kind kind = graph->nodes[first].layer->kind;

	(void)options;
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

static struct generic_room conv_room(const struct opencl_program *program,
				     int index, int samples)
{
	const struct node *node = generic_node(program, index);
	const struct split split = split_of(program, node);
	struct generic_room room = { 0 };

	(void)samples;
	if (split.parts > 1)
		room.parts = (size_t)split.parts * parameters_of(node);
	return room;
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

static int conv_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const int taps = s.window * s.window;
	const struct launch launch =
		product_launch(program, "conv", index,
			       pass->most * s.out.height * s.out.width,
			       s.out.channels);
	const cl_mem memories[] = { g.x.memory,
				    program->products,
				    g.y.memory };
	const cl_int words[] = {
		s.in.channels, s.in.height, s.in.width, g.x.sample,
		s.out.channels, s.out.height, s.out.width, g.y.sample,
		s.window, s.stride, s.pad, (cl_int)g.node->weight,
		s.in.channels * taps, taps,
		g.node->has_bias ? (cl_int)g.node->bias : -1, 0, 0
	};

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_dx(struct opencl_program *program, struct pass *pass, int index,
		  struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct sides s = sides_of(g.node);
	const int taps = s.window * s.window;
	const struct launch launch =
		product_launch(program, "conv", index,
			       pass->most * s.in.height * s.in.width,
			       s.in.channels);
	const cl_mem memories[] = { g.y.gradient,
				    program->products,
				    g.x.gradient };
	const cl_int words[] = {
		s.out.channels, s.out.height, s.out.width, g.y.sample,
		s.in.channels, s.in.height, s.in.width, g.x.sample,
		s.window, s.stride, s.pad, (cl_int)g.node->weight,
		taps, s.in.channels * taps, -1, 1, g.node->adds_dx
	};

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
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
	launch.work.moved_once = (double)split.parts * (double)size;
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
	return node->wants_dx ? add_dx(program, pass, index, err) : 0;
}

const struct opencl_solver generic_conv = {
	.base = { .name = "conv or linear", .takes = conv_takes },
	.build = generic_build,
	.allocate = generic_allocate,
	.room = conv_room,
	.forward = conv_forward,
	.backward = conv_backward,
};
