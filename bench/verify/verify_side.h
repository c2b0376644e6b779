/*
 * One of the programs that are compared: opened, told what to decide, asked.
 */
#ifndef BENCH_VERIFY_VERIFY_SIDE_H
#define BENCH_VERIFY_VERIFY_SIDE_H

#include "bench/verify/verify_launch.h"
#include "bench/verify/verify_task.h"

/* All zero before. */
struct side {
	struct device *device;
	struct program *program;
	float *gradient, *parameters;
};

/* The task's program for batches of so many samples. */
struct program_options side_options(const struct verify_task *task, int batch,
				    int test_batch);

/* Opens a device, unless it has one, and compiles the task's model: on a core,
 * or alone (NULL). On failure to be closed as well. */
int side_open(struct side *side, const struct verify_task *task,
	      const struct backend *backend,
	      const struct program_options *options,
	      const struct verify_core *core, struct error *err);

/* The same for the task's steps, alone; in double, or by plain loops, every
 * multiplication is done. */
int side_open_steps(struct side *side, const struct verify_task *task,
		    const struct backend *backend, enum precision precision,
		    struct error *err);
void side_close_program(struct side *side); /* the device stays */
void side_close(struct side *side);

/* Imposes what leader has decided in its last gradient, dropout included;
 * decisions: for those of a batch, see verify_most_decisions(). */
int side_follow(struct side *side, struct side *leader, uint8_t *decisions,
		struct error *err);
/* From now on it decides on its own. */
int side_unfollow(struct side *side, struct error *err);

/* These leave side->gradient and side->parameters. */
int side_gradient(struct side *side, const struct batch *batch,
		  struct score *score, struct error *err);
int side_update(struct side *side, const struct update *update,
		struct error *err);

#endif
