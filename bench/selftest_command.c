#include "bench/selftest_command.h"

#include <string.h>

#include "bench/interrupt.h"
#include "bench/selftest.h"

static void print_line(struct selftest *test, const char *tried,
		       const char *expected, const char *got,
		       const char *result)
{
	fprintf(test->out, "%-46s %-12s %-12s %s\n", tried, expected, got,
		result);
}

/* Indented; nothing in it steers a terminal. */
static void print_detail(struct selftest *test, const char *detail)
{
	int begins = 1;

	for (; *detail; detail++) {
		if (begins)
			fputs("  | ", test->out);
		begins = *detail == '\n';
		fputc((unsigned char)*detail < ' ' && !begins ? '?' : *detail,
		      test->out);
	}
	if (!begins)
		fputc('\n', test->out);
}

void selftest_report(struct selftest *test, const char *tried,
		     const char *expected, const char *got,
		     const char *detail)
{
	const int right = !strcmp(expected, got);

	test->cases++;
	test->wrong += !right;
	print_line(test, tried, expected, got, right ? "ok" : "WRONG");
	if (!right)
		print_detail(test, detail);
	fflush(test->out);
}

int selftest_command(FILE *out, struct error *err)
{
	struct selftest test = { .out = out };

	/* The first signal ends it soon, and with nothing left behind. */
	interrupt_install(1);
	print_line(&test, "tried", "expected", "got", "");
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
