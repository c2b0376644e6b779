/* An OpenCL device, opened. */
#include "backends/opencl/device.h"

#include "backends/opencl/cache.h"
#include "backends/opencl/class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int pocl_confine(int cpus, struct error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", cpus);
	if (cpus > 0 && setenv("POCL_MAX_PTHREAD_COUNT", text, 0))
		return error_memory(err, "a variable of PoCL");
	return 0;
}

/* Of a device that was chosen for several ranks, this one's. */
static int device_take(struct opencl_device *device,
		       const struct candidate *list, int count,
		       const struct device_request *request, struct error *err)
{
	if (request->size <= 1 ||
	    !candidate_choose_several(list, count, request, &device->chosen))
		return 0;
	if (device_part(&device->chosen, request->rank, request->size, err))
		return -1;
	device->parts = request->size;
	return 0;
}

/* Entries in the driver's cache of kernels; -1: that is not known. */
static long kernels_kept(const struct opencl_device *device)
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

	if (pocl_confine(request->cpus, err))
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
	    device_take(device, list, count, request, err) ||
	    device_measure(device, request->device_class, err))
		goto fail;
	device->context = clCreateContext(NULL, 1, &device->chosen.device,
					  NULL, NULL, &status);
	if (!device->context) {
		status_fail(err, "clCreateContext", status);
		goto fail;
	}
	device->kept = kernels_kept(device);
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
	long kept;

	*info = device->chosen.info;
	class_note(device->class, info);
	kept = kernels_kept(device);
	if (device->kept >= 0 && kept >= 0)
		info->kernels = kept > device->kept ? KERNELS_COLD :
						      KERNELS_WARM;
}
