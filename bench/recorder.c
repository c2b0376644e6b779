#include "bench/recorder.h"

#include <stdio.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/csv.h"

#define FLUSH_S 0.1 /* whoever reads the rows sees them so soon */

static const char *const phase_names[REPLICA_PHASES] = { "compute", "reduce",
							  "update" };

static void write_row(struct recorder *recorder, struct observation *row,
		      const char *phase)
{
	snprintf(row->phase, sizeof(row->phase), "%s", phase);
	csv_write_row(recorder->rows, &observation_rows, row);
}

static struct observation make_row(const struct recorder *recorder, int epoch,
				   double elapsed_s)
{
	struct observation row = recorder->start;

	row.epoch = epoch;
	row.is_warmup = epoch == 0;
	row.elapsed_s = elapsed_s;
	return row;
}

static double mean(double sum, long count)
{
	return count ? sum / (double)count : CELL_NO_REAL;
}

static double percent(const struct score *score)
{
	return score->count ? 100. * (double)score->correct /
				      (double)score->count :
			      CELL_NO_REAL;
}

static void add_score(struct score *to, const struct score *from)
{
	to->loss += from->loss;
	to->correct += from->correct;
	to->count += from->count;
}

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples)
{
	struct observation row = recorder->start;

	row.is_warmup = 0;
	row.elapsed_s = elapsed_s;
	row.cpu_s = cpu_s;
	row.samples = samples;
	write_row(recorder, &row, "setup");
	fflush(recorder->rows);
}

static void keep_larger(double *most, double value)
{
	*most = value > *most ? value : *most;
}

/* From the first core's beginning to the last one's end, and all scores. */
static struct step_report critical_path(const struct step_report *reports,
					int cores)
{
	struct step_report all = reports[0];

	for (int r = 1; r < cores; r++) {
		const struct step_report *one = &reports[r];

		keep_larger(&all.ready_at, one->ready_at);
		keep_larger(&all.ended_at, one->ended_at);
		if (one->began_at < all.began_at)
			all.began_at = one->began_at;
		for (int p = 0; p < REPLICA_PHASES; p++)
			keep_larger(&all.phases_s[p], one->phases_s[p]);
		all.cpu_s += one->cpu_s;
		add_score(&all.score, &one->score);
	}
	return all;
}

static void write_step(struct recorder *recorder, int epoch, int iteration,
		       int core, const struct step_report *report)
{
	struct observation row = make_row(recorder, epoch,
					  report->ended_at - report->began_at);

	row.iter = iteration;
	if (core >= 0)
		row.core = core;
	row.cpu_s = report->cpu_s;
	row.samples = report->score.count;
	row.loss = mean(report->score.loss, report->score.count);
	write_row(recorder, &row, "step");
}

static void sum_up(struct recorder *recorder, const struct step_report *all)
{
	double waited_s = all->ready_at - recorder->ended_at;

	waited_s = waited_s > 0 ? waited_s : 0;
	for (int p = 0; p < REPLICA_PHASES; p++)
		recorder->phases_s[p] += all->phases_s[p];
	recorder->loader_s += waited_s;
	recorder->ended_at = all->ended_at;
	add_score(&recorder->epoch_score, &all->score);
	recorder->total_iterations_s += all->ended_at - all->began_at;
	recorder->total_loader_s += waited_s;
	recorder->updates++;
	if (!recorder->tested)
		recorder->last_loss = mean(all->score.loss, all->score.count);
}

void recorder_begin(struct recorder *recorder, double now)
{
	recorder->ended_at = now;
}

void recorder_step(struct recorder *recorder, int epoch, int iteration,
		   const struct step_report *reports)
{
	const int cores = (int)recorder->start.cores;
	const struct step_report all = critical_path(reports, cores);
	const double now = clock_now();

	write_step(recorder, epoch, iteration, -1, &all);
	for (int r = 0; cores > 1 && r < cores; r++)
		write_step(recorder, epoch, iteration, r, &reports[r]);
	if (epoch)
		sum_up(recorder, &all);
	if (now - recorder->flushed_at > FLUSH_S) {
		fflush(recorder->rows);
		recorder->flushed_at = now;
	}
	progress_step(recorder->progress, now, epoch, iteration,
		      all.score.count, mean(all.score.loss, all.score.count));
}

void recorder_not_a_number(struct recorder *recorder, int epoch, int iteration,
			   const char *reason)
{
	struct observation row = make_row(recorder, epoch, CELL_NO_REAL);

	row.iter = iteration;
	snprintf(row.status, sizeof(row.status), "error");
	snprintf(row.reason, sizeof(row.reason), "%s", reason);
	write_row(recorder, &row, "step");
}

void recorder_test(struct recorder *recorder, int epoch,
		   const struct test_report *reports)
{
	struct score score = { 0 };
	double elapsed_s = 0;
	struct observation row;

	for (int r = 0; r < recorder->start.cores; r++) {
		add_score(&score, &reports[r].score);
		keep_larger(&elapsed_s, reports[r].elapsed_s);
	}
	row = make_row(recorder, epoch, elapsed_s);
	row.samples = score.count;
	row.loss = mean(score.loss, score.count);
	row.accuracy_pct = percent(&score);
	write_row(recorder, &row, "test");
	recorder->tested = 1;
	recorder->last_loss = row.loss;
	recorder->last_accuracy_pct = row.accuracy_pct;
	recorder->total_test_s += elapsed_s;
	progress_test(recorder->progress, epoch, row.loss, row.accuracy_pct);
}

void recorder_epoch(struct recorder *recorder, int epoch, double elapsed_s,
		    double cpu_s, int partial)
{
	const char *status = partial ? "partial" : "ok";
	struct observation row = make_row(recorder, epoch, recorder->loader_s);

	snprintf(row.status, sizeof(row.status), "%s", status);
	write_row(recorder, &row, "loader");
	for (int p = 0; p < REPLICA_PHASES; p++) {
		row.elapsed_s = recorder->phases_s[p];
		write_row(recorder, &row, phase_names[p]);
		recorder->phases_s[p] = 0;
	}
	row.elapsed_s = elapsed_s;
	row.cpu_s = cpu_s;
	row.samples = recorder->epoch_score.count;
	row.loss = mean(recorder->epoch_score.loss,
			recorder->epoch_score.count);
	write_row(recorder, &row, "epoch");
	recorder->loader_s = 0;
	recorder->epoch_score = (struct score){ 0 };
	fflush(recorder->rows);
}

void recorder_loop(struct recorder *recorder, double elapsed_s, double cpu_s,
		   int partial)
{
	struct observation row = recorder->start;

	row.is_warmup = 0;
	row.elapsed_s = elapsed_s;
	row.cpu_s = cpu_s;
	snprintf(row.status, sizeof(row.status), "%s",
		 partial ? "partial" : "ok");
	write_row(recorder, &row, "loop");
	fflush(recorder->rows);
}
