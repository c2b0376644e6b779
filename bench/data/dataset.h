/*
 * Labelled images, in memory or in files, and where they come from.
 */
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
	/* NULL after a scan, of scenes and of files. */
	uint8_t *images; /* [count][channels][height][width] */
	uint16_t *labels; /* [count], each below classes */
	/* Of the images as bytes of the raw IDX file; the training set of a
	 * folder has folder_hash(), its test set none. */
	char sha256[65];
	char labels_sha256[65]; /* of the labels as IDX bytes; else empty */
	const struct scene *scenes; /* [count] of the data set's; or NULL */
	const struct folder_part *files; /* of its folder; or NULL */
};

struct dataset {
	char name[32];	   /* by content: mnist, fashion-mnist, synthetic, ...,
			      or unknown-1234abcd after its hash */
	char source[512];  /* folder it was read from, or how it was made */
	char notice[512];  /* a note for the user, or empty */
	struct shape shape; /* all zero where images are in files */
	int classes;
	int is_fake; /* one batch, made by the loader as the model wants it */
	int has_vectors; /* targets are vectors of so many values, not labels */
	struct samples train, test;
	struct samples pool; /* that scenes are made of, in the shape of the
			      * set they are from; or empty */
	struct scenes scenes;
	struct folder *folder; /* of images in files, or NULL */
	double decoding_bytes; /* of its largest file and the pixels; a file
				* of fewer bytes may have more pixels */
};

extern const struct dataset_name dataset_names[];

struct dataset_request {
	const char *name; /* one of dataset_names */
	const char *dir;  /* --data-dir, or NULL; a folder's is borrowed */
	const char *targets; /* --targets-csv, or NULL */
	int synthetic_train, synthetic_test; /* counts; 0: 60000 and 10000 */
	int is_scan; /* files are read and checked, and no samples kept */
};

/*
 * Loads a data set; the caller releases it. Nothing found is ERROR_MISSING
 * with the places searched and the ways to get it; what is there but not what
 * it should be is ERROR_INPUT. A dir is the only place that is searched, and
 * is ERROR_USAGE together with synthetic; see bench/data/dataset_files.h for
 * others. A scan fails where loading would, and knows all but the samples (of
 * synthetic ones and of folders, no hash).
 */
int dataset_load(struct dataset *dataset, const struct dataset_request *request,
		 struct error *err);
void dataset_release(struct dataset *dataset); /* all zero is fine */

/* Bytes of the samples that are in memory, or would be without is_scan. */
double dataset_bytes(const struct dataset *dataset);

/*
 * Image index of the training or the test set, which is in no file, borrowed:
 * where it is in memory, or made into made, which has room for one. Scratch has
 * dataset_scratch_size() bytes; one thread at a time uses the two.
 */
const uint8_t *dataset_image(const struct dataset *dataset,
			     const struct samples *samples, int index,
			     uint8_t *scratch, uint8_t *made);
size_t dataset_scratch_size(const struct dataset *dataset);

/* What is to be learned of it: of a data set with has_vectors into vector,
 * which has room for classes values, else into label. The other one is left. */
void dataset_target(const struct dataset *dataset,
		    const struct samples *samples, int index, uint16_t *label,
		    float *vector);

#endif
