/*
 * Samples that cores pass forward, by any transport: programs that only
 * evaluate.
 */
#ifndef BENCH_VERIFY_VERIFY_PASSED_H
#define BENCH_VERIFY_VERIFY_PASSED_H

#include "backends/parallel/transport.h"
#include "bench/verify/verify_task.h"

/* The samples of a forward pass: the first of the test set,
 * task->measured_batch of them a core at a time, which it reads itself. */
struct passing {
	const struct verify_task *task;
	const struct model *model; /* the task's, or that with norms folded */
	const float *parameters, *buffers; /* of the model */
	int samples;
};

/* What comes out of it. */
struct passed {
	struct score score;
	int has_rounds;
	unsigned char rounds[MODEL_MAX_LAYERS]; /* as struct program says */
	float outputs[]; /* [samples][model_classes()] */
};

/* Bytes, of so many floats. */
size_t passed_size(size_t outputs);

/* In cores that join, passed is that of the first core alone. */
int passing_run(const struct passing *passing,
		const struct transport *transport, int cores,
		struct passed *passed, struct error *err);

#endif
