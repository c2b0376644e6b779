/*
 * The comparisons of `bench verify`: several cores with one, steps with the
 * reference's, forward passes, and random networks. Call them before this
 * process opens a device of the backend.
 */
#ifndef BENCH_VERIFY_VERIFY_PARTS_H
#define BENCH_VERIFY_VERIFY_PARTS_H

#include "bench/verify/verify_task.h"

/* Compares masks, replicas and parameters of 1, 2 and 3 cores by threads and
 * fork, or of the target's own cores by its transport. With --team this process
 * is one of these cores. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/*
 * Runs backend and reference side by side. Before each step the reference
 * copies the backend's parameters, state and decisions. After task->steps
 * steps, one step of task->measured_batch samples follows. program_train()
 * repeats this step, and an evaluation of task->test_batch follows. If the
 * backend supports it, both are repeated with a data set on the device.
 */
int verify_steps(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* Returns the number of samples passed forward for a result, in batches of
 * task->measured_batch per core. */
int verify_infer_samples(const struct verify_task *task,
			 const struct verify_result *result);

/* Returns about how many times the reference passes the samples forward. */
int verify_infer_passes(const struct verify_task *task);

/* Compares forward passes, see verify_infer.c. With --team this process is one
 * of the target's cores. */
int verify_infer(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* `bench verify --random N`: compares N networks on each target. Prints the
 * largest errors and the solvers' shares to out, notes to log. Returns 0 if all
 * are right, 1 if one is wrong, 128 and the signal if all were right until a
 * signal, -1 on error. */
int verify_random(const struct options *options, const struct target *targets,
		  int count, FILE *out, FILE *log, struct error *err);

#endif
