/*
 * Numbers computed from the rows of runs, for tables, summary.csv and exports.
 *
 * A line is a row of the tables: one setup (campaign), or one repetition of it.
 * Each line has a result per target. A number that was not measured has count
 * 0.
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

enum { P99_FEWEST = 100 }; /* fewest iterations for METRIC_P99 */

struct metric_kind {
	const char *name, *unit;
	int better; /* 1: more is better; -1: less is better; 0: neither */
	const char *before; /* name in older summaries; NULL = the same */
	const char *meaning;
};

extern const struct metric_kind metric_kinds[METRIC_COUNT];

enum outcome {
	OUTCOME_NONE,	 /* this target was not run in this line */
	OUTCOME_OK,
	OUTCOME_PARTIAL, /* has the numbers of what was finished */
	OUTCOME_ERROR,	 /* has no numbers */
	OUTCOME_SKIPPED	 /* has no numbers */
};
extern const char *const outcome_names[]; /* "-", and the status in runs.csv */

struct result {
	const struct line *line; /* line of this cell */
	const struct run *run; /* first of its runs, or NULL */
	enum outcome outcome;
	const char *reason; /* why it is not ok */
	int runs;	    /* number of runs that the values are from */
	/* Over the observations of one run, or over the means of several
	 * runs. */
	struct stats values[METRIC_COUNT];
	size_t observations[METRIC_COUNT];
	size_t warmup_steps; /* of all its runs, counted or not */
	double first_iter_s; /* first step, warm-up or not */
	/* Estimated time of a whole epoch with its whole test, in seconds, by
	 * the images/s of the part that was run. NAN if epochs were not cut, or
	 * if the omitted part is not known. */
	double whole_epoch_s;
	/* Losses of the first and the last iteration of one run; NAN for
	 * several. */
	double first_loss, last_loss;
	/* For a setup with --target-accuracy; otherwise runs is 0. */
	struct accuracy_score score;
};

struct line {
	const struct run *run; /* first run of its setup */
	int setup;	       /* from 0 */
	int repetition;	       /* from 1; 0 = the whole setup */
	int repetitions;       /* number of lines for single repetitions, which
				  precede the line of the whole setup */
	struct result *cells;  /* [target_count] */
	int target_count;
};

struct results {
	struct run *runs; /* runs of runs.csv, and one made for rows without a
			     run */
	size_t run_count;
	const char **targets; /* in the order of their first run */
	int target_count;
	struct line *lines;
	int line_count;
	int include_warmup;
};

/* Selects runs that trained, or that timed forward passes. */
enum results_kind { RESULTS_ALL, RESULTS_TRAINED, RESULTS_INFERRED };

/* Computes all lines. Borrows campaign until results_free(). Fails if there is
 * no memory, or if lines times targets exceed a readable table. */
int results_build(struct results *results, const struct campaign *campaign,
		  enum results_kind kind, int include_warmup,
		  struct error *err);
void results_free(struct results *results); /* all zero is allowed */

/* Returns 1 if any time was measured. */
int results_have_times(const struct results *results);

/* Returns 1 for the line of a whole setup, also if it is the only line. */
int line_is_setup(const struct line *line);

/*
 * Iterators: *next is 0 at the start; they return NULL at the end. next_setup()
 * visits lines of whole setups, next_cell() cells of all lines. next_target()
 * visits cells of a line that have a run, next_repetition() single runs of a
 * cell. next_run() visits all single runs of a line, repetition after
 * repetition.
 */
const struct line *next_setup(const struct results *results, int *next);
const struct result *next_cell(const struct results *results, int *next);
const struct result *next_target(const struct line *line, int *next);
const struct result *next_repetition(const struct result *cell, int *next);
const struct run *next_run(const struct line *line, int *next);

/* Returns the one-core target that is the base of the line's speed-ups: cpu-1,
 * or the first that finished; NULL if there is none. */
const struct result *line_base(const struct line *line);

/* Returns the first target of a line that has a rate, or NULL. */
const struct result *line_first_rate(const struct line *line);

/* Writes a text about all runs; empty if there is nothing to say. */
typedef void results_text(const struct results *results, char *text,
			  size_t size);

/* Lengths to which --steps cut epochs, with the samples per iteration: "40
 * iterations of 128 or 10 of 1024". */
results_text results_cut_text;

/* Targets whose epochs were cut, and to what length. Targets that were tested
 * on a part of the test set. Targets whose uncut test took longer than their
 * cut iterations. */
results_text results_short_text, results_tested_text, results_long_test_text;

/* Targets whose training loss rose, by the last iteration and by the mean of
 * the last epoch. The data set fake is skipped: it is zeros. */
results_text results_rising_loss_text;

/* Targets with disturbed runs, their number and the largest disturbance. */
results_text disturbed_text;

/* Largest error of a ratio that is printed with two decimals. */
#define RATIO_ROUNDED .005

/* Returns 1 if a finished run of the cell was slowed. */
int result_was_disturbed(const struct result *cell);

/*
 * Returns why "target is ratio times as fast as base" must not be claimed.
 * Either a run was disturbed, or the ratio, less its interval, exceeds the CPUs
 * of a target of the same kind. Empty if nothing contradicts the ratio. cell
 * and base are in one line.
 */
struct doubt {
	char text[160];
};
struct doubt ratio_doubt(const struct result *cell, const struct result *base,
			 const struct stats *ratio);

/* Returns the lines of single repetitions of a setup's line, as an array. */
const struct line *line_runs(const struct line *line, int *count);

/* Returns the line's --target-accuracy; NAN if it has none. */
double line_target_accuracy(const struct line *line);

/* Returns 1 if the run of this cell trained for its accuracy. A run that failed
 * counts as one that did not reach it. A run that lacked its device or was
 * interrupted does not count. */
int result_has_tried(const struct result *cell);

/* Computes the numbers of one run from its rows, except numbers that need
 * another run. */
int result_measure(struct result *result, const struct run *run,
		   const struct observation *const *rows, size_t row_count,
		   int include_warmup, struct error *err);

/* Makes a cell of line without run and numbers. */
void result_clear(struct result *result, const struct line *line);

/* Returns statistics of one number. */
struct stats stats_single(double value);

struct rows_by_run;

/* Sets runs to all runs of a kind: from runs.csv, then runs made from rows that
 * have none there. */
int results_gather_runs(struct results *results,
			const struct rows_by_run *groups,
			const struct campaign *campaign, enum results_kind kind,
			struct error *err);

#endif
