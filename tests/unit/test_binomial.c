/* Bounds of shares and of the gate's rates, against SciPy's beta.ppf. */
#include "bench/statistics/stats.h"
#include "tests/unit/near.h"

static void bounds(void **state)
{
	static const struct {
		size_t k, n;
		double alpha, lower, upper;
	} known[] = {
		{ 0, 299, .05, 0, .00996914679289927 },
		{ 1, 473, .05, .000108436603175438, .00998970747422469 },
		{ 1, 1, .05, .05, 1 },
		{ 5, 5, .05, .549280271653059, 1 },
		{ 4, 5, .05, .342591681998861, .989793781686989 },
		{ 0, 10, .025, 0, .308497107818761 },
		{ 8, 10, .025, .443904537692358, .974789273673167 },
		{ 10, 10, .025, .691502892181239, 1 },
		{ 1, 46, .05, .00111445015577777, .099024316819898 },
		{ 137, 300, .025, .399307592457501, .51488992076478 },
		{ 5000, 100000, .025, .0486572552072707, .0513689208805804 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		near(binomial_lower(known[i].k, known[i].n, known[i].alpha),
		     known[i].lower);
		near(binomial_upper(known[i].k, known[i].n, known[i].alpha),
		     known[i].upper);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bounds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
