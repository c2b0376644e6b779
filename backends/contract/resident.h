/*
 * Data sets that are resident on the device. Batches then have no samples of
 * their own and only say which ones they are. Nothing of the host's must stay
 * until a gradient is finished, and the device may run ahead.
 */
#ifndef BACKENDS_CONTRACT_RESIDENT_H
#define BACKENDS_CONTRACT_RESIDENT_H

#include <stdint.h>

#include "backends/contract/error.h"

struct backend;
struct program;
struct score;

#define PIXEL_VALUES 256

/* Samples in a data set's form. */
struct resident_set {
	const uint8_t *images; /* [count][channel][row][column] */
	const uint16_t *labels; /* [count], each below the model's classes */
	int count;
};

struct resident_data {
	struct resident_set train, test; /* the count of either may be 0 */
	float pixels[PIXEL_VALUES];  /* value of each byte of an image */
};

/* Returns 1 if programs of the backend can keep a data set on the device. */
int backend_uploads_data(const struct backend *backend);

/*
 * Copies data to the device; at most once, and only if the backend supports it.
 * data is not read after the return. Returns 0, or -1: with ERROR_MISSING if
 * there is not enough memory, and the program is unchanged.
 */
int program_upload_data(struct program *program,
			const struct resident_data *data, struct error *err);

/* Releases the resident data, if any, before any other call on the program. */
void program_release_data(struct program *program);

/*
 * Copies the order of the resident training set, one index per sample. Call it
 * before the first gradient of resident samples, then whenever the order
 * changes.
 */
int program_order(struct program *program, const int *order,
		  struct error *err);

/*
 * Waits for the gradients since the last program_scores() or program_finish(),
 * count of them, at most options.ahead, and writes their scores in order. A
 * gradient itself waits while too many are unfinished before it.
 */
int program_scores(struct program *program, struct score *scores, int count,
		   struct error *err);

#endif
