/* Batch norm: generic_norm.cl. */
#include "backends/opencl/solvers/generic.h"

#include <string.h>

#include "backends/opencl/device/status.h"

static int plane_of(const struct node *node)
{
	return node->in.height * node->in.width;
}

/* A group a channel. */
static struct launch channels_launch(const struct opencl_program *program,
				     const char *name, int index)
{
	const struct node *node = generic_node(program, index);
	struct launch launch = generic_launch(program, name, index, 1);

	launch.items[0] = node->in.channels;
	launch.items[1] = 1;
	launch.work.moved = (double)shape_size(node->in);
	return launch;
}

/* Groups of a plane, a channel and a sample. */
static struct launch planes_launch(const struct opencl_program *program,
				const char *name, int index)
{
	const struct node *node = generic_node(program, index);
	struct launch launch = generic_launch(program, name, index,
					(size_t)plane_of(node));

	launch.items[1] = node->in.channels;
	launch.items[2] = 0;
	launch.work.moved = 2 * (double)shape_size(node->in);
	return launch;
}

static int add_statistics(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct launch launch = channels_launch(program, "norm_statistics",
						     index);
	const cl_mem memories[] = { g.x.memory, program->buffers,
				    pass->steps[index].sums };
	const float settings[] = { (float)BATCHNORM_EPS,
				   (float)BATCHNORM_MOMENTUM };
	cl_int words[] = { g.node->in.channels, plane_of(g.node), g.x.sample,
			   (cl_int)g.node->buffers, 0, 0, pass->training };

	memcpy(&words[4], settings, sizeof(settings));
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int norm_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct launch launch = planes_launch(program, "norm", index);
	const cl_mem memories[] = { g.x.memory, pass->steps[index].sums,
				    program->vectors[VECTOR_PARAMETERS],
				    g.y.memory };
	const cl_int words[] = { plane_of(g.node), g.x.sample, g.y.sample,
				 (cl_int)g.node->weight, (cl_int)g.node->bias };

	if (add_statistics(program, pass, index, err))
		return -1;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_weights(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct launch launch =
		channels_launch(program, "norm_weights", index);
	const cl_mem memories[] = { g.x.memory, g.y.gradient,
				    pass->steps[index].sums,
				    program->vectors[VECTOR_GRADIENT] };
	const cl_int words[] = { plane_of(g.node),	g.x.sample,
				 g.y.sample,		(cl_int)g.node->weight,
				 (cl_int)g.node->bias,	g.node->broken };

	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int norm_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct generic g = generic_at(program, pass, index);
	const struct launch launch =
		planes_launch(program, "norm_backward", index);
	const cl_mem memories[] = { g.x.memory, g.y.gradient,
				    pass->steps[index].sums,
				    program->vectors[VECTOR_PARAMETERS],
				    g.x.gradient };
	const cl_int words[] = { plane_of(g.node), g.x.sample, g.y.sample,
				 (cl_int)g.node->weight, g.node->adds_dx };

	if (add_weights(program, pass, index, err))
		return -1;
	return g.node->needs_dx ?
		       generic_append(program, pass, &launch, memories,
				      COUNT(memories), words, COUNT(words),
				      err) : 0;
}

const struct opencl_solver generic_norm = {
	.base = { .name = "batchnorm", .kind = LAYER_BATCHNORM },
	.build = generic_build,
	.allocate = generic_allocate,
	.forward = norm_forward,
	.backward = norm_backward,
};
