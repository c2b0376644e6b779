/*
 * The sums of parts, and the update with them.
 */

/*
 * Segments of the parameters whose gradients are in parts, in the order of
 * their blocks. A block is REDUCED parameters and belongs to a group.
 */
struct segment {
	uint first, size; /* parameters */
	uint at;	  /* where their parts begin */
	uint each, divisor; /* parts: each * samples / divisor, rounded up */
	uint block;	  /* its first one */
};

static inline global const struct segment *
segment_of_block(global const struct segment *segments, uint block)
{
	int s = SEGMENTS - 1;

	while (s > 0 && block < segments[s].block)
		s--;
	return segments + s;
}

/* Whether parameter i is of one of them. */
static inline int is_in_parts(global const struct segment *segments, uint i)
{
	int found = 0;

	for (int s = 0; s < SEGMENTS; s++)
		found |= i - segments[s].first < segments[s].size;
	return found;
}

/*
 * SLICES items share the parts of a parameter, and make runs[slice][parameter]
 * of a block; item b then adds up the runs of the block's parameter b.
 */
static inline void block_runs(local float *runs,
			      global const struct segment *segments, uint block,
			      int count, global const float *sums)
{
	global const struct segment *segment =
		segment_of_block(segments, block);
	const uint parameter = (block - segment->block) * REDUCED +
			       get_local_id(0) % REDUCED;
	const uint parts = PARTS_OF(segment->each * count, segment->divisor);
	const uint run = PARTS_OF(parts, SLICES);
	const uint from = get_local_id(0) / REDUCED * run;
	const uint size = segment->size;
	const uint to = parameter < size ? min(from + run, parts) : from;
	float sum = 0;

	sums += segment->at + parameter;
#pragma unroll 8
	for (uint p = from; p < to; p++)
		sum += sums[(size_t)p * size];
	runs[get_local_id(0)] = sum;
}

/* For all of a group, at its beginning; nothing if it has no block. */
static inline void runs_make(local float *runs,
			     global const struct segment *segments, uint group,
			     int count, global const float *sums)
{
	if (group < BLOCKS)
		block_runs(runs, segments, group, count, sums);
	MEET();
}

static inline float runs_add(local const float *runs)
{
	float sum = 0;

	for (int s = 0; s < SLICES; s++)
		sum += runs[s * REDUCED + get_local_id(0)];
	return sum;
}

/* Where in the flat vector item b's parameter of a block is; PARAMETERS or
 * more if there is none. */
static inline uint block_parameter(global const struct segment *segments,
				   uint block)
{
	global const struct segment *segment =
		segment_of_block(segments, block);
	const uint i = (block - segment->block) * REDUCED + get_local_id(0);

	return get_local_id(0) < REDUCED && i < segment->size ?
		       segment->first + i : PARAMETERS;
}

/* Group b sums up block b; one more, the batch's outcomes: see score.cl. */
kernel GROUP void reduce(const int count, const int slot,
			 global const struct segment *restrict segments,
			 global const float *restrict sums,
			 global const float *restrict outcomes,
			 global float *restrict scores,
			 global float *restrict gradient)
{
	local float runs[ITEMS];
	const uint group = get_group_id(0);

	runs_make(runs, segments, group, count, sums);
	if (group < BLOCKS) {
		const uint i = block_parameter(segments, group);

		if (i < PARAMETERS)
			gradient[i] = runs_add(runs);
	} else if (get_local_id(0) == 0) {
		outcomes_add(count, slot, outcomes, scores);
	}
}

/*
 * All of the above. The first BLOCKS groups update the parameters of a block
 * each, one more sums up the outcomes, and each other updates UPDATED
 * parameters outside of the segments.
 */
kernel GROUP void reduce_update(const float lr, const float rho,
				const float rest, const float eps,
				const int count, const int slot,
				global const struct segment *restrict segments,
				global const float *restrict sums,
				global const float *restrict outcomes,
				global float *restrict scores,
				global float *restrict parameters,
				global const float *restrict gradient,
				global float *restrict square_avg,
				global float *restrict acc_delta)
{
	local float runs[ITEMS];
	const uint group = get_group_id(0);

	runs_make(runs, segments, group, count, sums);
	if (group < BLOCKS) {
		const uint i = block_parameter(segments, group);

		if (i < PARAMETERS)
			adadelta_update(lr, rho, rest, eps, runs_add(runs), i,
					1, parameters, square_avg, acc_delta);
	} else if (group == BLOCKS) {
		if (get_local_id(0) == 0)
			outcomes_add(count, slot, outcomes, scores);
	} else {
		const uint first = (group - BLOCKS - 1) * UPDATED;
		const uint last = min(first + UPDATED, (uint)PARAMETERS);

		for (uint i = first + get_local_id(0); i < last; i += ITEMS)
			if (!is_in_parts(segments, i))
				adadelta_update(lr, rho, rest, eps, gradient[i],
						i, 1, parameters, square_avg,
						acc_delta);
	}
}
