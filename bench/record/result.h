/*
 * The numbers of runs, from their rows: what the tables, summary.csv and the
 * exports show.
 *
 * A line is a row of the tables: one setup (campaign), or one repetition of
 * it. Each line has a result for every target. A number that was not measured
 * is not there (count 0); nothing stands for it.
 */
#ifndef BENCH_RECORD_RESULT_H
#define BENCH_RECORD_RESULT_H

#include "backends/contract/error.h"
#include "bench/record/campaign.h"
#include "bench/record/time_to_accuracy.h"
#include "bench/statistics/stats.h"

/* METRIC(NAME, name, unit, better, before, meaning), as struct metric_kind */
#define METRICS(METRIC) \
	METRIC(LOOP, "loop_s", "s", -1, NULL, "training loop") \
	METRIC(ITER, "iter_s", "s", -1, "s_iter", "one iteration of the " \
	       "slowest core; --sync epoch: mean of all iterations") \
	METRIC(EPOCH, "epoch_s", "s", -1, "s_epoch", "one epoch, its test " \
	       "included") \
	METRIC(SETUP, "setup_s", "s", -1, NULL, "start-up, without warm-up") \
	METRIC(RATE, "images_per_s", "1/s", 1, NULL, "training samples per " \
	       "second of iterations and waits for the loader") \
	METRIC(SPEEDUP, "speedup", "", 1, NULL, "images_per_s, relative to " \
	       "the one-core target of the same repetition") \
	METRIC(EFFICIENCY, "efficiency", "", 0, NULL, "speedup divided by " \
	       "cores") \
	METRIC(ACCURACY, "final_accuracy_pct", "%", 1, "accuracy_pct", \
	       "accuracy of the last test") \
	METRIC(LOSS, "final_loss", "", -1, NULL, "loss of the last test") \
	METRIC(TRAIN_LOSS, "train_loss", "", -1, NULL, "mean loss over the " \
	       "samples of the last epoch's iterations") \
	METRIC(TIME_TO_ACCURACY, "time_to_accuracy_s", "s", -1, NULL, "time " \
	       "from before reading the data set to the end of the first " \
	       "test that reaches the target accuracy, or 99 %. Several " \
	       "runs: only if all reach it") \
	METRIC(EPOCHS_TO_ACCURACY, "epochs_to_accuracy", "", -1, NULL, \
	       "epoch of that test") \
	METRIC(REACHED, "n_reached", "", 1, "reached", "runs that reached " \
	       "the target accuracy") \
	METRIC(SCORE, "score_s", "s", -1, NULL, "mean of time_to_accuracy_s, " \
	       "without the fastest and the slowest of 5 or more runs. A run " \
	       "that does not reach the accuracy is the slowest; two such " \
	       "runs have no score") \
	METRIC(P50, "iter_p50_s", "s", -1, "p50", "median iteration; none " \
	       "under --sync epoch") \
	METRIC(P90, "iter_p90_s", "s", -1, NULL, "90th percentile of the " \
	       "forward passes of an inference") \
	METRIC(P95, "iter_p95_s", "s", -1, NULL, "95th percentile of the " \
	       "forward passes of an inference") \
	METRIC(P99, "iter_p99_s", "s", -1, "p99", "99th percentile of the " \
	       "iterations; none under --sync epoch or below 100 iterations") \
	METRIC(MAXRSS, "maxrss_bytes", "bytes", 0, "maxrss", "peak memory of " \
	       "the process") \
	METRIC(CPU, "cpu_s", "s", 0, NULL, "CPU time of the process") \
	METRIC(UPDATES, "updates", "", 0, NULL, "parameter updates") \
	METRIC(MODEL_LOOP, "model_loop_s", "s", -1, NULL, "training loop on " \
	       "a host with a free CPU per core, estimated") \
	METRIC(MODEL_ITER, "model_iter_s", "s", -1, "model_s_iter", "one " \
	       "iteration there") \
	METRIC(MODEL_EPOCH, "model_epoch_s", "s", -1, "model_s_epoch", "one " \
	       "epoch there") \
	METRIC(MODEL_RATE, "model_images_per_s", "1/s", 1, "model_rate", \
	       "images_per_s there") \
	METRIC(MODEL_SPEEDUP, "model_speedup", "", 1, NULL, "speedup there, " \
	       "relative to the same one-core target")

#define METRIC_NAME(name, ...) METRIC_##name,
enum metric { METRICS(METRIC_NAME) METRIC_COUNT };

enum { P99_FEWEST = 100 }; /* iterations of a run that has METRIC_P99 */

struct metric_kind {
	const char *name, *unit;
	int better; /* 1: more is better, -1: less is, 0: neither */
	const char *before; /* its name in older summaries; NULL: the same */
	const char *meaning;
};

extern const struct metric_kind metric_kinds[METRIC_COUNT];

enum outcome {
	OUTCOME_NONE,	 /* this target was not run in this line */
	OUTCOME_OK,
	OUTCOME_PARTIAL, /* has the numbers of what was finished */
	OUTCOME_ERROR,	 /* has no numbers */
	OUTCOME_SKIPPED	 /* likewise */
};
extern const char *const outcome_names[]; /* "-", and those of runs.csv */

struct result {
	const struct line *line; /* that it is a cell of */
	const struct run *run; /* the first of those it is made from, or NULL */
	enum outcome outcome;
	const char *reason; /* why not ok */
	int runs;	    /* that the numbers are from */
	/* Over the observations of one run, or over several runs' means. */
	struct stats values[METRIC_COUNT];
	size_t observations[METRIC_COUNT];
	size_t warmup_steps; /* of all its runs, counted or not */
	double first_iter_s; /* the very first step, warm-up or not */
	/* Of epochs that were cut: what a whole one would take, its whole test
	 * included, by the images/s of what was done; NAN: not cut, or nobody
	 * knows how much was left out. */
	double whole_epoch_s;
	/* Of one run's first and last iteration; else NAN. */
	double first_loss, last_loss;
	/* Of a whole setup that had --target-accuracy; runs is 0 else. */
	struct accuracy_score score;
};

struct line {
	const struct run *run; /* the first of its setup */
	int setup;	       /* from 0 */
	int repetition;	       /* from 1; 0: the whole setup */
	int repetitions;       /* lines of this setup that are one each; they
				  are before the line of the whole setup */
	struct result *cells;  /* [target_count] */
	int target_count;
};

struct results {
	struct run *runs; /* of runs.csv, and made up for rows without */
	size_t run_count;
	const char **targets; /* in the order in which they were first run */
	int target_count;
	struct line *lines;
	int line_count;
	int include_warmup;
};

/* Which runs: those that trained, or timed forward passes alone. */
enum results_kind { RESULTS_ALL, RESULTS_TRAINED, RESULTS_INFERRED };

/* Borrows campaign until results_free. Fails for want of memory, or when there
 * are so many targets and lines that no table could be read. */
int results_build(struct results *results, const struct campaign *campaign,
		  enum results_kind kind, int include_warmup,
		  struct error *err);
void results_free(struct results *results); /* all zero is fine */

/* Is there a time of anything, a single iteration say? */
int results_have_times(const struct results *results);

/* Is this the line of a whole setup, or the only one? */
int line_is_setup(const struct line *line);

/*
 * Walks: *next is 0 at the beginning; NULL after the last. Lines of whole
 * setups; cells of all lines; those cells of one that have a run; the cells of
 * the single runs that a cell is made from; all single runs of a line, those of
 * a repetition after each other.
 */
const struct line *next_setup(const struct results *results, int *next);
const struct result *next_cell(const struct results *results, int *next);
const struct result *next_target(const struct line *line, int *next);
const struct result *next_repetition(const struct result *cell, int *next);
const struct run *next_run(const struct line *line, int *next);

/* The one-core target that the line's speed-ups are over: cpu-1, or the first
 * that was finished; NULL if there is none. */
const struct result *line_base(const struct line *line);

/* The first target of a line that has a rate; NULL: none has. */
const struct result *line_first_rate(const struct line *line);

/* Texts about all runs, empty if there is nothing to say: */
typedef void results_text(const struct results *results, char *text,
			  size_t size);

/* What the runs' epochs were cut to, with each iteration's samples: "40
 * iterations of 128 or 10 of 1024". */
results_text results_cut_text;

/* Which targets' epochs were cut, to how many of their iterations; which were
 * tested on a part of the test set; which were cut, and took longer to test,
 * since that was not. */
results_text results_short_text, results_tested_text, results_long_test_text;

/* Which targets trained to a higher loss than they began with: the last
 * iteration's, and the last epoch's mean. Zeros, which are the data set fake,
 * say nothing. */
results_text results_rising_loss_text;

/* Which targets' runs were disturbed, how many of them and how much at most.
 * What does not fit is left out. */
results_text disturbed_text;

/* What rounding adds at most to a ratio that is printed with two decimals. */
#define RATIO_ROUNDED .005

/* Was a finished run of the cell slowed? */
int result_was_disturbed(const struct result *cell);

/*
 * Why nobody may say that a target is ratio times as fast as base, another of
 * its line: a run of one of them was disturbed, or the ratio of two targets of
 * one kind, with its interval, exceeds the CPUs that the target had. Empty:
 * nothing contradicts the ratio.
 */
struct doubt {
	char text[160];
};
struct doubt ratio_doubt(const struct result *cell, const struct result *base,
			 const struct stats *ratio);

/* The lines, one after the other, of the single runs of a setup's line. */
const struct line *line_runs(const struct line *line, int *count);

/* The --target-accuracy of a line; NAN if it had none. */
double line_target_accuracy(const struct line *line);

/* Did the run of this cell go for the accuracy? One that failed on its way did,
 * and did not reach it; one that lacked its device, or was interrupted, did
 * not try. */
int result_has_tried(const struct result *cell);

/* The numbers of one run, whose rows these are, but those that need another
 * run. */
int result_measure(struct result *result, const struct run *run,
		   const struct observation *const *rows, size_t row_count,
		   int include_warmup, struct error *err);

/* Of its line; no run, no number. */
void result_clear(struct result *result, const struct line *line);

/* One number, as statistics of itself. */
struct stats stats_single(double value);

struct rows_by_run;

/* Fills runs with those of a kind: of runs.csv, then those that have nothing
 * but rows, which are made up from them. */
int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, enum results_kind kind,
			struct error *err);

#endif
