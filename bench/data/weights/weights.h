/*
 * Trained parameters in a file that PyTorch reads and writes: parameters and
 * running statistics under the names of its state_dict(), in safetensors
 * (bench/data/weights/safetensors.h).
 *
 * A linear layer's weight is [outputs, inputs], a convolution's [outputs,
 * inputs, rows, columns]; all others have a value per channel or unit. Batch
 * norm also counts its batches in one I64, num_batches_tracked.
 */
#ifndef BENCH_DATA_WEIGHTS_WEIGHTS_H
#define BENCH_DATA_WEIGHTS_WEIGHTS_H

#include <stdint.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"
#include "models/model.h"

struct weights {
	float *parameters, *buffers; /* flat, as in models/model.h */
	uint64_t tracked[MODEL_MAX_LAYERS]; /* by row: batches of batch norm */
	char sha256[HASH_SHA256_SIZE];	    /* of the file */
};

/*
 * Checks that the file's header fits the model. Fails with ERROR_INPUT, which
 * names the file, the first tensor that does not fit, and both shapes.
 *
 * Wrappers of PyTorch put a prefix before all names (torch.compile _orig_mod.,
 * DataParallel module.). A common prefix up to a dot is ignored. prefix gets
 * its text, which may be cut; empty if there is none.
 */
#define WEIGHTS_PREFIX 64
int weights_check(const char *path, const struct model *model,
		  char prefix[WEIGHTS_PREFIX], struct error *err);

/* Prints a note about an ignored prefix, if there was one. */
void weights_print_note(const char *path, const char *prefix, FILE *log);

/*
 * Checks and reads the file; the caller releases weights. Each type becomes
 * F32, or a counter, as in PyTorch's load_state_dict(). Missing counters are 0.
 * A value that is not finite, or a negative variance, is ERROR_INPUT with the
 * tensor and the index.
 */
int weights_read(const char *path, const struct model *model,
		 struct weights *weights, struct error *err);

/* Allocates the model's vectors as zeros, and no counted batches. Returns -1 if
 * there is no memory; then there is nothing to release. */
int weights_allocate(const struct model *model, struct weights *weights);

/* Releases weights from weights_allocate() or weights_read(). */
void weights_release(struct weights *weights); /* all zero is allowed */

/* Replaces the file like file_replace(). sha256 is not used. */
int weights_write(const char *path, const struct model *model,
		  const struct weights *weights, struct error *err);

#endif
