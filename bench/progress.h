/*
 * How far a run is, on standard error: a bar where that is a terminal, else a
 * plain line now and then. Drawn between steps, at most ten times a second.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdio.h>

struct progress {
	FILE *out; /* NULL: say nothing */
	int bar;   /* redraw one line */
	const char *target;
	int epochs, iterations;
	int width; /* columns of the terminal */
	double began_at, drawn_at;
	long samples;
	double accuracy_pct; /* of the last test; below 0: none yet */
};

/* when is auto, always or never; rows is where the run's rows go. */
void progress_start(struct progress *progress, const char *when, int quiet,
		    const char *target, int epochs, int iterations,
		    FILE *rows);

/* now is the time of clock_now(). */
void progress_step(struct progress *progress, double now, int epoch,
		   int iteration, long samples, double loss);
void progress_test(struct progress *progress, int epoch, double loss,
		   double accuracy_pct);

/* Clears the bar, so that other words can be printed. */
void progress_end(struct progress *progress);

#endif
