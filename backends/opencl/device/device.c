#include "backends/opencl/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/pocl.h"
#include "backends/opencl/device/status.h"

static const struct device_class *const classes[] = { &cpu_class, &gpu_class };

/* The class called name; for NULL the one for a device of this type. */
static const struct device_class *class_find(const char *name,
					     cl_device_type type)
{
	for (int i = 0; i < COUNT(classes); i++)
		if (name ? !strcmp(classes[i]->name, name) :
			   (classes[i]->types & type) != 0)
			return classes[i];
	return &cpu_class;
}

/* Has a device's description say how it computes. */
static void class_describe(const struct device_class *class,
			   struct device_info *info)
{
	snprintf(info->device_class, sizeof(info->device_class), "%s",
		 class->name);
}

/* Whether a device has room for the class's work-groups. */
static int class_check(const struct device_class *class, cl_device_id device,
		       struct error *err)
{
	const size_t items = (size_t)class->tiling.items;
	size_t most = 0;
	cl_ulong memory = 0;

	if (device_info_get(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most),
			    &most, err) ||
	    device_info_get(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(memory),
			    &memory, err))
		return -1;
	if (items > most)
		return error_set(err, ERROR_MISSING,
				 "the %s class needs work-groups of %zu items, "
				 "but this device allows %zu; choose "
				 "--device-class %s", class->name, items, most,
				 cpu_class.name);
	if (items > 1 && LOCAL_BYTES > memory)
		return error_set(err, ERROR_MISSING,
				 "the %s class needs %d bytes of local memory, "
				 "but this device has %llu; choose "
				 "--device-class %s", class->name, LOCAL_BYTES,
				 (unsigned long long)memory, cpu_class.name);
	return 0;
}

/* A vector of the kernels is one that the device has, from 4 to 16 floats. */
static int device_measure(struct opencl_device *device, const char *name,
			  struct error *err)
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
	device->class = class_find(name, device->chosen.type);
	device->math_options =
		config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ?
			" -cl-fp32-correctly-rounded-divide-sqrt" : "";
	return class_check(device->class, id, err);
}

/* Of a device that was chosen for several ranks, this one's. */
static int device_assign(struct opencl_device *device,
			 const struct candidate *list, int count,
			 const struct device_request *request,
			 struct error *err)
{
	if (request->size <= 1 ||
	    !candidate_choose_several(list, count, request, &device->chosen))
		return 0;
	if (device_split(&device->chosen, request->rank, request->size, err))
		return -1;
	device->parts = request->size;
	return 0;
}

/* Entries in the driver's cache of kernels; -1: that is not known. */
static long kernels_cached(const struct opencl_device *device)
{
	return strcmp(device->chosen.platform_name, POCL) ? -1 :
							   cache_entries();
}

int opencl_open(const struct device_request *request, struct device **out,
		struct error *err)
{
	struct candidate list[MOST_DEVICES];
	struct opencl_device *device = NULL;
	cl_int status;
	int count;

	if (pocl_limit_threads(request->cpus, err))
		return -1;
	count = candidates_list(list, MOST_DEVICES, err);
	if (count < 0)
		return -1;
	device = calloc(1, sizeof(*device));
	if (!device)
		return error_memory(err, "a device");
	device->base.backend = &opencl_backend;
	device->parts = 1;
	if (candidate_choose(list, count, request->choice, &device->chosen,
			     err) ||
	    device_assign(device, list, count, request, err) ||
	    device_measure(device, request->device_class, err))
		goto fail;
	device->context = clCreateContext(NULL, 1, &device->chosen.device,
					  NULL, NULL, &status);
	if (!device->context) {
		status_fail(err, "clCreateContext", status);
		goto fail;
	}
	device->cached = kernels_cached(device);
	*out = &device->base;
	return 0;
fail:
	opencl_close(&device->base);
	return -1;
}

void opencl_close(struct device *base)
{
	struct opencl_device *device = (struct opencl_device *)base;

	/*
	 * A sub-device stays until the process ends. PoCL 3.1 lets clFinish()
	 * return before its thread has put away the last command; that one's
	 * queue keeps no device, so what it then reads of a sub-device that was
	 * released is freed memory: signal 11 in clReleaseEvent(), on a loaded
	 * machine.
	 */
	if (device->context)
		clReleaseContext(device->context);
	free(device);
}

void opencl_describe(struct device *base, struct device_info *info)
{
	const struct opencl_device *device = (struct opencl_device *)base;
	long cached;

	*info = device->chosen.info;
	class_describe(device->class, info);
	cached = kernels_cached(device);
	if (device->cached >= 0 && cached >= 0)
		info->kernels = cached > device->cached ? KERNELS_COLD :
							  KERNELS_WARM;
}

int opencl_list(int cpus, struct device_info *list, int most, struct error *err)
{
	struct candidate candidates[MOST_DEVICES];
	int count;

	if (pocl_limit_threads(cpus, err))
		return -1;
	count = candidates_list(candidates,
				most < MOST_DEVICES ? most : MOST_DEVICES, err);
	if (!count)
		return candidates_none(err);
	for (int i = 0; i < count; i++) {
		list[i] = candidates[i].info;
		if (candidates[i].device)
			class_describe(class_find(NULL, candidates[i].type),
				       &list[i]);
	}
	return count;
}
