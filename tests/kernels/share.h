/* For tests: a core's samples of a global batch, and what all of them give. */
#ifndef TESTS_SHARE_H
#define TESTS_SHARE_H

#include "backends/parallel/replica.h"
#include "tests/kernels/subject.h"

/* Samples rank, rank + cores, ... of all, for batch_free(). */
static inline struct batch share_of(const struct batch *all,
				    const struct model *model, int rank,
				    int cores)
{
	const size_t size = shape_size(model->input);
	const size_t most = (size_t)all->count;
	float *images = allocate(most * size * sizeof(*images));
	uint16_t *labels = allocate(most * sizeof(*labels));
	struct batch share = *all;

	share.images = images;
	share.labels = labels;
	share.global_count = all->count;
	share.place = rank;
	share.stride = cores;
	share.count = 0;
	for (int p = rank; p < all->count; p += cores) {
		memcpy(images + (size_t)share.count * size,
		       all->images + (size_t)p * size, size * sizeof(*images));
		labels[share.count++] = all->labels[p];
	}
	return share;
}

/* One program makes all shares' gradients, and their sum by a loop. */
static inline void sum_shares(const struct batch *all, struct program *program,
			      int cores, float *sum)
{
	struct error err;

	for (int r = 0; r < cores; r++) {
		struct batch share = share_of(all, program->model, r, cores);
		float *lent;

		must(program_gradient(program, &share, &err), &err);
		lent = program_map(program, VECTOR_GRADIENT, &err);
		for (size_t i = 0; i < program->length; i++)
			sum[i] = r ? sum[i] + lent[i] : lent[i];
		must(program_unmap(program, VECTOR_GRADIENT, &err), &err);
		batch_free(&share);
	}
}

/* For an observer that ignores everything. */
static inline void hear_nothing(struct replica_observer *observer,
				enum replica_phase phase)
{
	(void)observer;
	(void)phase;
}

#endif
