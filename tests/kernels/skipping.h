/*
 * For tests: finds out what this machine lacks before a test begins. skip()
 * leaves a test at once, and its memory is never freed. LeakSanitizer reports
 * that only on a machine that lacks something. Only this file calls skip():
 * .ci/check-style.
 */
#ifndef TESTS_SKIPPING_H
#define TESTS_SKIPPING_H

#include "backends/contract/backend.h"
#include "tests/cmocka.h"

#define MOST_IN_GROUP 64

static inline void skipped(void **nothing)
{
	(void)nothing;
	skip();
}

static inline CMUnitTestFunction test_if(int can, CMUnitTestFunction test)
{
	return can ? test : skipped;
}

/* Instead of cmocka_unit_test(). */
#define unit_test_if(can, test) { #test, test_if(can, test), NULL, NULL, NULL }

/* A group that has nothing to set up where it cannot run. */
static inline int run_group_if(int can, const char *name,
			       const struct CMUnitTest *tests, size_t count,
			       CMFixtureFunction setup,
			       CMFixtureFunction teardown)
{
	struct CMUnitTest skips[MOST_IN_GROUP] = { { .name = NULL } };

	if (can || count > MOST_IN_GROUP)
		return _cmocka_run_group_tests(name, tests, count, setup,
					       teardown);
	for (size_t i = 0; i < count; i++) {
		skips[i].name = tests[i].name;
		skips[i].test_func = skipped;
	}
	return _cmocka_run_group_tests(name, skips, count, NULL, NULL);
}

/* 0 if this machine has no such device; other errors are for the tests, which
 * will meet them again. */
static inline int have_device(const char *backend,
			      const struct device_request *request)
{
	struct device *device;
	struct error err;

	if (!device_open(backend_find(backend), request, &device, &err)) {
		device_close(device);
		return 1;
	}
	print_message("%s\n", err.message);
	return err.kind != ERROR_MISSING;
}

#endif
