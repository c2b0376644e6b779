/* Sources become programs. Each line of a kernel's file is one string. */
#include "backends/opencl/cache.h"
#include "backends/opencl/opencl.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 8
#define LOG_LINES 20
#define OPTIONS_SIZE 2048

static const char *const vector_lines[] = {
#include "kernels/vector.cl.h"
};
static const char *const conv_forward_lines[] = {
#include "kernels/conv_forward.cl.h"
};
static const char *const conv_backward_lines[] = {
#include "kernels/conv_backward.cl.h"
};
static const char *const conv_dense_lines[] = {
#include "kernels/conv_dense.cl.h"
};
static const char *const winograd_lines[] = {
#include "kernels/winograd.cl.h"
};
static const char *const winograd_forward_lines[] = {
#include "kernels/winograd_forward.cl.h"
};
static const char *const winograd_weights_lines[] = {
#include "kernels/winograd_weights.cl.h"
};
static const char *const winograd_lead_lines[] = {
#include "kernels/winograd_lead.cl.h"
};
static const char *const winograd_backward_lines[] = {
#include "kernels/winograd_backward.cl.h"
};
static const char *const linear_lines[] = {
#include "kernels/linear.cl.h"
};
static const char *const linear_forward_lines[] = {
#include "kernels/linear_forward.cl.h"
};
static const char *const linear_dense_lines[] = {
#include "kernels/linear_dense.cl.h"
};
static const char *const loss_lines[] = {
#include "kernels/loss.cl.h"
};
static const char *const gather_lines[] = {
#include "kernels/gather.cl.h"
};
static const char *const score_lines[] = {
#include "kernels/score.cl.h"
};
static const char *const recipe_lines[] = {
#include "kernels/recipe.cl.h"
};
static const char *const step_lines[] = {
#include "kernels/step.cl.h"
};
static const char *const philox_lines[] = {
#include "kernels/philox.cl.h"
};
static const char *const generic_lines[] = {
#include "kernels/generic.cl.h"
};
static const char *const generic_pool_lines[] = {
#include "kernels/generic_pool.cl.h"
};
static const char *const generic_norm_lines[] = {
#include "kernels/generic_norm.cl.h"
};
static const char *const generic_conv_lines[] = {
#include "kernels/generic_conv.cl.h"
};
static const char *const gpu_lines[] = {
#include "kernels/gpu.cl.h"
};
static const char *const gpu_conv_lines[] = {
#include "kernels/gpu_conv.cl.h"
};
static const char *const gpu_conv_forward_lines[] = {
#include "kernels/gpu_conv_forward.cl.h"
};
static const char *const gpu_conv_backward_lines[] = {
#include "kernels/gpu_conv_backward.cl.h"
};
static const char *const gpu_linear_lines[] = {
#include "kernels/gpu_linear.cl.h"
};
static const char *const gpu_step_lines[] = {
#include "kernels/gpu_step.cl.h"
};
static const char *const gpu_sums_lines[] = {
#include "kernels/gpu_sums.cl.h"
};

struct part {
	const char *const *lines;
	size_t count;
};

#define PART(lines) { lines, sizeof(lines) / sizeof((lines)[0]) }

static const struct {
	const char *name;
	struct part parts[MOST_PARTS];
} sources[] = {
	[SOURCE_CONV] = { "convolution",
			  { PART(vector_lines), PART(conv_forward_lines),
			    PART(conv_backward_lines),
			    PART(conv_dense_lines) } },
	[SOURCE_WINOGRAD] = { "convolution by tiles",
			      { PART(vector_lines), PART(conv_forward_lines),
				PART(conv_backward_lines), PART(winograd_lines),
				PART(winograd_lead_lines),
				PART(winograd_forward_lines),
				PART(winograd_weights_lines),
				PART(winograd_backward_lines) } },
	[SOURCE_LINEAR] = { "linear layer",
			    { PART(vector_lines), PART(loss_lines),
			      PART(linear_lines), PART(linear_forward_lines),
			      PART(linear_dense_lines) } },
	[SOURCE_STEP] = { "loss and update",
			  { PART(vector_lines), PART(loss_lines),
			    PART(gather_lines), PART(score_lines),
			    PART(step_lines), PART(recipe_lines) } },
	[SOURCE_GPU_CONV] = { "convolution",
			      { PART(philox_lines), PART(gpu_lines),
				PART(gpu_conv_lines),
				PART(gpu_conv_forward_lines),
				PART(gpu_conv_backward_lines) } },
	[SOURCE_GPU_LINEAR] = { "linear layer",
				{ PART(philox_lines), PART(gpu_lines),
				  PART(loss_lines), PART(gpu_linear_lines) } },
	[SOURCE_GPU_STEP] = { "loss and update",
			      { PART(philox_lines), PART(gpu_lines),
				PART(loss_lines), PART(gather_lines),
				PART(score_lines), PART(gpu_step_lines),
				PART(recipe_lines) } },
	[SOURCE_GPU_SUMS] = { "sums and update",
			      { PART(philox_lines), PART(gpu_lines),
				PART(loss_lines), PART(score_lines),
				PART(gpu_step_lines), PART(gpu_sums_lines) } },
	[SOURCE_GENERIC] = { "layer alone",
			     { PART(philox_lines), PART(generic_lines),
			       PART(generic_pool_lines),
			       PART(generic_norm_lines),
			       PART(generic_conv_lines) } },
};

static int source_create(const struct opencl_device *device,
			 enum source source, cl_program *built,
			 struct error *err)
{
	const struct part *parts = sources[source].parts;
	const char **lines = NULL;
	size_t count = 0;
	cl_int status;

	for (int p = 0; p < MOST_PARTS; p++)
		count += parts[p].count;
	lines = calloc(count, sizeof(*lines));
	if (!lines)
		return error_memory(err, "the text of kernels");
	count = 0;
	for (int p = 0; p < MOST_PARTS; p++)
		for (size_t i = 0; i < parts[p].count; i++)
			lines[count++] = parts[p].lines[i];
	*built = clCreateProgramWithSource(device->context, (cl_uint)count,
					   lines, NULL, &status);
	free(lines);
	return *built ? 0 : status_fail(err, "clCreateProgramWithSource",
					status);
}

/* The compiler's first lines; one that only says nothing may lack a cache. */
static int build_fail(const struct opencl_device *device, const char *name,
		      cl_program built, cl_int status, struct error *err)
{
	char cache[768] = "";
	size_t size = 0;
	char *log = NULL, *end;

	clGetProgramBuildInfo(built, device->chosen.device,
			      CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	log = calloc(size + 1, 1);
	if (!log)
		return error_memory(err, "the log of a compiler");
	clGetProgramBuildInfo(built, device->chosen.device,
			      CL_PROGRAM_BUILD_LOG, size, log, NULL);
	end = log;
	for (int line = 0; end && line < LOG_LINES; line++)
		end = strchr(end + (line > 0), '\n');
	if (end)
		*end = '\0';
	if (strlen(log) < 2)
		cache_explain(cache, sizeof(cache));
	error_set(err, ERROR_FAILED,
		  "the kernels of a %s were not built: clBuildProgram: %s%s%s\n"
		  "%s", name, status_name(status), cache[0] ? ": " : "", cache,
		  log);
	free(log);
	return -1;
}

int source_build(const struct opencl_device *device, enum source source,
		 cl_program *built, struct error *err, const char *options, ...)
{
	char all[OPTIONS_SIZE];
	va_list arguments;
	int length, more;
	cl_int status;

	length = snprintf(all, sizeof(all), "-cl-std=CL1.2%s -D WIDTH=%d ",
			  device->math_options, device->width);
	va_start(arguments, options);
	more = vsnprintf(all + length, sizeof(all) - (size_t)length, options,
			 arguments);
	va_end(arguments);
	/* The C library needs memory for as many numbers as these. */
	if (more < 0)
		return error_memory(err, "the options of a compiler");
	assert(length + more < OPTIONS_SIZE);
	if (source_create(device, source, built, err))
		return -1;
	status = clBuildProgram(*built, 1, &device->chosen.device, all, NULL,
				NULL);
	return status ? build_fail(device, sources[source].name, *built,
				   status, err) : 0;
}
