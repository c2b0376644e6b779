/* Slots of the backend that this folder computes: see struct backend. */
#ifndef BACKENDS_OPENCL_PROGRAM_SLOTS_H
#define BACKENDS_OPENCL_PROGRAM_SLOTS_H

#include "backends/contract/backend.h"

/* compile.c */
int opencl_compile(struct device *device, const struct model *model,
		   const struct program_options *options,
		   struct program **program, struct error *err);
void opencl_free(struct program *program);
double opencl_sample_bytes(const struct model *model,
			   const struct program_options *options);

/* batch.c */
int opencl_gradient(struct program *program, const struct batch *batch,
		    const struct update *update, struct error *err);
int opencl_update(struct program *program, const struct update *update,
		  size_t from, size_t to, struct error *err);
int opencl_evaluate(struct program *program, const struct batch *batch,
		    struct score *score, struct error *err);

/* scores.c */
int opencl_finish(struct program *program, struct score *scores, int count,
		  struct error *err);

/* resident.c: the data set on the device, as bytes. Batches are gathered from
 * it there. */
int opencl_upload_data(struct program *program,
		       const struct resident_data *data, struct error *err);
int opencl_order(struct program *program, const int *order, int count,
		 struct error *err);

/* decisions.c */
int opencl_decisions(struct program *program, int layer, uint8_t *values,
		     struct error *err);

/* profile.c: queue.h reports the times of these parts. */
int opencl_profile(struct program *program, struct profile_part *parts);

#endif
