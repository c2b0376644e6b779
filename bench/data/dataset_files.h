/* The four files of a data set: their places, their names, and the known
 * contents. */
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

/* Shape of the images of every set. */
extern const struct shape dataset_shape;

/* A set with known content. */
struct dataset_known {
	const char *name;	 /* name in --dataset, and of folders */
	const char *title;	 /* name in sentences */
	const char *torchvision; /* torchvision's folder */
	const char *package;	 /* Debian's package, or NULL */
	const char *mirrors[DATASET_MAX_MIRRORS]; /* URLs that end in / */
	const char *sha256[DATASET_FILES]; /* of the files' uncompressed
					      content */
};

/* Returns the set called name, or NULL. */
const struct dataset_known *dataset_known_find(const char *name);

/* Returns the set after previous, or the first one for NULL. */
const struct dataset_known *
dataset_known_next(const struct dataset_known *previous);

/* Returns how many of the four files have this set's content. */
int dataset_known_matches(const struct dataset_known *known,
			  char sha256[DATASET_FILES][HASH_SHA256_SIZE]);

/* Returns the set that most of the files belong to, or NULL. */
const struct dataset_known *
dataset_known_closest(char sha256[DATASET_FILES][HASH_SHA256_SIZE]);

/* Returns "train-images-idx3-ubyte": mirrors append .gz to it. */
const char *dataset_file_name(enum dataset_file file);

/*
 * Finds a file in dir: under its own name or with a dot for the second hyphen,
 * plain or with .gz. A regular file has precedence. Returns 1, or 0 if there is
 * none.
 */
int dataset_file_path(const char *dir, enum dataset_file file, char *path,
		      size_t size);

/* Returns the form of such a file, with any count. */
struct idx_form dataset_file_form(enum dataset_file file);

/* Reads and checks a file, and hashes its content. The hash is empty after a
 * failure. */
int dataset_file_hash(const char *path, enum dataset_file file,
		      char sha256[HASH_SHA256_SIZE], struct error *err);

/* Places to search, in this order. */
struct dataset_search {
	const char *only;     /* --data-dir: the only place; or NULL */
	const char *variable; /* $BENCH_DATA_DIR, or NULL */
	char cache[PATH_MAX]; /* the user's cache, ends in /bench; may be
				 empty */
	const char *system;   /* folder of packages, or NULL */
};

/* A folder with the files. */
struct dataset_place {
	char dir[PATH_MAX];
	char paths[DATASET_FILES][PATH_MAX];
	/* An earlier folder, or empty: it has only some of the files, or the
	 * files of another known set. */
	char passed_over[PATH_MAX];
	const struct dataset_known *other; /* that set, or NULL */
};

/* Initialises the usual search; dir is --data-dir or NULL. */
void dataset_search_init(struct dataset_search *search, const char *dir);

/*
 * Finds the files of known, or for NULL of any known set, MNIST first. Fails
 * with ERROR_MISSING, which lists the places searched and the ways to get them.
 * Only test labels are compared: a folder is skipped if they belong to another
 * known set, unless search->only names it.
 */
int dataset_find(const struct dataset_search *search,
		 const struct dataset_known *known,
		 struct dataset_place *place, struct error *err);

#endif
