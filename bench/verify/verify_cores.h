/*
 * Several cores of a backend against one.
 */
#ifndef BENCH_VERIFY_VERIFY_CORES_H
#define BENCH_VERIFY_VERIFY_CORES_H

#include "backends/group/transport.h"
#include "bench/verify/verify_task.h"

/* Masks, replicas and parameters of 1, 2 and 3 cores, by threads and fork. To
 * be called before this process opens a device of the backend. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* Cores that train task->steps steps together; parameters become those of
 * rank 0. Adds to result what of masks and replicas is wrong. */
int verify_team(const struct verify_task *task, const int *order,
		const struct transport *transport, int cores,
		float *parameters, struct verify_result *result,
		struct error *err);

#endif
