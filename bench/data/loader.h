/*
 * A thread per core that keeps a short queue of ready batches: the sample
 * order, the core's share of each global batch, and pixels made floats.
 *
 * The stream is: the training batches of epoch 1, the test batches, those of
 * epoch 2, and so on. The order of epoch e is PyTorch's randperm under seed +
 * e, counted from 0; rank r of n takes the places r, r + n, ... of each global
 * batch, which is DistributedSampler's share. Test samples keep their order.
 *
 * Images in files are read and decoded here, one at a time. The part of one
 * that an epoch trains on is a function of seed, epoch, from 0, and sample.
 *
 * Where a program holds the data set there is no thread: batches only say where
 * their samples are, and the program gets each epoch's order. Of fake data
 * there is none either: all batches are the same one, of zeros and label 0, or
 * where the model has no classes of normal draws after torch.manual_seed(seed +
 * rank), images first.
 */
#ifndef BENCH_DATA_LOADER_H
#define BENCH_DATA_LOADER_H

#include "backends/contract/backend.h"
#include "bench/data/dataset.h"

struct loader_plan {
	const struct dataset *dataset;
	const struct model *model;
	int rank, size;
	int epochs;
	int infers; /* iterations are whole batches of the test set in turn */
	int iterations;	  /* training batches an epoch */
	int global_batch; /* samples of all cores in one of them */
	int test_batch;	  /* likewise; 0: no test batches */
	int test_steps;	  /* most test batches; 0: all */
	int drop_last;	  /* a test batch that would not be whole is left out */
	int pad;	  /* passes of loader_samples() */
	unsigned long long seed;
	int reshuffle; /* 0: every epoch has the order of the first */
	struct program *holder; /* after loader_hold(), or NULL */
};

/* Samples of a pass over count: with pad it goes on with the first ones of its
 * order until every core has as many, as DistributedSampler's does. */
static inline int loader_samples(int count, int cores, int pad)
{
	return pad ? (count + cores - 1) / cores * cores : count;
}

/* Bytes of the batches that are ready at a time, those of all cores together,
 * where no program holds the data set. */
double loader_bytes(const struct loader_plan *plan);

/* ERROR_MISSING for a data set that no program of the model can hold, as it is
 * no array of the samples of a pass. */
int loader_check_hold(const struct dataset *dataset, const struct model *model,
		      int pad, struct error *err);

/* Has a program hold the data set, as program_hold(); what the model takes
 * otherwise than a data set has it is ERROR_MISSING, too, and so is a pass that
 * is padded. */
int loader_hold(struct program *program, const struct dataset *dataset,
		int pad, struct error *err);

struct loader;

/* NULL on failure. The plan is copied; what it points to, its data set, model
 * and program, is borrowed until the loader is closed. */
struct loader *loader_open(const struct loader_plan *plan, struct error *err);
void loader_close(struct loader *loader); /* NULL is fine */

/*
 * The next batch of the stream, waited for if need be. It is borrowed until
 * the next call. After the last one the call fails. A file that cannot be read
 * fails the call that would have returned its batch.
 */
int loader_next(struct loader *loader, struct batch *batch, struct error *err);

/* Seconds of CPU time that its thread took for the batches that were handed out
 * so far. */
double loader_cpu(const struct loader *loader);

/* Test batches after each epoch. */
int loader_test_batches(const struct loader_plan *plan);

#endif
