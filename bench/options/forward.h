/* A command line for a bench that is started, from the options of this one. */
#ifndef BENCH_OPTIONS_FORWARD_H
#define BENCH_OPTIONS_FORWARD_H

#include "bench/options/options.h"

/*
 * argv for `PROGRAM VERB ARGUMENT` with every option that the verb knows and
 * `bench run` or `bench check` as well, and the extra words (up to a NULL) at
 * the end. One block for free(). program is NULL for this one.
 */
char **forward_options(const struct options *options, const char *program,
		       enum verb verb, const char *argument,
		       const char *const *extra, struct error *err);

#endif
