/*
 * Scores of batches, which a pass stores on the device slot by slot. The host
 * may be ahead of the device by a number of batches.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_SCORES_H
#define BACKENDS_OPENCL_PROGRAM_SCORES_H

#include "backends/opencl/program/program.h"

/* Appends the launch that stores a batch's score in its slot. */
int score_make(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
/* Waits for the first slots and copies them to the host. */
int score_read(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
/* Adds a slot that has been read to score. */
void slot_add(const struct pass *pass, int slot, struct score *score);
/* Sets the slot to the score of an empty batch. */
int slot_clear(struct opencl_program *program, const struct pass *pass,
	       struct error *err);

/* Chooses the slot of the next gradient. If the host is too far ahead, waits
 * for the device. */
int ahead_begin(struct opencl_program *program, struct error *err);
void ahead_release(struct opencl_program *program);

#endif
