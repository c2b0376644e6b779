#include "backends/opencl/program/source.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/device/pocl.h"
#include "backends/opencl/device/status.h"

#define LOG_LINES 20
#define MOST_LINES 2500 /* of a source */
#define OPTIONS_SIZE 2048

/* Of each file of kernels/ an array of its lines, which the linker keeps once
 * if they are equal. */
#include "kernels/files.h"

/* What a program is built from: files, one after the other. */
static const struct {
	const char *name;
	struct {
		const char *const *lines;
		int count;
	} files[11];
} sources[] = {
#define TEXT(name) { name##_cl, COUNT(name##_cl) }
	[SOURCE_CONV] = { "convolution", {
		TEXT(vector), TEXT(conv_forward), TEXT(conv_backward),
		TEXT(conv_dense) } },
	[SOURCE_WINOGRAD] = { "convolution by tiles", {
		TEXT(vector), TEXT(transpose), TEXT(square), TEXT(conv_forward),
		TEXT(conv_backward), TEXT(winograd_points), TEXT(winograd),
		TEXT(winograd_lead), TEXT(winograd_forward),
		TEXT(winograd_weights), TEXT(winograd_backward) } },
	[SOURCE_LINEAR] = { "linear layer", {
		TEXT(vector), TEXT(fetch), TEXT(transpose), TEXT(loss),
		TEXT(linear), TEXT(linear_forward), TEXT(linear_dense) } },
	[SOURCE_RECIPE] = { "loss and update", {
		TEXT(vector), TEXT(philox), TEXT(loss), TEXT(gather),
		TEXT(score), TEXT(training), TEXT(dropout) } },
	[SOURCE_GPU_CONV] = { "convolution", {
		TEXT(philox), TEXT(pair), TEXT(gpu), TEXT(gpu_conv),
		TEXT(gpu_conv_forward), TEXT(gpu_conv_backward) } },
	[SOURCE_GPU_LINEAR] = { "linear layer", {
		TEXT(philox), TEXT(pair), TEXT(gpu), TEXT(loss),
		TEXT(gpu_linear) } },
	[SOURCE_GPU_RECIPE] = { "loss and update", {
		TEXT(philox), TEXT(gpu), TEXT(loss), TEXT(gather),
		TEXT(score), TEXT(training) } },
	[SOURCE_GPU_SUMS] = { "sums and update", {
		TEXT(philox), TEXT(gpu), TEXT(loss), TEXT(score),
		TEXT(training), TEXT(gpu_sums) } },
	[SOURCE_GENERIC] = { "layer alone", {
		TEXT(philox), TEXT(fetch), TEXT(pair), TEXT(generic),
		TEXT(transpose), TEXT(generic_pool), TEXT(generic_norm),
		TEXT(conv_nhwc), TEXT(conv_nhwc_weights), TEXT(storage) } },
	[SOURCE_TILES] = { "convolution by tiles", {
		TEXT(philox), TEXT(fetch), TEXT(pair), TEXT(generic),
		TEXT(transpose), TEXT(square), TEXT(winograd_points),
		TEXT(winograd_nhwc) } },
	[SOURCE_TILES7] = { "convolution by tiles", {
		TEXT(philox), TEXT(fetch), TEXT(pair), TEXT(generic),
		TEXT(transpose), TEXT(square), TEXT(winograd_points7),
		TEXT(winograd_nhwc) } },
	[SOURCE_GPU_GENERIC] = { "layer alone", {
		TEXT(philox), TEXT(pair), TEXT(generic), TEXT(generic_pool),
		TEXT(generic_norm), TEXT(gpu_generic_conv), TEXT(storage) } },
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

/* Returns 0 for oclgrind's device too: it claims to be of every type, and its
 * compiler lacks the function that FETCHES needs. */
static int is_cpu_alone(cl_device_type type)
{
	return (type & CL_DEVICE_TYPE_CPU) && !(type & CL_DEVICE_TYPE_GPU);
}

static cl_program program_make(const struct opencl_device *device,
			       enum source source, struct error *err)
{
	const char *lines[MOST_LINES];
	cl_uint count = 0;
	cl_int status;
	cl_program program;

	for (int f = 0; f < COUNT(sources[source].files); f++)
		for (int i = 0; i < sources[source].files[f].count; i++) {
			assert(count < MOST_LINES);
			lines[count++] = sources[source].files[f].lines[i];
		}
	program = clCreateProgramWithSource(device->context, count, lines, NULL,
					    &status);
	if (!program)
		status_fail(err, "clCreateProgramWithSource", status);
	return program;
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
	*built = program_make(device, source, err);
	if (!*built)
		return -1;
	status = clBuildProgram(*built, 1, &device->chosen.device, options,
				NULL, NULL);
	return status ? build_fail(device, sources[source].name, *built,
				   status, err) : 0;
}
