#include "backends/opencl/program/source.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/device/pocl.h"
#include "backends/opencl/device/status.h"

#define LOG_LINES 20
#define OPTIONS_SIZE 2048

/* Each line of a kernel's file is one string, which the linker keeps once. */
static const char *const conv_lines[] = {
#include "kernels/vector.cl.h"
#include "kernels/conv_forward.cl.h"
#include "kernels/conv_backward.cl.h"
#include "kernels/conv_dense.cl.h"
};

static const char *const winograd_lines[] = {
#include "kernels/vector.cl.h"
#include "kernels/transpose.cl.h"
#include "kernels/conv_forward.cl.h"
#include "kernels/conv_backward.cl.h"
#include "kernels/winograd_points.cl.h"
#include "kernels/winograd.cl.h"
#include "kernels/winograd_lead.cl.h"
#include "kernels/winograd_forward.cl.h"
#include "kernels/winograd_weights.cl.h"
#include "kernels/winograd_backward.cl.h"
};

static const char *const linear_lines[] = {
#include "kernels/vector.cl.h"
#include "kernels/fetch.cl.h"
#include "kernels/transpose.cl.h"
#include "kernels/loss.cl.h"
#include "kernels/linear.cl.h"
#include "kernels/linear_forward.cl.h"
#include "kernels/linear_dense.cl.h"
};

static const char *const recipe_lines[] = {
#include "kernels/vector.cl.h"
#include "kernels/philox.cl.h"
#include "kernels/loss.cl.h"
#include "kernels/gather.cl.h"
#include "kernels/score.cl.h"
#include "kernels/recipe.cl.h"
#include "kernels/dropout.cl.h"
};

static const char *const gpu_conv_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/gpu.cl.h"
#include "kernels/gpu_conv.cl.h"
#include "kernels/gpu_conv_forward.cl.h"
#include "kernels/gpu_conv_backward.cl.h"
};

static const char *const gpu_linear_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/gpu.cl.h"
#include "kernels/loss.cl.h"
#include "kernels/gpu_linear.cl.h"
};

static const char *const gpu_recipe_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/gpu.cl.h"
#include "kernels/loss.cl.h"
#include "kernels/gather.cl.h"
#include "kernels/score.cl.h"
#include "kernels/recipe.cl.h"
};

static const char *const gpu_sums_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/gpu.cl.h"
#include "kernels/loss.cl.h"
#include "kernels/score.cl.h"
#include "kernels/recipe.cl.h"
#include "kernels/gpu_sums.cl.h"
};

static const char *const generic_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/fetch.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/generic.cl.h"
#include "kernels/transpose.cl.h"
#include "kernels/generic_pool.cl.h"
#include "kernels/generic_norm.cl.h"
#include "kernels/conv_last.cl.h"
#include "kernels/conv_last_weights.cl.h"
#include "kernels/storage.cl.h"
};

static const char *const tiles_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/fetch.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/generic.cl.h"
#include "kernels/transpose.cl.h"
#include "kernels/winograd_points.cl.h"
#include "kernels/winograd_last.cl.h"
};

static const char *const tiles7_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/fetch.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/generic.cl.h"
#include "kernels/transpose.cl.h"
#include "kernels/winograd_points7.cl.h"
#include "kernels/winograd_last.cl.h"
};

static const char *const gpu_generic_lines[] = {
#include "kernels/philox.cl.h"
#include "kernels/pair.cl.h"
#include "kernels/generic.cl.h"
#include "kernels/generic_pool.cl.h"
#include "kernels/generic_norm.cl.h"
#include "kernels/gpu_generic_conv.cl.h"
#include "kernels/storage.cl.h"
};

static const struct {
	const char *name;
	const char *const *lines;
	int count;
} sources[] = {
#define SOURCE(name, lines) { name, lines, COUNT(lines) }
	[SOURCE_CONV] = SOURCE("convolution", conv_lines),
	[SOURCE_WINOGRAD] = SOURCE("convolution by tiles", winograd_lines),
	[SOURCE_LINEAR] = SOURCE("linear layer", linear_lines),
	[SOURCE_RECIPE] = SOURCE("loss and update", recipe_lines),
	[SOURCE_GPU_CONV] = SOURCE("convolution", gpu_conv_lines),
	[SOURCE_GPU_LINEAR] = SOURCE("linear layer", gpu_linear_lines),
	[SOURCE_GPU_RECIPE] = SOURCE("loss and update", gpu_recipe_lines),
	[SOURCE_GPU_SUMS] = SOURCE("sums and update", gpu_sums_lines),
	[SOURCE_GENERIC] = SOURCE("layer alone", generic_lines),
	[SOURCE_TILES] = SOURCE("convolution by tiles", tiles_lines),
	[SOURCE_TILES7] = SOURCE("convolution by tiles", tiles7_lines),
	[SOURCE_GPU_GENERIC] = SOURCE("layer alone", gpu_generic_lines),
};

/* The first lines of the compiler's log, and what the driver's cache lacks. */
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
	if (!strcmp(device->chosen.platform_name, POCL))
		cache_explain(cache, sizeof(cache));
	error_set(err, ERROR_FAILED,
		  "the kernels of a %s could not be built: clBuildProgram: "
		  "%s%s%s\n%s",
		  name, status_name(status), cache[0] ? ": " : "", cache,
		  log);
	free(log);
	return -1;
}

void defines_add(struct defines *defines, const struct define *more, int count)
{
	assert(defines->count + count <= MOST_DEFINES);
	for (int i = 0; i < count; i++)
		defines->list[defines->count++] = more[i];
}

/* Unlike oclgrind's device, which claims to be of every type, and whose
 * compiler does not know what FETCHES use. */
static int is_cpu_alone(cl_device_type type)
{
	return (type & CL_DEVICE_TYPE_CPU) && !(type & CL_DEVICE_TYPE_GPU);
}

int source_build(const struct opencl_device *device, enum source source,
		 const struct defines *defines, cl_program *built,
		 struct error *err)
{
	char options[OPTIONS_SIZE];
	size_t used;
	cl_int status;

	used = (size_t)snprintf(options, sizeof(options),
				"-cl-std=CL1.2%s -D WIDTH=%d -D FETCHES=%d",
				device->math_options, device->width,
				is_cpu_alone(device->chosen.type));
	for (int i = 0; i < defines->count && used < sizeof(options); i++)
		used += (size_t)snprintf(options + used, sizeof(options) - used,
					 " -D %s=%lld", defines->list[i].name,
					 defines->list[i].value);
	assert(used < sizeof(options));
	*built = clCreateProgramWithSource(device->context,
					   (cl_uint)sources[source].count,
					   (const char **)sources[source].lines,
					   NULL, &status);
	if (!*built)
		return status_fail(err, "clCreateProgramWithSource", status);
	status = clBuildProgram(*built, 1, &device->chosen.device, options,
				NULL, NULL);
	return status ? build_fail(device, sources[source].name, *built,
				   status, err) : 0;
}
