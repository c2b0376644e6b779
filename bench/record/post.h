/*
 * The figures that the posts published, as tables, so that the command can show
 * them without any file. results/post-002.csv holds those of
 * post 002.
 */
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

/* One column of one row of the post's three tables. */
struct post_figure {
	POST_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
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

enum { POST_MOST_ROWS = 3 }; /* of a table, with the end */

/* What another post says of its training on some device: the two ends of a
 * range, or one number twice. */
struct post_training {
	const char *device; /* NULL: no more of them */
	long global_batch;
	double rates[2]; /* images/s, computed from ... */
	double times[2]; /* ... these, in its network's unit */
	int is_about;	 /* "about 30 seconds" */
};

/* What it says of forward passes alone: milliseconds of their percentiles 50,
 * 90, 95 and 99; NAN: it has none. */
struct post_inference {
	const char *device; /* NULL: no more of them */
	double percentiles[4];
};

/* A network of another post, whose first screen has these. */
struct post_network {
	const char *post, *model;
	int image_size;
	long images;	  /* that its times are for */
	const char *unit; /* of these: s, min or h ... */
	double unit_s;	  /* ... and its seconds */
	struct post_training trainings[POST_MOST_ROWS];
	/* Said of its speed-up, before what ours is at equal batches. */
	const char *speedup;
	const char *notes[3]; /* end with NULL */
	int batch; /* of a forward pass */
	struct post_inference inferences[POST_MOST_ROWS];
	const char *inference_note;
};

/* The one that a run is of; NULL: none. */
const struct post_network *post_network_of(const struct run *run);

#endif
