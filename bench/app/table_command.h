/* `bench table DIR|FILE ...`: the tables again, from saved rows. */
#ifndef BENCH_APP_TABLE_COMMAND_H
#define BENCH_APP_TABLE_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/show/export.h"
#include "bench/show/table.h"

struct table_command {
	const char *const *paths; /* folders or CSV files */
	int path_count;
	enum table_format format; /* --format */
	int with_post;		  /* --with-post */
	int details;		  /* --details */
	int quiet;		  /* --quiet */
	int include_warmup;	  /* --include-warmup */
	int utf8;		  /* the locale is UTF-8 */
	int color;		  /* the best in bold */
	int width;		  /* of tables and notes, in columns; 0: 80 */
	int cores;		  /* --cores: their tables instead */
	int columns; /* --columns: results/README.md, and nothing else */
	struct export_paths exports; /* --export-csv, -json, -markdown */
};

/* Notes about what was read go to log. */
int table_command_run(const struct table_command *command, FILE *out,
		      FILE *log, struct error *err);

#endif
