/* A JSON writer: strings become valid UTF-8; missing or infinite numbers and
 * empty texts become null. */
#ifndef BENCH_RECORD_JSON_H
#define BENCH_RECORD_JSON_H

#include <stdio.h>

#include "bench/record/column.h"

void json_write_string(FILE *out, const char *text);

/* Writes {"column": value, ...}. names is a list of columns that ends with
 * NULL, or NULL for all. */
void json_write_row(FILE *out, const struct row_kind *kind, const void *row,
		    const char *const *names);

#endif
