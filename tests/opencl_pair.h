/* For tests of the OpenCL backend: its device and the reference's. */
#ifndef TESTS_OPENCL_PAIR_H
#define TESTS_OPENCL_PAIR_H

#include "tests/pair.h"

/* Every test is run for each; see run_classes(). */
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
	return device_open(backend_find("reference"), &request, &oracle,
			   &err) ||
	       device_open(backend_find("opencl"), &request, &device, &err);
}

static inline int close_devices(void **state)
{
	(void)state;
	device_close(device);
	device_close(oracle);
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
		failed += run_with_device(device_class, tests, count,
					  open_devices);
	}
	return failed;
}

#endif
