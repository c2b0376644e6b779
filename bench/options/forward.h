/* Makes a command line for another bench from this one's options. */
#ifndef BENCH_OPTIONS_FORWARD_H
#define BENCH_OPTIONS_FORWARD_H

#include "bench/options/options.h"

/*
 * Returns argv for `PROGRAM VERB ARGUMENT`. It has all options that both the
 * verb and `bench run` or `bench check` support, and then the extra words,
 * which end with NULL. program may be NULL: this program. The caller frees the
 * one block. Returns NULL with ERROR_USAGE if a word is too long, or if there
 * is no memory.
 */
char **forward_options(const struct options *options, const char *program,
		       enum verb verb, const char *argument,
		       const char *const *extra, struct error *err);

#endif
