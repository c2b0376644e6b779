/*
 * The figures that post 002 published, as a table, so that the command can
 * show them without any file. results/post-002.csv holds the same.
 */
#ifndef BENCH_RECORD_POST_H
#define BENCH_RECORD_POST_H

#include "bench/record/run.h"

/* One column of one row of the post's three tables. */
struct post_figure {
	char schema[12];
	char setup[16];	 /* which kind of notebook file: example, Colab */
	char target[16]; /* the target of ours that stands in its place */
	char device[16]; /* what it was */
	double loop_s;
	double iter_s, iter_std_s;
	double epoch_s, epoch_std_s;
	long includes_startup; /* of loop_s */
	long updates, global_batch;
	double accuracy_pct;
};

extern const struct row_kind post_rows;
extern const struct post_figure post_figures[];
extern const int post_figure_count;

/* What of the post's a run's figure stands beside, if it is of the post's
 * network and, but for an iteration, of whole epochs: all ten of the loop. */
typedef int post_compares(const struct run *run);
post_compares post_compares_iter, post_compares_epoch, post_compares_loop;

/* Would it have been compared on the post's data, and was not? */
int post_data_differs(const struct run *run);

/* What has to be said wherever they are shown. */
extern const char *const post_notes[]; /* ends with NULL */

#endif
