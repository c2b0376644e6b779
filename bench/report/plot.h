/*
 * Pictures of a campaign. For each, bench writes a CSV file of what is to be
 * seen, and a script of gnuplot's in plot/ draws it; results and statistics are
 * computed here, never there.
 *
 * gnuplot runs commands that it finds in the texts of its scripts, and takes
 * characters apart in those of its data. So no name and no label is ever part
 * of a script or of a command line, and in the data all but harmless characters
 * are exchanged for private ones of Unicode (plot_encode), which bench/plot_svg
 * turns back, escaped, in what was drawn.
 */
#ifndef BENCH_REPORT_PLOT_H
#define BENCH_REPORT_PLOT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/result.h"
#include "bench/record/rows_by_run.h"
#include "bench/report/plot_svg.h"
#include "bench/report/table_format.h"

enum {
	PLOT_PICTURES = 6,
	PLOT_LABEL = 400,
	PLOT_MOST_SERIES = 24, /* more are not drawn, which is said */
	PLOT_MOST_RUNS = 10    /* likewise, where each has a line of its own */
};

/* A target in a setup, with numbers: a row, a panel or a line of a picture. */
struct plot_series {
	const struct result *result; /* of the whole setup */
	char label[PLOT_LABEL]; /* as the tables call it, encoded */
	int disturbed; /* a run of it was, and its marks are hollow */
};

struct plot {
	const struct campaign *campaign;
	const char *folder; /* of the campaign, for what is beside it; NULL */
	struct results results;
	struct rows_by_run rows;  /* of targets */
	struct rows_by_run cores; /* of single cores */
	struct plot_series series[PLOT_MOST_SERIES];
	int series_count;
	int left_out; /* series beyond */
};

/* Borrows campaign, which has its cores' rows, until plot_free. */
int plot_build(struct plot *plot, const struct campaign *campaign,
	       struct error *err);
void plot_free(struct plot *plot); /* all zero is fine */

/* A run of a target: in order, NULL after the last. */
const struct run *plot_run(const struct plot_series *series, int at);

/* Was it trained, or are there forward passes alone: of a series, of all. */
int plot_is_trained(const struct plot_series *series);
int plot_is_inference(const struct plot *plot);

/* Why a picture of training is empty: why, unless all is inference. */
const char *plot_why_empty(const struct plot *plot, const char *why);

/* Text as gnuplot may see it: clean, and nothing but letters, digits, a few
 * signs and what is not ASCII. */
void plot_encode(char *to, size_t size, const char *text);

/* What a picture calls something of a setup, encoded: where there are several
 * setups, its name says of which. */
void plot_name(char label[PLOT_LABEL], const struct plot *plot,
	       const struct line *line, const char *what);

/* " (40 iterations)" behind the text, not encoded, if the run's epochs were cut
 * to these. */
void plot_append_cut(char *text, size_t size, const struct run *run);

/* Cells of a CSV file. A number that is not finite is an empty one. One that
 * has no text is a -, since gnuplot takes the cell before for an empty one at
 * the end of a line; no encoded text begins with it. */
struct number_text plot_number(double value);
const char *plot_text(const char *encoded);

/* Was the row's time measured, in a phase that was finished, after warm-up? */
int plot_counts(const struct observation *row);

/* What a writer of rows has to say about its picture, in whole sentences. */
struct plot_note {
	int rows;	 /* 0: there is nothing to draw, and text says why;
			  * without a text nobody has asked for it */
	char text[1024];
};

/* Writes the rows of one picture, the line of their names first. */
typedef int plot_writer(FILE *out, const struct plot *plot,
			struct plot_note *note, struct error *err);
plot_writer plot_write_epochs, plot_write_iterations, plot_write_learning;
plot_writer plot_write_speedup, plot_write_phases, plot_write_scale;

struct picture {
	const char *name;    /* of its files: NAME.svg, plot/NAME.gp, .csv */
	const char *title;
	const char *caption; /* what it shows and how to read it */
	plot_writer *write;
};

extern const struct picture pictures[PLOT_PICTURES];

/* Writes the scripts of all pictures, and what they have in common, into the
 * folder. They are part of the program, which needs no files besides. */
int plot_write_scripts(const char *folder, struct error *err);

/*
 * report.html: the tables, the pictures, the machine and how to measure it
 * again, in one file that needs no other. It is well-formed XML as well as
 * HTML; all text from outside is escaped, and no script would be run.
 */
struct report {
	const struct plot *plot;
	const struct plot_svg *svgs;   /* [PLOT_PICTURES]; text NULL: none */
	const struct plot_note *notes; /* [PLOT_PICTURES] */
	const char *name;	       /* of the campaign's folder */
};

int report_write(const char *path, const struct report *report,
		 struct error *err);

#endif
