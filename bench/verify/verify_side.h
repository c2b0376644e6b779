/* One of the compared programs: opens it, imposes decisions, and reads
 * gradients and parameters. */
#ifndef BENCH_VERIFY_VERIFY_SIDE_H
#define BENCH_VERIFY_VERIFY_SIDE_H

#include "bench/verify/verify_launch.h"
#include "bench/verify/verify_task.h"

/* All zero before side_open(). */
struct side {
	struct device *device;
	struct program *program;
	float *gradient, *parameters;
};

/* Returns the options of the task's program for these batch sizes. */
struct program_options side_options(const struct verify_task *task, int batch,
				    int test_batch);

/* Opens a device, unless side has one, and compiles the task's model for core,
 * or for one core without a group if core is NULL. Close side also after a
 * failure. */
int side_open(struct side *side, const struct verify_task *task,
	      const struct backend *backend,
	      const struct program_options *options,
	      const struct verify_core *core, struct error *err);

/* Opens side for the task's steps, without a group. If it computes in double or
 * by plain loops, it skips no multiplication. */
int side_open_steps(struct side *side, const struct verify_task *task,
		    const struct backend *backend, enum precision precision,
		    struct error *err);
void side_close_program(struct side *side); /* keeps the device */
void side_close(struct side *side);

/* Imposes the decisions of leader's last gradient, dropout included. decisions
 * has room for a batch, see verify_most_decisions(). */
int side_follow(struct side *side, struct side *leader, uint8_t *decisions,
		struct error *err);
/* Ends side_follow(): side decides on its own again. */
int side_unfollow(struct side *side, struct error *err);

/* They set side->gradient and side->parameters. */
int side_gradient(struct side *side, const struct batch *batch,
		  struct score *score, struct error *err);
int side_update(struct side *side, const struct update *update,
		struct error *err);

#endif
