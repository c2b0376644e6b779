/*
 * What the last gradient of the gpu class decided. Of a pooled ReLU only what
 * the winner's was makes a difference; what dropout chose is a function of the
 * batch, and has shown in the routes.
 */
#include "backends/opencl/gpu_class/gpu_class.h"

#include <stdlib.h>
#include <string.h>

#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"

#include "models/random.h"

/* Bits of a route beside its place: gpu.cl. */
#define STOPPED 256
#define PLACE 255

static cl_ushort *routes_copy(struct opencl_program *program, int index,
			      struct error *err)
{
	return memory_copy(&program->queue, program->train.steps[index].routes,
			   (size_t)program->count *
				   gpu_outputs(program, index) *
				   sizeof(cl_ushort), err);
}

static int pool_decisions(struct opencl_program *program, int index,
			  uint8_t *values, struct error *err)
{
	const size_t count = (size_t)program->count *
			     gpu_outputs(program, index);
	cl_ushort *routes = routes_copy(program, index, err);

	for (size_t i = 0; routes && i < count; i++)
		values[i] = routes[i] & PLACE;
	free(routes);
	return routes ? 0 : -1;
}

static int relu_decisions(struct opencl_program *program, int index,
			  uint8_t *values, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const size_t width = (size_t)chain.out.width;
	const size_t rows = (size_t)program->count *
			    (size_t)chain.out.channels *
			    (size_t)chain.out.height;
	const size_t pool = (size_t)chain.pool_window;
	const size_t before = (size_t)chain.main_out.width;
	const size_t plane = before * (size_t)chain.main_out.height;
	cl_ushort *routes = routes_copy(program, index, err);

	memset(values, DECISION_ANY,
	       (size_t)program->count * shape_size(chain.main_out));
	for (size_t i = 0; routes && i < rows * width; i++) {
		const size_t row = i / width;
		const size_t height = (size_t)chain.out.height;
		const size_t place = routes[i] & PLACE;

		values[row / height * plane +
		       (row % height * pool + place / pool) * before +
		       i % width * pool + place % pool] =
			!(routes[i] & STOPPED);
	}
	free(routes);
	return routes ? 0 : -1;
}

/* A lead's output is nowhere: its kernel makes it again from the parameters
 * that it has left. */
static int lead_decisions(struct opencl_program *program, int index,
			  uint8_t *values, struct error *err)
{
	const size_t size = (size_t)program->count *
			    shape_size(step_at(program, index)->out);
	const struct launch prototype =
		gpu_launch(program, "lead_signs", index,
			parts_of((int)size, gpu_tiling(program)->items));
	const cl_uint count = (cl_uint)program->count;
	const int made = program->queue.memory_count;
	struct launch launch = { .kernel = NULL };
	cl_mem signs = NULL;
	int result = -1;

	if (memory_make(&program->queue, size, &signs, err) ||
	    launch_make(&launch, &prototype,
			program->built[step_reader(program, index)],
			(const cl_mem[]){ program->train.images,
					  program->train.steps[index].packed,
					  signs },
			3, err) ||
	    launch_words(&launch, 0, &count, 1, err) ||
	    launch_enqueue(&program->queue, &launch, 1, err))
		goto out;
	result = memory_fetch(&program->queue, signs, size, values, err);
out:
	if (launch.kernel)
		clReleaseKernel(launch.kernel);
	memory_release(&program->queue, made);
	return result;
}

static void dropout_decisions(const struct opencl_program *program, int layer,
			      size_t choices, uint8_t *values)
{
	const struct batch *batch = &program->last;

	for (int i = 0; i < program->count; i++)
		dropout_choices(program->base.options.seed, batch->step,
				(uint32_t)(batch->place + batch->stride * i),
				(uint32_t)layer,
				program->base.model->layers[layer].drop,
				(int)choices, values + (size_t)i * choices);
}

int gpu_decisions(struct opencl_program *program, int index, int layer,
		  uint8_t *values, struct error *err)
{
	const struct model *model = program->base.model;
	const struct chain chain = chain_at(program, index);
	const size_t choices =
		layer_decisions(&model->layers[layer],
				model_layer_input(model, layer));

	if (layer == chain.relu)
		return step_is_led(program, index) ?
			       lead_decisions(program, index, values, err) :
			       relu_decisions(program, index, values, err);
	if (layer == chain.pool)
		return pool_decisions(program, index, values, err);
	if (step_dropping(program, index) != DROP_NOTHING)
		dropout_decisions(program, layer, choices, values);
	else
		memset(values, 1, (size_t)program->count * choices);
	return 0;
}
