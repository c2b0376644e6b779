/* Generic solvers of layers without parameters: generic.cl, generic_pool.cl. */
#include "backends/opencl/generic.h"

#include <string.h>

#include "models/random.h"

static int relu_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const size_t size = shape_size(generic_node(program, index)->out);
	const struct value x = generic_input(program, pass, index);
	const struct value y = generic_output(program, pass, index);
	const struct launch how = generic_how(program, "relu", index, size);
	const cl_mem memories[] = { x.memory, y.memory };
	const cl_int words[] = { (cl_int)size, x.sample, y.sample };

	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int relu_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t size = shape_size(node->out);
	const struct value x = generic_input(program, pass, index);
	const struct value y = generic_output(program, pass, index);
	const struct launch how = generic_how(program, "relu_backward", index,
					      size);
	const cl_mem memories[] = { y.memory, y.gradient, x.gradient };
	const cl_int words[] = { (cl_int)size, y.sample, x.sample,
				 node->adds_dx };

	return node->wants_dx ?
		       generic_launch(program, pass, &how, memories,
				      COUNT(memories), words, COUNT(words),
				      err) : 0;
}

static int relu_decisions(struct opencl_program *program, int index, int layer,
			  uint8_t *values, struct error *err)
{
	(void)layer;
	return decisions_of_signs(program, program->train.steps[index].output,
				  layout_output(program, index),
				  step_at(program, index)->out, values, err);
}

const struct opencl_solver generic_relu = {
	.base = { .name = "relu", .kind = LAYER_RELU },
	.allocate = generic_allocate,
	.forward = relu_forward,
	.backward = relu_backward,
	.decisions = relu_decisions,
};

/* Both ways of what changes nothing; `adds` to what is there. */
static int add_passing(struct opencl_program *program, struct pass *pass,
		       int index, cl_mem from, int from_sample, cl_mem to,
		       int to_sample, int adds, struct error *err)
{
	const size_t size = shape_size(generic_node(program, index)->out);
	const struct launch how = generic_how(program, "pass_on", index, size);
	const cl_mem memories[] = { from, to };
	const cl_int words[] = { (cl_int)size, from_sample, to_sample, adds };

	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_forward(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t size = shape_size(node->out);
	const struct value a = value_of(program, pass, node->source);
	const struct value b = value_of(program, pass, node->other);
	const struct value y = generic_output(program, pass, index);
	const struct launch how = generic_how(program, "add", index, size);
	const cl_mem memories[] = { a.memory, b.memory, y.memory };
	const cl_int words[] = { (cl_int)size, a.sample, b.sample, y.sample };

	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int add_backward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct value a = value_of(program, pass, node->source);
	const struct value b = value_of(program, pass, node->other);
	const struct value y = generic_output(program, pass, index);

	if (node->wants_dx &&
	    add_passing(program, pass, index, y.gradient, y.sample, a.gradient,
			a.sample, node->adds_dx, err))
		return -1;
	return node->wants_other_dx ?
		       add_passing(program, pass, index, y.gradient, y.sample,
				   b.gradient, b.sample, node->adds_other_dx,
				   err) : 0;
}

const struct opencl_solver generic_add = {
	.base = { .name = "add", .kind = LAYER_ADD },
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
	struct launch how = generic_how(program, "choose", index,
					(node->decisions + 3) / 4);

	how.batch_arguments = 5;
	memcpy(bits, words, sizeof(bits));
	return generic_launch(program, pass, &how, &keep, 1, bits, COUNT(bits),
			      err);
}

/* From one value to another: what is kept grows. */
static int add_dropping(struct opencl_program *program, struct pass *pass,
			int index, cl_mem from, int from_sample, cl_mem to,
			int to_sample, int adds, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t size = shape_size(node->out);
	const struct launch how = generic_how(program, "drop", index, size);
	const cl_mem memories[] = { from, pass->steps[index].codes, to };
	const cl_uint growth = step_growth_bits(program, index);
	cl_int words[] = { (cl_int)size, from_sample, to_sample,
			   (cl_int)(size / node->decisions), 0, adds };

	memcpy(&words[4], &growth, sizeof(growth));
	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, COUNT(words), err);
}

static int dropout_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct value x = generic_input(program, pass, index);
	const struct value y = generic_output(program, pass, index);

	if (!pass->training || !program->base.options.dropout)
		return add_passing(program, pass, index, x.memory, x.sample,
				   y.memory, y.sample, 0, err);
	if (add_choices(program, pass, index, err))
		return -1;
	return add_dropping(program, pass, index, x.memory, x.sample, y.memory,
			    y.sample, 0, err);
}

static int dropout_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct value x = generic_input(program, pass, index);
	const struct value y = generic_output(program, pass, index);

	if (!node->wants_dx)
		return 0;
	return (program->base.options.dropout ? add_dropping : add_passing)(
		program, pass, index, y.gradient, y.sample, x.gradient,
		x.sample, node->adds_dx, err);
}

/* Of max pooling and dropout, in the contract's order. */
static int codes_decisions(struct opencl_program *program, int index, int layer,
			   uint8_t *values, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const size_t bytes = (size_t)program->count * node->decisions;

	(void)layer;
	if (node->layer->kind == LAYER_MAXPOOL ||
	    program->base.options.dropout)
		return memory_fetch(program, program->train.steps[index].codes,
				    bytes, values, err);
	memset(values, 1, bytes);
	return 0;
}

const struct opencl_solver generic_dropout = {
	.base = { .name = "dropout", .kind = LAYER_DROPOUT },
	.allocate = generic_allocate,
	.forward = dropout_forward,
	.backward = dropout_backward,
	.decisions = codes_decisions,
};

/* What both ways of a pooling have to know; returns how many words. */
static int pool_words(const struct opencl_program *program,
		      const struct pass *pass, int index, cl_int words[10])
{
	const struct node *node = generic_node(program, index);
	const struct layer *layer = node->layer;
	const cl_int all[] = { node->in.channels,
			       node->in.height,
			       node->in.width,
			       generic_input(program, pass, index).sample,
			       node->out.height,
			       node->out.width,
			       generic_output(program, pass, index).sample,
			       layer->window,
			       layer->kind == LAYER_MAXPOOL ?
				       layer_stride(layer) : 0,
			       layer->pad };

	memcpy(words, all, sizeof(all));
	return layer->kind == LAYER_MAXPOOL ? 10 : 7;
}

static int maxpool_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const size_t size = shape_size(generic_node(program, index)->out);
	const struct launch how = generic_how(program, "maxpool", index, size);
	const cl_mem memories[] = {
		generic_input(program, pass, index).memory,
		generic_output(program, pass, index).memory,
		pass->steps[index].codes,
	};
	cl_int words[10];
	const int count = pool_words(program, pass, index, words);

	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, count, err);
}

static int maxpool_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct launch how = generic_how(program, "maxpool_backward",
					      index, shape_size(node->in));
	const cl_mem memories[] = {
		pass->steps[index].codes,
		generic_output(program, pass, index).gradient,
		generic_input(program, pass, index).gradient,
	};
	cl_int words[11];
	const int count = pool_words(program, pass, index, words);

	words[count] = node->adds_dx;
	return node->wants_dx ?
		       generic_launch(program, pass, &how, memories,
				      COUNT(memories), words, count + 1, err) :
		       0;
}

const struct opencl_solver generic_maxpool = {
	.base = { .name = "maxpool", .kind = LAYER_MAXPOOL },
	.allocate = generic_allocate,
	.forward = maxpool_forward,
	.backward = maxpool_backward,
	.decisions = codes_decisions,
};

static int avgpool_forward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const size_t size = shape_size(generic_node(program, index)->out);
	const struct launch how = generic_how(program, "avgpool", index, size);
	const cl_mem memories[] = {
		generic_input(program, pass, index).memory,
		generic_output(program, pass, index).memory,
	};
	cl_int words[10];
	const int count = pool_words(program, pass, index, words);

	return generic_launch(program, pass, &how, memories, COUNT(memories),
			      words, count, err);
}

static int avgpool_backward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct node *node = generic_node(program, index);
	const struct launch how = generic_how(program, "avgpool_backward",
					      index, shape_size(node->in));
	const cl_mem memories[] = {
		generic_output(program, pass, index).gradient,
		generic_input(program, pass, index).gradient,
	};
	cl_int words[11];
	const int count = pool_words(program, pass, index, words);

	words[count] = node->adds_dx;
	return node->wants_dx ?
		       generic_launch(program, pass, &how, memories,
				      COUNT(memories), words, count + 1, err) :
		       0;
}

const struct opencl_solver generic_avgpool = {
	.base = { .name = "avgpool", .kind = LAYER_AVGPOOL },
	.allocate = generic_allocate,
	.forward = avgpool_forward,
	.backward = avgpool_backward,
};
