/*
 * One OpenCL device for several ranks: each has a part of its own, with as many
 * compute units as the others, since the slowest of them is waited for.
 */
#include "backends/opencl/device/candidates.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/opencl/device/status.h"

#define MOST_WAYS 8

/* Properties with which drivers split devices, the better one first: the second
 * may make more parts than requested. */
static const cl_device_partition_property ways[] = {
	CL_DEVICE_PARTITION_BY_COUNTS,
	CL_DEVICE_PARTITION_EQUALLY,
};

/* Returns the best property that the device supports, or 0. */
static cl_device_partition_property way_of(cl_device_id device)
{
	cl_device_partition_property known[MOST_WAYS] = { 0 };

	/* A driver of OpenCL 1.1 does not support the query. */
	if (clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES,
			    sizeof(known), known, NULL))
		return 0;
	for (int w = 0; w < COUNT(ways); w++)
		for (int k = 0; k < MOST_WAYS && known[k]; k++)
			if (known[k] == ways[w])
				return ways[w];
	return 0;
}

int device_most_parts(cl_device_id device)
{
	cl_uint units = 0, most = 0;

	if (!way_of(device) ||
	    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units),
			    &units, NULL) ||
	    clGetDeviceInfo(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES,
			    sizeof(most), &most, NULL))
		return 1;
	most = most < units ? most : units;
	return most > 1 ? (int)most : 1;
}

static int refuse(const struct candidate *whole, int most, int size,
		  struct error *err)
{
	const struct device_info *info = &whole->info;

	if (most == 1)
		return error_set(err, ERROR_MISSING,
				 "OpenCL device '%s' with %d compute unit%s "
				 "cannot be split into %d sub-devices, and "
				 "there are not %d devices; use opencl without "
				 "a number",
				 info->name, info->units,
				 info->units == 1 ? "" : "s", size, size);
	return error_set(err, ERROR_MISSING,
			 "OpenCL device '%s' with %d compute units can be "
			 "split into at most %d sub-devices, not %d; use "
			 "opencl-%d", info->name, info->units,
			 most, size, most);
}

/* Makes size parts or more, in parts with room for 2 * size; returns how many,
 * or -1. */
static int parts_make(const struct candidate *whole, int size,
		      cl_device_id *parts, struct error *err)
{
	const cl_device_partition_property way = way_of(whole->device);
	const cl_device_partition_property each =
		whole->info.units / size;
	/* The way, a number for each, and the ends of list and of all. */
	cl_device_partition_property *properties =
		calloc((size_t)size + 3, sizeof(*properties));
	cl_uint count = 0;
	cl_int status;

	if (!properties)
		return error_memory(err, "the parts of a device");
	properties[0] = way;
	properties[1] = each;
	for (int r = 1; way == CL_DEVICE_PARTITION_BY_COUNTS && r < size; r++)
		properties[1 + r] = each;
	status = clCreateSubDevices(whole->device, properties,
				    2 * (cl_uint)size, parts, &count);
	free(properties);
	if (status)
		return status_fail(err, "clCreateSubDevices", status);
	return (int)count < 2 * size ? (int)count : 2 * size;
}

/* A driver that makes fewer than requested is broken. */
static int check_count(const struct candidate *whole, int count, int size,
		       struct error *err)
{
	return count >= size ? 0 :
	       error_set(err, ERROR_MISSING,
			 "the driver of OpenCL device '%s' made %d sub-devices "
			 "instead of %d; use opencl without a number",
			 whole->info.name, count, size);
}

int device_split(struct candidate *device, int rank, int size,
		struct error *err)
{
	const struct candidate whole = *device;
	const int most = device_most_parts(whole.device);
	struct device_info *info = &device->info;
	cl_device_id *parts;
	int count, failed;

	if (size > most)
		return refuse(&whole, most, size, err);
	parts = calloc(2 * (size_t)size, sizeof(cl_device_id));
	if (!parts)
		return error_memory(err, "the parts of a device");
	count = parts_make(&whole, size, parts, err);
	failed = count < 0 || check_count(&whole, count, size, err);
	for (int p = 0; p < count; p++)
		if (failed || p != rank)
			clReleaseDevice(parts[p]);
	if (!failed) {
		device->device = parts[rank];
		info->units = whole.info.units / size;
		snprintf(info->driver, sizeof(info->driver),
			 "%.128s, one of %d sub-devices", whole.info.driver,
			 size);
	}
	free(parts);
	return failed ? -1 : 0;
}
