/*
 * The order in which a check measures: rounds ("blocks") in which every target
 * is measured once by each arm, close together in time, so that drift of the
 * machine meets all arms alike.
 */
#ifndef BENCH_GATE_SCHEDULE_H
#define BENCH_GATE_SCHEDULE_H

#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/gate/arm.h"

struct schedule {
	int blocks, targets, arms;
	unsigned char *orders; /* [blocks][targets][arms]: enum of arm.h */
	int *pads;	       /* likewise: bytes for arm_environment() */
};

/*
 * As many blocks of each target begin with A before B as with B before A (one
 * more with an odd number), in an order drawn from seed; the third arm, if
 * there is one, comes anywhere.
 */
int schedule_make(struct schedule *schedule, int blocks, int targets, int arms,
		  uint32_t seed, struct error *err);
void schedule_free(struct schedule *schedule); /* all zero is fine */

/* The target of place 0 to targets - 1 in a block: each starts with another. */
int schedule_target(const struct schedule *schedule, int block, int place);

/* The arm of place 0 to arms - 1, and the padding that goes with it. */
int schedule_arm(const struct schedule *schedule, int block, int target,
		 int place, int *pad);

#endif
