#include "bench/gate/check_plan.h"

#include <math.h>
#include <unistd.h>

#include "bench/gate/baseline_settings.h"
#include "bench/gate/gate.h"
#include "bench/gate/noise.h"
#include "bench/record/machine.h"
#include "bench/system/clock.h"
#include "bench/run/plan_memory.h"
#include "bench/run/plan_run.h"
#include "bench/run/target_options.h"

#define BLOCKS 20
#define CALIBRATION_BLOCKS NOISE_LEAST_PAIRS

void check_target_options(struct options *options, const struct check *check,
			  const struct check_target *target)
{
	struct target one;
	struct error err;

	*options = *check->options;
	if (target->stored)
		settings_repeat(options, target->stored->run);
	/* A backend is known where the name was understood. */
	if (target->backend && !target_parse(&one, target->name, &err))
		target_options_trim(options, &one);
}

void check_plan_blocks(struct check *check)
{
	const struct options *options = check->options;
	/* Any number that is another one the next time. */
	const double now = clock_now();

	check->blocks = options->blocks != OPTION_UNSET ?
				(int)options->blocks :
			options->verb == VERB_CALIBRATE ? CALIBRATION_BLOCKS :
							  BLOCKS;
	check->seed = options->order_seed != OPTION_UNSET ?
			      (uint32_t)options->order_seed :
			      (uint32_t)((long)(now * 1e6) ^ (long)getpid());
}

static int plan_target(struct check *check, const char *name,
		       struct target *target, struct error *err)
{
	struct check_target *planned = &check->targets[check->target_count];

	if (target_parse(target, name, err))
		return -1;
	snprintf(planned->name, sizeof(planned->name), "%s", target->name);
	planned->backend = target->backend;
	check->target_count++;
	return 0;
}

int check_plan_targets(struct check *check, const char *const *names,
		       int count, struct error *err)
{
	struct target targets[CHECK_MOST_TARGETS];

	check->named = count > 0;
	if (!count) {
		names = target_defaults;
		while (names[count])
			count++;
	}
	if (count > CHECK_MOST_TARGETS)
		return error_set(err, ERROR_USAGE, "more than %d targets",
				 CHECK_MOST_TARGETS);
	for (int i = 0; i < count; i++)
		if (plan_target(check, names[i], &targets[i], err))
			return -1;
	return target_refuse_twice(targets, count, "--blocks", err) ||
	       target_options_check(check->options, targets, count, check->log,
				    err) ? -1 : 0;
}

int check_plan_data(struct check *check, struct error *err)
{
	struct dataset dataset = { 0 };
	struct options options;
	int failed;

	if (check->arms[ARM_BASE].words)
		return 0;
	check_target_options(&options, check, check->targets);
	failed = plan_dataset(&dataset, &options, err);
	if (!failed && dataset.notice[0] && check->log)
		fprintf(check->log, "note: %s\n", dataset.notice);
	for (int t = 0; !failed && t < check->target_count; t++) {
		struct check_target *planned = &check->targets[t];
		struct training training;
		struct target target;

		check_target_options(&options, check, planned);
		failed = target_parse(&target, planned->name, err) ||
			 plan_run(&training, &target, &options, err);
		training.dataset = &dataset;
		if (!failed)
			failed = plan_iterations(&training, &options, err) ||
				 plan_check_memory(
					 &training, &target,
					 machine_memory_available(""), err);
		planned->most_steps = training.iterations;
		planned->batch = (training.global_batch + target.cores - 1) /
				 target.cores;
	}
	dataset_release(&dataset);
	return failed ? -1 : 0;
}

void check_choose_all(const struct check *check, int *chosen)
{
	for (int t = 0; t < check->target_count; t++)
		chosen[t] = !check->targets[t].missing;
}

void check_print_time(char text[CHECK_TIME_SIZE], double seconds)
{
	if (seconds < 120)
		snprintf(text, CHECK_TIME_SIZE, "%.0f s", ceil(seconds));
	else
		snprintf(text, CHECK_TIME_SIZE, "%.1f min", seconds / 60);
}

/* Fewer or more than the base has are compared all the same. */
static void note_stored(const struct check *check,
			const struct check_target *target, FILE *to)
{
	if (target->stored && target->stored->count != (size_t)check->blocks)
		fprintf(to, "note: %s: %d processes are compared with the %zu "
			"that the baseline has\n", target->name, check->blocks,
			target->stored->count);
}

void check_print_plan(const struct check *check, const int *chosen, FILE *to)
{
	const double seconds = check_estimate(check, chosen);
	const int stages = 2 + check->options->extend;
	char once[CHECK_TIME_SIZE], all[CHECK_TIME_SIZE];

	check_print_time(once, seconds);
	check_print_time(all, stages * seconds * (1 + 1. / CHECK_MOST_REDONE));
	fprintf(to, "%d blocks of %d process%s a target, about %s",
		check->blocks, check->arm_count,
		check->arm_count == 1 ? "" : "es", once);
	if (check->options->verb == VERB_CHECK)
		fprintf(to, ", at most %s with all confirmed", all);
	fprintf(to, "; seed %lu\n", (unsigned long)check->seed);
	for (int t = 0; t < check->target_count; t++)
		if (chosen[t] && check->targets[t].steps > 0)
			fprintf(to, "  %-10s %ld iterations, about %.1f s a "
				"process\n", check->targets[t].name,
				check->targets[t].steps,
				check->targets[t].process_s);
	for (int t = 0; t < check->target_count; t++)
		if (chosen[t])
			note_stored(check, &check->targets[t], to);
	if (check->options->verb != VERB_CALIBRATE &&
	    (size_t)check->blocks < gate_rule_default.fewest)
		fprintf(to, "note: fewer than %zu blocks are too few for a "
			"verdict%s\n", gate_rule_default.fewest,
			check->options->verb == VERB_BASELINE ?
				" against this baseline" : "");
}
