/*
 * Images with several labels and a group, such as slices of a study: a CSV file
 * with a header and one image per row. The columns are path (below the folder),
 * group (any text), and one per label, of any name. A label's column is 1 if
 * the image has the label, otherwise 0.
 *
 * If the folder has train and val (or test), the beginning of a path says what
 * an image is for. Otherwise the test set is the first of five folds of groups
 * (bench/data/fold.h), sorted by name. Samples are in the order of rows. An
 * image may have one row only, by any name: a second one is an error with both
 * lines.
 */
#ifndef BENCH_DATA_TARGETS_H
#define BENCH_DATA_TARGETS_H

#include "bench/data/folder.h"

/* Lists samples like folder_list(), but from the file at path. A defect of a
 * row is ERROR_INPUT that begins with path:line; a defect of the whole file
 * begins with path. */
int targets_list(struct folder *folder, const char *dir, const char *path,
		 struct error *err);

#endif
