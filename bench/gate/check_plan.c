/* Plans a check: the two sides, the targets, the number and order of processes,
 * and whether everything that they need exists. */
#include "bench/gate/check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench/gate/gate.h"
#include "bench/options/option_table.h"
#include "bench/plan/plan.h"
#include "bench/plan/target.h"
#include "bench/record/machine.h"
#include "bench/report/export.h"
#include "bench/system/clock.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/text.h"

#define BLOCKS 20
#define MOST_PASSES 100000

void check_target_options(struct options *options, const struct check *check,
			  const struct check_target *target)
{
	struct target one;
	struct error err;

	*options = *check->options;
	if (options->infer && !option_is_given(options, option_find("warmup")))
		options->warmup = 1;
	if (target->less_batch)
		options->batch = target->less_batch;
	if (target->less_side)
		options->image_size = target->less_side;
	if (target->less_warmup)
		options->warmup = target->less_warmup;
	if (target->less_lr > 0)
		options->lr = target->less_lr;
	/* A backend is known where the name was understood. */
	if (target->backend && !target_parse(&one, target->name, &err))
		target_options_trim(options, &one);
}

/* Is there anything to compare? */
static int check_question(const struct options *options, struct error *err)
{
	if (options->base || options->head || options->base_cmd ||
	    options->head_cmd || options->base_ref || options->base_env[0] ||
	    options->head_env[0] || options->inject)
		return 0;
	return error_set(err, ERROR_USAGE, "nothing to compare: give --base "
			 "PROGRAM, --base-ref REVISION, --head-env "
			 "VARIABLE=VALUE, or --base-cmd and --head-cmd; see "
			 "bench check --help");
}

static int plan_arms(struct check *check, struct error *err)
{
	const struct options *options = check->options;
	const char *head = NULL;

	if (arms_make(check->arms, options, err))
		return -1;
	if (!options->base_ref)
		return 0;
	if (options->base || options->base_cmd)
		return error_set(err, ERROR_USAGE, "--base-ref and %s exclude "
				 "each other: both name the base",
				 options->base ? "--base" : "--base-cmd");
	/* Another program's is not known yet; what differs on purpose does. */
	if (!options->head && !options->base_env[0] && !options->head_env[0] &&
	    !options->inject)
		head = machine_commit();
	if (check_build(&check->build, options->base_ref, head,
			options->dry_run, check->log, err))
		return -1;
	check->arms[ARM_BASE].program = check->build.program[0] ?
						check->build.program :
						options->head;
	check->arms[ARM_CONTROL].program = check->arms[ARM_BASE].program;
	return 0;
}

/* Sets the number of blocks, and the seed of their order. */
static void plan_blocks(struct check *check)
{
	const struct options *options = check->options;
	/* Any number that is another one the next time. */
	const double now = clock_now();

	check->blocks = options->blocks != OPTION_UNSET ?
				(int)options->blocks : BLOCKS;
	check->seed = options->order_seed != OPTION_UNSET ?
			      (uint32_t)options->order_seed :
			      (uint32_t)((long)(now * 1e6) ^ (long)getpid());
}

/* The targets that are named, or the default ones. */
static int plan_names(struct check *check, struct error *err)
{
	const struct options *options = check->options;
	const char *const *names = options->arguments;
	struct target targets[CHECK_MOST_TARGETS];
	int count = options->argument_count;

	check->named = count > 0;
	if (!count) {
		names = target_defaults;
		while (names[count])
			count++;
	}
	if (count > CHECK_MOST_TARGETS)
		return error_set(err, ERROR_USAGE, "more than %d targets",
				 CHECK_MOST_TARGETS);
	for (int i = 0; i < count; i++) {
		struct check_target *planned = &check->targets[i];

		if (target_parse(&targets[i], names[i], err))
			return -1;
		snprintf(planned->name, sizeof(planned->name), "%s",
			 targets[i].name);
		planned->backend = targets[i].backend;
	}
	check->target_count = count;
	return target_refuse_twice(targets, count, "--blocks", err) ||
	       target_options_check(options, targets, count, check->log,
				    err) ? -1 : 0;
}

/* Refuses options of bench measure, which a command does not get. */
static int refuse_beside_command(const struct options *options,
				 struct error *err)
{
	if (options->argument_count)
		return error_set(err, ERROR_USAGE, "TARGET '%.60s' has no "
				 "effect with --base-cmd: commands have no "
				 "targets",
				 options->arguments[0]);
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (verb_knows(VERB_MEASURE, row) &&
		    option_is_given(options, row) &&
		    row->offset != offsetof(struct options, progress) &&
		    row->offset != offsetof(struct options, quiet))
			return error_set(err, ERROR_USAGE, "--%s has no effect "
					 "with --base-cmd: put the command's "
					 "own options into --base-cmd and "
					 "--head-cmd", row->name);
	}
	return 0;
}

static int plan_targets(struct check *check, struct error *err)
{
	const struct options *options = check->options;

	if (check->arms[ARM_BASE].words) {
		snprintf(check->targets[0].name,
			 sizeof(check->targets[0].name), "command");
		check->target_count = 1;
		check->named = 1;
		return refuse_beside_command(options, err);
	}
	return plan_names(check, err);
}

static int count_most_cores(const struct check *check)
{
	struct target target;
	struct error ignored;
	int most = 1;

	for (int t = 0; t < check->target_count; t++)
		if (!target_parse(&target, check->targets[t].name, &ignored) &&
		    target.cores > most)
			most = target.cores;
	return most;
}

/* A network that takes long is given less to do. */
static int plan_less(const struct check *check, struct check_target *planned,
		     struct options *options, struct training *training,
		     const struct target *target, struct error *err)
{
	const struct options before = *options;

	plan_gate(options, training, count_most_cores(check));
	if (options->batch != before.batch)
		planned->less_batch = options->batch;
	if (options->image_size != before.image_size)
		planned->less_side = options->image_size;
	if (options->warmup != before.warmup)
		planned->less_warmup = options->warmup;
	if (options->lr != before.lr)
		planned->less_lr = options->lr;
	return plan_run(training, target, options, err);
}

/* Plans each target with the data set: iterations, reductions and memory. */
static int plan_data(struct check *check, struct error *err)
{
	struct dataset dataset = { 0 };
	struct options options;
	int failed;

	if (check->arms[ARM_BASE].words)
		return 0;
	check_target_options(&options, check, check->targets);
	failed = plan_dataset(&dataset, &options, 1, err);
	if (!failed && dataset.notice[0] && check->log)
		fprintf(check->log, "note: %s\n", dataset.notice);
	for (int t = 0; !failed && t < check->target_count; t++) {
		struct check_target *planned = &check->targets[t];
		struct training training;
		struct target target;

		check_target_options(&options, check, planned);
		failed = target_parse(&target, planned->name, err) ||
			 plan_run(&training, &target, &options, err) ||
			 plan_less(check, planned, &options, &training, &target,
				   err);
		training.dataset = &dataset;
		if (!failed && !t && check->log)
			weights_print_note(options.weights,
					   training.weights_prefix, check->log);
		if (!failed)
			failed = plan_iterations(&training, &options, err) ||
				 plan_check_memory(
					 &training, &target,
					 machine_memory_available(""), err);
		/* Forward passes have no epoch that would end them. */
		planned->most_steps = training.infers ? MOST_PASSES :
							training.iterations;
		planned->batch = training.samples_per_core;
	}
	dataset_release(&dataset);
	return failed ? -1 : 0;
}

int check_plan(struct check *check, struct error *err)
{
	const struct options *options = check->options;

	clock_stamp(check->started_utc, sizeof(check->started_utc));
	plan_blocks(check);
	check->arm_count = options->control ? ARM_COUNT : ARM_CONTROL;
	/* The folder of --base-ref is removed. Commands end soon after the
	 * first signal, and this process has to end them. */
	interrupt_install(options->base_cmd != NULL);
	return check_question(options, err) || plan_arms(check, err) ||
	       plan_targets(check, err) || plan_data(check, err) ||
	       export_check(options, err) ? -1 : 0;
}

int check_open(struct check *check, const char *dir, struct error *err)
{
	const struct options *options = check->options;
	struct campaign_request request = { dir, options->label,
					    check->started_utc };

	if (options->dry_run) {
		if (file_make_scratch(check->scratch, sizeof(check->scratch),
				      "bench-dry-run", err))
			return -1;
		request.dir = check->scratch;
	}
	if (campaign_create(&check->campaign, &request, err))
		return -1;
	progress_start(&check->progress, options->progress, options->quiet,
		       verb_name(options->verb), 1, 1, NULL);
	return 0;
}

void check_release(struct check *check)
{
	progress_end(&check->progress);
	arms_release(check->arms);
	check_build_release(&check->build);
	campaign_release(&check->campaign);
	if (check->scratch[0])
		file_remove_tree(check->scratch);
}

void check_print_time(char text[CHECK_TIME_SIZE], double seconds)
{
	if (seconds < 120)
		snprintf(text, CHECK_TIME_SIZE, "%.0f s", ceil(seconds));
	else
		snprintf(text, CHECK_TIME_SIZE, "%.1f min", seconds / 60);
}

static void print_target(const struct check_target *target, FILE *to)
{
	char less[128] = "";

	if (target->steps <= 0)
		return;
	if (target->less_batch)
		text_append(less, sizeof(less), ", batches of %ld a core",
			    target->less_batch);
	if (target->less_lr > 0)
		text_append(less, sizeof(less), ", rate %g", target->less_lr);
	if (target->less_side)
		text_append(less, sizeof(less), ", images of %ldx%ld",
			    target->less_side, target->less_side);
	fprintf(to, "  %-10s %ld iterations, about %.1f s a process%s%s\n",
		target->name, target->steps, target->process_s, less,
		less[0] ? ": less than the model's, to end in time" : "");
}

void check_print_plan(struct check *check, FILE *to)
{
	const double seconds = check_estimate(check);
	const double verification = check_verification_estimate(check);
	const int stages = 2 + check->options->extend;
	const int arms = check->arm_count;
	char once[CHECK_TIME_SIZE], all[CHECK_TIME_SIZE];

	check_print_time(once, seconds);
	check_print_time(all, stages * seconds * (1 + 1. / CHECK_MOST_REDONE));
	fprintf(to, "%d blocks of %d processes a target, about %s, at most %s "
		"with all confirmed; seed %lu\n", check->blocks, arms, once,
		all, (unsigned long)check->seed);
	if (verification > 0) {
		check_print_time(once, verification);
		fprintf(to, "verification comes first, about %s\n", once);
	}
	for (int t = 0; t < check->target_count; t++)
		print_target(&check->targets[t], to);
	if ((size_t)check->blocks < gate_rule_default.fewest)
		fprintf(to, "note: fewer than %zu blocks are too few for a "
			"verdict\n", gate_rule_default.fewest);
}
