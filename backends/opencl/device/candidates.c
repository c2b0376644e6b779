#include "backends/opencl/device/candidates.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/opencl/device/pocl.h"
#include "backends/opencl/device/status.h"

#define MOST_PLATFORMS 16

static const struct {
	cl_device_type type;
	const char *name;
} types[] = {
	{ CL_DEVICE_TYPE_GPU, "GPU" },
	{ CL_DEVICE_TYPE_ACCELERATOR, "ACCELERATOR" },
	{ CL_DEVICE_TYPE_CPU, "CPU" },
};

int device_info_get(cl_device_id device, cl_device_info what, size_t size,
		    void *value, struct error *err)
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

/* Its names, from its driver. */
static int describe_words(struct candidate *candidate, struct error *err)
{
	struct device_info *info = &candidate->info;
	const cl_device_id id = candidate->device;
	char driver[64], version[96];

	if (device_text(id, CL_DEVICE_NAME, info->name, sizeof(info->name),
			err) ||
	    device_text(id, CL_DRIVER_VERSION, driver, sizeof(driver), err) ||
	    device_text(id, CL_DEVICE_VERSION, version, sizeof(version), err))
		return -1;
	snprintf(info->driver, sizeof(info->driver), "%.84s, driver %s",
		 version, driver);
	return 0;
}

/* What it has, in numbers. */
static int describe_sizes(struct candidate *candidate, struct error *err)
{
	struct device_info *info = &candidate->info;
	cl_ulong memory = 0, group_memory = 0;
	cl_uint units = 0, width = 0;
	const struct {
		cl_device_info what;
		size_t size;
		void *value;
	} questions[] = {
		{ CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units },
		{ CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory },
		{ CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(width), &width },
		{ CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(info->group),
		  &info->group },
		{ CL_DEVICE_LOCAL_MEM_SIZE, sizeof(group_memory),
		  &group_memory },
	};

	for (int q = 0; q < COUNT(questions); q++)
		if (device_info_get(candidate->device, questions[q].what,
				    questions[q].size, questions[q].value,
				    err))
			return -1;
	info->units = (int)units;
	info->memory = memory;
	info->width = (int)width;
	info->group_memory = group_memory;
	info->parts = device_most_parts(candidate->device);
	return 0;
}

static int candidate_describe(struct candidate *candidate, struct error *err)
{
	struct device_info *info = &candidate->info;
	const cl_device_id id = candidate->device;
	cl_bool available = 0, compiler = 0;
	cl_device_type type = 0;

	if (describe_words(candidate, err) || describe_sizes(candidate, err) ||
	    device_info_get(id, CL_DEVICE_TYPE, sizeof(type), &type, err) ||
	    device_info_get(id, CL_DEVICE_AVAILABLE, sizeof(available),
			    &available, err) ||
	    device_info_get(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(compiler),
			    &compiler, err))
		return -1;
	candidate->type = type;
	for (int i = 0; i < COUNT(types); i++)
		if (type & types[i].type)
			snprintf(info->type, sizeof(info->type), "%s",
				 types[i].name);
	if (!available || !compiler)
		snprintf(info->unusable, sizeof(info->unusable), "%s",
			 available ? "its driver has no compiler" :
				     "its driver reports it as unavailable");
	else if (!strcmp(candidate->platform_name, POCL))
		cache_refuse(info->unusable, sizeof(info->unusable));
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

static cl_int platform_describe(struct candidate *first)
{
	struct device_info *info = &first->info;
	char version[256] = "";
	cl_int status = clGetPlatformInfo(first->platform, CL_PLATFORM_NAME,
					  sizeof(first->platform_name) - 1,
					  first->platform_name, NULL);

	if (!status)
		status = clGetPlatformInfo(first->platform,
					   CL_PLATFORM_VERSION,
					   sizeof(version) - 1, version, NULL);
	snprintf(info->platform, sizeof(info->platform), "%.60s, %.96s",
		 first->platform_name, version);
	return status;
}

/* Appends the devices of a platform, or why it has none; returns how many. */
static int platform_list(cl_platform_id platform, struct candidate *list,
			 int most)
{
	struct candidate first = { .platform = platform };
	struct error why;
	cl_device_id devices[MOST_DEVICES];
	cl_uint count = 0;
	cl_int status = platform_describe(&first);

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

int candidates_list(struct candidate *list, int most, struct error *err)
{
	cl_platform_id platforms[MOST_PLATFORMS];
	cl_uint platform_count = 0;
	int count = 0;
	cl_int status;

	if (cache_choose(err))
		return -1;
	status = clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count);
	if (status == CL_PLATFORM_NOT_FOUND_KHR)
		platform_count = 0;
	else if (status)
		return status_fail(err, "clGetPlatformIDs", status);
	if (platform_count > MOST_PLATFORMS)
		platform_count = MOST_PLATFORMS;
	for (cl_uint p = 0; p < platform_count; p++)
		count += platform_list(platforms[p], list + count,
				       most - count);
	return count + vendors_list(list + count, most - count);
}

static int contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

/*
 * How well a device matches a choice, 0 if not at all. Without a choice, a GPU
 * comes first, since who has one means to use it, and then PoCL, by its name:
 * places in the list change when a driver is installed.
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

int candidates_none(struct error *err)
{
	const char *vendors = getenv("OCL_ICD_VENDORS");

	if (vendors)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL platform is found in the path "
				 "that OCL_ICD_VENDORS is set to, '%.60s'; "
				 "unset it to find the installed platforms, "
				 "such as pocl-opencl-icd", vendors);
	return error_set(err, ERROR_MISSING,
			 "no OpenCL platform is installed: install "
			 "pocl-opencl-icd to use this CPU as a device");
}

static int choice_fail(const struct candidate *list, int count,
		       const char *choice, struct error *err)
{
	char names[640] = "";
	size_t used = 0;

	if (!count)
		return candidates_none(err);
	for (int i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%d %s%s%s", i ? ", " : "", i,
					 list[i].info.name,
					 list[i].info.unusable[0] ? ": " : "",
					 list[i].info.unusable);
	if (choice)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL device '%s'; available: %s", choice,
				 names);
	return error_set(err, ERROR_MISSING,
			 "no OpenCL device can be used: %s", names);
}

int candidate_choose(const struct candidate *list, int count,
		     const char *choice, struct candidate *chosen,
		     struct error *err)
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

int candidate_choose_several(const struct candidate *list, int count,
			     const struct device_request *request,
			     struct candidate *chosen)
{
	struct candidate own = *chosen;
	int rank = 0, found = 0;

	for (int i = 0; i < count; i++)
		if (list[i].device == chosen->device)
			rank = candidate_rank(&list[i], i, request->choice);
	for (int i = 0; i < count; i++) {
		if (list[i].platform != chosen->platform ||
		    list[i].info.unusable[0] ||
		    candidate_rank(&list[i], i, request->choice) != rank)
			continue;
		if (found++ == request->rank)
			own = list[i];
	}
	if (found < request->size)
		return -1;
	*chosen = own;
	return 0;
}
