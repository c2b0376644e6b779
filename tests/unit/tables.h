/* For tests: a campaign in memory, and its tables as text. */
#ifndef TESTS_TABLES_H
#define TESTS_TABLES_H

#include "bench/report/table.h"
#include "tests/cmocka.h"
#include "tests/unit/rows.h"

static struct campaign campaign;
static struct made made;

static inline void add(const char *run_id, const char *target, long cores,
		       double s)
{
	made_run(&made, run_id, target, cores, s);
	made_into(&campaign, &made, 1);
}

static inline const char *shown(const struct table_options *options)
{
	static char text[1 << 16];
	struct error err;
	FILE *file;

	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text) - 1, "w");
	assert_int_equal(table_print(&campaign, options, file, &err), 0);
	fclose(file);
	return text;
}

/* The first screen. */
static inline const char *first(int quiet)
{
	const struct table_options options = { .first = 1, .quiet = quiet,
					       .where = "here",
					       .is_folder = 1 };

	return shown(&options);
}

static inline void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static inline void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

#endif
