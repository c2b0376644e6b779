/* Figures published by the posts, as tables, so that the command can show them
 * without files. results/post-002.csv has the same for post 002. */
#ifndef BENCH_RECORD_POST_H
#define BENCH_RECORD_POST_H

#include "bench/record/run.h"

#define POST_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(setup, 16, "kind of notebook file: example or Colab", NEEDED) \
	TEXT(target, 16, "target of bench in its place", NEEDED) \
	TEXT(device, 16, "device of the post", NEEDED) \
	REAL(loop_s, "s of the post", NEEDED) \
	REAL(iter_s, "mean s/iter of the post", NEEDED) \
	REAL(iter_std_s, "standard deviation of s/iter", NEEDED) \
	REAL(epoch_s, "mean s/epoch of the post", NEEDED) \
	REAL(epoch_std_s, "standard deviation of s/epoch", NEEDED) \
	INT(includes_startup, "1: loop_s includes start-up; 0: otherwise", \
	    NEEDED) \
	INT(updates, "parameter updates", NEEDED) \
	INT(global_batch, "samples of all cores per iteration", NEEDED) \
	REAL(accuracy_pct, "test accuracy after ten epochs, from the post's " \
	     "notebooks", NEEDED)

/* One column of one row of the tables of post 002. */
struct post_figure {
	POST_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind post_rows;
extern const struct post_figure post_figures[];
extern const int post_figure_count;

/* Return 1 if a run's time of an iteration, an epoch or a loop can be compared
 * with post 002. All need its network, epoch and loop whole epochs, the loop
 * all ten. */
typedef int post_compares(const struct run *run);
post_compares post_compares_iter, post_compares_epoch, post_compares_loop;

/* Returns 1 if only the data set differs from post 002's. */
int post_data_differs(const struct run *run);

/* Notes that are printed with the figures. */
extern const char *const post_notes[]; /* ends with NULL */

enum { POST_MOST_ROWS = 3 }; /* entries, including the end */

/* Training on a device in another post: a range, or one number twice. */
struct post_training {
	const char *device; /* NULL ends a list */
	long global_batch;
	double rates[2]; /* images/s, computed from times */
	double times[2]; /* in the network's unit */
	int is_about;	 /* 1: the post says about */
};

/* Forward passes in a post: percentiles 50, 90, 95 and 99 in ms; NAN = not
 * given. */
struct post_inference {
	const char *device; /* NULL ends a list */
	double percentiles[4];
};

/* A network of another post, and its figures. */
struct post_network {
	const char *post, *model;
	int image_size;
	long images;	  /* images that a time is for */
	const char *unit; /* unit of the times: s, min or h */
	double unit_s;	  /* seconds of unit */
	struct post_training trainings[POST_MOST_ROWS];
	/* Text about the post's speed-up; ours at equal batches follows it. */
	const char *speedup;
	const char *notes[3]; /* end with NULL */
	int batch; /* of a forward pass */
	struct post_inference inferences[POST_MOST_ROWS];
	const char *inference_note;
};

/* Returns the post network of a run, or NULL. */
const struct post_network *post_network_of(const struct run *run);

#endif
