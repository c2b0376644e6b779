/* `bench compare DIR DIR`: two campaigns side by side. */
#ifndef BENCH_APP_COMPARE_COMMAND_H
#define BENCH_APP_COMPARE_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/show/table.h"

struct compare_command {
	const char *const *paths; /* folders or CSV files */
	int path_count;
	struct table_options table; /* not the post's format */
	const char *export_csv;	    /* --export-csv, or NULL */
};

/* Notes about what was read go to log. */
int compare_command_run(const struct compare_command *command, FILE *out,
			FILE *log, struct error *err);

#endif
