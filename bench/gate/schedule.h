/*
 * The order of a check: in each block, every target is measured once by each
 * arm. These processes are close in time, so that drift of the machine affects
 * all arms alike.
 */
#ifndef BENCH_GATE_SCHEDULE_H
#define BENCH_GATE_SCHEDULE_H

#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/gate/arm.h"

struct schedule {
	int blocks, targets, arms;
	unsigned char *orders; /* [blocks][targets][arms]: enum of arm.h */
	int *pads; /* [blocks][targets][arms]: bytes for arm_environment() */
};

/*
 * Makes an order that is drawn from seed. For each target, A comes before B in
 * half of the blocks (in one more if their number is odd). The third
 * arm, if there is one, comes anywhere. Fails only if there is no memory.
 */
int schedule_make(struct schedule *schedule, int blocks, int targets, int arms,
		  uint32_t seed, struct error *err);
void schedule_free(struct schedule *schedule); /* all zero is allowed */

/* Returns the target at place 0 .. targets - 1 of a block. Each block starts
 * with the next target. */
int schedule_target(const struct schedule *schedule, int block, int place);

/* Returns the arm at place 0 .. arms - 1, and its padding in bytes. */
int schedule_arm(const struct schedule *schedule, int block, int target,
		 int place, int *pad);

#endif
