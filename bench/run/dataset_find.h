/* Where the files of a data set are. */
#ifndef BENCH_RUN_DATASET_FIND_H
#define BENCH_RUN_DATASET_FIND_H

#include <limits.h>

#include "backends/contract/error.h"
#include "bench/run/dataset_files.h"

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
	char passed_over[PATH_MAX]; /* one before it that has only some of
				       the files, or empty */
};

/* The usual search; dir is --data-dir or NULL. */
void dataset_search_init(struct dataset_search *search, const char *dir);

/* How many of the four files dir itself has. Fills dir and their paths. */
int dataset_place_look(struct dataset_place *place, const char *dir);

/*
 * Finds the files of known; NULL stands for the one that can be found, MNIST
 * before others. None is ERROR_MISSING: where was looked, and how to get them.
 * The content is not looked at.
 */
int dataset_find(const struct dataset_search *search,
		 const struct dataset_known *known,
		 struct dataset_place *place, struct error *err);

#endif
