/* The lines under the table of a check that tell what was compared. */
#ifndef BENCH_GATE_VERDICT_SUBJECT_H
#define BENCH_GATE_VERDICT_SUBJECT_H

#include "bench/gate/verdict.h"

/* Nothing of rows that an older bench wrote without it. */
void verdict_print_subject(const struct verdict *verdicts, int count,
			   const struct table_options *options, FILE *out);

#endif
