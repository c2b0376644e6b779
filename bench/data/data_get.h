/* `bench data get NAME`. */
#ifndef BENCH_DATA_DATA_GET_H
#define BENCH_DATA_DATA_GET_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/data/dataset_files.h"
#include "bench/options/options.h"

/*
 * Downloads the missing files of the data set known into --data-dir or the
 * user's cache. known is NULL if no set was named. A file gets its name only
 * after its content is verified. Existing files with other content are never
 * replaced.
 */
int data_get(const struct dataset_known *known, const struct options *options,
	     FILE *out, FILE *log, struct error *err);

#endif
