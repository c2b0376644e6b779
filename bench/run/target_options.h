/*
 * Options that only some targets take: --resident no, --device-class and
 * --sync epoch. A command with several targets gives them to those, and is
 * refused where there are none.
 */
#ifndef BENCH_RUN_TARGET_OPTIONS_H
#define BENCH_RUN_TARGET_OPTIONS_H

#include <stdio.h>

#include "bench/options/options.h"
#include "bench/run/target.h"

/* Takes out of options what the target does not take. */
void target_options_trim(struct options *options, const struct target *target);

/*
 * ERROR_USAGE for an option that none of the targets takes, which says why and
 * who does. Of one that only some take, log (NULL: nobody) is told which.
 */
int target_options_check(const struct options *options,
			 const struct target *targets, int count, FILE *log,
			 struct error *err);

#endif
