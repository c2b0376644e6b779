/*
 * A timeline of all cores: what each did when, in the trace-event format that
 * Chrome's tracing and Perfetto open (an array of complete events, times in
 * microseconds; the document "Trace Event Format").
 */
#ifndef BENCH_TRAIN_TRACE_H
#define BENCH_TRAIN_TRACE_H

#include "backends/contract/error.h"

struct trace;

/* began_at is the time of clock_now() that becomes 0. */
struct trace *trace_open(const char *path, const char *target, double began_at,
			 struct error *err);

/* What a core is called; to be given once. */
void trace_name_core(struct trace *trace, int core, const char *name);

/* One thing that a core did; an iteration of 0 is none, an epoch of 0 warm-up.
 * Nothing is shown of what took no time. */
void trace_slice(struct trace *trace, int core, const char *name,
		 double began_at, double elapsed_s, int epoch, int iteration);

/* Writes the file, whole or not at all, and frees. NULL is fine. */
int trace_close(struct trace *trace, struct error *err);

#endif
