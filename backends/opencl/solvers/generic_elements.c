/* Generic solvers of layers without parameters: generic.cl, generic_pool.cl. */
#include "backends/opencl/solvers/generic.h"

#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "models/random.h"

static int relu_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const size_t size = shape_size(g.node->out);
	const struct launch launch =
		generic_launch(program, "relu", index, size);
	const cl_mem memories[] = { g.x.memory, g.y.memory };
	const cl_int words[] = { (cl_int)size, g.x.sample, g.y.sample };

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int relu_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const size_t size = shape_size(g.node->out);
	const struct launch launch =
		generic_launch(program, "relu_backward", index, size);
	const cl_mem memories[] = { g.y.memory, g.y.gradient, g.x.gradient };
	const cl_int words[] = { (cl_int)size, g.y.sample, g.x.sample,
				 g.node->adds_dx };

	return g.node->needs_dx ?
		       generic_append(program, pass, &launch, memories,
				      COUNT(memories), words, COUNT(words),
				      err) : 0;
}

const struct opencl_solver generic_relu = {
	.base = { .name = "relu", .kind = LAYER_RELU },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = relu_forward,
	.backward = relu_backward,
};

/* Both ways of what changes nothing; `adds` to what is there. */
static int add_passing(struct opencl_program *program, struct pass *pass,
		       int index, cl_mem from, int from_sample, cl_mem to,
		       int to_sample, int adds, struct error *err)
{
	const size_t size = shape_size(generic_node(program, index)->out);
	const struct launch launch =
		generic_launch(program, "pass_on", index, size);
	const cl_mem memories[] = { from, to };
	const cl_int words[] = { (cl_int)size, from_sample, to_sample, adds };

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_forward(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const size_t size = shape_size(g.node->out);
	const struct value b = value_of(program, pass, g.node->other);
	const struct launch launch =
		generic_launch(program, "add", index, size);
	const cl_mem memories[] = { g.x.memory, b.memory, g.y.memory };
	const cl_int words[] = { (cl_int)size, g.x.sample, b.sample,
				 g.y.sample };

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_backward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct value b = value_of(program, pass, g.node->other);

	if (g.node->needs_dx &&
	    add_passing(program, pass, index, g.y.gradient, g.y.sample,
			g.x.gradient, g.x.sample, g.node->adds_dx, err))
		return -1;
	return g.node->needs_other_dx ?
		       add_passing(program, pass, index, g.y.gradient,
				   g.y.sample, b.gradient, b.sample,
				   g.node->adds_other_dx, err) : 0;
}

const struct opencl_solver generic_add = {
	.base = { .name = "add", .kind = LAYER_ADD },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = add_forward,
	.backward = add_backward,
};

static int add_choices(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err)
{
	const unsigned long long seed = program->base.options.seed;
	const struct node *node = generic_node(program, index);
	const cl_mem keep = pass->steps[index].codes;
	const cl_uint words[] = { (cl_uint)seed, (cl_uint)(seed >> 32),
				  (cl_uint)step_at(program, index)->first,
				  dropout_threshold(node->layer->drop),
				  (cl_uint)node->decisions };
	cl_int bits[COUNT(words)];
	struct launch launch = generic_launch(program, "choose", index,
					(node->decisions + 3) / 4);

	launch.batch_arguments = 5;
	memcpy(bits, words, sizeof(bits));
	return generic_append(program, pass, &launch, &keep, 1, bits,
			      COUNT(bits), err);
}

/* From one value to another: what is kept grows. */
static int add_dropping(struct opencl_program *program, struct pass *pass,
			int index, cl_mem from, int from_sample, cl_mem to,
			int to_sample, int adds, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t size = shape_size(node->out);
	const struct launch launch =
		generic_launch(program, "drop", index, size);
	const cl_mem memories[] = { from, pass->steps[index].codes, to };
	const cl_uint growth = step_growth_bits(program, index);
	cl_int words[] = { (cl_int)size, from_sample, to_sample,
			   (cl_int)(size / node->decisions), 0, adds };

	memcpy(&words[4], &growth, sizeof(growth));
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int dropout_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);

	if (!pass->training || !program->base.options.dropout)
		return add_passing(program, pass, index, g.x.memory, g.x.sample,
				   g.y.memory, g.y.sample, 0, err);
	if (add_choices(program, pass, index, err))
		return -1;
	return add_dropping(program, pass, index, g.x.memory, g.x.sample,
			    g.y.memory, g.y.sample, 0, err);
}

static int dropout_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);

	if (!g.node->needs_dx)
		return 0;
	return (program->base.options.dropout ? add_dropping : add_passing)(
		program, pass, index, g.y.gradient, g.y.sample, g.x.gradient,
		g.x.sample, g.node->adds_dx, err);
}

const struct opencl_solver generic_dropout = {
	.base = { .name = "dropout", .kind = LAYER_DROPOUT },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = dropout_forward,
	.backward = dropout_backward,
};

/* One way of a pooling, of size elements; adds: to what is there, or NO_SUM. */
#define NO_SUM (-1)
static int add_pool(struct opencl_program *program, struct pass *pass,
		    int index, const char *name, size_t size,
		    const cl_mem *memories, int memory_count, int adds,
		    struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct layer *layer = g.node->layer;
	struct launch launch = generic_launch(program, name, index, size);
	const struct shape in = g.node->in, out = g.node->out;
	cl_int words[11] = { in.channels, in.height, in.width, g.x.sample,
			     out.height, out.width, g.y.sample };
	int count = 7;

	if (layer->kind == LAYER_MAXPOOL) {
		if (program_class(program)->tiling.items == 1)
			launch.items[0] = in.channels;
		words[count++] = layer->window;
		words[count++] = layer_stride(layer);
		words[count++] = layer->pad;
	}
	if (adds != NO_SUM)
		words[count++] = adds;
	return generic_append(program, pass, &launch, memories, memory_count,
			      words, count, err);
}

static int maxpool_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const cl_mem memories[] = { g.x.memory, g.y.memory,
				    pass->steps[index].codes };

	return add_pool(program, pass, index, "maxpool",
			shape_size(g.node->out),
			memories, COUNT(memories), NO_SUM, err);
}

static int maxpool_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const cl_mem memories[] = { pass->steps[index].codes, g.y.gradient,
				    g.x.gradient };

	return g.node->needs_dx ?
		       add_pool(program, pass, index, "maxpool_backward",
				shape_size(g.node->in), memories,
				COUNT(memories), g.node->adds_dx, err) : 0;
}

const struct opencl_solver generic_maxpool = {
	.base = { .name = "maxpool", .kind = LAYER_MAXPOOL },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = maxpool_forward,
	.backward = maxpool_backward,
};

static int avgpool_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const cl_mem memories[] = { g.x.memory, g.y.memory };

	return add_pool(program, pass, index, "avgpool",
			shape_size(g.node->out),
			memories, COUNT(memories), NO_SUM, err);
}

static int avgpool_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const cl_mem memories[] = { g.y.gradient, g.x.gradient };

	return g.node->needs_dx ?
		       add_pool(program, pass, index, "avgpool_backward",
				shape_size(g.node->in), memories,
				COUNT(memories), g.node->adds_dx, err) : 0;
}

const struct opencl_solver generic_avgpool = {
	.base = { .name = "avgpool", .kind = LAYER_AVGPOOL },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = avgpool_forward,
	.backward = avgpool_backward,
};
