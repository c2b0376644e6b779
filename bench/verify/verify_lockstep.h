/*
 * A backend and the reference side by side, step by step and as a run trains.
 */
#ifndef BENCH_VERIFY_VERIFY_LOCKSTEP_H
#define BENCH_VERIFY_VERIFY_LOCKSTEP_H

#include "bench/verify/verify_task.h"

/* Backend and reference side by side, the reference taking the backend's
 * parameters, state and decisions before each step. */
int verify_lockstep(const struct verify_task *task,
		    struct verify_result *result, struct error *err);

/* One step of task->measured_batch samples likewise, both in parts and as
 * program_train() does it, and an evaluation of task->test_batch; the last two
 * also of a data set that the program holds, if it can. */
int verify_measured(const struct verify_task *task,
		    struct verify_result *result, struct error *err);

#endif
