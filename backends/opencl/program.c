/* Compiling a model: plan, kernels, memory, launches, and one of each run. */
#include "backends/opencl/class.h"

#include <stdlib.h>

/* A place in it is a byte, and a tile of the gpu class has a column for it. */
#define MOST_POOL_WINDOW 16

/* Everything that the steps of both classes can do, the longest first. */
static const struct fusion fusions[] = {
	{ "conv+relu+maxpool+dropout", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT } },
	{ "conv+relu+maxpool+dropout2d", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT2D } },
	{ "conv+relu+maxpool", 3, { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL } },
	{ "conv+relu+dropout", 3, { LAYER_CONV, LAYER_RELU, LAYER_DROPOUT } },
	{ "conv+relu+dropout2d", 3,
	  { LAYER_CONV, LAYER_RELU, LAYER_DROPOUT2D } },
	{ "conv+maxpool+dropout", 3,
	  { LAYER_CONV, LAYER_MAXPOOL, LAYER_DROPOUT } },
	{ "conv+maxpool+dropout2d", 3,
	  { LAYER_CONV, LAYER_MAXPOOL, LAYER_DROPOUT2D } },
	{ "linear+relu+dropout", 3,
	  { LAYER_LINEAR, LAYER_RELU, LAYER_DROPOUT } },
	{ "conv+relu", 2, { LAYER_CONV, LAYER_RELU } },
	{ "conv+maxpool", 2, { LAYER_CONV, LAYER_MAXPOOL } },
	{ "conv+dropout", 2, { LAYER_CONV, LAYER_DROPOUT } },
	{ "conv+dropout2d", 2, { LAYER_CONV, LAYER_DROPOUT2D } },
	{ "linear+relu", 2, { LAYER_LINEAR, LAYER_RELU } },
	{ "linear+dropout", 2, { LAYER_LINEAR, LAYER_DROPOUT } },
	{ "conv", 1, { LAYER_CONV } },
	{ "linear", 1, { LAYER_LINEAR } },
	{ "loss", 1, { LAYER_LOSS } },
};

double opencl_sample_bytes(const struct model *model,
			   const struct program_options *options)
{
	struct error ignored;
	struct plan plan;
	double floats;

	(void)options;
	if (plan_build(&plan, model, fusions,
		       sizeof(fusions) / sizeof(fusions[0]), &ignored))
		return 0;
	/* The gradient by what the first step makes goes no further, and is
	 * made piece by piece. */
	floats = 2 * plan_sample_floats(&plan) +
		 (double)shape_size(model->input) -
		 (double)shape_size(plan.steps[0].out);
	return sizeof(float) * floats;
}

static const struct step_kind *kind_of(const struct opencl_program *program,
				       int index)
{
	return program_class(program)->step(program, index);
}

static int window_check(const struct opencl_program *program, int index,
			struct error *err)
{
	const int window = step_at(program, index)->pool_window;

	return window > MOST_POOL_WINDOW ?
		       error_set(err, ERROR_MISSING,
				 "opencl: model '%s' pools by %d x %d, and "
				 "kernels by %d at most: take cpu",
				 program->base.model->name, window, window,
				 MOST_POOL_WINDOW) : 0;
}

static int program_build(struct opencl_program *program, struct error *err)
{
	/* The driver's compiler has it to itself. */
	cl_int status = clFinish(program->queue);

	if (status)
		return room_fail(err, status, "clFinish behind buffers");
	if (program_class(program)->build(program, err))
		return -1;
	for (int i = 0; i < program->plan.count; i++) {
		const struct step_kind *kind = kind_of(program, i);

		if (window_check(program, i, err) ||
		    (kind->build && kind->build(program, i, err)))
			return -1;
	}
	return 0;
}

/* samples: that it has at a time. */
static int pass_allocate(struct opencl_program *program, struct pass *pass,
			 int samples, int training, struct error *err)
{
	const size_t most = samples > 0 ? (size_t)samples : 1;
	/* The last vector of a linear layer may read beyond the last image. */
	const size_t pixels = most * shape_size(program->base.model->input) +
			      16;
	const struct request requests[] = {
		{ &pass->images, 1, pixels * sizeof(float) },
		{ &pass->labels, 1, most },
		{ &pass->outcomes, 1, 2 * most * sizeof(float) },
	};

	pass->most = (int)most;
	pass->training = training;
	if (memory_make_all(program, requests,
			    sizeof(requests) / sizeof(requests[0]), err))
		return -1;
	for (int i = 0; i < program->plan.count; i++) {
		const struct step_kind *kind = kind_of(program, i);

		if (kind->allocate && kind->allocate(program, pass, i, err))
			return -1;
	}
	return 0;
}

/* Launches, and what they take besides; slots: batches that have scores. */
static int pass_make(struct opencl_program *program, struct pass *pass,
		     int slots, struct error *err)
{
	const int count = program->plan.count;

	if (program_class(program)->begin(program, pass, err))
		return -1;
	for (int i = 0; i < count; i++)
		if (kind_of(program, i)->forward(program, pass, i, err))
			return -1;
	for (int i = count - 1; pass->training && i >= 0; i--) {
		const struct step_kind *kind = kind_of(program, i);

		if (kind->backward && kind->backward(program, pass, i, err))
			return -1;
	}
	return score_make(program, pass, slots, err);
}

static int vectors_clear(struct opencl_program *program, struct error *err)
{
	for (int v = 0; v < VECTOR_COUNT; v++)
		if (memory_clear(program, program->vectors[v],
				 program->base.parameters * sizeof(float), err))
			return -1;
	return 0;
}

static int vectors_make(struct opencl_program *program, struct error *err)
{
	for (int v = 0; v < VECTOR_COUNT; v++)
		if (memory_make_seen(program,
				     program->base.parameters * sizeof(float),
				     &program->vectors[v], err))
			return -1;
	return 0;
}

/*
 * Drivers finish compiling a kernel when it first runs, for the grid that it
 * then has: so everything runs once on nothing, as large as it will be.
 */
static int program_warm(struct opencl_program *program, struct error *err)
{
	const struct update update = { .rho = 0.5, .eps = 1 };
	const struct pass *larger = program->train.most > program->test.most ?
					    &program->train : &program->test;
	const size_t most = (size_t)larger->most;
	struct program *base = &program->base;
	struct batch batch = { .stride = 1 };
	float *images = calloc(most * shape_size(base->model->input),
			       sizeof(*images));
	uint8_t *labels = calloc(most, 1);
	int result = -1;

	batch.images = images;
	batch.labels = labels;
	batch.count = batch.global_count = program->train.most;
	if (!images || !labels) {
		error_memory(err, "a batch to warm up with");
		goto out;
	}
	if (opencl_gradient(base, &batch, err) ||
	    opencl_update(base, &update, 0, base->length, err) ||
	    (program_class(program)->train &&
	     opencl_train(base, &batch, &update, err)))
		goto out;
	batch.count = program->test.most;
	if (pass_run(program, &program->test, &batch, err) ||
	    vectors_clear(program, err) ||
	    score_read(program, &program->test, 1, err))
		goto out;
	result = 0;
out:
	/* Nothing may still be reading the batch, and nobody asked for it. */
	clFinish(program->queue);
	program->unfinished = program->count = 0;
	free(images);
	free(labels);
	return result;
}

/* Slices that the largest evaluation takes. */
static int test_slots(const struct program_options *options, int most)
{
	return most > 0 ? round_up(options->test_batch, most) / most : 1;
}

static int test_most(const struct program_options *options)
{
	return options->test_batch < TEST_SLICE ? options->test_batch :
						  TEST_SLICE;
}

static int program_make(struct opencl_program *program, struct error *err)
{
	const struct opencl_device *device = program_device(program);
	const struct device_class *class = device->class;
	const struct program_options *options = &program->base.options;
	const int most = test_most(options);
	const int ahead = options->ahead > 0 ? options->ahead : 1;
	cl_int status;

	program->queue = clCreateCommandQueue(
		device->context, device->chosen.device, 0, &status);
	if (!program->queue)
		return status_fail(err, "clCreateCommandQueue", status);
	/* Compiling takes long: a batch that is too large is known before. */
	if (plan_build(&program->plan, program->base.model, fusions,
		       sizeof(fusions) / sizeof(fusions[0]), err) ||
	    vectors_make(program, err) ||
	    pass_allocate(program, &program->train, options->batch, 1, err) ||
	    pass_allocate(program, &program->test, most, 0, err) ||
	    program_build(program, err) ||
	    pass_make(program, &program->train, ahead, err) ||
	    pass_make(program, &program->test, test_slots(options, most),
		      err) ||
	    update_make(program, err) ||
	    (class->end && class->end(program, err)) ||
	    program_warm(program, err))
		return -1;
	program->own_memories = program->memory_count;
	return 0;
}

int opencl_compile(struct device *device, const struct model *model,
		   const struct program_options *options,
		   struct program **out, struct error *err)
{
	struct opencl_program *program = calloc(1, sizeof(*program));

	if (!program)
		return error_memory(err, "a program");
	program->base = (struct program){
		.device = device,
		.model = model,
		.parameters = model_parameter_count(model),
		.length = model_parameter_count(model),
		.options = *options
	};
	if (program_make(program, err)) {
		opencl_free(&program->base);
		return -1;
	}
	*out = &program->base;
	return 0;
}

void opencl_free(struct program *base)
{
	struct opencl_program *program = (struct opencl_program *)base;

	if (program->queue)
		clFinish(program->queue);
	profile_release(program);
	ahead_release(program);
	pass_release(&program->train);
	pass_release(&program->test);
	launch_release(&program->update);
	launch_release(&program->reduce);
	launch_release(&program->reduce_update);
	for (int i = 0; i < PLAN_MAX_STEPS; i++)
		if (program->built[i])
			clReleaseProgram(program->built[i]);
	if (program->common)
		clReleaseProgram(program->common);
	memory_release(program, 0);
	if (program->queue)
		clReleaseCommandQueue(program->queue);
	free(program);
}
