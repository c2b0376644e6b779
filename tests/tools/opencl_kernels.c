/*
 * Launches every kernel of the OpenCL backend on small models, and prints the
 * name of each, one a line: for oclgrind, which checks each work-item
 * (tests/command/opencl_kernels.bats).
 *
 *   build/tests/opencl_kernels [cpu|gpu]
 *
 * A warning of their compiler, Clang in oclgrind as in PoCL, is an error here.
 *
 * It skips the launches of a program that is being made: they compute zeros.
 *
 * oclgrind 21.10 takes the bytes of a buffer after the last ones that the host
 * wrote for uninitialized, or crashes. Writes and fills therefore become writes
 * of the whole buffer here. Little is hidden, since the backend zeroes a buffer
 * when it makes one.
 */
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/contract/backend.h"
#include "backends/contract/resident.h"
#include "backends/opencl/device/class.h"
#include "backends/opencl/device/device.h"
#include "tests/tools/kernel_models.h"

#define BATCH 4
#define MOST_NAMES 64
#define DECISIONS (1 << 16)

static struct {
	char names[MOST_NAMES][64];
	int count;
	int is_warming; /* nothing is launched */
} launched;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* The driver's own function of this name. */
static void *driver(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		fail(name);
	return found;
}

static cl_int write_whole(cl_command_queue queue, cl_mem buffer, size_t offset,
			  size_t size, const void *from)
{
	cl_int (*write)(cl_command_queue, cl_mem, cl_bool, size_t, size_t,
			const void *, cl_uint, const cl_event *, cl_event *);
	size_t whole = 0;
	char *content;
	cl_int status;

	*(void **)&write = driver("clEnqueueWriteBuffer");
	clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(whole), &whole, NULL);
	content = calloc(whole, 1);
	if (!content)
		fail("no memory");
	status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, whole, content,
				     0, NULL, NULL);
	memcpy(content + offset, from, size);
	if (!status)
		status = write(queue, buffer, CL_TRUE, 0, whole, content, 0,
			       NULL, NULL);
	free(content);
	return status;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
			    cl_bool blocking, size_t offset, size_t size,
			    const void *from, cl_uint count,
			    const cl_event *waits, cl_event *event)
{
	(void)blocking;
	if (count || waits || event)
		fail("clEnqueueWriteBuffer with events");
	return write_whole(queue, buffer, offset, size, from);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
			   const void *pattern, size_t pattern_size,
			   size_t offset, size_t size, cl_uint count,
			   const cl_event *waits, cl_event *event)
{
	char *content = malloc(size);
	cl_int status;

	if (!content || size % pattern_size || count || waits || event)
		fail("clEnqueueFillBuffer with events");
	for (size_t i = 0; i < size; i += pattern_size)
		memcpy(content + i, pattern, pattern_size);
	status = write_whole(queue, buffer, offset, size, content);
	free(content);
	return status;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
				     const char **lines, const size_t *lengths,
				     cl_int *status)
{
	/* PoCL has no option for warnings, and oclgrind ignores options.
	 * Sources share files of functions, and each calls some of them. */
	static const char strict[] =
		"#pragma clang diagnostic error \"-Wall\"\n"
		"#pragma clang diagnostic ignored \"-Wunused-function\"\n";
	cl_program (*create)(cl_context, cl_uint, const char **,
			     const size_t *, cl_int *);
	const char **all = calloc(count + 1, sizeof(*all));
	cl_program created;

	*(void **)&create = driver("clCreateProgramWithSource");
	if (!all || lengths)
		fail("clCreateProgramWithSource with lengths");
	all[0] = strict;
	memcpy(all + 1, lines, count * sizeof(*lines));
	created = create(context, count + 1, all, NULL, status);
	free(all);
	return created;
}

static void launched_add(const char *name)
{
	for (int i = 0; i < launched.count; i++)
		if (!strcmp(launched.names[i], name))
			return;
	if (launched.count == MOST_NAMES)
		fail("more kernels than this list takes");
	snprintf(launched.names[launched.count++], sizeof(launched.names[0]),
		 "%s", name);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
			      cl_uint dimensions, const size_t *offset,
			      const size_t *global, const size_t *local,
			      cl_uint count, const cl_event *waits,
			      cl_event *event)
{
	cl_int (*launch)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
			 const size_t *, const size_t *, cl_uint,
			 const cl_event *, cl_event *);
	char name[64] = "";

	if (launched.is_warming)
		return CL_SUCCESS;
	clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name,
			NULL);
	launched_add(name);
	*(void **)&launch = driver("clEnqueueNDRangeKernel");
	return launch(queue, kernel, dimensions, offset, global, local, count,
		      waits, event);
}

static void check(int failed, const struct error *err)
{
	if (failed)
		fail(err->message);
}

/* Fills values with what is between -1 and 1, and nothing like the other. */
static float *noise(size_t count)
{
	float *values = malloc(count * sizeof(*values));
	unsigned state = 1;

	if (!values)
		fail("no memory");
	for (size_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		values[i] = (float)(state >> 8) / (1 << 23) - 1;
	}
	return values;
}

static void decisions_ask(struct program *program, const struct model *model)
{
	static uint8_t decisions[DECISIONS];
	struct error err;

	for (int i = 0; i < model->layer_count; i++)
		check(program_decisions(program, i, decisions, &err), &err);
}

static struct update update_of(const struct model *model)
{
	return (struct update){ .optimizer = model->recipe.optimizer,
				.lr = 1, .rho = .9, .eps = 1e-6,
				.beta1 = .9, .beta2 = .99, .momentum = .5 };
}

static void steps(struct program *program, const struct model *model,
		  float *images)
{
	static const uint16_t labels[BATCH] = { 0, 1, 0, 1 };
	static const float targets[BATCH * 3] = { 1, 0, .5f };
	const struct update update = update_of(model);
	struct batch batch = { .images = images,
			       .labels = labels,
			       .targets = targets,
			       .global_count = BATCH,
			       .stride = 1 };
	struct score score = { 0 };
	struct error err;

	batch.count = BATCH;
	check(program_gradient(program, &batch, &err), &err);
	check(program_update(program, &update, &err), &err);
	check(program_finish(program, &score, &err), &err);
	batch.count = 1;
	check(program_train(program, &batch, &update, &err), &err);
	batch.count = 3;
	check(program_evaluate(program, &batch, &score, &err), &err);
	decisions_ask(program, model);
}

/* A step and a test of samples that the device holds. */
static void resident_steps(struct program *program, const struct model *model)
{
	static const uint16_t labels[BATCH] = { 1, 0, 1, 0 };
	static const int order[BATCH] = { 2, 0, 3, 1 };
	uint8_t *images = calloc(BATCH, shape_size(model->input));
	const struct resident_set set = { images, labels, BATCH };
	const struct resident_data data = { .train = set, .test = set };
	struct batch batch = { .count = 2, .global_count = 2, .stride = 1 };
	struct score score = { 0 };
	struct error err;

	if (!images)
		fail("no memory");
	check(program_upload_data(program, &data, &err), &err);
	check(program_order(program, order, &err), &err);
	check(program_gradient(program, &batch, &err), &err);
	check(program_evaluate(program, &batch, &score, &err), &err);
	check(program_finish(program, &score, &err), &err);
	free(images);
}

static void all_steps(struct program *program, const struct model *model,
		      float *images)
{
	steps(program, model, images);
	/* All models gather samples by the same kernel. */
	if (model == cpu_models)
		resident_steps(program, model);
}

/* Each kernel once: of one model with a whole batch, of others with a part. */
static void few_steps(struct program *program, const struct model *model,
		      float *images)
{
	static const uint16_t labels[] = { 0, 1 };
	const struct update update = update_of(model);
	struct batch batch = { .images = images,
			       .labels = labels,
			       .count = 2,
			       .global_count = 2,
			       .stride = 1 };
	struct score score = { 0 };
	struct error err;

	if (model == gpu_models) {
		check(program_gradient(program, &batch, &err), &err);
		decisions_ask(program, model);
		check(program_update(program, &update, &err), &err);
	} else {
		batch.count = 1;
		check(program_train(program, &batch, &update, &err), &err);
		batch.count = 2;
	}
	/* Others are tested by the same kernels. */
	if (model->layers == stored_layers)
		check(program_evaluate(program, &batch, &score, &err), &err);
	check(program_finish(program, &score, &err), &err);
}

static const struct class {
	const char *name;
	const struct model *models;
	int model_count, batch;
	int algorithms; /* the first ones, whose kernels differ */
	void (*run)(struct program *program, const struct model *model,
		    float *images);
} classes[] = {
	{ "cpu", cpu_models, sizeof(cpu_models) / sizeof(cpu_models[0]), BATCH,
	  ALGORITHM_COUNT, all_steps },
	{ "gpu", gpu_models, sizeof(gpu_models) / sizeof(gpu_models[0]), 2,
	  1, few_steps },
};

static void model_run(struct device *device, const struct class *class,
		      const struct model *model, enum algorithm algorithm,
		      enum precision precision)
{
	const struct program_options options = { .batch = class->batch,
						 .test_batch = class->batch,
						 .seed = 1,
						 .dropout = 1,
						 .algorithm = algorithm,
						 .precision = precision };
	float *images = noise(BATCH * shape_size(model->input));
	float *parameters = noise(model_parameter_count(model));
	struct program *program;
	struct error err;

	launched.is_warming = 1;
	check(program_compile(device, model, &options, &program, &err), &err);
	launched.is_warming = 0;
	check(program_store(program, VECTOR_PARAMETERS, parameters, &err),
	      &err);
	class->run(program, model, images);
	program_free(program);
	free(images);
	free(parameters);
}

/* What layers alone have in dense they have in fast, too, and a recipe is no
 * matter of it. */
static int algorithms_of(const struct class *class, const struct model *model)
{
	const int has_several = model->layers != alone_layers &&
			   model->layers != folded_layers &&
			   model->layers != vectors_layers &&
			   model->layers != single_layers;

	return has_several ? class->algorithms : 1;
}

/* Has products split where they have few factors: oclgrind needs a minute for
 * two parts of as many as a GPU gets. */
static void parts_shorten(struct opencl_device *device)
{
	static struct device_class shortened;

	shortened = *device->class;
	shortened.tiling.least_depth = 16;
	device->class = &shortened;
}

int main(int argc, char **argv)
{
	const struct class *class =
		&classes[argc > 1 && !strcmp(argv[1], "gpu")];
	const struct device_request request = {
		.threads = 1,
		.cpus = 1,
		.device_class = class->name,
	};
	struct device *device;
	struct error err;

	check(device_open(backend_find("opencl"), &request, &device, &err),
	      &err);
	parts_shorten((struct opencl_device *)device);
	for (int i = 0; i < class->model_count; i++)
		for (int a = 0; a < algorithms_of(class, &class->models[i]);
		     a++)
			model_run(device, class, &class->models[i],
				  (enum algorithm)a, PRECISION_FP32);
	/* The kernels that round are of the same text in both classes. */
	for (int i = 0; class == classes && i < class->model_count; i++)
		if (class->models[i].layers == vectors_layers)
			model_run(device, class, &class->models[i],
				  ALGORITHM_FAST, PRECISION_BF16_STORAGE);
	device_close(device);
	for (int i = 0; i < launched.count; i++)
		puts(launched.names[i]);
	return 0;
}
