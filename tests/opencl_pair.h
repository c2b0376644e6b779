/* For tests of the OpenCL backend: its device and the reference's. */
#ifndef TESTS_OPENCL_PAIR_H
#define TESTS_OPENCL_PAIR_H

#include "tests/pair.h"

/* Every test is run for each; see run_classes(). */
static const char *device_class;

static inline void need_device(void)
{
	if (device)
		return;
	print_message("no OpenCL device: %s\n", err.message);
	skip();
}

static inline int open_devices(void **state)
{
	const struct device_request request = { .threads = 1,
						.cpus = 2,
						.device_class = device_class };

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

/* How many tests failed, of all classes; that of GPUs has one algorithm. */
static inline int run_classes(const struct CMUnitTest *tests, size_t count)
{
	static const struct {
		const char *name;
		enum algorithm algorithm;
	} classes[] = {
		{ "cpu", ALGORITHM_FAST },
		{ "cpu", ALGORITHM_DENSE },
		{ "gpu", ALGORITHM_FAST },
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		device_class = classes[i].name;
		algorithm = classes[i].algorithm;
		print_message("class %s, %s\n", device_class,
			      algorithm_name(algorithm));
		failed += _cmocka_run_group_tests(device_class, tests, count,
						  open_devices, close_devices);
	}
	return failed;
}

#endif
