/*
 * Forward passes alone, as bench infer times them: programs that only evaluate,
 * of a network whose batch norms are folded, beside the reference.
 *
 * Outputs are compared sample by sample. In fp32 they are held to the bound, or
 * to 8 times as far as the reference moves by rounding, as gradients are.
 *
 * A precision that rounds is held to a reference that rounds the same values.
 * What lies near the middle between two numbers may be rounded otherwise there,
 * and all that follows differs by it. Errors are held to 4 times as far as the
 * reference moves so when each parameter becomes the float above or below it.
 * In a small network that happens to few values: there it may also be a part of
 * how far the reference moves when each parameter becomes a neighbour in the
 * precision. Outputs as a whole, where chance averages out, are held by their
 * size as well: a kernel that rounds always down makes them smaller.
 */
#ifndef BENCH_VERIFY_VERIFY_INFER_H
#define BENCH_VERIFY_VERIFY_INFER_H

#include "bench/verify/verify_task.h"

/* Samples that are passed forward for a result, of such a batch on each core.
 */
int verify_infer_samples(const struct verify_task *task,
			 const struct verify_result *result);

/* Times that the reference passes them forward, about. */
int verify_infer_passes(const struct verify_task *task);

/* With --team this process becomes one of the target's cores. */
int verify_infer(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

#endif
