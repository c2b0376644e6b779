#include "bench/train/recorder.h"

#include <stdio.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/system/clock.h"

#define FLUSH_S 0.1 /* delay of rows for a reader */

static const char *const phase_names[REPLICA_PHASES] = {
	[REPLICA_COMPUTE] = "compute",
	[REPLICA_WAIT] = "wait",
	[REPLICA_REDUCE] = "reduce",
	[REPLICA_UPDATE] = "update",
};

static void write_row(struct recorder *recorder, struct observation *row,
		      const char *phase)
{
	snprintf(row->phase, sizeof(row->phase), "%s", phase);
	csv_write_row(recorder->rows, &observation_rows, row);
	if (recorder->progress->out)
		progress_row(recorder->progress, clock_now(), row);
}

static struct observation make_row(const struct recorder *recorder, int epoch,
				   double elapsed_s)
{
	struct observation row = recorder->start;

	row.epoch = epoch;
	row.is_warmup = epoch == 0;
	row.elapsed_s = elapsed_s;
	snprintf(row.clock, sizeof(row.clock), "wall");
	return row;
}

static struct observation make_model_row(const struct recorder *recorder,
					 int epoch, double elapsed_s)
{
	struct observation row = make_row(recorder, epoch, elapsed_s);

	snprintf(row.clock, sizeof(row.clock), "model");
	return row;
}

static double score_loss(const struct score *score)
{
	return score->count ? score->loss / (double)score->count :
			      CELL_NO_REAL;
}

static void score_add(struct score *to, const struct score *from)
{
	to->loss += from->loss;
	to->correct += from->correct;
	to->count += from->count;
}

static void keep_larger(double *most, double value)
{
	*most = value > *most ? value : *most;
}

static double phases_sum(const double *phases)
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
				       .answers = 1,
				       .modelled = modelled,
				       .last_loss = CELL_NO_REAL,
				       .last_accuracy_pct = CELL_NO_REAL };
	row_clear(&observation_rows, start);
	memcpy(start->run_id, run->run_id, sizeof(run->run_id));
	memcpy(start->target, run->target, sizeof(run->target));
	snprintf(start->status, sizeof(start->status), "ok");
	start->cores = run->cores;
}

int recorder_refuse_rows(struct error *err)
{
	return error_set(err, ERROR_OUTPUT,
			 "the rows could not be written to standard output");
}

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples)
{
	struct observation row = make_row(recorder, 0, elapsed_s);

	row.epoch = CELL_NO_INT;
	row.is_warmup = 0;
	row.cpu_s = cpu_s;
	row.samples = samples;
	write_row(recorder, &row, "setup");
	fflush(recorder->rows);
}

/* Returns the critical path: from the first core's beginning to the last one's
 * end, with all scores. */
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

/* Takes each phase's largest CPU time. A delay counts although it needs no
 * CPU. */
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
	/* With a CPU per core, waiting is for the slowest core only. */
	phases_s[REPLICA_WAIT] = 0;
}

static void write_step(struct recorder *recorder, int epoch, int iteration,
		       int core, const struct step_report *report, double cpu_s)
{
	struct observation row = make_row(recorder, epoch,
					  report->ended_at - report->began_at);

	row.iter = iteration;
	if (core >= 0)
		row.core = core;
	row.cpu_s = cpu_s;
	row.samples = report->score.count;
	row.loss = score_loss(&report->score);
	write_row(recorder, &row, "step");
}

/* Writes the target's row, the modelled one, and one per core if there are
 * several. */
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
		struct observation row = make_model_row(
			recorder, epoch, phases_sum(model_s));

		row.iter = iteration;
		row.samples = all->score.count;
		write_row(recorder, &row, "step");
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
		trace_slice(recorder->trace, core, phase_names[p], at,
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

	trace_slice(trace, core, "load", report->requested_at,
		    report->ready_at - report->requested_at, epoch, iteration);
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
	sums->overlapped_s += report->overlapped_s;
	recorder->total_overlapped_s +=
		report->overlapped_s / (double)recorder->start.cores;
	recorder->total_counts.launches += report->counts.launches;
	recorder->total_counts.reduced_bytes += report->counts.reduced_bytes;
	recorder->total_counts.allocations += report->counts.allocations;
	recorder->core_loader_s[core] +=
		report->ready_at - report->requested_at;
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

void recorder_begin_epoch(struct recorder *recorder, double now)
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
	recorder->loss_scale = reports[0].loss_scale;
	recorder->skipped += epoch && reports[0].skipped;
	for (int r = 0; r < cores; r++) {
		if (epoch)
			sum_up_core(recorder, r, &reports[r]);
		if (recorder->trace)
			trace_step(recorder, epoch, iteration, r, &reports[r]);
	}
	/* Work after the last iteration may take long. */
	if (now - recorder->flushed_at > FLUSH_S ||
	    iteration == recorder->progress->iterations) {
		fflush(recorder->rows);
		recorder->flushed_at = now;
	}
	progress_draw(recorder->progress, now);
}

/* Writes iterations whose own times are not known. */
static void write_scores(struct recorder *recorder, int epoch,
			 const struct score *scores, int count)
{
	for (int i = 0; i < count; i++) {
		struct observation row = make_row(recorder, epoch,
						  CELL_NO_REAL);

		row.iter = i + 1;
		row.samples = scores[i].count;
		row.loss = score_loss(&scores[i]);
		write_row(recorder, &row, "step");
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
	row = make_row(recorder, epoch, all.ended_at - all.began_at);
	row.iter = count;
	row.cpu_s = phases_sum(all.phases_cpu_s);
	row.samples = all.score.count;
	row.loss = score_loss(&all.score);
	write_row(recorder, &row, "steps");
	fflush(recorder->rows);
	sum_up(recorder, &all, model_s);
	sum_up_core(recorder, 0, &all);
	recorder->updates += count - 1;
	if (!recorder->tested)
		recorder->last_loss = score_loss(&scores[count - 1]);
	progress_draw(recorder->progress, clock_now());
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

static double percent(const struct recorder *recorder,
		      const struct score *score)
{
	const double answers = (double)score->count * recorder->answers;

	return answers > 0 ? 100. * (double)score->correct / answers :
			     CELL_NO_REAL;
}

/* The slowest core's time and all scores. */
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
	row = make_row(recorder, epoch, elapsed_s);
	row.cpu_s = cpu_s;
	row.samples = score.count;
	row.loss = score_loss(&score);
	row.accuracy_pct = percent(recorder, &score);
	write_row(recorder, &row, "test");
	recorder->tested = 1;
	recorder->last_loss = row.loss;
	recorder->last_accuracy_pct = row.accuracy_pct;
	recorder->total_test_s += elapsed_s;
}

/* Loader and the parts of the iterations, of the target's row. */
static void write_phases(struct recorder *recorder, struct observation row,
			 double loader_s, const double *phases_s,
			 const double *phases_cpu_s)
{
	row.elapsed_s = loader_s;
	write_row(recorder, &row, "loader");
	for (int p = 0; p < REPLICA_PHASES; p++) {
		row.elapsed_s = phases_s[p];
		if (phases_cpu_s)
			row.cpu_s = phases_cpu_s[p];
		write_row(recorder, &row, phase_names[p]);
	}
}

/* Writes overlap, which is a part of compute. */
static void write_overlap(struct recorder *recorder, struct observation row,
			  double overlapped_s)
{
	row.elapsed_s = overlapped_s;
	if (overlapped_s > 0)
		write_row(recorder, &row, "overlap");
}

static void write_cores(struct recorder *recorder, int epoch,
			const struct epoch_report *reports)
{
	for (int r = 0; r < recorder->start.cores; r++) {
		const struct epoch_report *report = &reports[r];
		const struct step_report *sums = &recorder->core_sums[r];
		struct observation row = make_row(recorder, epoch, 0);

		row.core = r;
		write_phases(recorder, row, recorder->core_loader_s[r],
			     sums->phases_s, sums->phases_cpu_s);
		write_overlap(recorder, row, sums->overlapped_s);
		row.elapsed_s = report->test_s;
		row.cpu_s = report->test_cpu_s;
		row.samples = report->test.count;
		row.loss = score_loss(&report->test);
		row.accuracy_pct = percent(recorder, &report->test);
		if (reports[0].test.count)
			write_row(recorder, &row, "test");
		row.accuracy_pct = CELL_NO_REAL;
		row.elapsed_s = report->elapsed_s;
		row.cpu_s = report->cpu_s;
		row.samples = sums->score.count;
		row.loss = score_loss(&sums->score);
		row.voluntary_switches = report->voluntary_switches;
		row.involuntary_switches = report->involuntary_switches;
		write_row(recorder, &row, "epoch");
	}
}

/* With one CPU per core, nothing hides the core's loader, and a test waits for
 * nobody. */
static void write_model(struct recorder *recorder, int epoch,
			const struct epoch_report *reports)
{
	struct observation row = make_model_row(recorder, epoch, 0);
	const struct epoch_report *slowest = &reports[0];
	double *phases_s = recorder->model_phases_s;

	for (int r = 1; r < recorder->start.cores; r++)
		if (reports[r].test_cpu_s + reports[r].loader_cpu_s >
		    slowest->test_cpu_s + slowest->loader_cpu_s)
			slowest = &reports[r];
	write_phases(recorder, row, slowest->loader_cpu_s, phases_s, NULL);
	row.elapsed_s = slowest->test_cpu_s;
	if (reports[0].test.count)
		write_row(recorder, &row, "test");
	row.elapsed_s = phases_sum(phases_s) + slowest->test_cpu_s +
			slowest->loader_cpu_s;
	row.samples = recorder->epoch_score.count;
	write_row(recorder, &row, "epoch");
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
	struct observation row = make_row(recorder, epoch, 0);

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
	write_phases(recorder, make_row(recorder, epoch, 0),
		     recorder->loader_s, recorder->phases_s, NULL);
	row.elapsed_s = elapsed_s;
	row.cpu_s = 0;
	row.voluntary_switches = row.involuntary_switches = 0;
	for (int r = 0; r < cores; r++) {
		row.cpu_s += reports[r].process_cpu_s;
		row.voluntary_switches += reports[r].voluntary_switches;
		row.involuntary_switches += reports[r].involuntary_switches;
	}
	write_row(recorder, &row, "epoch");
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
	struct observation phases = make_row(recorder, epoch, 0);

	snprintf(row.status, sizeof(row.status), "partial");
	snprintf(phases.status, sizeof(phases.status), "partial");
	write_phases(recorder, phases, recorder->loader_s, recorder->phases_s,
		     NULL);
	row.elapsed_s = elapsed_s;
	write_row(recorder, &row, "epoch");
	end_epoch(recorder);
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
	run->updates = recorder->updates - recorder->skipped;
	if (recorder->loss_scale > 0) {
		run->loss_scale = recorder->loss_scale;
		run->skipped_steps = recorder->skipped;
	}
	if (counts->launches)
		run->launches = counts->launches;
	run->reduced_bytes = counts->reduced_bytes;
	run->allocations = counts->allocations;
	if (recorder->total_overlapped_s > 0)
		run->overlapped_s = recorder->total_overlapped_s;
	run->final_loss = recorder->last_loss;
	run->final_accuracy_pct = recorder->last_accuracy_pct;
}

void recorder_loop(struct recorder *recorder, struct run *run, int partial)
{
	struct observation row = make_row(recorder, 0, run->loop_s);

	record_sums(run, recorder);

	row.epoch = CELL_NO_INT;
	row.is_warmup = 0;
	row.cpu_s = run->loop_cpu_s;
	snprintf(row.status, sizeof(row.status), "%s",
		 partial ? "partial" : "ok");
	write_row(recorder, &row, "loop");
	if (recorder->modelled && !partial) {
		snprintf(row.clock, sizeof(row.clock), "model");
		row.elapsed_s = recorder->total_model_s;
		row.cpu_s = CELL_NO_REAL;
		write_row(recorder, &row, "loop");
	}
	fflush(recorder->rows);
}
