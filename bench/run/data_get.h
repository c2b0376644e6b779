/* `bench data get NAME`. */
#ifndef BENCH_RUN_DATA_GET_H
#define BENCH_RUN_DATA_GET_H

#include <stdio.h>

#include "backends/contract/error.h"

/* What `bench data` was given. */
struct data_command {
	const char *verb, *name; /* NULL: not given */
	const char *dir;	 /* --data-dir */
	const char *mirror;	 /* --mirror URL: instead of the public ones */
};

/*
 * Downloads what is not there yet of the four files, into --data-dir or the
 * user's cache. A file gets its name only after its content is verified;
 * other content that is already there is never replaced.
 */
int data_get(const struct data_command *command, FILE *out, FILE *log,
	     struct error *err);

#endif
