/*
 * A thread per core that keeps a short queue of ready batches. It computes the
 * sample order and the core's share of each global batch, and converts pixels
 * to floats.
 *
 * The stream is: the training batches of epoch 1, the test batches, the
 * training batches of epoch 2, and so on. The order of epoch e is PyTorch's
 * randperm with seed + e, counted from 0. Rank r of n takes the places r, r +
 * n, ... of each global batch, which is DistributedSampler's share. Test
 * samples keep their order.
 *
 * Images in files are read and decoded in the thread, one at a time. The part
 * of an image that an epoch trains on depends on seed, epoch (from 0) and
 * sample.
 *
 * If a program has the data set on its device, there is no thread. Batches have
 * the places of their samples, and the program gets each epoch's order. Fake
 * data has no thread either: all batches are the same one, with zeros and label
 * 0. For a model without classes it has normal draws after
 * torch.manual_seed(seed + rank), images first.
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
	int infers; /* 1: iterations are full batches of the test set in turn */
	int iterations;	  /* training batches per epoch */
	int global_batch; /* samples of all cores in a training batch */
	int test_batch; /* samples of all cores in a test batch; 0 = no tests */
	int test_steps;	  /* test batches at most; 0 = no limit */
	int drop_last;	  /* 1: skip a last test batch that is not full */
	int pad;	  /* as in loader_samples() */
	unsigned long long seed;
	int reshuffle; /* 0: every epoch has the order of the first */
	struct program *resident; /* program after loader_upload(), or NULL */
};

/* Returns the samples of a pass over count. With pad it continues with the
 * first samples of its order until every core has equally many, like
 * DistributedSampler. */
static inline int loader_samples(int count, int cores, int pad)
{
	return pad ? (count + cores - 1) / cores * cores : count;
}

/* Returns the bytes of the ready batches of all cores, if no program has the
 * data set on its device. */
double loader_bytes(const struct loader_plan *plan);

/* Fails with ERROR_MISSING if a device cannot have the data set: its samples,
 * or a padded pass, are no array of the model's inputs. */
int loader_check_upload(const struct dataset *dataset,
			const struct model *model, int pad, struct error *err);

/* Makes a program copy the data set to its device, as program_upload_data().
 * Fails with ERROR_MISSING also if loader_check_upload() does. */
int loader_upload(struct program *program, const struct dataset *dataset,
		  int pad, struct error *err);

struct loader;

/* Returns NULL on failure. The plan is copied; its data set, model and program
 * are borrowed until loader_close(). */
struct loader *loader_open(const struct loader_plan *plan, struct error *err);
void loader_close(struct loader *loader); /* NULL is allowed */

/*
 * Returns the next batch of the stream, and waits for it if necessary. It is
 * borrowed until the next call. Fails after the last batch. If a file cannot be
 * read, the call for its batch fails.
 */
int loader_next(struct loader *loader, struct batch *batch, struct error *err);

/* Returns the CPU time in seconds that the thread took for the batches returned
 * so far. */
double loader_cpu(const struct loader *loader);

/* Returns the number of test batches after each epoch. */
int loader_test_batches(const struct loader_plan *plan);

#endif
