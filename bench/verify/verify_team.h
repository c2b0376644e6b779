/* Cores that train together, by any transport. */
#ifndef BENCH_VERIFY_VERIFY_TEAM_H
#define BENCH_VERIFY_VERIFY_TEAM_H

#include "bench/verify/verify_launch.h"
#include "bench/verify/verify_task.h"

/* The tasks of a team: one after the other, each from the seeded parameters.
 * All tasks have the same model. */
struct verify_team {
	const struct verify_task *tasks;
	int count;
	const int *order; /* of the samples */
	/* Number of cores that one program replaces by computing their shares
	 * in turn; 0 = none. Only with one task. */
	int in_turn;
};

/* Results of a team. */
struct verify_made {
	long masks_wrong; /* dropout decisions that differ from
			     models/random.h */
	int replicas_differ; /* 1: parameters, or values derived from them,
				differ between cores */
	float parameters[]; /* of the first core, after each task */
};

/* Returns the bytes of struct verify_made for count tasks. */
size_t verify_made_size(const struct model *model, int count);

/* Returns a job for verify_launch(). It borrows team and made. */
struct verify_job verify_team_job(const struct verify_team *team,
				  struct verify_made *made);

#define VERIFY_TEAM_TASKS 2

/* Sets model to the task's model as teams train it. */
void verify_team_model(struct model *model, const struct model *of);

/* Sets the tasks for this number of cores, and returns how many: small shares,
 * and if cores are CPUs, a whole measured batch on each. Devices get the first
 * only, since each part would be compiled again. */
int verify_team_tasks(const struct verify_task *task, int cores,
		      const struct model *model,
		      struct verify_task tasks[VERIFY_TEAM_TASKS]);

#endif
