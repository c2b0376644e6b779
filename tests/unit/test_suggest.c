/* Suggestions for names that are nearly right. */
#include "bench/system/suggest.h"

#include "tests/cmocka.h"

/* Suggestions for a mistyped word, or the whole list. */
static void a_name_is_guessed_or_not(void **state)
{
	static const char *const names[] = { "cpu", "opencl", "openblas",
					     "measure" };
	static const struct {
		const char *typed, *advice;
	} cases[] = {
		{ "opncl", "did you mean 'opencl'?" },
		{ "openlc", "did you mean 'opencl'?" },
		{ "opencll", "did you mean 'opencl'?" },
		{ "mesaure", "did you mean 'measure'?" },
		{ "cpuu", "did you mean 'cpu'?" },
		/* It is no slip of the finger. */
		{ "gpu", "choose among: cpu, opencl, openblas, measure" },
		{ "", "choose among: cpu, opencl, openblas, measure" },
		{ "a name that is longer than any that there could be",
		  "choose among: cpu, opencl, openblas, measure" },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct suggestion suggestion = { .typed = cases[c].typed };

		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			suggest_add(&suggestion, names[n]);
		assert_string_equal(suggest_text(&suggestion),
				    cases[c].advice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_guessed_or_not),
	};

	return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
