/*
 * The four files of a data set: where they are, under whatever names, and the
 * contents that are known.
 */
#ifndef BENCH_DATA_DATASET_FILES_H
#define BENCH_DATA_DATASET_FILES_H

#include <limits.h>

#include "backends/contract/error.h"
#include "bench/data/idx.h"
#include "bench/system/hash.h"
#include "models/model.h"

enum dataset_file {
	DATASET_TRAIN_IMAGES,
	DATASET_TRAIN_LABELS,
	DATASET_TEST_IMAGES,
	DATASET_TEST_LABELS,
	DATASET_FILES
};

#define DATASET_CLASSES 10
#define DATASET_MAX_MIRRORS 2

/* What every set that we read looks like. */
extern const struct shape dataset_shape;

/* A set whose content we know. */
struct dataset_known {
	const char *name;	 /* as asked for; folders are called so too */
	const char *title;	 /* for sentences */
	const char *torchvision; /* folder in which torchvision keeps it */
	const char *package;	 /* of Debian, or NULL */
	const char *mirrors[DATASET_MAX_MIRRORS]; /* URLs that end in / */
	const char *sha256[DATASET_FILES]; /* of the files, not compressed */
};

/* The set called name, or NULL. */
const struct dataset_known *dataset_known_find(const char *name);

/* Walks over all: the one after previous, the first for NULL. */
const struct dataset_known *
dataset_known_next(const struct dataset_known *previous);

/* How many of the four files have this set's content. */
int dataset_known_matches(const struct dataset_known *known,
			  char sha256[DATASET_FILES][HASH_SHA256_SIZE]);

/* The set that most of the files are of, or NULL if none is. */
const struct dataset_known *
dataset_known_closest(char sha256[DATASET_FILES][HASH_SHA256_SIZE]);

/* "train-images-idx3-ubyte": the name that mirrors add .gz to. */
const char *dataset_file_name(enum dataset_file file);

/*
 * Where dir has the file: under its own name, with a dot for the second
 * hyphen, plain or with .gz; a regular file before anything else that is
 * called so. Returns 1, or 0 when there is none.
 */
int dataset_file_path(const char *dir, enum dataset_file file, char *path,
		      size_t size);

/* What such a file holds, of any count. */
struct idx_form dataset_file_form(enum dataset_file file);

/* Reads and checks one file for the hash of its content, which is empty after a
 * failure. */
int dataset_file_hash(const char *path, enum dataset_file file,
		      char sha256[HASH_SHA256_SIZE], struct error *err);

/* Where to look, in this order. */
struct dataset_search {
	const char *only;     /* --data-dir: here and nowhere else; or NULL */
	const char *variable; /* $BENCH_DATA_DIR, or NULL */
	char cache[PATH_MAX]; /* the user's, ends in /bench; or empty */
	const char *system;   /* folder of packages, or NULL */
};

/* A folder that has the files. */
struct dataset_place {
	char dir[PATH_MAX];
	char paths[DATASET_FILES][PATH_MAX];
	/* One before it, or empty: it has only some of the files, or those of
	 * another set that is known. */
	char passed_over[PATH_MAX];
	const struct dataset_known *other; /* that set, or NULL */
};

/* The usual search; dir is --data-dir or NULL. */
void dataset_search_init(struct dataset_search *search, const char *dir);

/*
 * Finds the files of known; NULL stands for the one that can be found, MNIST
 * before others. None is ERROR_MISSING: where was looked, and how to get them.
 * Of the content, test labels are looked at: a folder is passed over if they
 * are another known set's, unless search->only names it.
 */
int dataset_find(const struct dataset_search *search,
		 const struct dataset_known *known,
		 struct dataset_place *place, struct error *err);

#endif
