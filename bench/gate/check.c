#include "bench/gate/check.h"

#include <math.h>
#include <stdlib.h>

#include "bench/gate/schedule.h"
#include "bench/launch/child.h"
#include "bench/launch/collector.h"
#include "bench/record/run.h"
#include "bench/system/clock.h"
#include "bench/system/interrupt.h"

#define PILOT_STEPS 5
#define MEASURED_S 1 /* of iterations in each process, at least */
#define FEWEST_STEPS 5
#define LOSS_BOUND 1e-5

/* Position of a process in the check. */
struct process_place {
	int arm, stage, block, attempt, order, pad;
};

/* Work of one process. */
struct process_work {
	struct run run;
	long steps;
	double first_loss;
};

static void read_work(struct process_work *work, const struct observation *rows,
		      size_t count)
{
	work->steps = 0;
	work->first_loss = NAN;
	for (; count; rows++, count--) {
		if (pair_is_step(rows) && !work->steps++)
			work->first_loss = rows->loss;
	}
}

static void set_options(struct options *options, const struct check *check,
			const struct check_target *target,
			const struct process_place *place)
{
	long steps;

	check_target_options(options, check, target);
	options->epochs = options->infer ? OPTION_UNSET : 1;
	options->test = 0;
	steps = place->stage == CHECK_PILOT && options->steps == OPTION_UNSET ?
			PILOT_STEPS : target->steps;
	options->steps = options->infer ? OPTION_UNSET : steps;
	if (options->infer)
		options->count = steps;
	if (place->arm != ARM_HEAD)
		options->inject = NULL;
}

/* Both arms have one name, though one may have work added on purpose. */
static void name_run(struct run *run, const struct check_target *target,
		     const struct process_place *place)
{
	snprintf(run->target, sizeof(run->target), "%s", target->name);
	snprintf(run->arm, sizeof(run->arm), "%s", arm_names[place->arm]);
	run->stage = place->stage;
	run->block = place->block;
	run->attempt = place->attempt;
	run->order_in_block = place->order;
	run->env_pad_bytes = place->pad;
}

/* A process without a run row may be another program, or a bench that does not
 * support an option of this one. */
static int refuse_end(const struct check *check,
		      const struct check_target *target, int arm,
		      const struct child_result *result, struct error *err)
{
	const enum error_kind kind = result->exit_code == ERROR_MISSING ?
					     ERROR_MISSING : ERROR_FAILED;
	const struct options *options = check->options;
	const char *side = arm == ARM_HEAD ? "head" : "base";

	if (result->is_mute &&
	    (arm == ARM_HEAD ? options->head : options->base))
		return error_set(err, kind, "%s, %s: %s, and it printed no "
				 "rows of bench measure: --%s expects a bench "
				 "binary; measure other programs with "
				 "--base-cmd and --head-cmd", target->name,
				 arm_words[arm], result->run.reason, side);
	return error_set(err, kind, "%s, %s: %s", target->name, arm_words[arm],
			 result->run.reason);
}

/* One process, with its rows saved, however it ended. */
static int run_process(struct check *check, struct check_target *target,
		       const struct process_place *place,
		       struct child_result *result,
		       struct error *err)
{
	const struct arm *arm = &check->arms[place->arm];
	struct collector collector = { .campaign = &check->campaign,
				       .other = &check->progress,
				       .log = check->log };
	const struct row_sink sink = collector_sink(&collector);
	struct options options;
	char run_id[CAMPAIGN_RUN_ID], **environment;
	struct child_request request = {
		.options = &options,
		.target = target->name,
		.run_id = run_id,
		.campaign_id = check->campaign.id,
		.program = arm->program,
		.words = (const char *const *)arm->words,
	};

	set_options(&options, check, target, place);
	campaign_name_run(&check->campaign, run_id);
	environment = arm_environment(arm, place->pad, err);
	if (!environment)
		return -1;
	request.environment = (const char *const *)environment;
	if (child_measure(result, &request, &sink, err)) {
		result->exit_code = err->kind;
		child_blame(result, target->name, run_id, err);
	}
	free(environment);
	name_run(&result->run, target, place);
	return campaign_end_run(&check->campaign, &result->run, err);
}

/* Fails unless it ended well; work->run is its row in either case. */
static int measure(struct check *check, struct check_target *target,
		   const struct process_place *place, struct process_work *work,
		   struct error *err)
{
	const size_t rows = check->campaign.observation_count;
	struct child_result result = { 0 };
	const int failed = run_process(check, target, place, &result, err);

	work->run = result.run;
	read_work(work, check->campaign.observations + rows,
		  check->campaign.observation_count - rows);
	if (failed)
		return -1;
	if (interrupt_signal())
		return error_set(err, ERROR_STOPPED, "interrupted: the rows so "
				 "far are in %s; a check cannot be resumed, "
				 "start over", check->campaign.dir);
	return result.exit_code ? refuse_end(check, target, place->arm,
					     &result, err) : 0;
}

/* Rows of a command may lack a loss: two missing losses are equal. */
static int is_same_loss(double loss, double expected)
{
	return fabs(loss - expected) <= LOSS_BOUND * fmax(1, fabs(expected)) ||
	       (isnan(loss) && isnan(expected));
}

static void print_loss(char text[24], double loss)
{
	if (isnan(loss))
		snprintf(text, 24, "missing");
	else
		snprintf(text, 24, "%.9g", loss);
}

/* Fails unless each process runs as many iterations, from the same loss. */
static int compare_work(struct check_target *target,
			const struct process_place *place,
			const struct process_work *work, struct error *err)
{
	char loss[24], expected[24];

	if (target->steps_done < 0) {
		target->steps_done = work->steps;
		target->first_loss = work->first_loss;
	} else if (work->steps != target->steps_done) {
		return error_set(err, ERROR_FAILED, "%s: result changed, speed "
				 "not compared: the %s made %ld iterations, "
				 "an earlier process %ld", target->name,
				 arm_words[place->arm], work->steps,
				 target->steps_done);
	} else if (work->steps &&
		   !is_same_loss(work->first_loss, target->first_loss)) {
		print_loss(loss, work->first_loss);
		print_loss(expected, target->first_loss);
		return error_set(err, ERROR_FAILED, "%s: result changed, speed "
				 "not compared: the first loss of the %s is "
				 "%s, but was %s", target->name,
				 arm_words[place->arm], loss, expected);
	}
	return 0;
}

/* Returns the seconds left in the stage at the present speed. */
static double seconds_left(const struct check *check, double now)
{
	const double left = check->planned_s - check->done_s;

	return check->done_s > 0 ?
		       left * (now - check->began_at) / check->done_s : left;
}

static void show(struct check *check, const struct check_target *target,
		 const struct process_place *place)
{
	const double now = clock_now();
	char text[128];

	snprintf(text, sizeof(text), "%s block %d of %d, %s %s",
		 check->stage_name, place->block - check->first_block + 1,
		 check->blocks, target->name, arm_words[place->arm]);
	progress_draw_text(&check->progress, now, text,
			   fmax(0, seconds_left(check, now)));
}

/* One target's processes of one block. *disturbed: not by themselves alone. */
static int measure_block(struct check *check, const struct schedule *schedule,
			 int t, struct process_place *place, int *disturbed,
			 struct error *err)
{
	struct check_target *target = &check->targets[t];
	const int block = place->block - check->first_block;
	struct process_work work;

	*disturbed = 0;
	for (int order = 0; order < check->arm_count; order++) {
		place->order = order + 1;
		place->arm = schedule_arm(schedule, block, t, order,
					  &place->pad);
		show(check, target, place);
		if (measure(check, target, place, &work, err) ||
		    compare_work(target, place, &work, err))
			return -1;
		*disturbed |= run_is_disturbed(&work.run);
		check->done_s += place->attempt == 1 ? target->process_s : 0;
	}
	return 0;
}

/* Chosen targets in turn; what was disturbed once more, within limits. */
static int measure_blocks(struct check *check, const struct schedule *schedule,
			  int stage, struct error *err)
{
	struct process_place place = { .stage = stage };
	int disturbed;

	for (int block = 0; block < schedule->blocks; block++)
		for (int i = 0; i < schedule->targets; i++) {
			const int t = schedule_target(schedule, block, i);
			struct check_target *target = &check->targets[t];

			if (!target->is_chosen)
				continue;
			place.block = check->first_block + block;
			place.attempt = 1;
			if (measure_block(check, schedule, t, &place,
					  &disturbed, err))
				return -1;
			if (!disturbed ||
			    target->redone >= check->blocks / CHECK_MOST_REDONE)
				continue;
			target->redone++;
			place.attempt = 2;
			if (measure_block(check, schedule, t, &place,
					  &disturbed, err))
				return -1;
		}
	return 0;
}

double check_estimate(const struct check *check)
{
	double seconds = 0;

	for (int t = 0; t < check->target_count; t++)
		if (check->targets[t].is_chosen)
			seconds += check->targets[t].process_s *
				   check->arm_count * check->blocks;
	return seconds;
}

int check_measure(struct check *check, int stage, int first,
		  struct error *err)
{
	struct schedule schedule;
	int failed;

	if (schedule_make(&schedule, check->blocks, check->target_count,
			  check->arm_count,
			  check->seed + (uint32_t)(stage + first), err))
		return -1;
	check->stage_name = stage == CHECK_SCREEN ? "screen" : "confirmation";
	check->first_block = first;
	check->began_at = clock_now();
	check->planned_s = check_estimate(check);
	check->done_s = 0;
	for (int t = 0; t < check->target_count; t++)
		check->targets[t].redone = 0;
	failed = measure_blocks(check, &schedule, stage, err);
	schedule_free(&schedule);
	return failed;
}

/* Sets the number of iterations: enough for a long interval, but no more than
 * there are. */
static void plan_steps(struct check *check, struct check_target *target,
		       const struct process_work *work, double process_s)
{
	const struct run *run = &work->run;
	const double step_s = run->iterations_s / (double)work->steps;

	target->process_s = process_s;
	if (!work->steps || !isfinite(step_s) || step_s <= 0)
		return;
	if (check->options->steps == OPTION_UNSET) {
		target->steps = (long)ceil(MEASURED_S / step_s);
		target->steps = target->steps < FEWEST_STEPS ?
					FEWEST_STEPS : target->steps;
	}
	target->steps = target->steps > target->most_steps ?
				target->most_steps : target->steps;
	target->process_s += step_s * (double)(target->steps - work->steps);
}

int check_pilot(struct check *check, struct error *err)
{
	const struct process_place place = {
		.arm = ARM_BASE,
		.stage = CHECK_PILOT,
		.attempt = 1,
	};
	int left = 0;

	for (int t = 0; t < check->target_count; t++) {
		struct check_target *target = &check->targets[t];
		const double began = clock_now();
		struct process_work work;

		progress_draw_text(&check->progress, began, "pilot", NAN);
		target->steps_done = -1;
		target->steps = check->options->steps;
		if (!measure(check, target, &place, &work, err)) {
			target->pilot = work.run;
			plan_steps(check, target, &work, clock_now() - began);
			target->is_chosen = 1;
			check->targets[left++] = *target;
			continue;
		}
		if (err->kind != ERROR_MISSING || check->named)
			return -1;
		if (check->log)
			fprintf(check->log, "%s skipped: %s\n", target->name,
				work.run.reason);
	}
	check->target_count = left;
	return left ? 0 : -1; /* the last error stands */
}
