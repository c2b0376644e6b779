/*
 * A timeline of all cores in the trace-event format of Chrome's tracing and
 * Perfetto (document "Trace Event Format"). It is an array of complete events,
 * times in microseconds.
 */
#ifndef BENCH_TRAIN_TRACE_H
#define BENCH_TRAIN_TRACE_H

#include "backends/contract/error.h"

struct trace;

/* Starts a trace. began_at is the time of clock_now() that becomes 0. Returns
 * NULL on failure. */
struct trace *trace_open(const char *path, const char *target, double began_at,
			 struct error *err);

/* Names a core. Call it once per core. */
void trace_name_core(struct trace *trace, int core, const char *name);

/* Adds an interval of a core. iteration 0: none; epoch 0: warm-up. Intervals
 * without length are skipped. */
void trace_slice(struct trace *trace, int core, const char *name,
		 double began_at, double elapsed_s, int epoch, int iteration);

/* Writes the file completely or not at all, and frees the trace. trace may be
 * NULL. */
int trace_close(struct trace *trace, struct error *err);

#endif
