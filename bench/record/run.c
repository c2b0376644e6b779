#include "bench/record/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/system/text.h"

DEFINE_ROWS(run_rows, struct run, RUN_COLUMNS);

const char *run_asked_resident(const struct run *run)
{
	if (!run->resident[0])
		return "";
	/* A run with a reason was allowed to keep it on the device. */
	return !strcmp(run->resident, "no") && !run->not_resident_reason[0] ?
		       "no" : "auto";
}

const char *run_odd_precision(const struct run *run)
{
	return strcmp(run->precision, "fp32") ? run->precision : "";
}

int run_is_ahead(const struct run *run)
{
	return strcmp(run->sync, "epoch") == 0;
}

int run_is_one_core(const struct run *run)
{
	/* A run that was slowed on purpose is no base. */
	return run->cores == 1 && !run_is_on_devices(run) &&
	       !run->straggler[0] && !isfinite(run->inject_pct);
}

int run_is_on_devices(const struct run *run)
{
	/* Rows of older versions, and of processes that ended without a row,
	 * lack the column. The only such backend of those versions was
	 * opencl. */
	if (run->offloads == CELL_NO_INT)
		return strncmp(run->target, "opencl", strlen("opencl")) == 0;
	return run->offloads == 1;
}

const char *run_cores_name(const struct run *run)
{
	if (!run_is_on_devices(run))
		return "cores";
	/* Only the driver's name distinguishes sub-devices from devices. */
	return strstr(run->device_driver, "sub-devices") ? "sub-devices" :
							   "devices";
}

long run_iterations(const struct run *run)
{
	long sum;

	if (run->updates == CELL_NO_INT || run->skipped_steps == CELL_NO_INT)
		return run->updates;
	/* The sum may overflow if the file is damaged. */
	return __builtin_add_overflow(run->updates, run->skipped_steps, &sum) ?
		       CELL_NO_INT : sum;
}

long run_whole_epoch(const struct run *run)
{
	if (run->epoch_iterations != CELL_NO_INT)
		return run->epoch_iterations;
	/* Older rows lack the column. */
	if (run->train_samples == CELL_NO_INT ||
	    run->global_batch == CELL_NO_INT || run->global_batch < 1)
		return CELL_NO_INT;
	return run->train_samples / run->global_batch +
	       (run->train_samples % run->global_batch > 0);
}

int run_is_cut(const struct run *run)
{
	const long whole = run_whole_epoch(run);

	return run->steps != CELL_NO_INT &&
	       (whole == CELL_NO_INT || run->steps < whole);
}

long run_update_samples(const struct run *run)
{
	const int is_whole = run->train_samples != CELL_NO_INT &&
			     run->train_samples < run->global_batch;

	/* Padding fills the only batch with samples again. */
	return is_whole && strcmp(run->pad, "on") ? run->train_samples :
						    run->global_batch;
}

long run_epochs_done(const struct run *run)
{
	return isfinite(run->time_to_accuracy_s) &&
			       run->epochs_to_accuracy != CELL_NO_INT ?
		       run->epochs_to_accuracy : run->epochs;
}

int run_is_inference(const struct run *run)
{
	return run->passes != CELL_NO_INT;
}

long run_tested(const struct run *run)
{
	if (run->test_steps < 0 || run->test_batch < 1 || /* or missing */
	    run->test_steps > run->test_samples / run->test_batch)
		return run->test_samples;
	return run->test_steps * run->test_batch;
}

/* A quiet machine was seen to stay below half of them. */
#define STEAL_PCT 2
#define FOREIGN_PCT 5
#define THROTTLED_SHARE .01

/* CPU time in use is the sum of five counters, each cut to whole ticks. */
#define ROUNDED_S (5 * .01)
#define GOT_FEWEST .9 /* of its CPUs */

/* A command has no loop. */
static double seconds_of(const struct run *run)
{
	return isfinite(run->loop_s) ? run->loop_s : run->total_s;
}

/* Returns 1 if percent exceeds most by more than rounding. NAN, a missing
 * value, compares as false. */
static int exceeds(double percent, double most, const struct run *run)
{
	const double all_s = run->logical_cpus == CELL_NO_INT ? NAN :
			     seconds_of(run) * (double)run->logical_cpus;

	return percent > most && !(percent / 100 * all_s < ROUNDED_S);
}

static int has_others(const struct run *run)
{
	return exceeds(run->steal_pct, STEAL_PCT, run) ||
	       exceeds(run->foreign_pct, FOREIGN_PCT, run);
}

static int used_quota(const struct run *run)
{
	return run->throttled_s > THROTTLED_SHARE * seconds_of(run);
}

void run_set_disturbance(struct run *run,
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

int run_is_disturbed(const struct run *run)
{
	return has_others(run) || used_quota(run);
}

int run_has_hosts(const struct run *run)
{
	return strchr(run->hosts, ',') != NULL;
}

double run_cpus(const struct run *run)
{
	if (run->cpus == CELL_NO_INT)
		return NAN;
	/* The quota is the first host's. fmin() ignores NAN. */
	return run_has_hosts(run) ? (double)run->cpus :
				    fmin((double)run->cpus, run->cpu_quota);
}

double run_others_cpus(const struct run *run)
{
	const double percent = isnan(run->steal_pct) ? run->foreign_pct :
			       isnan(run->foreign_pct) ? run->steal_pct :
			       run->steal_pct + run->foreign_pct;

	return run->logical_cpus == CELL_NO_INT ?
		       NAN : percent / 100 * (double)run->logical_cpus;
}

/* Returns the CPUs that a run lacked and would have kept busy; 0 if that is not
 * known or does not apply. */
static double lacked_cpus(const struct run *run)
{
	const double cpus = run->cpus < run->cores ? (double)run->cpus :
						     (double)run->cores;
	const double got = run->loop_cpu_s / run->loop_s;

	if (run->cpus == CELL_NO_INT || run->cores == CELL_NO_INT ||
	    run_is_on_devices(run) || run->straggler[0] ||
	    (run->cores > 1 && run->cpus >= run->cores))
		return 0;
	/* NAN compares as false. */
	return run->loop_s > 1 && got < GOT_FEWEST * cpus ? cpus - got : 0;
}

static void cpus_text(char *text, size_t size, const char *who, double count,
		      long all)
{
	char number[NUMBER_SIZE];

	number_print_fixed(number, count, 2);
	text_append(text, size, "%s %s of %ld CPU%s", who, number, all,
		    all == 1 ? "" : "s");
}

/* The kernel adds up what each CPU was stopped for. */
static void quota_text(const struct run *run, char *text, size_t size)
{
	const double cpus = run->cpus > 1 ? (double)run->cpus : 1;
	const double share = run->throttled_s / cpus / seconds_of(run);
	char number[NUMBER_SIZE];

	number_print_fixed(number, 100 * fmin(share, 1), 0);
	text_append(text, size, "its CPU quota stopped it for %s %% of the "
		    "time", number);
}

int run_is_slowed(const struct run *run, char *why, size_t size)
{
	const double lacked = lacked_cpus(run), others = run_others_cpus(run);
	const long own = run->cpus < run->cores ? run->cpus : run->cores;
	const int disturbed = run_is_disturbed(run);

	why[0] = '\0';
	if (!disturbed && !(lacked > 0))
		return 0;
	if (used_quota(run))
		quota_text(run, why, size);
	if (used_quota(run) && has_others(run))
		text_append(why, size, ", and ");
	if (has_others(run) && isfinite(others))
		cpus_text(why, size, "others used", others, run->logical_cpus);
	else if (has_others(run))
		text_append(why, size, "others used its CPUs");
	else if (!disturbed)
		cpus_text(why, size, "it lacked", lacked, own);
	return 1;
}

void run_explain_slowdown(const struct run *run, char *text, size_t size)
{
	text[0] = '\0';
	if (run->straggler[0])
		text_append(text, size, "one core was delayed on purpose in "
			    "each iteration: --straggler %s (rank:ms)",
			    run->straggler);
	if (isfinite(run->inject_pct))
		text_append(text, size, "%sINJECTED: every core did %.3g %% "
			    "more work on purpose in each iteration: --inject",
			    text[0] ? "; " : "", run->inject_pct);
}
