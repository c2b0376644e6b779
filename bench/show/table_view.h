/*
 * The parts of bench/show/table.c: what the columns and rows are called, the
 * tables and the lines under them.
 */
#ifndef BENCH_SHOW_TABLE_VIEW_H
#define BENCH_SHOW_TABLE_VIEW_H

#include <stdio.h>

#include "bench/record/post.h"
#include "bench/record/result.h"
#include "bench/show/table.h"
#include "bench/show/table_format.h"

/* Results as they will be shown. */
struct view {
	const struct results *results;
	const struct table_options *options;
	int *order; /* target of each column, [results->target_count] */
	char (*devices)[GRID_TEXT]; /* of each target, not clean, or empty */
	FILE *out;
};

/* The unit of a whole table, so that its numbers can be compared. */
struct scale {
	double factor; /* from seconds */
	const char *name; /* s or ms */
};

/* Fills devices. */
int view_find_devices(struct view *view, struct error *err);

/* Names, clean. */
void view_head(const struct view *view, int column, char head[GRID_TEXT]);
void view_label(const struct view *view, const struct line *line,
		char label[GRID_TEXT]);

/* The same of a line as it was given, not clean. */
enum { GRID_SUFFIX = 24 };
const char *setup_name(const struct line *line);
const char *run_setup_name(const struct run *run);
void line_suffix(const struct line *line, char suffix[GRID_SUFFIX]);

int setup_count(const struct results *results);

/* Is this the line of a whole setup, or the only one? */
int line_is_setup(const struct line *line);
const struct run *find_asked(const struct results *results,
			     const struct line *line);
const struct result *view_cell(const struct view *view, const struct line *line,
			       int column);
struct scale view_scale(const struct view *view, enum metric metric);
/* A value that may be the best of its row: the mean of several runs with its
 * interval. NAN: there is none. */
struct contender {
	double value, half;
};

struct contender contend(const struct line *line, const struct result *cell,
			 enum metric metric);

/* The best gets its mark if its interval overlaps with no other's. sign as in
 * metric_kind. */
void mark_best(const struct grid *grid, int row,
	       const struct contender *contenders, int sign);

/* What a table says where there is no room for the four. */
int view_first(const struct view *view, struct error *err);

/* The post's figure of a target, if all of the target's runs compare with it;
 * NULL: none. */
const struct post_figure *find_post(const struct view *view, const char *setup,
				    int target, post_compares *compares);

/* Is there one, and was it asked for? */
int has_post(const struct view *view, post_compares *compares);

/* The fourth table, one for each setup. */
int view_fourth(const struct view *view, struct error *err);

/* The times to an accuracy, one for each setup that had a target. */
int view_accuracy(const struct view *view, struct error *err);

/* Under the table of a metric, whose numbers have this scale. */
void notes_timing(const struct view *view, enum metric metric,
		  struct scale scale);
/* What the times of a metric cover, and whether warm-ups are in them. */
void notes_covered(const struct view *view, enum metric metric);
/* What the lines of the model's clock mean. */
void notes_model(const struct view *view);
void notes_fourth(const struct view *view);
/* What of their work differs between the columns; NULL: nothing. */
const char *work_differs(const struct results *results);
void notes_accuracy(const struct view *view, const struct line *line,
		    double accuracy);
/* What did not work, and why. */
int notes_outcomes(const struct view *view); /* returns how many lines */
/* What has to be said of the post's figures, and which are left out. */
void notes_post(const struct view *view);
/* At the end: setups, what did not work, the post. */
void notes_end(const struct view *view);

#endif
