#include "bench/app/selftest_command.h"

#include "bench/gate/selftest.h"
#include "bench/system/interrupt.h"

int selftest_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err)
{
	struct selftest test;

	(void)options, (void)log;
	/* The first signal ends it soon, and with nothing left behind. */
	interrupt_install(1);
	selftest_begin(&test, out);
	if (selftest_canned(&test, err) || selftest_live(&test, err))
		return -1;
	if (!test.wrong)
		fprintf(out, "selftest: %d cases, all as expected\n",
			test.cases);
	else
		fprintf(out, "selftest: %d of %d cases WRONG: do not trust "
			"bench check here\n", test.wrong, test.cases);
	if (fflush(out) || ferror(out))
		return error_set(err, ERROR_OUTPUT,
				 "standard output could not be written");
	return test.wrong ? 1 : 0;
}
