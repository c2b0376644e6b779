#include "bench/gate/selftest.h"

#include <string.h>

static void print_line(struct selftest *test, const char *tried,
		       const char *expected, const char *got,
		       const char *result)
{
	fprintf(test->out, "%-46s %-12s %-12s %s\n", tried, expected, got,
		result);
}

void selftest_begin(struct selftest *test, FILE *out)
{
	*test = (struct selftest){ .out = out };
	print_line(test, "tried", "expected", "got", "");
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
