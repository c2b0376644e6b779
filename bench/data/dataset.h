/* Labelled images, in memory or in files, and their sources. */
#ifndef BENCH_DATA_DATASET_H
#define BENCH_DATA_DATASET_H

#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/data/folder.h"
#include "bench/data/scenes.h"
#include "bench/options/dataset_names.h"
#include "models/model.h"

struct samples {
	int count;
	/* NULL after a scan, and for scenes and files. */
	uint8_t *images; /* [count][channels][height][width] */
	uint16_t *labels; /* [count], each below classes */
	/* SHA-256 of the images as bytes of the raw IDX file. A folder's
	 * training set has folder_hash(), its test set none. */
	char sha256[65];
	char labels_sha256[65]; /* of the labels as IDX bytes; may be empty */
	const struct scene *scenes; /* [count] of the data set's scenes, or
				       NULL */
	const struct folder_part *files; /* part of the data set's folder, or
					    NULL */
};

struct dataset {
	char name[32];	   /* by content: mnist, fashion-mnist, synthetic, ...,
			      or unknown-1234abcd with the start of its hash */
	char source[512]; /* folder that it was read from, or how it was made */
	char notice[512];  /* a note for the user; may be empty */
	struct shape shape; /* all zero if images are in files */
	int classes;
	int is_fake; /* 1: one batch, made by the loader for the model */
	int has_vectors; /* 1: targets are vectors of classes values, not
			    labels */
	struct samples train, test;
	struct samples pool; /* images that scenes are made of, in their own
				shape; may be empty */
	struct scenes scenes;
	struct folder *folder; /* images in files, or NULL */
	double decoding_bytes; /* bytes of its largest file and its pixels; a
				  smaller file may have more pixels */
};

extern const struct dataset_name dataset_names[];

struct dataset_request {
	const char *name; /* one of dataset_names */
	const char *dir;  /* --data-dir, or NULL; borrowed by a folder */
	const char *targets; /* --targets-csv, or NULL */
	int synthetic_train, synthetic_test; /* counts; 0 = 60000 and 10000 */
	int is_scan; /* 1: read and check files, keep no samples */
};

/*
 * Loads a data set; the caller releases it. Fails with ERROR_MISSING if it is
 * not found; the message has the places searched and the ways to get it. Fails
 * with ERROR_INPUT if files are damaged. A dir is the only place searched, and
 * is ERROR_USAGE together with synthetic; see bench/data/dataset_files.h for
 * other places. A scan fails where loading would, and sets everything but the
 * samples (for synthetic ones and folders, no hash).
 */
int dataset_load(struct dataset *dataset, const struct dataset_request *request,
		 struct error *err);
void dataset_release(struct dataset *dataset); /* all zero is allowed */

/* Returns the bytes of the samples in memory, or without is_scan. */
double dataset_bytes(const struct dataset *dataset);

/*
 * Returns image index of the training or the test set, which must not be in a
 * file. It is borrowed: from memory, or made in made, which has room for one.
 * scratch has dataset_scratch_size() bytes. Only one thread at a time may use
 * the two.
 */
const uint8_t *dataset_image(const struct dataset *dataset,
			     const struct samples *samples, int index,
			     uint8_t *scratch, uint8_t *made);
size_t dataset_scratch_size(const struct dataset *dataset);

/* Sets the target of a sample: vector, with room for classes values, if the
 * data set has_vectors, otherwise *label. The other one is unchanged. */
void dataset_target(const struct dataset *dataset,
		    const struct samples *samples, int index, uint16_t *label,
		    float *vector);

#endif
