#include "backends/opencl/program/rounding.h"

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"

#define BATCH_ARGUMENTS 8 /* all of them: the last is the loss's scale */

/* As storage.cl numbers them. */
static cl_uint format_of(const struct opencl_program *program)
{
	return program->storage.precision == PRECISION_FP16 ? 1 : 2;
}

static int is_on(const struct opencl_program *program)
{
	return precision_rounds(program->storage.precision);
}

int rounding_share(struct opencl_program *program, struct error *err)
{
	program->products = program->vectors[VECTOR_PARAMETERS];
	if (!is_on(program) ||
	    storage_rounds_vectors(program->storage.precision))
		return 0;
	return memory_make(&program->queue,
			   program->base.parameters * sizeof(cl_float),
			   &program->products, err);
}

int rounding_make(struct opencl_program *program, struct error *err)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const cl_uint format = format_of(program);

	for (int v = 0; is_on(program) && v < program->base.vectors; v++) {
		const struct launch slice = {
			.name = "round_slice",
			.items = { 0, 1, 1 },
			.group_items = tiling->items,
			.samples = tiling->updated,
			.batch_arguments = 2,
		};

		if (launch_make(&program->slices[v], &slice, program->generic,
				&program->vectors[v], 1, err) ||
		    launch_words(&program->slices[v], 3, &format, 1, err))
			return -1;
		program->slices[v].part = PART_NONE;
	}
	return 0;
}

int rounding_update(struct opencl_program *program, size_t from, size_t to,
		    int is_behind, struct error *err)
{
	const cl_uint words[] = { (cl_uint)from, (cl_uint)to };

	if (!storage_rounds_vectors(program->storage.precision))
		return 0;
	for (int v = 0; v < program->base.vectors; v++)
		if ((v != VECTOR_GRADIENT) == is_behind &&
		    (launch_words(&program->slices[v], 0, words, COUNT(words),
				  err) ||
		     launch_enqueue(&program->queue, &program->slices[v],
				    (int)(to - from), err)))
			return -1;
	return 0;
}

static int add_values(struct opencl_program *program, struct pass *pass,
		      int index, cl_mem values, size_t size, int sample,
		      int scales, struct error *err)
{
	struct launch launch =
		generic_launch(program, "round_values", index, size);
	const cl_int words[] = { (cl_int)size, sample,
				 (cl_int)format_of(program), scales };

	launch.batch_arguments = BATCH_ARGUMENTS;
	return generic_append(program, pass, &launch, &values, 1, words,
			      COUNT(words), err);
}

/* count elements from first on. */
static int add_part(struct opencl_program *program, struct pass *pass,
		    int index, cl_mem from, cl_mem to, const size_t part[2],
		    int rounds, int unscales, struct error *err)
{
	struct launch launch =
		generic_launch(program, "round_part", index, part[1]);
	const cl_mem memories[] = { from, to };
	const cl_int words[] = { (cl_int)part[0], (cl_int)part[1],
				 rounds ? (cl_int)format_of(program) : 0,
				 unscales };

	launch.items[1] = 1;
	launch.batch_arguments = BATCH_ARGUMENTS;
	return generic_append(program, pass, &launch, memories, COUNT(memories),
			      words, COUNT(words), err);
}

int rounding_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err)
{
	const struct model *model = program->base.model;
	const size_t size = shape_size(model->input);
	const size_t all[] = { 0, program->base.parameters };
	const cl_mem own = program->vectors[VECTOR_PARAMETERS];

	if (storage_rounds(&program->storage, MODEL_IMAGES) &&
	    add_values(program, pass, 0, pass->images, size, (int)size, 0, err))
		return -1;
	return program->products == own ?
		       0 : add_part(program, pass, 0, own, program->products,
				    all, 1, 0, err);
}

/* What a row makes, or the gradient by it, if there is one. */
static int add_row(struct opencl_program *program, struct pass *pass, int index,
		   int row, int is_gradient, int scales, struct error *err)
{
	const struct value value = value_of(program, pass, row);
	const cl_mem memory = is_gradient ? value.gradient : value.memory;

	if (row == MODEL_IMAGES || !memory ||
	    !(scales || storage_rounds(&program->storage, row)))
		return 0;
	return add_values(program, pass, index, memory,
			  shape_size(program->graph.nodes[row].out),
			  value.sample, scales, err);
}

int rounding_forward(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err)
{
	const struct step *step = step_at(program, index);

	if (!is_on(program))
		return 0;
	if (program->graph.nodes[step->first].layer->kind != LAYER_LOSS)
		return add_row(program, pass, index, step->first, 0, 0, err);
	return pass->training ?
		       add_row(program, pass, index,
			       program->graph.nodes[step->first].source, 1, 1,
			       err) : 0;
}

int rounding_backward(struct opencl_program *program, struct pass *pass,
		      int index, struct error *err)
{
	const struct node *node =
		&program->graph.nodes[step_at(program, index)->first];

	if (!is_on(program) || node->layer->kind == LAYER_LOSS)
		return 0;
	if (node->needs_dx &&
	    add_row(program, pass, index, node->source, 1, 0, err))
		return -1;
	return node->needs_other_dx ?
		       add_row(program, pass, index, node->other, 1, 0, err) :
		       0;
}

int rounding_end(struct opencl_program *program, struct pass *pass,
		 struct error *err)
{
	const struct model *model = program->base.model;
	const cl_mem gradient = program->vectors[VECTOR_GRADIENT];
	const size_t statistics[] = { 0, program->base.buffers };
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);

	for (int t = 0; is_on(program) && pass->training && t < count; t++) {
		const size_t part[] = { tensors[t].offset, tensors[t].count };

		if (add_part(program, pass, 0, gradient, gradient, part,
			     storage_rounds_layer(
				     program->storage.precision,
				     &model->layers[tensors[t].layer]),
			     1, err))
			return -1;
	}
	if (!pass->training || !program->buffers ||
	    !storage_rounds_vectors(program->storage.precision))
		return 0;
	return add_part(program, pass, 0, program->buffers, program->buffers,
			statistics, 1, 0, err);
}
