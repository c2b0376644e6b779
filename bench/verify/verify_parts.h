/* The parts of `bench verify`; private to verify*.c. */
#ifndef BENCH_VERIFY_VERIFY_PARTS_H
#define BENCH_VERIFY_VERIFY_PARTS_H

#include "backends/backend.h"
#include "bench/data/dataset.h"
#include "bench/options/options.h"
#include "bench/training/target.h"

#define VERIFY_NOT_MEASURED (-1.)

/* What is compared with what. */
struct verify_task {
	const struct model *model;
	const struct dataset *dataset;
	const struct backend *backend;
	const char *device; /* of the backend; NULL: any */
	enum algorithm algorithm; /* of the backend */
	enum precision precision; /* likewise */
	double bound; /* of every error but those of updated parameters */
	double update_bound;
	const struct options *options;
	int batch, steps;
	double lr;
	struct tensor tensors[MODEL_MAX_TENSORS];
	int tensor_count;
};

/* Largest errors of one backend over all steps; NAN counts as largest. */
struct verify_result {
	struct target target; /* a backend, and which of its devices */
	char skipped[300]; /* why it could not be opened, or empty */
	/* Of the tensor's largest entry; parameters after the update. */
	double gradients[MODEL_MAX_TENSORS];
	double parameters[MODEL_MAX_TENSORS];
	double loss; /* relative */
	double regrets[MODEL_MAX_LAYERS];     /* see program_regret() */
	int most_cores; /* compared by threads and fork: what a device has */
	double cores;	/* parameters of 2 and 3 cores against those of one */
	long masks_wrong; /* dropout decisions unlike models/random.h */
	int replicas_differ; /* parameters, or what cores make of them */
};

/* Backend and reference side by side, the reference taking the backend's
 * parameters, state and decisions before each step. */
int verify_lockstep(const struct verify_task *task,
		    struct verify_result *result, struct error *err);

/* Masks, replicas and parameters of 1, 2 and 3 cores, by threads and fork. To
 * be called before this process opens a device of the backend. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* Largest |a - b| over the largest |b|; NAN if any of them is none. */
double verify_error(const float *a, const float *b, size_t count);

/* Decisions of the layer that takes most of them for one sample. */
size_t verify_most_decisions(const struct model *model);

/* Keeps the larger error, or NAN. */
void verify_worsen(double *worst, double error);

/* Training samples step * count ... in a seeded order, one core's share;
 * images and labels hold the whole share. */
void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, float *images, uint8_t *labels,
		  struct batch *batch);

#endif
