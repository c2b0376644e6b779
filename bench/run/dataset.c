#include "bench/run/dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run/dataset_find.h"
#include "bench/run/synthetic.h"

#define SYNTHETIC_TRAIN 60000 /* as many as MNIST has */
#define SYNTHETIC_TEST 10000

/* Adds a sentence to what the user should be told. */
static void __attribute__((format(printf, 2, 3)))
notice_add(struct dataset *dataset, const char *format, ...)
{
	size_t length = strlen(dataset->notice);
	va_list arguments;

	if (length && length + 3 < sizeof(dataset->notice)) {
		memcpy(dataset->notice + length, "; ", 3);
		length += 2;
	}
	va_start(arguments, format);
	vsnprintf(dataset->notice + length, sizeof(dataset->notice) - length,
		  format, arguments);
	va_end(arguments);
}

/* Labels as wide as they are in memory, of bytes as a file has them. */
static uint16_t *widen(const struct idx *idx)
{
	uint16_t *labels = malloc(idx->size * sizeof(*labels));

	for (size_t i = 0; labels && i < idx->size; i++)
		labels[i] = idx->items[i];
	return labels;
}

/*
 * Reads one half; sha256 gets the hashes of its images and its labels. The
 * labels come first: they are few bytes, and tell how many images to expect.
 */
static int read_samples(struct samples *samples,
			char paths[DATASET_FILES][PATH_MAX],
			enum dataset_file images, enum dataset_file labels,
			char sha256[DATASET_FILES][HASH_SHA256_SIZE],
			struct error *err)
{
	struct idx idx;

	if (dataset_file_read(paths[labels], labels, &idx, sha256[labels],
			      err))
		return -1;
	samples->count = idx.count;
	samples->labels = widen(&idx);
	idx_release(&idx);
	if (!samples->labels)
		return error_memory(err, "labels");
	if (dataset_file_read_like(paths[images], images, paths[labels],
				   samples->count, &idx, sha256[images], err))
		return -1;
	samples->images = idx.items;
	memcpy(samples->sha256, sha256[images], sizeof(samples->sha256));
	return 0;
}

/* Names the content and says so where that is not what was asked for. */
static void identify(struct dataset *dataset, const struct dataset_known *asked,
		     char sha256[DATASET_FILES][HASH_SHA256_SIZE])
{
	const struct dataset_known *closest = dataset_known_closest(sha256);
	int matches = closest ? dataset_known_matches(closest, sha256) : 0;

	if (matches == DATASET_FILES) {
		snprintf(dataset->name, sizeof(dataset->name), "%s",
			 closest->name);
		if (asked && asked != closest)
			notice_add(dataset,
				   "%s was asked for, but %.200s holds %s: "
				   "labelled %s", asked->name, dataset->source,
				   closest->title, closest->name);
		return;
	}
	snprintf(dataset->name, sizeof(dataset->name), "unknown-%.8s",
		 dataset->train.sha256);
	notice_add(dataset, "%.200s holds no content that we know: labelled %s",
		   dataset->source, dataset->name);
	if (closest)
		notice_add(dataset, "only %d of its 4 files are those of %s",
			   matches, closest->title);
}

/* What the search passed by on its way to the place. */
static void notice_search(struct dataset *dataset,
			  const struct dataset_search *search,
			  const struct dataset_place *place)
{
	size_t length = search->variable ? strlen(search->variable) : 0;

	if (place->passed_over[0])
		notice_add(dataset, "%.200s was passed over: it has only some "
			   "of the four files", place->passed_over);
	else if (length && !search->only &&
		 strncmp(place->dir, search->variable, length))
		notice_add(dataset, "BENCH_DATA_DIR=%.200s has none of the "
			   "files: those in %.200s are used",
			   search->variable, place->dir);
}

/* The reader of a file does not know where it came from. */
static int tell_way_out(const struct dataset_known *known, struct error *err)
{
	const size_t used = strlen(err->message);

	if (err->kind == ERROR_INPUT)
		snprintf(err->message + used, sizeof(err->message) - used,
			 "; `bench data get %s` brings the right files",
			 known->name);
	return -1;
}

static int load_files(struct dataset *dataset, const char *dir,
		      const struct dataset_known *asked, struct error *err)
{
	const struct dataset_known *mnist = dataset_known_find("mnist");
	char sha256[DATASET_FILES][HASH_SHA256_SIZE];
	struct dataset_search search;
	struct dataset_place place;

	dataset_search_init(&search, dir);
	if (dataset_find(&search, asked, &place, err))
		return -1;
	snprintf(dataset->source, sizeof(dataset->source), "%.511s", place.dir);
	if (read_samples(&dataset->train, place.paths, DATASET_TRAIN_IMAGES,
			 DATASET_TRAIN_LABELS, sha256, err) ||
	    read_samples(&dataset->test, place.paths, DATASET_TEST_IMAGES,
			 DATASET_TEST_LABELS, sha256, err))
		return tell_way_out(asked ? asked : mnist, err);
	identify(dataset, asked, sha256);
	if (!asked && !dir && strcmp(dataset->name, mnist->name))
		notice_add(dataset,
			   "MNIST is not found: %s from %.200s is used; "
			   "`bench data get mnist` downloads MNIST",
			   dataset->name, dataset->source);
	notice_search(dataset, &search, &place);
	return 0;
}

static int load_synthetic(struct dataset *dataset,
			  const struct dataset_request *request,
			  struct error *err)
{
	int train = request->synthetic_train;
	int test = request->synthetic_test;

	if (request->dir)
		return error_set(err, ERROR_USAGE,
				 "--dataset synthetic has no files: --data-dir "
				 "cannot be used with it");
	if (train < 0 || train > IDX_MAX_COUNT || test < 0 ||
	    test > IDX_MAX_COUNT)
		return error_set(err, ERROR_USAGE,
				 "%d and %d synthetic samples: from 1 to %d "
				 "can be made", train, test, IDX_MAX_COUNT);
	snprintf(dataset->name, sizeof(dataset->name), "synthetic");
	snprintf(dataset->source, sizeof(dataset->source),
		 "generated: ten patterns, shifted, on noise");
	return synthetic_make(dataset, train ? train : SYNTHETIC_TRAIN,
			      test ? test : SYNTHETIC_TEST, err);
}

int dataset_load(struct dataset *dataset, const struct dataset_request *request,
		 struct error *err)
{
	const char *name = request->name ? request->name : "auto";
	const struct dataset_known *known = dataset_known_find(name);
	int status;

	/* The normalization of the posts, for whatever images. */
	memset(dataset, 0, sizeof(*dataset));
	dataset->shape = dataset_shape;
	dataset->classes = DATASET_CLASSES;
	dataset->mean = 0.1307f;
	dataset->std = 0.3081f;
	if (!strcmp(name, "synthetic"))
		status = load_synthetic(dataset, request, err);
	else if (known || !strcmp(name, "auto"))
		status = load_files(dataset, request->dir, known, err);
	else
		status = error_set(err, ERROR_USAGE,
				   "no data set is called %.100s; there are "
				   "mnist, fashion-mnist, synthetic and auto",
				   name);
	if (status)
		dataset_release(dataset);
	return status;
}

void dataset_release(struct dataset *dataset)
{
	free(dataset->train.images);
	free(dataset->train.labels);
	free(dataset->test.images);
	free(dataset->test.labels);
	memset(dataset, 0, sizeof(*dataset));
}
