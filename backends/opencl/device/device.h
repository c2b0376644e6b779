/* An OpenCL device, opened. */
#ifndef BACKENDS_OPENCL_DEVICE_DEVICE_H
#define BACKENDS_OPENCL_DEVICE_DEVICE_H

#include "backends/opencl/device/candidates.h"

struct device_class; /* class.h */

extern const struct backend opencl_backend;

struct opencl_device {
	struct device base;
	struct candidate chosen;
	int parts; /* ranks that share its memory; above 1: this is a
		      sub-device */
	long cached; /* cached kernels when it was opened; -1: not known */
	const struct device_class *class;
	cl_context context;
	int width;     /* floats of a vector in the kernels */
	int registers; /* most vectors of a tile of sums */
	const char *math_options;
};

/* These are slots of the backend. */
int opencl_list(int cpus, struct device_info *list, int most,
		struct error *err);
int opencl_open(const struct device_request *request, struct device **device,
		struct error *err);
void opencl_close(struct device *device);
void opencl_describe(struct device *device, struct device_info *info);

#endif
