/*
 * Cores that train together, by any transport.
 */
#ifndef BENCH_VERIFY_VERIFY_TEAM_H
#define BENCH_VERIFY_VERIFY_TEAM_H

#include "backends/parallel/transport.h"
#include "bench/verify/verify_task.h"

/* What a team leaves. */
struct verify_made {
	long masks_wrong; /* dropout decisions unlike models/random.h */
	int replicas_differ; /* parameters, or what cores make of them */
	float parameters[]; /* of the first core after each task */
};

/* Bytes of it, after count tasks. */
size_t verify_made_size(const struct model *model, int count);

/* Cores that train the steps of count tasks, which have one model: one task
 * after the other, each from the seeded parameters. In cores that join, made is
 * that of the first core alone. */
int verify_team(const struct verify_task *tasks, int count, const int *order,
		const struct transport *transport, int cores,
		struct verify_made *made, struct error *err);

#define VERIFY_TEAM_TASKS 2

/* The task's model as teams train it. */
void verify_team_model(struct model *model, const struct model *of);

/* What so many cores are compared on: small shares and, where cores are CPUs, a
 * whole measured batch on each. Parts of a device would be compiled for anew.
 * Returns how many. */
int verify_team_tasks(const struct verify_task *task, int cores,
		      const struct model *model,
		      struct verify_task tasks[VERIFY_TEAM_TASKS]);

/* The options of the program of each core. */
struct program_options verify_team_options(const struct verify_task *task,
					   int cores, int test_batch);

/* Only the last step moves the parameters: the optimizer's state has the sums
 * of all steps in it, and no decision of a later one differs by rounding. */
struct update verify_team_update(const struct verify_task *task, int step);

#endif
