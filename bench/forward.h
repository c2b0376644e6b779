/* A command line for a measuring child, from the options of its parent. */
#ifndef BENCH_FORWARD_H
#define BENCH_FORWARD_H

#include "bench/options.h"

/*
 * argv for `PROGRAM measure TARGET` with every option that both verbs know, and
 * the extra words (up to a NULL) at the end. One block for free(). program is
 * NULL for this one.
 */
char **forward_options(const struct options *options, const char *program,
		       const char *target, const char *const *extra,
		       struct error *err);

#endif
