/*
 * Cores that train together, by any transport.
 */
#ifndef BENCH_VERIFY_VERIFY_TEAM_H
#define BENCH_VERIFY_VERIFY_TEAM_H

#include "bench/verify/verify_launch.h"
#include "bench/verify/verify_task.h"

/* What cores train: one task after the other, each from the seeded parameters.
 * All tasks have one model. */
struct verify_team {
	const struct verify_task *tasks;
	int count;
	const int *order; /* of the samples */
	/* Not 0: one program stands in for so many cores, and does the share
	 * of each of them in turn, of one task. */
	int in_turn;
};

/* What a team leaves. */
struct verify_made {
	long masks_wrong; /* dropout decisions unlike models/random.h */
	int replicas_differ; /* parameters, or what cores make of them */
	float parameters[]; /* of the first core after each task */
};

/* Bytes of it, after count tasks. */
size_t verify_made_size(const struct model *model, int count);

/* To be launched; team and made stay the caller's. */
struct verify_job verify_team_job(const struct verify_team *team,
				  struct verify_made *made);

#define VERIFY_TEAM_TASKS 2

/* The task's model as teams train it. */
void verify_team_model(struct model *model, const struct model *of);

/* What so many cores are compared on: small shares and, where cores are CPUs, a
 * whole measured batch on each. Parts of a device would be compiled for anew.
 * Returns how many. */
int verify_team_tasks(const struct verify_task *task, int cores,
		      const struct model *model,
		      struct verify_task tasks[VERIFY_TEAM_TASKS]);

#endif
