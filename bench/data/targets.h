/*
 * Images that have several labels, and belong to groups, as slices belong to a
 * study: a CSV file with a header, in which a row is an image. The columns are
 * path (below the folder), group (any text), and one for each label, of any
 * name, where 1 says that the image has it and 0 that it has not.
 *
 * Where the folder has train and val (or test), the beginning of a path says
 * which an image is for. Else the test set is the first of five folds of groups
 * (bench/data/fold.h), which are counted in the order of their names. Samples
 * are in the order of rows. An image has one row, by whatever name: a second
 * one is an error with both lines.
 */
#ifndef BENCH_DATA_TARGETS_H
#define BENCH_DATA_TARGETS_H

#include "bench/data/folder.h"

/* As folder_list(), but the samples are those of the file at path; what
 * is wrong with a row is ERROR_INPUT that begins with path:line, and what is
 * wrong with all of them with path alone. */
int targets_list(struct folder *folder, const char *dir, const char *path,
		 struct error *err);

#endif
