/* What is timed, from its name: BACKEND[-CORES][@TRANSPORT][:DEVICE]. */
#include "bench/plan/target.h"
#include "tests/cmocka.h"

static void good_names_are_understood(void **state)
{
	static const struct {
		const char *text, *name, *backend, *transport;
		int cores;
		const char *device;
	} known[] = {
		{ "cpu", "cpu-1", "cpu", "self", 1, "" },
		{ "cpu-1", "cpu-1", "cpu", "self", 1, "" },
		{ "cpu-8", "cpu-8", "cpu", "threads", 8, "" },
		{ "cpu-08", "cpu-8", "cpu", "threads", 8, "" },
		{ "cpu-64", "cpu-64", "cpu", "threads", 64, "" },
		{ "cpu-4@threads", "cpu-4", "cpu", "threads", 4, "" },
		{ "cpu@self", "cpu-1", "cpu", "self", 1, "" },
		{ "cpu-1@threads", "cpu-1@threads", "cpu", "threads", 1, "" },
		{ "openblas-2", "openblas-2", "openblas", "threads", 2, "" },
		{ "reference", "reference-1", "reference", "self", 1, "" },
		{ "null-3", "null-3", "null", "threads", 3, "" },
		{ "opencl", "opencl", "opencl", "self", 1, "" },
		{ "opencl-1", "opencl", "opencl", "self", 1, "" },
		{ "opencl-2", "opencl-2", "opencl", "threads", 2, "" },
		{ "opencl-8@fork:cpu", "opencl-8@fork:cpu", "opencl", "fork",
		  8, "cpu" },
		{ "opencl-1:cpu", "opencl:cpu", "opencl", "self", 1, "cpu" },
		{ "opencl:1", "opencl:1", "opencl", "self", 1, "1" },
		{ "opencl:a-b@c", "opencl:a-b@c", "opencl", "self", 1,
		  "a-b@c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct target target, again;
		struct error err;

		if (target_parse(&target, known[i].text, &err))
			fail_msg("%s", err.message);
		assert_string_equal(target.name, known[i].name);
		assert_string_equal(target.backend->name, known[i].backend);
		assert_string_equal(target.transport->name,
				    known[i].transport);
		assert_int_equal(target.cores, known[i].cores);
		assert_string_equal(target.device, known[i].device);
		/* A name that is shown can be typed. */
		assert_int_equal(target_parse(&again, target.name, &err), 0);
		assert_string_equal(again.name, target.name);
	}
}

static const struct {
	const char *text, *says;
} bad_names[] = {
	{ "gpu", "cpu, openblas, opencl, reference, null" },
	{ "", "cpu, openblas, opencl, reference, null" },
	{ "-1", "cpu, openblas, opencl, reference, null" },
	{ "@threads", "unknown backend ''" },
	{ ":1", "unknown backend ''" },
	{ "CPU", "unknown backend 'CPU'" },
	{ "cpu8", "unknown backend 'cpu8'" },
	{ "cpu-", "must be 1 to 64" },
	{ "cpu-0", "must be 1 to 64" },
	{ "cpu-65", "must be 1 to 64" },
	{ "cpu-99999999999999999999", "must be 1 to 64" },
	{ "cpu--1", "must be 1 to 64" },
	{ "cpu-+1", "must be 1 to 64" },
	{ "cpu- 1", "must be 1 to 64" },
	{ "cpu-2x", "'2x'" },
	{ "cpu-2-2", "'2-2'" },
	{ "cpu-0x2", "'0x2'" },
	{ "cpu-2@pigeons", "self, threads, fork" },
	{ "cpu-2@", "self, threads" },
	{ "cpu-2@self", "transport self supports 1 to 1" },
	{ "opencl-2@self", "transport self supports 1 to 1" },
	{ "cpu-1:0", "leave out the :0" },
	{ "null:0", "leave out the :0" },
	{ "opencl:", "bench devices" },
	{ "opencl:a device with rather a long name",
	  "bench devices" },
	{ "opencl:a name that is longer than any device could have",
	  "too long" },
};

static void bad_names_are_told_what_there_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_names) / sizeof(bad_names[0]); i++) {
		struct target target;
		struct error err = { .message = "" };

		if (!target_parse(&target, bad_names[i].text, &err))
			fail_msg("'%s' is understood", bad_names[i].text);
		assert_int_equal(err.kind, ERROR_USAGE);
		if (!strstr(err.message, bad_names[i].says))
			fail_msg("'%s' does not say '%s'", err.message,
				 bad_names[i].says);
	}
}

static void defaults_are_the_three_columns(void **state)
{
	static const char *const known[] = { "cpu-1", "cpu-8", "opencl" };
	struct target target;
	struct error err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_string_equal(target_defaults[i], known[i]);
		assert_int_equal(target_parse(&target, known[i], &err), 0);
		assert_string_equal(target.name, known[i]);
	}
	assert_null(target_defaults[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_names_are_understood),
		cmocka_unit_test(bad_names_are_told_what_there_is),
		cmocka_unit_test(defaults_are_the_three_columns),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
