/* What a run would do, and for how long. */
#ifndef BENCH_APP_DRY_RUN_H
#define BENCH_APP_DRY_RUN_H

#include "bench/run/training.h"

#include <stdio.h>

struct options;
struct target;

/*
 * Writes a line to out: what training target with these options would be,
 * about how long it would take and in how much memory, from a few iterations
 * in a process of its own; a test sample is taken for a third of a training
 * sample. The seconds are added to all_s. A target that fails adds nothing, and
 * is an error where it was named.
 */
int dry_run(const struct options *given, const struct target *target,
	    const struct training *training, int named, double *all_s,
	    FILE *out, struct error *err);

/* "about 45 s", "about 12 min" */
void dry_run_print_time(double seconds, char *text, size_t size);

#endif
