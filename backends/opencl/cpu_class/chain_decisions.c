/* What the last gradient decided in a chain, fetched or worked out again. */
#include <string.h>

#include "backends/opencl/cpu_class/cpu_class.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/solvers/decisions.h"

/*
 * A pooled step does not keep what its ReLU made, nor one that another leads
 * with. Its kernel makes it again, built without pooling, from the same input
 * and copy of the weights, which only the next training step will overwrite.
 */
static int signs_recompute(struct opencl_program *program, int index,
			   uint8_t *values, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct layout layout =
		layout_channels_last(program, chain.main_out);
	const cl_uint count = (cl_uint)program->count;
	const int made = program->queue.memory_count;
	const struct step_memory *steps = program->train.steps;
	const int by_tiles = winograd_fits(program, index);
	const struct launch prototype =
		by_tiles ? winograd_launch(program, index) :
			   conv_launch(program, index, 0);
	const cl_mem input = winograd_input(program, &program->train, index);
	const cl_mem lead_packed =
		by_tiles ? steps[step_source(program, index)].packed : NULL;
	struct launch launch = { .kernel = NULL };
	cl_program built = NULL;
	cl_mem y = NULL;
	int result = -1;

	if ((by_tiles ? winograd_build : conv_build)(program, index, 0, &built,
						     err) ||
	    memory_make(&program->queue,
			count * (size_t)layout.sample * sizeof(float), &y, err))
		goto out;
	if (launch_make(&launch, &prototype, built,
			(const cl_mem[]){ input, steps[index].packed, y, NULL,
					  NULL, lead_packed },
			by_tiles ? WINOGRAD_FORWARD_MEMORIES :
				   CONV_FORWARD_MEMORIES, err) ||
	    launch_words(&launch, 0, &count, 1, err) ||
	    launch_enqueue(&program->queue, &launch, program->count, err))
		goto out;
	result = decisions_of_signs(program, y, layout, chain.main_out, values,
				    err);
out:
	if (launch.kernel)
		clReleaseKernel(launch.kernel);
	memory_release(&program->queue, made);
	if (built)
		clReleaseProgram(built);
	return result;
}

static int relu_decisions(struct opencl_program *program, int index,
			  uint8_t *values, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const int convolution = chain.window > 0;

	if (chain.pool_window > 1 || step_is_led(program, index))
		return signs_recompute(program, index, values, err);
	return decisions_of_signs(
		program, program->train.steps[index].y,
		convolution ? layout_channels_last(program, chain.out) :
				  layout_output(program, index),
		chain.out, values, err);
}

static int dropout_decisions(struct opencl_program *program, int index,
			     uint8_t *values, struct error *err)
{
	const struct step *step = &program->plan.steps[index];
	const enum dropping dropping = step_dropping(program, index);
	const struct shape planes = { step->out.channels, 1, 1 };
	const struct shape shape = dropping == DROP_PLANES ? planes : step->out;
	const struct layout layout = {
		.sample = step_keep_sample(program, index),
		.channel = shape.height * shape.width,
		.row = shape.width,
		.column = 1
	};

	return decisions_of_bytes(program, program->train.steps[index].keep,
				  layout, shape, values, err);
}

int chain_decisions(struct opencl_program *program, int index, int layer,
		    uint8_t *values, struct error *err)
{
	const struct model *model = program->base.model;
	const struct step_memory *memory = &program->train.steps[index];
	const struct chain chain = chain_at(program, index);
	const size_t choices =
		layer_decisions(&model->layers[layer],
				model_layer_input(model, layer));

	if (layer == chain.relu)
		return relu_decisions(program, index, values, err);
	if (layer == chain.pool && winograd_fits(program, index))
		return decisions_of_bytes(program, memory->routes,
					  layout_output(program, index),
					  chain.out, values, err);
	if (layer == chain.pool)
		return decisions_of_bytes(program, memory->codes,
					  layout_channels_last(program,
							       chain.out),
					  chain.out, values, err);
	if (step_dropping(program, index) != DROP_NOTHING)
		return dropout_decisions(program, index, values, err);
	memset(values, 1, (size_t)program->count * choices);
	return 0;
}
