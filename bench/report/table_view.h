/*
 * The parts of bench/report/table.c: what the columns and rows are called, the
 * tables and the lines under them.
 */
#ifndef BENCH_REPORT_TABLE_VIEW_H
#define BENCH_REPORT_TABLE_VIEW_H

#include <stdio.h>

#include "bench/record/post.h"
#include "bench/record/result.h"
#include "bench/report/table_format.h"
#include "bench/system/memory.h"

/* Results as they will be shown. */
struct view {
	const struct results *results;
	const struct table_options *options;
	int *order; /* target of each column, [results->target_count] */
	char (*devices)[GRID_TEXT]; /* of each target, not clean, or empty */
	FILE *out;
	char doubts[1024]; /* speed-ups that are left out, and why */
};

/* The unit of a whole table, so that its numbers can be compared. */
struct scale {
	double factor; /* from seconds */
	const char *name; /* s or ms */
};

/* Allocates and fills devices. */
int view_find_devices(struct view *view, struct error *err);

/* A line under the tables. */
#define view_note(view, ...) \
	print_note((view)->out, (view)->options, __VA_ARGS__)

/* What a target is called above its column, with its device. Not clean. */
struct title_text {
	char text[2 * GRID_TEXT];
};
struct title_text target_title(const struct view *view, int target);

/* A table with a column a target, and their heads. */
int view_grid(const struct view *view, struct grid *grid, int rows,
	      struct error *err);

/* One without rows, with room for one a target and for a post's; nothing is the
 * best of it. Its title: what a line has done, as "2 epochs", and to what
 * each was cut; behind n what the spread is of. */
int target_grid(const struct view *view, struct grid *grid,
		const char *const *heads, int columns, struct error *err);
void target_grid_title(const struct view *view, struct grid *grid,
		       const struct line *line, const char *done,
		       const char *cut, const char *spread);

/* The label of a line, clean. suffix: behind its campaign's name; NULL: which
 * of the runs it is. */
void view_label(const struct view *view, const struct line *line,
		const char *suffix, char label[GRID_TEXT]);

/* The same of a line as it was given, not clean: of its campaign, and with
 * which of its runs it is ("old, run 2") where there are several. */
const char *setup_name(const struct line *line);
const char *run_setup_name(const struct run *run);
struct short_text {
	char text[128];
};
struct short_text line_name(const struct line *line);

/* The same in front of what is said of it, where there are several campaigns:
 * "old, run 2, "; empty else. */
struct short_text line_prefix(const struct view *view, const struct line *line);

/* "1 epoch", "2 epochs". */
struct short_text count_text(long count, const char *unit);

/* The least and the most of some counts; all zero: none was added. */
struct range {
	long least, most;
};
/* CELL_NO_INT is passed over. */
void range_add(struct range *range, long count);
/* "1 epoch", "40 epochs", "2 to 3 epochs"; empty: there is no count. */
struct short_text range_text(const struct range *range, const char *unit);

int setup_count(const struct results *results);

/* Takes speed-ups and efficiencies that ratio_doubt_text() doubts out of the
 * lines of whole setups. text: whose, and why; what does not fit is left out.
 */
void drop_doubtful(const struct results *results, char *text, size_t size);

/* The first run of a target; NULL: there is none. */
const struct run *target_run(const struct results *results, int target);

/* The cells of a line that have a run, as the columns are ordered: *next is 0
 * at the beginning, and then the number of the next column. NULL after the
 * last. */
const struct result *next_column(const struct view *view,
				 const struct line *line, int *next);
struct scale view_scale(const struct view *view, enum metric metric);

/* Fills a row of a table whose columns are targets with what a line has of a
 * metric, and marks the best. */
struct metric_format {
	double factor;
	int decimals;  /* 0: a count */
	int quartiles; /* where the deviation is larger than the mean */
};
void view_fill_metric(const struct view *view, const struct grid *grid, int row,
		      const struct line *line, enum metric metric,
		      struct metric_format format);

/* The post's figure of a target, if all of the target's runs compare with it;
 * NULL: none. */
const struct post_figure *find_post(const struct view *view, const char *setup,
				    int target, post_compares *compares);

/* Is there one, and was it asked for? */
int has_post(const struct view *view, post_compares *compares);

/* A row a target, one table for each setup, and who is how much faster. */
int view_targets(const struct view *view, struct error *err);
/* The CPUs of a run: a fraction where its quota is one. */
void grid_set_cpus(const struct grid *grid, int row, int column,
		   const struct run *run);
/* Adds a row that is a target: its label, its start-up, and in the column
 * outcome what failed, which is seen there as well, since -q shows nothing
 * else. */
void fill_target_row(struct grid *grid, const struct result *cell, int outcome,
		     int setup, const struct table_options *options);

/* Of a setup that timed forward passes alone; a line is one of those. */
int view_inference(const struct view *view, const struct line *line,
		   struct error *err);
int line_is_inference(const struct line *line);
/* Under it, of a network that another post trained: what that published. */
int view_published(const struct view *view, const struct line *line,
		   struct error *err);
/* The loop, an iteration and an epoch. */
int view_timings(const struct view *view, struct error *err);
/* A row a quantity, one table for each setup. */
int view_details(const struct view *view, struct error *err);
/* The times to an accuracy, one table for each setup that had a target. */
int view_accuracy(const struct view *view, struct error *err);

/* The mean of several runs with its 95 % interval, for each target of a setup
 * that was repeated. */
void note_interval(const struct view *view, const struct line *line,
		   enum metric metric, struct scale scale);
/* Under a row or column of p99: why a cell has none, if one lacks it. line:
 * NULL for all. */
void note_p99(const struct view *view, const struct line *line);
/* A line of what a setup's runs verified and what not; one that says which
 * first losses differ that should not, and how many lines that was. */
void view_verified(const struct view *view, const struct line *line,
		   struct names *told);
int view_differing_losses(const struct view *view, const struct line *line);
/* What of their work differs between the columns of a setup's line, or (line is
 * NULL) of any; NULL: nothing. */
const char *work_differs(const struct results *results,
			 const struct line *line);
/* The first run that knows what its setup was to do; NULL: none does. */
const struct run *find_settings(const struct line *line);
/* What of a run's settings is not the usual: ", images of 64x64, dropout off,
 * dense"; empty if nothing is. */
struct short_text unusual_text(const struct run *run);
/* A line under the tables, unless it is empty or was told; returns how many
 * lines. */
int note_once(const struct view *view, struct names *told, const char *format,
	      ...) __attribute__((format(printf, 3, 4)));
/* What did not work, and why; returns how many lines. */
int notes_outcomes(const struct view *view);
/* At the end: setups, devices, what did not work, the post. */
void notes_campaign(const struct view *view);

#endif
