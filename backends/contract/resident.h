/*
 * A data set that is resident on the device: batches need not bring their
 * samples, each says only which they are. Then nothing of the host's has to
 * stay until a gradient is finished, and the device may run ahead.
 */
#ifndef BACKENDS_CONTRACT_RESIDENT_H
#define BACKENDS_CONTRACT_RESIDENT_H

#include <stdint.h>

#include "backends/contract/error.h"

struct backend;
struct program;
struct score;

#define PIXEL_VALUES 256

/* Samples as a data set has them. */
struct resident_set {
	const uint8_t *images; /* [count][channel][row][column] */
	const uint16_t *labels; /* [count], each below the model's classes */
	int count;
};

struct resident_data {
	struct resident_set train, test; /* the count of either may be 0 */
	float pixels[PIXEL_VALUES];  /* what a byte of an image becomes */
};

/* Returns 1 if programs of the backend can keep a data set on the device. */
int backend_uploads_data(const struct backend *backend);

/*
 * Copies data to where the program computes, whose backend can; at most once.
 * Nothing of data is read after the return. ERROR_MISSING: there is no room,
 * and the program is as it was.
 */
int program_upload_data(struct program *program,
			const struct resident_data *data, struct error *err);

/* Undoes an upload, before anything else is done with the program. Without
 * resident data it does nothing. */
void program_release_data(struct program *program);

/*
 * Copies the order of the resident training set, an index for each of its
 * samples. Call it before the first gradient of resident samples, and whenever
 * the order changes.
 */
int program_order(struct program *program, const int *order,
		  struct error *err);

/*
 * Waits for the gradients since the last program_scores() or program_finish(),
 * count of them, options.ahead at most, and writes their scores in order. A
 * gradient waits by itself while too many are on their way before it.
 */
int program_scores(struct program *program, struct score *scores, int count,
		   struct error *err);

#endif
