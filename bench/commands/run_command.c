#include "bench/commands/commands.h"

#include <math.h>
#include <stdlib.h>

#include "bench/commands/device_list.h"
#include "bench/launch/child.h"
#include "bench/launch/collector.h"
#include "bench/options/option_table.h"
#include "bench/plan/plan.h"
#include "bench/plan/ranks.h"
#include "bench/plan/target.h"
#include "bench/record/campaign.h"
#include "bench/record/machine.h"
#include "bench/report/export.h"
#include "bench/report/table.h"
#include "bench/system/clock.h"
#include "bench/system/command_line.h"
#include "bench/system/cpus.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/terminal.h"

#define MOST_TARGETS 64
#define DRY_STEPS 5 /* iterations that --dry-run measures */

struct campaign_work {
	const struct options *options;
	FILE *out, *log;
	struct target targets[MOST_TARGETS];
	struct options own[MOST_TARGETS]; /* what each target takes of them */
	struct training trainings[MOST_TARGETS];
	int target_count;
	int named; /* targets were asked for by name */
	int missing[MOST_TARGETS]; /* already reported */
	struct campaign campaign;
	int worst;	    /* exit code so far */
	struct error first; /* cause of worst */
};

static void note_failure(struct campaign_work *work, int code,
			 const struct error *err)
{
	if (work->worst)
		return;
	work->worst = code;
	work->first = *err;
}

static int plan_targets(struct campaign_work *work, struct error *err)
{
	const struct options *options = work->options;
	const char *const *names = options->arguments;
	int count = options->argument_count;

	work->named = count > 0;
	if (!count) {
		names = options->verb == VERB_INFER ? infer_defaults :
						      target_defaults;
		while (names[count])
			count++;
	}
	if (count > MOST_TARGETS)
		return error_set(err, ERROR_USAGE, "more than %d targets",
				 MOST_TARGETS);
	for (int i = 0; i < count; i++) {
		if (target_parse(&work->targets[i], names[i], err))
			return -1;
		work->own[i] = *options;
		target_options_trim(&work->own[i], &work->targets[i]);
		if (ranks_check_launcher(&work->targets[i], options->hosts,
					 err))
			return -1;
		/* The child gets values that this process has resolved. */
		if (options->verb == VERB_INFER &&
		    !option_is_given(options, option_find("warmup")))
			work->own[i].warmup = 1;
		if (plan_run(&work->trainings[i], &work->targets[i],
			     &work->own[i], err))
			return -1;
		if (!options->quick)
			continue;
		plan_quick(&work->own[i], &work->trainings[i]);
		if (plan_run(&work->trainings[i], &work->targets[i],
			     &work->own[i], err))
			return -1;
	}
	work->target_count = count;
	/* Two equal targets would count as repetitions. */
	if (target_refuse_twice(work->targets, count, "--repeat", err) ||
	    target_options_check(options, work->targets, count,
				 options->quiet ? NULL : work->log, err))
		return -1;
	if (!options->trace)
		return 0;
	if (count * options->repeat > 1)
		return error_set(err, ERROR_USAGE,
				 "--trace records one process, but this run "
				 "has %ld: name one target, without --repeat",
				 count * options->repeat);
	return file_check(options->trace, err);
}

static void ignore_pause(void *context)
{
	(void)context;
}

/* "about 45 s", "about 12 min" */
static void print_time(double seconds, char *text, size_t size)
{
	const double minutes = seconds / 60;

	if (seconds < 60)
		snprintf(text, size, "about %.0f s", seconds);
	else
		snprintf(text, size, "about %.*f min", minutes < 10, minutes);
}

/* Returns the work of a test in training samples; a test sample counts a
 * third. */
static double test_work(const struct training *training)
{
	const double all = training->dataset->test.count;
	const double most = training->test_steps ?
		(double)training->test_steps * training->test_batch : all;

	return training->test_batch ? fmin(all, most) / 3 : 0;
}

/* Prints one note, for the first target with a longer test. */
static void note_whole_test(const struct campaign_work *work)
{
	const struct options *options = work->options;

	if (options->steps == OPTION_UNSET ||
	    options->test_steps != OPTION_UNSET)
		return;
	for (int t = 0; t < work->target_count; t++) {
		const struct training *training = &work->trainings[t];
		const double samples = (double)training->iterations *
				       training->global_samples;

		if (test_work(training) <= samples)
			continue;
		fprintf(work->log, "note: --steps does not cut the test, which "
			"takes longer: %s trains on %.0f images per epoch and "
			"tests %d; --test-steps N cuts the test\n",
			work->targets[t].name, samples,
			training->dataset->test.count);
		return;
	}
}

/* Estimates all processes from a few iterations of one. */
static double estimate(const struct run *run, const struct options *given,
		       const struct training *training)
{
	const double samples = test_work(training) +
			       (double)training->iterations *
				       training->global_samples;
	const double done = (double)(training->infers ? run->passes :
							run_iterations(run));

	return (double)given->repeat *
	       (run->setup_s + training->recipe.epochs * samples *
				       run->iterations_s / done /
				       training->global_samples);
}

static void print_plan(const struct campaign_work *work, int t,
		       const char *outcome)
{
	const struct training *training = &work->trainings[t];
	const int epochs = training->recipe.epochs;
	const long repeat = work->options->repeat;
	char passes[64], line[1024];

	snprintf(passes, sizeof(passes), "%d epoch%s of %d iterations", epochs,
		 epochs == 1 ? "" : "s", training->iterations);
	if (training->infers)
		snprintf(passes, sizeof(passes), "%d forward passes",
			 training->iterations);
	snprintf(line, sizeof(line), "%-10s %s on %s, %s of %d samples, %ld "
		 "process%s: %s", work->targets[t].name, training->model.name,
		 training->dataset->name, passes, training->global_samples,
		 repeat, repeat == 1 ? "" : "es", outcome);
	terminal_print_line(work->out, line, 11);
}

/*
 * Writes a line to out: the training of a target, its estimated time and
 * memory, from a few iterations in a child process. Adds the seconds to *all_s.
 * A target that fails adds nothing; it is an error if the user named it.
 */
static int dry_run(struct campaign_work *work, int t, double *all_s,
		   struct error *err)
{
	const struct options *given = work->options;
	const struct target *target = &work->targets[t];
	const struct training *training = &work->trainings[t];
	const struct memory_plan need = plan_memory(training);
	struct options options = work->own[t];
	const struct child_request request = {
		.options = &options,
		.target = target->name,
		.run_id = "dry",
		.campaign_id = "dry",
	};
	const struct row_sink ignoring = { csv_ignore, ignore_pause, NULL };
	struct child_result result;
	char time[32], outcome[120];
	double seconds;

	options.epochs = training->infers ? OPTION_UNSET : 1;
	options.steps = training->infers ? OPTION_UNSET : DRY_STEPS;
	if (training->infers)
		options.count = DRY_STEPS;
	options.warmup = 1;
	/* A target accuracy sets the global batch and requires tests. */
	options.test = given->target_accuracy >= 0;
	options.trace = NULL;
	if (child_measure(&result, &request, &ignoring, err))
		return -1;
	if (result.exit_code) {
		print_plan(work, t, result.run.reason);
		return work->named ? error_set(err, result.exit_code ==
					 ERROR_MISSING ? ERROR_MISSING :
							 ERROR_FAILED, "%s: %s",
					 target->name, result.run.reason) : 0;
	}
	/* Only now: a target that cannot be has no estimate either. */
	if (isnan(memory_plan_total(&need)))
		return error_memory(err, "an estimate of memory");
	seconds = estimate(&result.run, given, training);
	*all_s += seconds;
	print_time(seconds, time, sizeof(time));
	snprintf(outcome, sizeof(outcome), "%s%s, about %.2f GB of memory",
		 given->target_accuracy >= 0 ? "at most " : "", time,
		 memory_plan_total(&need) * 1e-9);
	print_plan(work, t, outcome);
	return 0;
}

static int dry_run_all(struct campaign_work *work, struct error *err)
{
	double all_s = 0;
	char time[32];

	for (int t = 0; t < work->target_count; t++)
		if (dry_run(work, t, &all_s, err))
			return -1;
	print_time(all_s, time, sizeof(time));
	fprintf(work->out, "%-10s %s%s\n", "in all",
		work->options->target_accuracy >= 0 ? "at most " : "", time);
	return 0;
}

/* Refuses rows, or a target next to the rows of all runs, that do not fit. */
static int check_memory(struct campaign_work *work, double rows,
			struct error *err)
{
	const double available = machine_memory_available("");

	if (rows > available)
		return error_set(err, ERROR_MISSING, "the rows of all runs "
				 "would take about %.2f GB of memory, and this "
				 "machine has %.2f GB available: choose fewer "
				 "--epochs, --steps or --repeat", rows * 1e-9,
				 available * 1e-9);
	for (int t = 0; t < work->target_count; t++) {
		work->trainings[t].row_bytes = rows;
		if (plan_check_memory(&work->trainings[t], &work->targets[t],
				      available, err))
			return -1;
	}
	return 0;
}

/* Plans with the data set, and checks memory, before the campaign starts. Each
 * child loads the data set itself. */
static int plan_data(struct campaign_work *work, struct error *err)
{
	const struct options *options = work->options;
	struct dataset dataset;
	double rows = 0;
	int failed = plan_dataset(&dataset, options, 1, err);

	if (failed)
		return -1;
	if (dataset.notice[0] && !options->quiet)
		fprintf(work->log, "note: %s\n", dataset.notice);
	if (!options->quiet)
		weights_print_note(options->weights,
				   work->trainings[0].weights_prefix,
				   work->log);
	for (int t = 0; !failed && t < work->target_count; t++) {
		work->trainings[t].dataset = &dataset;
		failed = plan_iterations(&work->trainings[t], &work->own[t],
					 err);
		rows += (double)options->repeat *
			plan_row_bytes(&work->trainings[t]);
	}
	if (!failed)
		failed = check_memory(work, rows, err);
	if (!failed && !options->quiet)
		note_whole_test(work);
	if (!failed && options->dry_run)
		failed = dry_run_all(work, err);
	/* Other targets could be trained for hours first. A single target
	 * reports it itself. */
	else if (!failed && work->named && work->target_count > 1)
		devices_probe(work->targets, work->trainings,
			      work->target_count, work->log, work->missing);
	dataset_release(&dataset);
	return failed ? -1 : 0;
}

/* A target that the user did not name may be missing. */
static void check_result(struct campaign_work *work,
			 struct child_result *result,
			 const struct target *target, int more)
{
	struct run *run = &result->run;
	struct error err;

	if (!result->exit_code)
		return;
	if (result->exit_code == ERROR_MISSING && !work->named) {
		snprintf(run->status, sizeof(run->status), "skipped");
		fprintf(work->log, "%s skipped: %s\n", target->name,
			run->reason);
		return;
	}
	error_set(&err, ERROR_FAILED, "%s: %s", target->name, run->reason);
	/* Printed at once, since other targets may take long. The first one is
	 * printed again at the end. */
	if ((work->worst || more) && !work->missing[target - work->targets])
		fprintf(work->log, "%s\n", err.message);
	if (result->exit_code >= ERROR_USAGE &&
	    result->exit_code <= ERROR_OUTPUT)
		err.kind = (enum error_kind)result->exit_code;
	note_failure(work, err.kind, &err);
}

/* Prints the campaign's notice about its folder; -q does not hide it. */
static void print_notice(struct campaign_work *work)
{
	char *notice = work->campaign.notice;

	if (notice[0])
		fprintf(work->log, "note: %s\n", notice);
	notice[0] = '\0';
}

/* more: runs are still to come. */
static int run_once(struct campaign_work *work, int t, long round, int more,
		    struct error *err)
{
	const struct target *target = &work->targets[t];
	const struct training *training = &work->trainings[t];
	struct options options = work->own[t];
	char run_id[CAMPAIGN_RUN_ID];
	const struct child_request request = {
		.options = &options,
		.target = target->name,
		.run_id = run_id,
		.campaign_id = work->campaign.id,
	};
	struct collector collector = {
		.campaign = &work->campaign,
		.log = options.quiet ? NULL : work->log,
	};
	const struct row_sink sink = collector_sink(&collector);
	struct child_result result;
	int failed;

	options.seed += round * SEED_STRIDE;
	campaign_name_run(&work->campaign, run_id);
	progress_start(&collector.progress, options.progress,
		       options.quiet, target->name, training->recipe.epochs,
		       training->iterations, NULL);
	if (child_measure(&result, &request, &sink, err)) {
		result.exit_code = err->kind;
		child_blame(&result, target->name, run_id, err);
	}
	progress_end(&collector.progress);
	if (!interrupt_signal())
		check_result(work, &result, target, more);
	if (!result.exit_code && !options.quiet)
		note_disturbed(&result.run, work->log);
	failed = campaign_end_run(&work->campaign, &result.run, err);
	print_notice(work);
	return failed;
}

/* A run that was not started gets a row in runs.csv with status skipped. */
static int skip_once(struct campaign_work *work, int t, struct error *err)
{
	struct child_result result = { .exit_code = 128 + interrupt_signal() };
	struct error why;
	char run_id[CAMPAIGN_RUN_ID];

	campaign_name_run(&work->campaign, run_id);
	error_set(&why, ERROR_STOPPED, "interrupted before it began");
	child_blame(&result, work->targets[t].name, run_id, &why);
	snprintf(result.run.status, sizeof(result.run.status), "skipped");
	return campaign_end_run(&work->campaign, &result.run, err);
}

/* Each round starts with another target, so that none is always the first. */
static void run_all(struct campaign_work *work)
{
	const long all = work->options->repeat * work->target_count;
	struct error err;

	for (long n = 0; n < all; n++) {
		const long round = n / work->target_count;
		const int t = (int)((n + round) % work->target_count);
		const int failed =
			interrupt_signal() ?
				skip_once(work, t, &err) :
				run_once(work, t, round, n + 1 < all, &err);

		if (failed)
			note_failure(work, err.kind, &err);
		/* Later rounds need no rows: tables show the number of
		 * repetitions. */
		if (interrupt_signal() && n + 1 >= work->target_count)
			return;
	}
}

/* where: room for the campaign's folder, as the tables name it. */
static struct table_options table_of(const struct campaign_work *work,
				     char where[1024])
{
	const struct options *options = work->options;
	struct table_options table = {
		.with_post = options->with_post,
		.include_warmup = options->include_warmup,
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, work->out),
		.width = terminal_columns(work->out),
		.quiet = options->quiet,
		.where = where,
		.is_folder = 1,
	};

	where[0] = '\0';
	command_line_append(where, 1024, work->campaign.dir);
	table_format_find(options->format, &table.format);
	table.first = table_is_first(&table, options->details);
	return table;
}

static void publish(struct campaign_work *work)
{
	const struct options *options = work->options;
	char where[1024];
	const struct table_options table = table_of(work, where);
	const struct campaign own = campaign_own(&work->campaign);
	struct error err;

	if (campaign_finish(&work->campaign, options->include_warmup, &err))
		note_failure(work, err.kind, &err);
	if (!export_uses_terminal(options)) {
		if (table_print(&own, &table, work->out, &err))
			note_failure(work, err.kind, &err);
		table_print_earlier(&work->campaign, &table, work->out);
	}
	if (export_write(&own, options, &table, work->out, &err))
		note_failure(work, err.kind, &err);
	if (fflush(work->out) || ferror(work->out)) {
		error_set(&err, ERROR_OUTPUT, "standard output: the tables "
			  "could not be written; they are in %s",
			  work->campaign.dir);
		note_failure(work, err.kind, &err);
	}
	/* The first screen ends with it. */
	if (!options->quiet && (!table.first || export_uses_terminal(options)))
		fprintf(work->log, "results: %s\n", work->campaign.dir);
}

/* Prints one note, for the target with the most cores. */
static void note_shared_cpus(const struct campaign_work *work)
{
	const struct target *most = NULL;
	const int cpus = cpus_available();

	for (int i = 0; i < work->target_count; i++)
		if (!work->targets[i].backend->offloads &&
		    (!most || work->targets[i].cores > most->cores))
			most = &work->targets[i];
	if (most && most->cores > cpus)
		fprintf(work->log, "note: %s: %d cores share %d CPU%s, which "
			"limits the speed-up that can be measured\n",
			most->name, most->cores,
			cpus, cpus == 1 ? "" : "s");
}

static void note_idle_cores(const struct campaign_work *work)
{
	const long batch = work->options->global_batch;

	for (int i = 0; batch != OPTION_UNSET && i < work->target_count; i++)
		if (work->targets[i].cores > batch)
			fprintf(work->log, "note: %s: a global batch of %ld "
				"leaves %ld of %d cores without samples\n",
				work->targets[i].name, batch,
				work->targets[i].cores - batch,
				work->targets[i].cores);
}

static int refuse_interrupted(const char *dir, struct error *err)
{
	char command[1024];

	command_line_hint(command, sizeof(command), "table", dir);
	return error_set(err, ERROR_STOPPED, "interrupted; the rows so far are "
			 "in %.400s: %.500s shows them", dir, command);
}

static int run_campaign(struct campaign_work *work, struct error *err)
{
	const struct options *options = work->options;
	char stamp[24];
	const struct campaign_request request = { options->out, options->label,
						  stamp };
	int failed;

	clock_stamp(stamp, sizeof(stamp));
	failed = export_check(options, err) ||
		 campaign_create(&work->campaign, &request, err);
	print_notice(work);
	if (!failed) {
		interrupt_install(0);
		if (!options->quiet) {
			note_shared_cpus(work);
			note_idle_cores(work);
		}
		run_all(work);
		publish(work);
		if (interrupt_signal())
			failed = refuse_interrupted(work->campaign.dir, err);
	}
	campaign_release(&work->campaign);
	return failed;
}

static int run_work(struct campaign_work *work, struct error *err)
{
	const struct options *options = work->options;

	if (plan_targets(work, err) || plan_data(work, err))
		return err->kind;
	if (options->dry_run)
		return 0;
	if (run_campaign(work, err))
		return err->kind;
	*err = work->first;
	return work->worst;
}

int run_command(const struct options *options, FILE *out, FILE *log,
		struct error *err)
{
	struct campaign_work *work; /* too much for a small stack */
	int code;

	if (options->list && options->argument_count)
		return error_set(err, ERROR_USAGE, "--list takes no targets, "
				 "found '%.60s'", options->arguments[0]);
	if (options->list)
		return list_print(out, err) ? (int)err->kind : 0;
	work = calloc(1, sizeof(*work));
	if (!work) {
		error_memory(err, "the plan of a campaign");
		return err->kind;
	}
	work->options = options;
	work->out = out;
	work->log = log;
	code = run_work(work, err);
	free(work);
	return code;
}
