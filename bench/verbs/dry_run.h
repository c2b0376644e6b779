/* What a run would do, and for how long. */
#ifndef BENCH_VERBS_DRY_RUN_H
#define BENCH_VERBS_DRY_RUN_H

#include "bench/training/training.h"

#include <stdio.h>

struct options;
struct target;

/*
 * Writes a line to out: what training target with these options would be, and
 * about how many seconds it would take, from a few iterations in a process of
 * its own; a test sample is taken for a third of a training sample. A target
 * that fails is an error where it was named.
 */
int dry_run(const struct options *given, const struct target *target,
	    const struct training *training, int named, FILE *out,
	    struct error *err);

#endif
