#include "bench/run/recorder_rows.h"

#include <stdio.h>
#include <string.h>

static double percent(const struct score *score)
{
	return score->count ? 100. * (double)score->correct /
				      (double)score->count :
			      CELL_NO_REAL;
}

/* The slowest core's time and all scores; on a core's row its time alone. */
static void write_test(struct recorder *recorder, int epoch,
		       const struct epoch_report *reports)
{
	struct score score = { 0 };
	double elapsed_s = 0, cpu_s = 0;
	struct observation row;

	for (int r = 0; r < recorder->start.cores; r++) {
		score_add(&score, &reports[r].test);
		keep_larger(&elapsed_s, reports[r].test_s);
		cpu_s += reports[r].test_cpu_s;
	}
	if (!score.count)
		return;
	row = recorder_row(recorder, epoch, elapsed_s);
	row.cpu_s = cpu_s;
	row.samples = score.count;
	row.loss = score_loss(&score);
	row.accuracy_pct = percent(&score);
	recorder_write(recorder, &row, "test");
	recorder->tested = 1;
	recorder->last_loss = row.loss;
	recorder->last_accuracy_pct = row.accuracy_pct;
	recorder->total_test_s += elapsed_s;
	progress_test(recorder->progress, epoch, row.loss, row.accuracy_pct);
}

/* Loader and the parts of the iterations, of the target's row. */
static void write_phases(struct recorder *recorder, struct observation row,
			 double loader_s, const double *phases_s,
			 const double *phases_cpu_s)
{
	row.elapsed_s = loader_s;
	recorder_write(recorder, &row, "loader");
	for (int p = 0; p < REPLICA_PHASES; p++) {
		row.elapsed_s = phases_s[p];
		if (phases_cpu_s)
			row.cpu_s = phases_cpu_s[p];
		recorder_write(recorder, &row, recorder_phases[p]);
	}
}

static void write_cores(struct recorder *recorder, int epoch,
			const struct epoch_report *reports)
{
	for (int r = 0; r < recorder->start.cores; r++) {
		const struct epoch_report *report = &reports[r];
		const struct step_report *sums = &recorder->core_sums[r];
		struct observation row = recorder_row(recorder, epoch, 0);

		row.core = r;
		write_phases(recorder, row, recorder->core_loader_s[r],
			     sums->phases_s, sums->phases_cpu_s);
		row.elapsed_s = report->test_s;
		row.cpu_s = report->test_cpu_s;
		if (reports[0].test.count)
			recorder_write(recorder, &row, "test");
		row.elapsed_s = report->elapsed_s;
		row.cpu_s = report->cpu_s;
		row.samples = sums->score.count;
		row.voluntary_switches = report->voluntary_switches;
		row.involuntary_switches = report->involuntary_switches;
		recorder_write(recorder, &row, "epoch");
	}
}

/*
 * Nothing hides a core's loader where the core has one CPU, nor is there
 * anybody to wait for in a test.
 */
static void write_model(struct recorder *recorder, int epoch,
			const struct epoch_report *reports)
{
	struct observation row = recorder_model_row(recorder, epoch, 0);
	const struct epoch_report *slowest = &reports[0];
	double *phases_s = recorder->model_phases_s;

	for (int r = 1; r < recorder->start.cores; r++)
		if (reports[r].test_cpu_s + reports[r].loader_cpu_s >
		    slowest->test_cpu_s + slowest->loader_cpu_s)
			slowest = &reports[r];
	write_phases(recorder, row, slowest->loader_cpu_s, phases_s, NULL);
	row.elapsed_s = slowest->test_cpu_s;
	if (reports[0].test.count)
		recorder_write(recorder, &row, "test");
	row.elapsed_s = phases_sum(phases_s) + slowest->test_cpu_s +
			slowest->loader_cpu_s;
	row.samples = recorder->epoch_score.count;
	recorder_write(recorder, &row, "epoch");
	recorder->total_model_s += row.elapsed_s;
}

static void end_epoch(struct recorder *recorder)
{
	memset(recorder->phases_s, 0, sizeof(recorder->phases_s));
	memset(recorder->model_phases_s, 0, sizeof(recorder->model_phases_s));
	memset(recorder->core_sums, 0, sizeof(recorder->core_sums));
	memset(recorder->core_loader_s, 0, sizeof(recorder->core_loader_s));
	recorder->loader_s = 0;
	recorder->epoch_score = (struct score){ 0 };
	fflush(recorder->rows);
}

/* The row of the target's epoch, still without its times. */
static struct observation make_epoch(const struct recorder *recorder, int epoch)
{
	const struct score *score = &recorder->epoch_score;
	struct observation row = recorder_row(recorder, epoch, 0);

	row.samples = score->count;
	row.loss = score_loss(score);
	return row;
}

void recorder_epoch(struct recorder *recorder, int epoch, double elapsed_s,
		    const struct epoch_report *reports)
{
	const int cores = (int)recorder->start.cores;
	struct observation row = make_epoch(recorder, epoch);

	write_test(recorder, epoch, reports);
	write_phases(recorder, recorder_row(recorder, epoch, 0),
		     recorder->loader_s, recorder->phases_s, NULL);
	row.elapsed_s = elapsed_s;
	row.cpu_s = 0;
	row.voluntary_switches = row.involuntary_switches = 0;
	for (int r = 0; r < cores; r++) {
		row.cpu_s += reports[r].process_cpu_s;
		row.voluntary_switches += reports[r].voluntary_switches;
		row.involuntary_switches += reports[r].involuntary_switches;
	}
	recorder_write(recorder, &row, "epoch");
	for (int r = 0; recorder->trace && r < cores; r++)
		trace_slice(recorder->trace, r, "test",
			    reports[r].test_began_at, reports[r].test_s, epoch,
			    0);
	if (recorder->modelled)
		write_model(recorder, epoch, reports);
	if (cores > 1)
		write_cores(recorder, epoch, reports);
	end_epoch(recorder);
}

void recorder_partial_epoch(struct recorder *recorder, int epoch,
			    double elapsed_s)
{
	struct observation row = make_epoch(recorder, epoch);
	struct observation phases = recorder_row(recorder, epoch, 0);

	snprintf(row.status, sizeof(row.status), "partial");
	snprintf(phases.status, sizeof(phases.status), "partial");
	write_phases(recorder, phases, recorder->loader_s, recorder->phases_s,
		     NULL);
	row.elapsed_s = elapsed_s;
	recorder_write(recorder, &row, "epoch");
	end_epoch(recorder);
}
