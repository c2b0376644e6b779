/* For tests of the OpenCL backend: its device and the reference's. */
#ifndef TESTS_OPENCL_PAIR_H
#define TESTS_OPENCL_PAIR_H

#include "tests/kernels/pair.h"

/* Every test is run for each; see run_class(). */
static const char *device_class;

static inline struct device_request pair_request(void)
{
	return (struct device_request){ .threads = 1,
					.cpus = 2,
					.device_class = device_class };
}

static inline int open_devices(void **state)
{
	const struct device_request request = pair_request();

	(void)state;
	return device_open(backend_find("reference"), &request,
			   &reference_device, &err) ||
	       device_open(backend_find("opencl"), &request, &device, &err);
}

static inline int close_devices(void **state)
{
	(void)state;
	device_close(device);
	device_close(reference_device);
	return 0;
}

static inline int run_with_device(const char *name,
				  const struct CMUnitTest *tests, size_t count,
				  CMFixtureFunction setup)
{
	const struct device_request request = pair_request();

	return run_group_if(have_device("opencl", &request), name, tests,
			    count, setup, close_devices);
}

/* How many tests failed. */
static inline int run_class(const char *name, enum algorithm own,
			    const struct CMUnitTest *tests, size_t count)
{
	device_class = name;
	algorithm = own;
	print_message("class %s, %s\n", name, algorithm_name(own));
	return run_with_device(name, tests, count, open_devices);
}

/* All kernels: the class of GPUs has one algorithm. Compiling takes nearly all
 * of the time of a test, so a test of some kernels runs these alone. */
static inline int run_classes(const struct CMUnitTest *tests, size_t count)
{
	return run_class("cpu", ALGORITHM_FAST, tests, count) +
	       run_class("cpu", ALGORITHM_DENSE, tests, count) +
	       run_class("gpu", ALGORITHM_FAST, tests, count);
}

#endif
