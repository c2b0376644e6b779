#include "backends/opencl/program/slots.h"

#include <stdlib.h>
#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"
#include "models/random.h"

/* Where element i of a sample in plane order is. */
static size_t place(struct layout layout, struct shape shape, size_t i)
{
	const size_t width = (size_t)shape.width;
	const size_t plane = width * (size_t)shape.height;

	return i / plane * (size_t)layout.channel +
	       i % plane / width * (size_t)layout.row +
	       i % width * (size_t)layout.column;
}

/* What lies on the device. */
enum element {
	ELEMENT_BYTE,
	ELEMENT_ROUTE, /* of gpu.cl: its low byte */
	ELEMENT_SIGN   /* of a float: 0 where that is 0 or below, else 1 */
};

/* values[n][i] of the last gradient's samples, in plane order. */
static int read_elements(struct opencl_program *program, cl_mem memory,
			 enum element element, struct layout layout,
			 struct shape shape, uint8_t *values, struct error *err)
{
	static const size_t bytes[] = { 1, sizeof(cl_ushort), sizeof(float) };
	const size_t sample = (size_t)layout.sample, size = shape_size(shape);
	const size_t count = (size_t)program->count;
	void *all = memory_copy(&program->queue, memory,
				count * sample * bytes[element], err);

	for (size_t i = 0; all && i < count * size; i++) {
		const size_t at = i / size * sample +
				  place(layout, shape, i % size);

		if (element == ELEMENT_SIGN)
			values[i] = !(((float *)all)[at] <= 0);
		else if (element == ELEMENT_ROUTE)
			values[i] = (uint8_t)((cl_ushort *)all)[at];
		else
			values[i] = ((uint8_t *)all)[at];
	}
	free(all);
	return all ? 0 : -1;
}

static struct layout planes_apart(struct shape shape, int sample)
{
	return (struct layout){ .sample = sample,
				.channel = shape.height * shape.width,
				.row = shape.width,
				.column = 1 };
}

/* The winner's place in its window. */
static int read_winners(struct opencl_program *program, int index,
			uint8_t *values, struct error *err)
{
	const struct step_memory *memory = &program->train.steps[index];
	const struct shape out = step_at(program, index)->out;

	if (!memory->routes)
		return read_elements(program, memory->codes, ELEMENT_BYTE,
				     planes_apart(out, (int)shape_size(out)),
				     out, values, err);
	return read_elements(program, memory->routes,
			     program_class(program)->tiling.items > 1 ?
				     ELEMENT_ROUTE : ELEMENT_BYTE,
			     layout_output(program, index), out, values, err);
}

/* What kernels choose again wherever they need it is worked out from the batch:
 * if they choose otherwise, the gradient shows it. */
static void find_choices(const struct opencl_program *program, int layer,
			 int choices, uint8_t *values)
{
	const struct batch *batch = &program->last;
	const double drop = program->base.model->layers[layer].drop;

	for (int n = 0; n < program->count; n++, values += choices)
		dropout_choices(program->base.options.seed, batch->step,
				(uint32_t)(batch->place + batch->stride * n),
				(uint32_t)layer, drop, choices, values);
}

/* What a dropout has kept. */
static int read_choices(struct opencl_program *program, int index, int layer,
			uint8_t *values, struct error *err)
{
	const struct step_memory *memory = &program->train.steps[index];
	const struct node *node = &program->graph.nodes[layer];
	const struct shape shape = node->layer->kind == LAYER_DROPOUT2D ?
					   (struct shape){ node->out.channels,
							   1, 1 } : node->out;
	const int choices = (int)node->decisions;

	if (!program->base.options.dropout)
		memset(values, 1, (size_t)(program->count * choices));
	else if (memory->keep || memory->codes)
		return read_elements(
			program, memory->keep ? memory->keep : memory->codes,
			ELEMENT_BYTE,
			planes_apart(shape, memory->keep ?
				     step_keep_sample(program, index) :
				     choices),
			shape, values, err);
	else
		find_choices(program, layer, choices, values);
	return 0;
}

/* What a step's ReLU passes on, by the step's output: of what a dropout has
 * dropped nothing is known, and nothing depends on it. */
static int read_passed(struct opencl_program *program, int index,
		       uint8_t *values, struct error *err)
{
	const struct shape out = step_at(program, index)->out;
	const size_t count = (size_t)program->count * shape_size(out);
	const enum dropping dropping = step_dropping(program, index);
	const size_t span = dropping == DROP_PLANES ?
				    (size_t)(out.height * out.width) : 1;
	uint8_t *kept;
	int failed;

	if (read_elements(program, program->train.steps[index].output,
			  ELEMENT_SIGN, layout_output(program, index), out,
			  values, err))
		return -1;
	if (dropping == DROP_NOTHING)
		return 0;
	kept = malloc(count);
	if (!kept)
		return error_memory(err, "the choices of a dropout");
	failed = read_choices(program, index, chain_at(program, index).dropout,
			      kept, err);
	for (size_t i = 0; !failed && i < count; i++)
		if (!kept[i / span])
			values[i] = DECISION_ANY;
	free(kept);
	return failed;
}

/* Of a pooled ReLU only what the winner's was makes a difference. */
static int read_pooled(struct opencl_program *program, int index,
		       uint8_t *values, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const size_t size = shape_size(chain.out);
	const size_t count = (size_t)program->count * size;
	const size_t pool = (size_t)chain.pool_window;
	const size_t width = (size_t)chain.out.width;
	const size_t height = (size_t)chain.out.height;
	const size_t before = (size_t)chain.main_out.width;
	const size_t plane = before * (size_t)chain.main_out.height;
	uint8_t *passed = malloc(2 * count), *winners = passed + count;
	int failed;

	if (!passed)
		return error_memory(err, "the decisions of a pooling");
	failed = read_passed(program, index, passed, err) ||
		 read_winners(program, index, winners, err);
	memset(values, DECISION_ANY,
	       (size_t)program->count * shape_size(chain.main_out));
	for (size_t i = 0; !failed && i < count; i++)
		values[i / (width * height) * plane +
		       (i / width % height * pool + winners[i] / pool) *
			       before +
		       i % width * pool + winners[i] % pool] = passed[i];
	free(passed);
	return failed ? -1 : 0;
}

/* The output of a step that is led is nowhere: a kernel makes it again from
 * what the last step has left of the parameters. */
static int remake_signs(struct opencl_program *program, int index,
			uint8_t *values, struct error *err)
{
	const struct layout layout = layout_output(program, index);
	const cl_uint count = (cl_uint)program->count;
	const size_t floats = count * (size_t)layout.sample;
	const int made = program->queue.memory_count;
	struct launch launch = { .kernel = NULL };
	cl_mem y;
	const int failed =
		memory_make(&program->queue, floats * sizeof(float), &y, err) ||
		solver_of(program, index)->remake(program, index, y, &launch,
						  err) ||
		launch_words(&launch, 0, &count, 1, err) ||
		launch_enqueue(&program->queue, &launch, program->count, err) ||
		read_elements(program, y, ELEMENT_SIGN, layout,
			      step_at(program, index)->out, values, err);

	launch_release(&launch);
	memory_release(&program->queue, made);
	return failed ? -1 : 0;
}

int opencl_decisions(struct program *base, int layer, uint8_t *values,
		     struct error *err)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const int index = step_of(program, layer);

	if (!program->count)
		return 0;
	switch (base->model->layers[layer].kind) {
	case LAYER_RELU:
		if (step_is_led(program, index))
			return remake_signs(program, index, values, err);
		return chain_at(program, index).pool == STEP_NO_LAYER ?
			       read_passed(program, index, values, err) :
			       read_pooled(program, index, values, err);
	case LAYER_MAXPOOL:
		return read_winners(program, index, values, err);
	case LAYER_DROPOUT:
	case LAYER_DROPOUT2D:
		return read_choices(program, index, layer, values, err);
	default:
		return 0;
	}
}
