/*
 * Scores of batches, which a pass leaves on the device slot by slot, and how
 * far the device may run ahead of the host.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_SCORES_H
#define BACKENDS_OPENCL_PROGRAM_SCORES_H

#include "backends/opencl/program/program.h"

/* Appends to a pass the launch that leaves a batch's score in its slot. */
int score_make(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
/* The first slots come to the host, waited for; and one is added to score. */
int score_read(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
void slot_add(const struct pass *pass, int slot, struct score *score);
/* Makes the slot that of an empty batch. */
int slot_clear(struct opencl_program *program, const struct pass *pass,
	       struct error *err);

/* Before each gradient: chooses its slot, and waits where the device is too
 * far behind. */
int ahead_begin(struct opencl_program *program, struct error *err);
void ahead_release(struct opencl_program *program);
/* A slot of the backend. */
int opencl_finish(struct program *program, struct score *scores, int count,
		  struct error *err);

#endif
