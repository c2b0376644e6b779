/* The parts of bench/report/table.c: names of columns and rows, the tables, and
 * the lines under them. */
#ifndef BENCH_REPORT_TABLE_VIEW_H
#define BENCH_REPORT_TABLE_VIEW_H

#include <stdio.h>

#include "bench/record/post.h"
#include "bench/record/result.h"
#include "bench/report/table_format.h"
#include "bench/system/memory.h"

/* Results and the way they are shown. */
struct view {
	const struct results *results;
	const struct table_options *options;
	int *order; /* target of each column, [results->target_count] */
	char (*devices)[GRID_TEXT]; /* of each target, not clean; empty =
				       unknown */
	FILE *out;
	char doubts[1024]; /* speed-ups that are left out, and why */
};

/* The unit of a whole table: its numbers can be compared. */
struct scale {
	double factor; /* units per second */
	const char *name; /* s or ms */
};

/* Allocates and fills view->devices. Fails only if there is no memory. */
int view_find_devices(struct view *view, struct error *err);

/* Prints a line under the tables. */
#define view_note(view, ...) \
	print_note((view)->out, (view)->options, __VA_ARGS__)

/* Returns the head of a target's column, with its device. Not clean. */
struct title_text {
	char text[2 * GRID_TEXT];
};
struct title_text target_title(const struct view *view, int target);

/* Makes a table with a column per target, and its heads. */
int view_grid(const struct view *view, struct grid *grid, int rows,
	      struct error *err);

/* Make a table with a row per target. It has no rows yet, room for all targets
 * and a post's, and no best cell. The title has the work of a line, as in "2
 * epochs", its cut, and after n the spread. */
int target_grid(const struct view *view, struct grid *grid,
		const char *const *heads, int columns, struct error *err);
void target_grid_title(const struct view *view, struct grid *grid,
		       const struct line *line, const char *done,
		       const char *cut, const char *spread);

/* Writes the clean label of a line. suffix follows the campaign's name; NULL =
 * the number of the run. */
void view_label(const struct view *view, const struct line *line,
		const char *suffix, char label[GRID_TEXT]);

/* Return names that are not clean: of a line's campaign, and in line_name()
 * with the run if there are several: "old, run 2". */
const char *setup_name(const struct line *line);
const char *run_setup_name(const struct run *run);
struct short_text {
	char text[128];
};
struct short_text line_name(const struct line *line);

/* Returns "old, run 2, " before a statement about a line if there are several
 * campaigns; otherwise "". */
struct short_text line_prefix(const struct view *view, const struct line *line);

/* Returns "1 epoch" or "2 epochs". */
struct short_text count_text(long count, const char *unit);

/* The smallest and the largest of some counts; 0 and 0 = none. */
struct range {
	long least, most;
};
/* Ignores CELL_NO_INT. */
void range_add(struct range *range, long count);
/* Returns "1 epoch", "40 epochs" or "2 to 3 epochs"; empty without a count. */
struct short_text range_text(const struct range *range, const char *unit);

int setup_count(const struct results *results);

/* Removes speed-ups and efficiencies that ratio_doubt() doubts from the lines
 * of whole setups. text gets their names and the reasons, cut to size. */
void drop_doubtful(const struct results *results, char *text, size_t size);

/* Returns the first run of a target, or NULL. */
const struct run *target_run(const struct results *results, int target);

/* Iterates over the cells of a line that have a run, in the order of the
 * columns. *next is 0 at the start, and then the number of the next column.
 * Returns NULL at the end. */
const struct result *next_column(const struct view *view,
				 const struct line *line, int *next);
struct scale view_scale(const struct view *view, enum metric metric);

/* Fills a row of a table with a column per target with a line's metric, and
 * marks the best cell. */
struct metric_format {
	double factor;
	int decimals;  /* 0 = a count */
	int quartiles; /* 1: show quartiles if the deviation exceeds the mean */
};
void view_fill_metric(const struct view *view, const struct grid *grid, int row,
		      const struct line *line, enum metric metric,
		      struct metric_format format);

/* Returns the post's figure for a target if all of its runs compare with it;
 * otherwise NULL. */
const struct post_figure *find_post(const struct view *view, const char *setup,
				    int target, post_compares *compares);

/* Returns 1 if there is such a figure and the options ask for it. */
int has_post(const struct view *view, post_compares *compares);

/* Prints a table per setup with a row per target, and the ratios of speeds. */
int view_targets(const struct view *view, struct error *err);
/* Sets a cell to the CPUs of a run: a fraction if its quota is one. */
void grid_set_cpus(const struct grid *grid, int row, int column,
		   const struct run *run);
/* Adds a row for a target: label, start-up, and in column outcome a failure,
 * which -q would not show otherwise. */
void fill_target_row(struct grid *grid, const struct result *cell, int outcome,
		     int setup, const struct table_options *options);

/* Prints the table of a setup that timed forward passes. line_is_inference()
 * returns 1 for such a line. */
int view_inference(const struct view *view, const struct line *line,
		   struct error *err);
int line_is_inference(const struct line *line);
/* Prints what another post published about this network. */
int view_published(const struct view *view, const struct line *line,
		   struct error *err);
/* Prints the tables of the loop, an iteration and an epoch. */
int view_timings(const struct view *view, struct error *err);
/* Prints a table per setup with a row per quantity. */
int view_details(const struct view *view, struct error *err);
/* Prints a table of times to an accuracy per setup that had a target. */
int view_accuracy(const struct view *view, struct error *err);

/* Prints the mean of several runs with its 95 % interval, for each target of a
 * repeated setup. */
void note_interval(const struct view *view, const struct line *line,
		   enum metric metric, struct scale scale);
/* Prints why a cell has no p99, if one lacks it. line: NULL = all. */
void note_p99(const struct view *view, const struct line *line);
/* view_verified() prints what the runs of a setup verified and what not.
 * view_differing_losses() prints first losses that differ but should not, and
 * returns the number of lines. */
void view_verified(const struct view *view, const struct line *line,
		   struct names *told);
int view_differing_losses(const struct view *view, const struct line *line);
/* Returns how the work of the columns of a setup's line differs (NULL: of any
 * line); NULL if it does not. */
const char *work_differs(const struct results *results,
			 const struct line *line);
/* Returns the first run that has its setup's settings, or NULL. */
const struct run *find_settings(const struct line *line);
/* Returns a run's unusual settings: ", images of 64x64, dropout off, dense";
 * empty if there are none. */
struct short_text unusual_text(const struct run *run);
/* Prints a line under the tables, unless it is empty or in `told`. Returns the
 * number of lines. */
int note_once(const struct view *view, struct names *told, const char *format,
	      ...) __attribute__((format(printf, 3, 4)));
/* Prints failures and their reasons; returns the number of lines. */
int notes_outcomes(const struct view *view);
/* Prints the last notes: setups, devices, failures, the post. */
void notes_campaign(const struct view *view);

#endif
