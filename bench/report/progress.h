/*
 * Shows the progress of a run on standard error: a bar on a terminal, otherwise
 * a plain line now and then. It draws between steps, at most ten times per
 * second.
 *
 * It follows rows of this process, or of a process whose rows are read. Times
 * are by clock_now().
 */
#ifndef BENCH_REPORT_PROGRESS_H
#define BENCH_REPORT_PROGRESS_H

#include <stdio.h>

#include "bench/record/observation.h"

enum progress_phase {
	PROGRESS_STARTING,
	PROGRESS_WARMING_UP,
	PROGRESS_TRAINING,
	PROGRESS_TESTING
};

struct progress {
	FILE *out; /* NULL = show nothing */
	int bar;   /* 1: redraw one line */
	const char *target;
	int epochs, iterations;

	enum progress_phase phase;
	int epoch, iteration;
	double loss;	/* of the last iteration */
	double drawn_at;
	int turns;	/* position of the turning sign */
	double began_at; /* time of the first iterations */
	double begun;	 /* their share of the run */
	long samples;	 /* samples since began_at */
	double line_at;	 /* time of the previous plain line; 0 = none yet */
	long line_samples; /* samples at line_at */
	int tested;	 /* epoch of the last test; 0 = none yet */
	double test_loss, accuracy_pct;
};

/* Starts the progress. when: auto, always or never. rows: where this process
 * prints the run's rows; NULL = nowhere. */
void progress_start(struct progress *progress, const char *when, int quiet,
		    const char *target, int epochs, int iterations,
		    FILE *rows);

/* Follows a row that was written or saved. Prints a line at the end of an
 * epoch. */
void progress_row(struct progress *progress, double now,
		  const struct observation *row);

/* Draws the progress, if it is time to. */
void progress_draw(struct progress *progress, double now);

/* Draws the caller's text instead, with the estimated seconds left; NAN = not
 * known. */
void progress_draw_text(struct progress *progress, double now,
			const char *text, double left_s);

/* progress_pause() clears the bar, so that other text can be printed.
 * progress_end() also ends the progress. */
void progress_pause(const struct progress *progress);
void progress_end(struct progress *progress);

#endif
