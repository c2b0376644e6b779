/*
 * What a network has learned, in a file that PyTorch reads and writes:
 * parameters and running statistics under the names of its state_dict(), in
 * safetensors (bench/data/safetensors.h).
 *
 * A linear layer's weight is [outputs, inputs], a convolution's [outputs,
 * inputs, rows, columns]; all others have a value a channel or unit. Batch norm
 * also counts its batches, in one I64, num_batches_tracked.
 */
#ifndef BENCH_DATA_WEIGHTS_H
#define BENCH_DATA_WEIGHTS_H

#include <stdint.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"
#include "models/model.h"

struct weights {
	float *parameters, *buffers; /* flat, as models/model.h has them */
	uint64_t tracked[MODEL_MAX_LAYERS]; /* by row: batches of batch norm */
	char sha256[HASH_SHA256_SIZE];	    /* of the file */
};

/*
 * Whether the file's header fits the model. ERROR_INPUT names the file, the
 * first tensor that does not fit, and both shapes.
 *
 * Wrappers of PyTorch put a prefix before all names (torch.compile _orig_mod.,
 * DataParallel module.). A common one, up to a dot, is left out; prefix gets
 * its text, which is empty if there is none, and may be cut.
 */
#define WEIGHTS_PREFIX 64
int weights_check(const char *path, const struct model *model,
		  char prefix[WEIGHTS_PREFIX], struct error *err);

/* A note on the prefix that was left out, if there was one. */
void weights_print_note(const char *path, const char *prefix, FILE *log);

/*
 * The same, and reads them; the caller releases them. Each type becomes F32, or
 * a counter, as PyTorch's load_state_dict() converts it. Counters may be
 * missing, and are 0 then. A value that is not finite, and a negative variance,
 * is ERROR_INPUT with the tensor and the index.
 */
int weights_read(const char *path, const struct model *model,
		 struct weights *weights, struct error *err);

/* The model's vectors, which the weights own, of zeros, and no batches counted.
 * -1: no memory, and nothing is to be released. */
int weights_allocate(const struct model *model, struct weights *weights);

/* Of weights that weights_allocate() or weights_read() made. */
void weights_release(struct weights *weights); /* all zero is fine */

/* Replaces the file, as file_replace() does; sha256 is not asked. */
int weights_write(const char *path, const struct model *model,
		  const struct weights *weights, struct error *err);

#endif
