/* One side of a comparison: a program and its variables. A is the base, B the
 * head. A2 is the base again: a gate that flags it is wrong. */
#ifndef BENCH_GATE_ARM_H
#define BENCH_GATE_ARM_H

#include "backends/contract/error.h"
#include "bench/options/options.h"

enum { ARM_BASE, ARM_HEAD, ARM_CONTROL, ARM_COUNT };

extern const char *const arm_names[ARM_COUNT]; /* A, B, A2: as in rows */
extern const char *const arm_words[ARM_COUNT]; /* base, head, control: as in
						  texts */

struct arm {
	const char *program;	      /* NULL = this program */
	char **words; /* words of --base-cmd; NULL = bench measure */
	const char *const *variables; /* NAME=VALUE; ends with NULL */
};

/*
 * Makes the arms from --base, --base-cmd, --base-env and the same options of
 * head. The control arm is the base again. Fails with ERROR_USAGE if a side is
 * named twice or one side only is a command, and with ERROR_MISSING if a
 * program does not exist. Release the arms also after a failure.
 */
int arms_make(struct arm arms[ARM_COUNT], const struct options *options,
	      struct error *err);
void arms_release(struct arm arms[ARM_COUNT]);

/* Returns 1 if both run the same program with the same variables. */
int arm_equals(const struct arm *arm, const struct arm *other);

/*
 * Returns the environment of a process of this arm: this process's variables,
 * the arm's, and pad bytes. The bytes move the stack, since its position alone
 * can cost some percent (Mytkowicz and others, ASPLOS 2009). The caller frees
 * the one block. Returns NULL if there is no memory.
 */
char **arm_environment(const struct arm *arm, int pad, struct error *err);

#endif
