/*
 * What `bench verify` compares of a backend: several cores with one, steps with
 * the reference's, forward passes alone, and random networks. To be called
 * before this process opens a device of the backend.
 */
#ifndef BENCH_VERIFY_VERIFY_PARTS_H
#define BENCH_VERIFY_VERIFY_PARTS_H

#include "bench/verify/verify_task.h"

/* Masks, replicas and parameters of 1, 2 and 3 cores, by threads and fork; or
 * of a target's own cores, by its transport. With --team this process becomes
 * one of these. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/*
 * Backend and reference side by side, the reference taking the backend's
 * parameters, state and decisions before each step: task->steps, then one of
 * task->measured_batch samples. That one is also done as program_train() does
 * it, with an evaluation of task->test_batch; and both again of a data set that
 * the program holds, if it can.
 */
int verify_steps(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* Samples that are passed forward for a result, of such a batch on each core.
 */
int verify_infer_samples(const struct verify_task *task,
			 const struct verify_result *result);

/* Times that the reference passes them forward, about. */
int verify_infer_passes(const struct verify_task *task);

/* Forward passes, see verify_infer.c. With --team this process becomes one of
 * the target's cores. */
int verify_infer(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* `bench verify --random N`: N networks on each target, the largest errors and
 * the solvers' shares to out, notes to log. 0: all are right; 1: one is not;
 * 128 and a signal: right until it came; -1: an error. */
int verify_random(const struct options *options, const struct target *targets,
		  int count, FILE *out, FILE *log, struct error *err);

#endif
