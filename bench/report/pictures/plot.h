/*
 * Pictures of a campaign. For each, this program writes a CSV file, and a
 * gnuplot script in plot/ draws it. Results and statistics are computed here,
 * not in scripts.
 *
 * gnuplot runs commands in the texts of its scripts, and interprets some
 * characters of its data. Therefore no name or label is part of a script or a
 * command line. In the data, plot_encode() replaces all but harmless characters
 * by private ones of Unicode. plot_svg.c restores them, escaped,
 * in the drawing.
 */
#ifndef BENCH_REPORT_PICTURES_PLOT_H
#define BENCH_REPORT_PICTURES_PLOT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/record/rows_by_run.h"
#include "bench/report/pictures/plot_svg.h"
#include "bench/report/table_format.h"

enum {
	PLOT_PICTURES = 6,
	PLOT_LABEL = 400,
	PLOT_MOST_SERIES = 24, /* more are left out, with a note */
	PLOT_MOST_RUNS = 10    /* if each run has a line; more are left out,
				  with a note */
};

/* A target in a setup that has numbers: a row, a panel or a line of a
 * picture. */
struct plot_series {
	const struct result *result; /* result of the whole setup */
	char label[PLOT_LABEL]; /* as in the tables, encoded */
	int disturbed; /* 1: a run was disturbed; its marks are hollow */
};

struct plot {
	const struct campaign *campaign;
	const char *folder; /* folder of the campaign; NULL = none */
	struct results results;
	struct rows_by_run rows;  /* by target */
	struct rows_by_run cores; /* by core */
	struct plot_series series[PLOT_MOST_SERIES];
	int series_count;
	int left_out; /* number of series that are not drawn */
};

/* Borrows campaign, which must have its cores' rows, until plot_free(). Fails
 * if there is no memory. */
int plot_build(struct plot *plot, const struct campaign *campaign,
	       struct error *err);
void plot_free(struct plot *plot); /* all zero is allowed */

/* Returns run number at of a series, counted from 0; NULL after the last. */
const struct run *plot_run(const struct plot_series *series, int at);

/* Return 1 if the series was trained, and if all series are inference. */
int plot_is_trained(const struct plot_series *series);
int plot_is_inference(const struct plot *plot);

/* Returns why a picture of training is empty: why, or for inference another
 * text. */
const char *plot_why_empty(const struct plot *plot, const char *why);

/* Copies text for gnuplot, as letters, digits, a few signs and characters that
 * are not ASCII. */
void plot_encode(char *to, size_t size, const char *text);

/* Writes an encoded label for what, part of a line. If there are several
 * setups, the label contains the setup's name. */
void plot_name(char label[PLOT_LABEL], const struct plot *plot,
	       const struct line *line, const char *what);

/* Appends " (40 iterations)", not encoded, if the run's epochs were cut. */
void plot_append_cut(char *text, size_t size, const struct run *run);

/* Return cells of a CSV file: an empty one for a number that is not finite, and
 * "-" for an empty text. gnuplot would take a text cell at the end of a line
 * for the one before it. No encoded text begins with "-". */
struct number_text plot_number(double value);
const char *plot_text(const char *encoded);

/* Returns 1 if the row has a time by the wall clock, of a finished phase after
 * warm-up. */
int plot_counts(const struct observation *row);

/* A writer's notes about its picture, in whole sentences. */
struct plot_note {
	int rows;	 /* number of rows; 0: text says why, or is empty if
			    nobody asked for the picture */
	char text[1024];
};

/* Writes the rows of a picture, after a line with their names. */
typedef int plot_writer(FILE *out, const struct plot *plot,
			struct plot_note *note, struct error *err);
plot_writer plot_write_epochs, plot_write_iterations, plot_write_learning;
plot_writer plot_write_speedup, plot_write_phases, plot_write_scale;

struct picture {
	const char *name; /* name of its files: NAME.svg, plot/NAME.gp, .csv */
	const char *title;
	const char *caption; /* what it shows and how to read it */
	plot_writer *write;
};

extern const struct picture pictures[PLOT_PICTURES];

/* Writes the scripts of all pictures, and their common part, to folder. They
 * are compiled into this program. */
int plot_write_scripts(const char *folder, struct error *err);

/*
 * Writes report.html: the tables, the pictures, the machine and the commands,
 * in one file without references to others. It is well-formed XML and HTML. All
 * text from outside is escaped, and scripts are not run.
 */
struct report {
	const struct plot *plot;
	const struct plot_svg *svgs;   /* [PLOT_PICTURES]; text NULL = none */
	const struct plot_note *notes; /* [PLOT_PICTURES] */
	const char *name;	       /* name of the campaign's folder */
};

int report_write(const char *path, const struct report *report,
		 struct error *err);

#endif
