/* JSON, as much as is needed to write it: strings come out as valid UTF-8,
 * numbers that are missing or not finite as null. */
#ifndef BENCH_RECORD_JSON_H
#define BENCH_RECORD_JSON_H

#include <stdio.h>

#include "bench/record/column.h"

void json_write_string(FILE *out, const char *text);

/* {"column": value, ...}; empty text is null. names, up to a NULL, are the
 * columns wanted; NULL: all. */
void json_write_row(FILE *out, const struct row_kind *kind, const void *row,
		    const char *const *names);

#endif
