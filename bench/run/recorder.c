#include "bench/run/recorder.h"

#include <stdio.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/system/clock.h"
#include "bench/run/recorder_rows.h"

#define FLUSH_S 0.1 /* whoever reads the rows sees them so soon */

const char *const recorder_phases[REPLICA_PHASES] = {
	[REPLICA_COMPUTE] = "compute",
	[REPLICA_WAIT] = "wait",
	[REPLICA_REDUCE] = "reduce",
	[REPLICA_UPDATE] = "update",
};

void recorder_write(struct recorder *recorder, struct observation *row,
		    const char *phase)
{
	snprintf(row->phase, sizeof(row->phase), "%s", phase);
	csv_write_row(recorder->rows, &observation_rows, row);
}

struct observation recorder_row(const struct recorder *recorder, int epoch,
				double elapsed_s)
{
	struct observation row = recorder->start;

	row.epoch = epoch;
	row.is_warmup = epoch == 0;
	row.elapsed_s = elapsed_s;
	snprintf(row.clock, sizeof(row.clock), "wall");
	return row;
}

struct observation recorder_model_row(const struct recorder *recorder,
				      int epoch, double elapsed_s)
{
	struct observation row = recorder_row(recorder, epoch, elapsed_s);

	snprintf(row.clock, sizeof(row.clock), "model");
	return row;
}

double score_loss(const struct score *score)
{
	return score->count ? score->loss / (double)score->count :
			      CELL_NO_REAL;
}

void score_add(struct score *to, const struct score *from)
{
	to->loss += from->loss;
	to->correct += from->correct;
	to->count += from->count;
}

double phases_sum(const double *phases)
{
	double sum = 0;

	for (int p = 0; p < REPLICA_PHASES; p++)
		sum += phases[p];
	return sum;
}

void recorder_start(struct recorder *recorder, const struct run *run,
		    int modelled, FILE *rows, struct progress *progress)
{
	struct observation *start = &recorder->start;

	*recorder = (struct recorder){ .rows = rows,
				       .progress = progress,
				       .modelled = modelled,
				       .last_loss = CELL_NO_REAL,
				       .last_accuracy_pct = CELL_NO_REAL };
	row_clear(&observation_rows, start);
	memcpy(start->run_id, run->run_id, sizeof(run->run_id));
	memcpy(start->target, run->target, sizeof(run->target));
	snprintf(start->status, sizeof(start->status), "ok");
	start->cores = run->cores;
}

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples)
{
	struct observation row = recorder_row(recorder, 0, elapsed_s);

	row.epoch = CELL_NO_INT;
	row.is_warmup = 0;
	row.cpu_s = cpu_s;
	row.samples = samples;
	recorder_write(recorder, &row, "setup");
	fflush(recorder->rows);
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
		score_add(&all.score, &one->score);
	}
	return all;
}

/* Of each phase the largest CPU time; a delay counts, wherever it is spent. */
static void model_phases(const struct step_report *reports, int cores,
			 double *phases_s)
{
	for (int p = 0; p < REPLICA_PHASES; p++) {
		phases_s[p] = 0;
		for (int r = 0; r < cores; r++)
			keep_larger(&phases_s[p], reports[r].phases_cpu_s[p] +
				    (p == REPLICA_COMPUTE ? reports[r].delay_s :
							    0));
	}
	/* Nobody waits where each core has a CPU, but for what is slowest. */
	phases_s[REPLICA_WAIT] = 0;
}

static void write_step(struct recorder *recorder, int epoch, int iteration,
		       int core, const struct step_report *report, double cpu_s)
{
	struct observation row = recorder_row(recorder, epoch,
					  report->ended_at - report->began_at);

	row.iter = iteration;
	if (core >= 0)
		row.core = core;
	row.cpu_s = cpu_s;
	row.samples = report->score.count;
	row.loss = score_loss(&report->score);
	recorder_write(recorder, &row, "step");
}

/* The target's row, its model's, and those of the cores if there are more. */
static void write_steps(struct recorder *recorder, int epoch, int iteration,
			const struct step_report *reports,
			const struct step_report *all, const double *model_s)
{
	const int cores = (int)recorder->start.cores;
	double cpu_s = 0;

	for (int r = 0; r < cores; r++)
		cpu_s += phases_sum(reports[r].phases_cpu_s);
	write_step(recorder, epoch, iteration, -1, all, cpu_s);
	if (recorder->modelled) {
		struct observation row = recorder_model_row(
			recorder, epoch, phases_sum(model_s));

		row.iter = iteration;
		row.samples = all->score.count;
		recorder_write(recorder, &row, "step");
	}
	for (int r = 0; cores > 1 && r < cores; r++)
		write_step(recorder, epoch, iteration, r, &reports[r],
			   phases_sum(reports[r].phases_cpu_s));
}

/* Phases that last from at on, one after the other; returns when they end. */
static double trace_phases(const struct recorder *recorder, int epoch,
			   int iteration, int core, double at,
			   const double *phases_s)
{
	for (int p = 0; p < REPLICA_PHASES; p++) {
		trace_slice(recorder->trace, core, recorder_phases[p], at,
			    phases_s[p], epoch, iteration);
		at += phases_s[p];
	}
	return at;
}

static void trace_step(const struct recorder *recorder, int epoch,
		       int iteration, int core,
		       const struct step_report *report)
{
	struct trace *trace = recorder->trace;
	double first_s[REPLICA_PHASES], at;

	trace_slice(trace, core, "load", report->asked_at,
		    report->ready_at - report->asked_at, epoch, iteration);
	for (int p = 0; p < REPLICA_PHASES; p++)
		first_s[p] = report->phases_s[p] - report->again_s[p];
	at = trace_phases(recorder, epoch, iteration, core, report->began_at,
			  first_s);
	trace_phases(recorder, epoch, iteration, core, at, report->again_s);
	/* Inside compute and update, to be seen for what they are. */
	trace_slice(trace, core, "straggler", report->began_at, report->delay_s,
		    epoch, iteration);
	trace_slice(trace, core, "injected",
		    report->ended_at - report->injected_s, report->injected_s,
		    epoch, iteration);
}

static void sum_up_core(struct recorder *recorder, int core,
			const struct step_report *report)
{
	struct step_report *sums = &recorder->core_sums[core];

	for (int p = 0; p < REPLICA_PHASES; p++) {
		sums->phases_s[p] += report->phases_s[p];
		sums->phases_cpu_s[p] += report->phases_cpu_s[p];
	}
	recorder->total_counts.launches += report->counts.launches;
	recorder->total_counts.reduced_bytes += report->counts.reduced_bytes;
	recorder->total_counts.allocations += report->counts.allocations;
	recorder->core_loader_s[core] += report->ready_at - report->asked_at;
	score_add(&sums->score, &report->score);
}

static void sum_up(struct recorder *recorder, const struct step_report *all,
		   const double *model_s)
{
	double waited_s = all->ready_at - recorder->ended_at;

	waited_s = waited_s > 0 ? waited_s : 0;
	for (int p = 0; p < REPLICA_PHASES; p++) {
		recorder->phases_s[p] += all->phases_s[p];
		recorder->model_phases_s[p] += model_s[p];
	}
	recorder->loader_s += waited_s;
	recorder->ended_at = all->ended_at;
	score_add(&recorder->epoch_score, &all->score);
	recorder->total_iterations_s += all->ended_at - all->began_at;
	recorder->total_loader_s += waited_s;
	recorder->updates++;
	if (!recorder->tested)
		recorder->last_loss = score_loss(&all->score);
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
	double model_s[REPLICA_PHASES];

	model_phases(reports, cores, model_s);
	write_steps(recorder, epoch, iteration, reports, &all, model_s);
	if (epoch)
		sum_up(recorder, &all, model_s);
	for (int r = 0; r < cores; r++) {
		if (epoch)
			sum_up_core(recorder, r, &reports[r]);
		if (recorder->trace)
			trace_step(recorder, epoch, iteration, r, &reports[r]);
	}
	/* What comes after the last iteration takes its time. */
	if (now - recorder->flushed_at > FLUSH_S ||
	    iteration == recorder->progress->iterations) {
		fflush(recorder->rows);
		recorder->flushed_at = now;
	}
	progress_step(recorder->progress, now, epoch, iteration,
		      all.score.count, score_loss(&all.score));
}

/* Without a time of their own, which nobody knows. */
static void write_scores(struct recorder *recorder, int epoch,
			 const struct score *scores, int count)
{
	for (int i = 0; i < count; i++) {
		struct observation row = recorder_row(recorder, epoch,
						      CELL_NO_REAL);

		row.iter = i + 1;
		row.samples = scores[i].count;
		row.loss = score_loss(&scores[i]);
		recorder_write(recorder, &row, "step");
	}
}

void recorder_ahead(struct recorder *recorder, int epoch,
		    const struct score *scores, int count,
		    const struct step_report *report)
{
	const double model_s[REPLICA_PHASES] = { 0 };
	struct observation row;
	struct step_report all;

	write_scores(recorder, epoch, scores, count);
	if (!report)
		return;
	all = *report;
	for (int i = 0; i < count; i++)
		score_add(&all.score, &scores[i]);
	row = recorder_row(recorder, epoch, all.ended_at - all.began_at);
	row.iter = count;
	row.cpu_s = phases_sum(all.phases_cpu_s);
	row.samples = all.score.count;
	row.loss = score_loss(&all.score);
	recorder_write(recorder, &row, "steps");
	fflush(recorder->rows);
	sum_up(recorder, &all, model_s);
	sum_up_core(recorder, 0, &all);
	recorder->updates += count - 1;
	if (!recorder->tested)
		recorder->last_loss = score_loss(&scores[count - 1]);
	progress_step(recorder->progress, clock_now(), epoch, count,
		      all.score.count, score_loss(&scores[count - 1]));
}

void recorder_not_a_number(struct recorder *recorder, int epoch, int iteration,
			   const char *reason)
{
	struct observation row = recorder_row(recorder, epoch, CELL_NO_REAL);

	row.iter = iteration;
	snprintf(row.status, sizeof(row.status), "error");
	snprintf(row.reason, sizeof(row.reason), "%s", reason);
	recorder_write(recorder, &row, "step");
}

static void record_sums(struct run *run, const struct recorder *recorder)
{
	const struct step_counts *counts = &recorder->total_counts;

	run->iterations_s = recorder->total_iterations_s;
	run->loader_s = recorder->total_loader_s;
	run->test_s = recorder->total_test_s;
	run->unaccounted_s = run->loop_s - run->iterations_s - run->loader_s -
			     run->test_s;
	run->total_s = run->setup_s + run->loop_s;
	run->updates = recorder->updates;
	if (counts->launches)
		run->launches = counts->launches;
	run->reduced_bytes = counts->reduced_bytes;
	run->allocations = counts->allocations;
	run->final_loss = recorder->last_loss;
	run->final_accuracy_pct = recorder->last_accuracy_pct;
}

void recorder_disturbance(struct run *run,
			  const struct disturbance_counters *before,
			  const struct disturbance_counters *after,
			  double elapsed_s, double cpu_s)
{
	const struct disturbance found =
		disturbance_between(before, after, elapsed_s, cpu_s);

	run->throttled_s = found.throttled_s;
	run->pressure_pct = found.pressure_pct;
	run->steal_pct = found.steal_pct;
	run->foreign_pct = found.foreign_pct;
}

void recorder_loop(struct recorder *recorder, struct run *run, int partial)
{
	struct observation row = recorder_row(recorder, 0, run->loop_s);

	record_sums(run, recorder);

	row.epoch = CELL_NO_INT;
	row.is_warmup = 0;
	row.cpu_s = run->loop_cpu_s;
	snprintf(row.status, sizeof(row.status), "%s",
		 partial ? "partial" : "ok");
	recorder_write(recorder, &row, "loop");
	if (recorder->modelled && !partial) {
		snprintf(row.clock, sizeof(row.clock), "model");
		row.elapsed_s = recorder->total_model_s;
		row.cpu_s = CELL_NO_REAL;
		recorder_write(recorder, &row, "loop");
	}
	fflush(recorder->rows);
}
