#include "backends/opencl/program/slots.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/batch.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/program/rounding.h"
#include "backends/opencl/program/scores.h"
#include "backends/opencl/program/steps.h"

/* Samples that an evaluation has on the device at a time, at most, and bytes of
 * what steps make of them, about. */
#define TEST_SLICE 250
#define TEST_BYTES 268435456.

/* While there is no device, one of 16 lanes: see device.c. */
#define SAMPLE_WIDTH 16
#define SAMPLE_REGISTERS 26

static int plan_make(struct plan *plan, const struct graph *graph,
		     const struct program_options *options,
		     const struct device_class *class, int width,
		     struct error *err)
{
	const struct opencl_options all = { *options, width };
	int first = 0;

	/* Rounding row by row needs rows computed one by one: by the loss
	 * solver and the solvers after it. */
	while (precision_rounds(options->precision) &&
	       class->solvers[first] != &loss_solver.base)
		first++;
	return plan_resolve(plan, graph, &all.base, class->solvers + first,
			    class->solver_count - first, err);
}

static int program_build(struct opencl_program *program, struct error *err)
{
	/* The driver's compiler runs alone. */
	cl_int status = clFinish(program->queue.commands);

	if (status)
		return allocation_fail(err, status, "clFinish after buffers");
	if (program_class(program)->build(program, err))
		return -1;
	for (int i = 0; i < program->plan.count; i++) {
		const struct opencl_solver *solver = solver_of(program, i);

		if (solver->build && solver->build(program, i, err))
			return -1;
	}
	return 0;
}

/* Kernels count the pixels of a batch by int. */
static int pixels_check(const struct opencl_program *program, int samples,
			struct error *err)
{
	for (int i = 0; i < program->graph.count; i++) {
		const struct shape in = program->graph.nodes[i].in;

		if ((double)samples * in.height * in.width > INT_MAX)
			return error_set(err, ERROR_USAGE, "a batch of %d "
					 "samples of %dx%d pixels is too "
					 "large: the OpenCL kernels allow at "
					 "most %d pixels; use backend cpu",
					 samples,
					 in.height, in.width, INT_MAX);
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
		{ &pass->labels, 1, most * target_bytes(program) },
		{ &pass->outcomes, 1, 2 * most * sizeof(float) },
	};

	pass->most = (int)most;
	pass->training = training;
	if (memory_make_all(&program->queue, requests, COUNT(requests), err))
		return -1;
	for (int i = 0; i < program->plan.count; i++) {
		const struct opencl_solver *solver = solver_of(program, i);

		if (solver->allocate && solver->allocate(program, pass, i, err))
			return -1;
	}
	return 0;
}

/* Makes launches and their buffers. slots: number of batches with scores. */
static int pass_make(struct opencl_program *program, struct pass *pass,
		     int slots, struct error *err)
{
	const int count = program->plan.count;

	if (program_class(program)->begin(program, pass, err) ||
	    rounding_begin(program, pass, err))
		return -1;
	for (int i = 0; i < count; i++)
		if (solver_of(program, i)->forward(program, pass, i, err) ||
		    rounding_forward(program, pass, i, err))
			return -1;
	for (int i = count - 1; pass->training && i >= 0; i--) {
		const struct opencl_solver *solver = solver_of(program, i);

		if ((solver->backward &&
		     solver->backward(program, pass, i, err)) ||
		    rounding_backward(program, pass, i, err))
			return -1;
	}
	if (rounding_end(program, pass, err))
		return -1;
	return score_make(program, pass, slots, err);
}

static size_t buffers_bytes(const struct opencl_program *program)
{
	return program->base.buffers * sizeof(float);
}

static int vectors_clear(struct opencl_program *program, struct error *err)
{
	if (program->buffers && memory_clear(&program->queue, program->buffers,
					     buffers_bytes(program), err))
		return -1;
	for (int v = 0; v < program->base.vectors; v++)
		if (memory_clear(&program->queue, program->vectors[v],
				 program->base.parameters * sizeof(float), err))
			return -1;
	return 0;
}

static int vectors_make(struct opencl_program *program, struct error *err)
{
	for (int v = 0; v < program->base.vectors; v++)
		if (memory_make_shared(&program->queue,
				       program->base.parameters * sizeof(float),
				       &program->vectors[v], err))
			return -1;
	return program->base.buffers ?
		       memory_make(&program->queue, buffers_bytes(program),
				   &program->buffers, err) : 0;
}

/*
 * Drivers finish compiling a kernel when it first runs, for the grid that it
 * then has: so everything runs once on nothing, as large as it will be.
 */
static int program_warm(struct opencl_program *program, struct error *err)
{
	const struct update update = { .rho = 0.5, .eps = 1, .optimizer =
		program->base.model->recipe.optimizer };
	const struct pass *larger = program->train.most > program->test.most ?
					    &program->train : &program->test;
	const size_t most = (size_t)larger->most;
	struct program *base = &program->base;
	struct batch batch = { .stride = 1 };
	float *images = calloc(most * shape_size(base->model->input),
			       sizeof(*images));
	void *targets = calloc(most, target_bytes(program));
	int result = -1;

	batch.images = images;
	batch.labels = targets;
	batch.targets = targets;
	batch.count = batch.global_count = program->train.most;
	if (!images || !targets) {
		error_memory(err, "a batch to warm up with");
		goto out;
	}
	if (opencl_gradient(base, &batch, NULL, err) ||
	    opencl_update(base, &update, 0, base->length, err) ||
	    (program_class(program)->train &&
	     opencl_gradient(base, &batch, &update, err)))
		goto out;
	batch.count = program->test.most;
	if (batch_run(program, &program->test, &batch, err) ||
	    vectors_clear(program, err) ||
	    score_read(program, &program->test, 1, err))
		goto out;
	result = 0;
out:
	/* Commands may still read the batch, whose score is not needed. */
	clFinish(program->queue.commands);
	program->unfinished = program->count = 0;
	free(images);
	free(targets);
	return result;
}

/* Samples of a slice: few of a network that makes much of each. */
static int test_most(const struct opencl_program *program)
{
	const struct program_options *options = &program->base.options;
	const double room = TEST_BYTES / (sizeof(float) *
					  plan_sample_floats(&program->plan));
	int most = options->test_batch < TEST_SLICE ? options->test_batch :
						      TEST_SLICE;

	if (most > room)
		most = room < 1 ? 1 : (int)room;
	return most;
}

/* Slices of the largest evaluation. */
static int test_slots(const struct program_options *options, int most)
{
	return most > 0 ? parts_of(options->test_batch, most) : 1;
}

static void room_for(struct request *request, size_t floats)
{
	const size_t bytes = floats * sizeof(cl_float);

	request->bytes = bytes > request->bytes ? bytes : request->bytes;
	request->wanted = request->bytes > 0;
}

/* Adds the scratch that a step needs for a pass of this number of samples. */
static void room_at(struct opencl_program *program, int index, int samples,
		    struct request *requests)
{
	const struct generic_room room =
		solver_of(program, index)->room(program, index, samples);

	room_for(&requests[0], room.parts);
	room_for(&requests[1], room.packed);
	room_for(&requests[2], room.x);
	room_for(&requests[3], room.dy);
	room_for(&requests[4], room.points);
	room_for(&requests[5], room.sums);
}

/* What generic steps share, for passes of a batch and of a test's samples. */
static int generic_share(struct opencl_program *program, int batch, int test,
			 struct error *err)
{
	struct generic_memory *memory = &program->generic_memory;
	struct request requests[] = { { &memory->parts, 0, 0 },
				      { &memory->packed, 0, 0 },
				      { &memory->x, 0, 0 },
				      { &memory->dy, 0, 0 },
				      { &memory->points, 0, 0 },
				      { &memory->sums, 0, 0 } };

	for (int i = 0; i < program->plan.count; i++) {
		if (!solver_of(program, i)->room)
			continue;
		room_at(program, i, batch, requests);
		room_at(program, i, test, requests);
	}
	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}

/* What steps keep of a gradient's batch, and of a slice of a test. */
static int arrays_make(struct opencl_program *program, int most,
		       struct error *err)
{
	const int batch = batch_most(program);
	const int larger = most > batch ? most : batch;

	/* An estimate is of batches of any size. */
	if (!program->queue.counts && pixels_check(program, larger, err))
		return -1;
	return generic_share(program, batch, most, err) ||
	       pass_allocate(program, &program->train,
			     program->base.options.batch, 1, err) ||
	       pass_allocate(program, &program->test, most, 0, err) ? -1 : 0;
}

/* Counts the memory of a program without a device, of the cpu class. Devices of
 * the gpu class have memory of their own. */
double opencl_sample_bytes(const struct model *model,
			   const struct program_options *options)
{
	struct opencl_device device = {
		.base.backend = &opencl_backend,
		.class = &cpu_class,
		.width = SAMPLE_WIDTH,
		.registers = SAMPLE_REGISTERS,
	};
	struct program_options own = *options;
	/* Not on the stack, which a thread may have little of. */
	struct opencl_program *program = calloc(1, sizeof(*program));
	struct error ignored;
	double bytes = plan_decision_bytes(model);

	if (!program)
		return NAN;
	own.batch = options->batch > 0 ? options->batch : 1;
	program_begin(&program->base, &device.base, model, &own);
	graph_resolve(&program->graph, model);
	program->queue.program = &program->base;
	program->queue.counts = 1;
	if (!plan_make(&program->plan, &program->graph, &own, device.class,
		       device.width, &ignored) &&
	    !arrays_make(program, test_most(program), &ignored))
		bytes = program->queue.counted_bytes / own.batch;
	free(program);
	return bytes;
}

static int program_make(struct opencl_program *program, struct error *err)
{
	const struct opencl_device *device = program_device(program);
	const struct device_class *class = device->class;
	const struct program_options *options = &program->base.options;
	const int ahead = options->ahead > 0 ? options->ahead : 1;
	int most;

	if (queue_open(&program->queue, &program->base, err) ||
	    plan_make(&program->plan, &program->graph, options, class,
		      device->width, err))
		return -1;
	most = test_most(program);
	/* Compiling takes long: a batch that is too large is known before. */
	if (vectors_make(program, err) || rounding_share(program, err) ||
	    arrays_make(program, most, err) || program_build(program, err) ||
	    pass_make(program, &program->train, ahead, err) ||
	    pass_make(program, &program->test, test_slots(options, most),
		      err) ||
	    update_make(program, err) || rounding_make(program, err) ||
	    (class->end && class->end(program, err)) ||
	    program_warm(program, err))
		return -1;
	program->queue.own_memories = program->queue.memory_count;
	return 0;
}

int opencl_compile(struct device *device, const struct model *model,
		   const struct program_options *options,
		   struct program **out, struct error *err)
{
	struct opencl_program *program = calloc(1, sizeof(*program));

	if (!program)
		return error_memory(err, "a program");
	program_begin(&program->base, device, model, options);
	program->base.plan = &program->plan;
	graph_resolve(&program->graph, model);
	storage_resolve(&program->storage, &program->graph, options->precision);
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

	if (program->queue.commands)
		clFinish(program->queue.commands);
	ahead_release(program);
	pass_release(&program->train);
	pass_release(&program->test);
	launch_release(&program->update);
	for (int v = 0; v < VECTOR_COUNT; v++)
		launch_release(&program->slices[v]);
	launch_release(&program->reduce);
	launch_release(&program->reduce_update);
	for (int i = 0; i < MODEL_MAX_LAYERS; i++)
		if (program->built[i])
			clReleaseProgram(program->built[i]);
	if (program->common)
		clReleaseProgram(program->common);
	if (program->sums)
		clReleaseProgram(program->sums);
	if (program->generic)
		clReleaseProgram(program->generic);
	memory_release(&program->queue, 0);
	queue_close(&program->queue);
	free(program);
}
