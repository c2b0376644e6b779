/*
 * How far a run is, on standard error: a bar where that is a terminal, else a
 * plain line now and then. Drawn between steps, at most ten times a second.
 *
 * It follows the rows of this process, or of one whose rows it reads. Times are
 * of clock_now().
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
	FILE *out; /* NULL: say nothing */
	int bar;   /* redraw one line */
	const char *target;
	int epochs, iterations;

	enum progress_phase phase;
	int epoch, iteration;
	double loss;	/* of the last iteration */
	double drawn_at;
	int turns;	/* of what shows that we are alive */
	double began_at; /* when the first iterations came */
	double begun;	 /* their share of the run */
	long samples;	 /* since then */
	double line_at;	 /* the plain line before; 0: none yet ... */
	long line_samples; /* ... and its samples */
	int tested;	 /* the epoch of the last test; 0: none yet */
	double test_loss, accuracy_pct;
};

/* when is auto, always or never; rows is where this process prints the run's
 * rows, NULL: nowhere. */
void progress_start(struct progress *progress, const char *when, int quiet,
		    const char *target, int epochs, int iterations,
		    FILE *rows);

/* A row that has been written or saved. Epochs that are over get their line. */
void progress_row(struct progress *progress, double now,
		  const struct observation *row);

/* Shows where the run is, if it is time to. */
void progress_draw(struct progress *progress, double now);

/* Words of the caller's instead, and how many seconds are left, about;
 * NAN: not known. */
void progress_draw_text(struct progress *progress, double now,
			const char *text, double left_s);

/* Clears the bar, so that other words can be printed; and nothing more is shown
 * after the end. */
void progress_pause(const struct progress *progress);
void progress_end(struct progress *progress);

#endif
