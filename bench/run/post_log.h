/*
 * --log post: the lines that a post's own program prints while it trains, so
 * that what reads those can read ours. From rank 0, who has all cores' reports,
 * between iterations and epochs, never in what is timed; where each core of a
 * post prints, there is a line for each.
 *
 * Their words are the posts': a TPU is what the post had.
 */
#ifndef BENCH_RUN_POST_LOG_H
#define BENCH_RUN_POST_LOG_H

#include <stdio.h>

#include "bench/run/recorder.h"

struct training;

/*
 * Samples per second as PyTorch/XLA's RateTracker tells them: since it was
 * asked before, .6 of that and .4 of what it said then; and since the start.
 * Times are of clock_now().
 */
struct rate_tracker {
	double began_at, asked_at, rate;
	long samples, fresh; /* all of them, and those since asked_at */
	int asked;
};

void rate_tracker_start(struct rate_tracker *tracker, double now);
void rate_tracker_add(struct rate_tracker *tracker, long samples);
double rate_tracker_rate(struct rate_tracker *tracker, double now);
double rate_tracker_global(const struct rate_tracker *tracker, double now);

/* Of a list of numbers, for their mean and their deviation. */
struct moments {
	long count;
	double sum, squares;
};

/* What a core has done. */
struct post_core {
	struct moments iters, epochs; /* their seconds */
	struct moments epoch_iters, losses; /* of the epoch alone */
	double last_iter_s, train_s, test_s;
};

struct post_log {
	const struct training *training;
	const struct post_style *style;
	FILE *out;
	int epoch, iteration; /* from 1 */
	struct rate_tracker tracker; /* of core 0, in the epoch */
	double loss_sum; /* of core 0's samples in the epoch, like ... */
	long samples;	 /* ... these */
	double last_loss, ended_at; /* of core 0's last iteration */
	double best_pct;
	struct epoch_report last[GROUP_MAX_SIZE];
	struct post_core cores[GROUP_MAX_SIZE];
};

/* ERROR_USAGE: no post has trained this model. */
int post_log_check(const char *model, struct error *err);

/* For a model that was checked. */
void post_log_open(struct post_log *log, const struct training *training,
		   FILE *out);

/* Start-up is over. */
void post_log_begin(struct post_log *log);
/* An epoch begins now, in which nothing is printed yet. */
void post_log_begin_epoch(struct post_log *log, double now);
void post_log_step(struct post_log *log, const struct step_report *reports);
void post_log_epoch(struct post_log *log, const struct epoch_report *reports);
/* The loop, which took so long, has not been cut short. */
void post_log_end(struct post_log *log, double loop_s);

#endif
