/* For tests of the OpenCL backend: its device and the reference's. */
#ifndef TESTS_OPENCL_PAIR_H
#define TESTS_OPENCL_PAIR_H

#include "tests/pair.h"

static inline void need_device(void)
{
	if (device)
		return;
	print_message("no OpenCL device: %s\n", err.message);
	skip();
}

static inline int open_devices(void **state)
{
	const struct device_request request = { .threads = 1, .cpus = 2 };

	(void)state;
	if (device_open(backend_find("reference"), &request, &oracle, &err))
		return -1;
	if (device_open(backend_find("opencl"), &request, &device, &err) &&
	    err.kind != ERROR_MISSING)
		return -1;
	return 0;
}

static inline int close_devices(void **state)
{
	(void)state;
	device_close(device);
	device_close(oracle);
	return 0;
}

#endif
