/*
 * The part of cmocka that tests of kernels call, for a processor for which its
 * library is not to be had. The library for this one runs the same tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum end { ENDED, FAILED, SKIPPED };

static jmp_buf out_of_test;

static void fail_unless(int right, const char *what, const char *file, int line)
{
	if (right)
		return;
	printf("%s:%d: %s\n", file, line, what);
	longjmp(out_of_test, FAILED);
}

void _assert_true(const LargestIntegralType result, const char *expression,
		  const char *file, const int line)
{
	fail_unless(result != 0, expression, file, line);
}

void _assert_int_equal(const LargestIntegralType a, const LargestIntegralType b,
		       const char *file, const int line)
{
	fail_unless(a == b, "not the same number", file, line);
}

void _assert_in_range(const LargestIntegralType value,
		      const LargestIntegralType least,
		      const LargestIntegralType most, const char *file,
		      const int line)
{
	fail_unless(value >= least && value <= most, "not in the range", file,
		    line);
}

void _assert_memory_equal(const void *a, const void *b, const size_t size,
			  const char *file, const int line)
{
	fail_unless(!memcmp(a, b, size), "not the same bytes", file, line);
}

void _fail(const char *file, const int line)
{
	fail_unless(0, "failed", file, line);
}

void _skip(const char *file, const int line)
{
	(void)file;
	(void)line;
	longjmp(out_of_test, SKIPPED);
}

void print_error(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vprintf(format, values);
	va_end(values);
}

int _cmocka_run_group_tests(const char *group,
			    const struct CMUnitTest *tests, const size_t count,
			    CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static const char *const words[] = { "ok", "FAILED", "skipped" };
	volatile int failed = setup || teardown;

	for (volatile size_t i = 0; i < count; i++) {
		volatile enum end end = ENDED;
		void *state = tests[i].initial_state;

		switch (setjmp(out_of_test)) {
		case 0:
			tests[i].test_func(&state);
			break;
		case SKIPPED:
			end = SKIPPED;
			break;
		default:
			end = FAILED;
			failed++;
		}
		printf("%s: %s: %s\n", group, tests[i].name, words[end]);
	}
	return failed;
}
