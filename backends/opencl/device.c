/* Which OpenCL devices there are, and one of them opened. */
#include "backends/opencl/opencl.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_PLATFORMS 16
#define MOST_DEVICES 32

#define POCL "Portable Computing Language"

static const struct {
	cl_device_type type;
	const char *name;
} types[] = {
	{ CL_DEVICE_TYPE_GPU, "GPU" },
	{ CL_DEVICE_TYPE_ACCELERATOR, "ACCELERATOR" },
	{ CL_DEVICE_TYPE_CPU, "CPU" },
};

static int device_info_get(cl_device_id device, cl_device_info what,
			   size_t size, void *value, struct error *err)
{
	cl_int status = clGetDeviceInfo(device, what, size, value, NULL);

	return status ? status_fail(err, "clGetDeviceInfo", status) : 0;
}

/* Versions may be as long as a driver likes: what does not fit is cut off. */
static int device_text(cl_device_id device, cl_device_info what, char *text,
		       size_t size, struct error *err)
{
	char all[1024] = "";

	if (device_info_get(device, what, sizeof(all) - 1, all, err))
		return -1;
	snprintf(text, size, "%s", all);
	return 0;
}

static int candidate_describe(struct candidate *candidate, struct error *err)
{
	struct device_info *info = &candidate->info;
	const cl_device_id id = candidate->device;
	cl_bool available = 0, compiler = 0;
	cl_device_type type = 0;
	cl_ulong memory = 0;
	cl_uint units = 0;
	char driver[64], version[96];

	if (device_text(id, CL_DEVICE_NAME, info->name, sizeof(info->name),
			err) ||
	    device_text(id, CL_DRIVER_VERSION, driver, sizeof(driver), err) ||
	    device_text(id, CL_DEVICE_VERSION, version, sizeof(version), err) ||
	    device_info_get(id, CL_DEVICE_TYPE, sizeof(type), &type, err) ||
	    device_info_get(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units),
			    &units, err) ||
	    device_info_get(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory),
			    &memory, err) ||
	    device_info_get(id, CL_DEVICE_AVAILABLE, sizeof(available),
			    &available, err) ||
	    device_info_get(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(compiler),
			    &compiler, err))
		return -1;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type & types[i].type)
			snprintf(info->type, sizeof(info->type), "%s",
				 types[i].name);
	snprintf(info->driver, sizeof(info->driver), "%.84s, driver %s",
		 version, driver);
	info->units = (int)units;
	info->memory = memory;
	if (!available || !compiler)
		snprintf(info->unusable, sizeof(info->unusable), "%s",
			 available ? "its driver has no compiler" :
				     "its driver says it is not available");
	return 0;
}

/* A platform without devices stays in the list if there is a reason. */
static void candidate_missing(struct candidate *candidate)
{
	const int is_pocl = !strcmp(candidate->platform_name, POCL);
	const char *devices = getenv("POCL_DEVICES");
	char reason[768] = "";

	if (is_pocl)
		cache_explain(reason, sizeof(reason));
	if (is_pocl && devices && !reason[0])
		snprintf(reason, sizeof(reason), "POCL_DEVICES is '%.60s'",
			 devices);
	snprintf(candidate->info.name, sizeof(candidate->info.name), "%s",
		 candidate->platform_name);
	snprintf(candidate->info.unusable, sizeof(candidate->info.unusable),
		 "the platform finds no device%s%.*s", reason[0] ? ": " : "",
		 200, reason);
}

/* One broken driver must not hide the devices of the others. */
static void candidate_fail(struct candidate *candidate, const struct error *why)
{
	struct device_info *info = &candidate->info;

	if (!info->name[0])
		snprintf(info->name, sizeof(info->name), "%s",
			 candidate->platform_name);
	snprintf(info->unusable, sizeof(info->unusable), "%.250s",
		 why->message);
}

/* Appends the devices of a platform, or why it has none; returns how many. */
static int platform_list(cl_platform_id platform, struct candidate *list,
			 int most)
{
	struct candidate first = { .platform = platform };
	struct error why;
	cl_device_id devices[MOST_DEVICES];
	cl_uint count = 0;
	cl_int status = clGetPlatformInfo(platform, CL_PLATFORM_NAME,
					  sizeof(first.platform_name) - 1,
					  first.platform_name, NULL);

	if (most < 1)
		return 0;
	list[0] = first;
	if (status) {
		status_fail(&why, "clGetPlatformInfo", status);
		candidate_fail(&list[0], &why);
		return 1;
	}
	status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES,
				devices, &count);
	if (status == CL_DEVICE_NOT_FOUND) {
		candidate_missing(&list[0]);
		return 1;
	}
	if (status) {
		status_fail(&why, "clGetDeviceIDs", status);
		candidate_fail(&list[0], &why);
		return 1;
	}
	if ((int)count > most)
		count = (cl_uint)most;
	for (cl_uint i = 0; i < count; i++) {
		list[i] = first;
		list[i].device = devices[i];
		if (candidate_describe(&list[i], &why))
			candidate_fail(&list[i], &why);
	}
	return (int)count;
}

static int candidates_list(struct candidate *list, int most,
			   struct error *err)
{
	cl_platform_id platforms[MOST_PLATFORMS];
	cl_uint platform_count = 0;
	int count = 0;
	cl_int status = clGetPlatformIDs(MOST_PLATFORMS, platforms,
					 &platform_count);

	if (status == CL_PLATFORM_NOT_FOUND_KHR)
		return 0;
	if (status)
		return status_fail(err, "clGetPlatformIDs", status);
	if (platform_count > MOST_PLATFORMS)
		platform_count = MOST_PLATFORMS;
	for (cl_uint p = 0; p < platform_count; p++)
		count += platform_list(platforms[p], list + count,
				       most - count);
	return count;
}

int opencl_list(struct device_info *list, int most, struct error *err)
{
	struct candidate candidates[MOST_DEVICES];
	int count = candidates_list(candidates,
				    most < MOST_DEVICES ? most : MOST_DEVICES,
				    err);

	for (int i = 0; i < count; i++)
		list[i] = candidates[i].info;
	return count;
}

static int contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

/*
 * How much a device is what was asked for, 0 if not at all. Asked for nothing,
 * a GPU comes first, since whoever has one means it, and then PoCL, by its
 * name: places in the list change when a driver is installed.
 */
static int candidate_rank(const struct candidate *candidate, int index,
			  const char *choice)
{
	char *end;
	long number;

	if (!choice && !strcmp(candidate->info.type, "GPU"))
		return 3;
	if (!choice)
		return strcmp(candidate->platform_name, POCL) ? 1 : 2;
	number = strtol(choice, &end, 10);
	if (choice[0] && !*end)
		return number == index;
	return contains(candidate->info.name, choice) ||
	       contains(candidate->platform_name, choice) ||
	       contains(candidate->info.type, choice);
}

static int choice_fail(const struct candidate *list, int count,
		       const char *choice, struct error *err)
{
	const char *vendors = getenv("OCL_ICD_VENDORS");
	char names[640] = "";
	size_t used = 0;

	if (!count && vendors)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL platform is found where the "
				 "variable OCL_ICD_VENDORS says, '%.60s'; "
				 "without it, those that are installed would "
				 "be, such as pocl-opencl-icd", vendors);
	if (!count)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL platform is installed: install "
				 "pocl-opencl-icd, which makes this CPU one");
	for (int i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%d %s%s%s", i ? ", " : "", i,
					 list[i].info.name,
					 list[i].info.unusable[0] ? ": " : "",
					 list[i].info.unusable);
	if (choice)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL device '%s'; there is: %s", choice,
				 names);
	return error_set(err, ERROR_MISSING,
			 "no OpenCL device can be used: %s", names);
}

/* The best usable one; the best of all if that is what cannot be used. */
static int choose(const struct candidate *list, int count, const char *choice,
		  struct candidate *chosen, struct error *err)
{
	const struct candidate *refused = NULL;
	int best = 0;

	for (int i = 0; i < count; i++) {
		int rank = candidate_rank(&list[i], i, choice);

		if (rank && list[i].info.unusable[0] && !refused)
			refused = &list[i];
		if (rank > best && !list[i].info.unusable[0]) {
			best = rank;
			*chosen = list[i];
		}
	}
	if (best)
		return 0;
	if (refused && choice)
		return error_set(err, ERROR_MISSING,
				 "OpenCL device '%s' (%s) cannot be used: %s",
				 choice, refused->info.name,
				 refused->info.unusable);
	return choice_fail(list, count, choice, err);
}

/* A vector of the kernels is one that the device has, from 4 to 16 floats. */
static int device_measure(struct opencl_device *device, struct error *err)
{
	const cl_device_id id = device->chosen.device;
	cl_device_fp_config config = 0;
	cl_uint width = 0;

	if (device_info_get(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
			    sizeof(width), &width, err) ||
	    device_info_get(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(config),
			    &config, err))
		return -1;
	device->width = width >= 16 ? 16 : width >= 8 ? 8 : 4;
	/* Of 32 or 16 vector registers, some hold weights and pixels. */
	device->registers = device->width == 16 ? 26 : 12;
	device->math_options =
		config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ?
			" -cl-fp32-correctly-rounded-divide-sqrt" : "";
	return 0;
}

int opencl_open(const struct device_request *request, struct device **out,
		struct error *err)
{
	struct candidate list[MOST_DEVICES];
	struct opencl_device *device = NULL;
	char cpus[16];
	cl_int status;
	int count;

	/* PoCL makes a thread for each CPU of the machine, whatever the
	 * affinity of the process says, when it is first called. */
	snprintf(cpus, sizeof(cpus), "%d", request->cpus);
	if (request->cpus > 0 && setenv("POCL_MAX_PTHREAD_COUNT", cpus, 0))
		return error_memory(err, "a variable of PoCL");
	count = candidates_list(list, MOST_DEVICES, err);
	if (count < 0)
		return -1;
	device = calloc(1, sizeof(*device));
	if (!device)
		return error_memory(err, "a device");
	device->base.backend = &opencl_backend;
	if (choose(list, count, request->choice, &device->chosen, err) ||
	    device_measure(device, err))
		goto fail;
	device->context = clCreateContext(NULL, 1, &device->chosen.device,
					  NULL, NULL, &status);
	if (!device->context) {
		status_fail(err, "clCreateContext", status);
		goto fail;
	}
	*out = &device->base;
	return 0;
fail:
	opencl_close(&device->base);
	return -1;
}

void opencl_close(struct device *base)
{
	struct opencl_device *device = (struct opencl_device *)base;

	if (device->context)
		clReleaseContext(device->context);
	free(device);
}

void opencl_describe(struct device *base, struct device_info *info)
{
	*info = ((struct opencl_device *)base)->chosen.info;
}
