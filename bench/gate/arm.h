/*
 * One side of a comparison: which program, with which variables. A is the base
 * and B the head; A2 is the base again, which no honest gate may flag.
 */
#ifndef BENCH_GATE_ARM_H
#define BENCH_GATE_ARM_H

#include "backends/contract/error.h"
#include "bench/options/options.h"

enum { ARM_BASE, ARM_HEAD, ARM_CONTROL, ARM_COUNT };

extern const char *const arm_names[ARM_COUNT]; /* A, B, A2: in rows */
extern const char *const arm_words[ARM_COUNT]; /* base, head: to be read */

struct arm {
	const char *program;	      /* NULL: this one */
	char **words;		      /* --base-cmd's; NULL: bench measure */
	const char *const *variables; /* NAME=VALUE, up to a NULL */
};

/*
 * From --base, --base-cmd, --base-env and the same of head; the control arm is
 * the base again. ERROR_USAGE if a side is named twice, ERROR_MISSING for a
 * program that is not there. Release them also after a failure.
 */
int arms_make(struct arm arms[ARM_COUNT], const struct options *options,
	      struct error *err);
void arms_release(struct arm arms[ARM_COUNT]);

/* Do both run the same program with the same variables? */
int arm_equals(const struct arm *arm, const struct arm *other);

/*
 * The variables of a process of this arm: ours, the arm's and pad bytes that
 * move its stack, since what lies where in memory alone can cost some percent
 * (Mytkowicz and others, ASPLOS 2009). One block for free(), or NULL and err.
 */
char **arm_environment(const struct arm *arm, int pad, struct error *err);

#endif
