/* Scores of batches, which a pass leaves on the device slot by slot. */
#include "backends/opencl/class.h"

#include <stdlib.h>

#define SLOT_FLOATS 4 /* as in score.cl */

int score_make(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err)
{
	const struct launch score = { .name = "score",
				      .items = { 1, 1, 1 },
				      .batch_arguments = 7,
				      .work = { .step =
						program->plan.count - 1 } };
	const size_t bytes = (size_t)slots * SLOT_FLOATS * sizeof(float);
	cl_mem memories[] = { pass->outcomes, NULL };

	pass->slots = slots;
	pass->host_scores = calloc(1, bytes);
	if (!pass->host_scores)
		return error_memory(err, "the scores of batches");
	if (memory_make(program, bytes, &pass->scores, err))
		return -1;
	if (pass->training && program_device(program)->class->ends_with_score)
		return 0;
	memories[1] = pass->scores;
	return pass_add(pass, &score, program->common, memories, 2, err);
}

int score_read(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err)
{
	cl_int status = clEnqueueReadBuffer(
		queue_next(program), pass->scores, CL_TRUE, 0,
		(size_t)slots * SLOT_FLOATS * sizeof(float), pass->host_scores,
		0, NULL, profile_event(program, pass->training ? PART_SCORE :
								 PART_NONE));

	return status ? status_fail(err, "clEnqueueReadBuffer", status) : 0;
}

int slot_clear(struct opencl_program *program, const struct pass *pass,
	       struct error *err)
{
	const size_t bytes = SLOT_FLOATS * sizeof(float);
	const cl_uchar zero = 0;
	cl_int status = clEnqueueFillBuffer(queue_next(program), pass->scores,
					    &zero, sizeof(zero),
					    (size_t)pass->slot * bytes, bytes,
					    0, NULL, NULL);

	return status ? status_fail(err, "clEnqueueFillBuffer", status) : 0;
}

void slot_add(const struct pass *pass, int slot, struct score *score)
{
	const float *values = pass->host_scores + SLOT_FLOATS * slot;

	score->loss += (double)values[0] + values[1];
	score->correct += (long)values[2];
	score->count += (long)values[3];
}
