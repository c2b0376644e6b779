#include "bench/gate/check_baseline.h"

#include <string.h>

#include "bench/gate/check_plan.h"
#include "bench/gate/baseline_settings.h"
#include "bench/gate/gate.h"
#include "bench/record/machine.h"

int check_baseline_question(const struct options *options, struct error *err)
{
	/* What names a base, or needs one that is measured now. */
	const struct {
		const char *name;
		int given;
	} others[] = {
		{ "--base", options->base != NULL },
		{ "--base-ref", options->base_ref != NULL },
		{ "--base-cmd", options->base_cmd != NULL },
		{ "--base-env", options->base_env[0] != NULL },
		{ "--head-cmd", options->head_cmd != NULL },
		{ "--control on", options->control },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return error_set(err, ERROR_USAGE, "%s does not go "
					 "with --baseline, whose processes "
					 "are the base", others[i].name);
	if (options->extend && options->blocks > TWO_SAMPLE_MOST / 2)
		return error_set(err, ERROR_USAGE, "--extend: more than %d "
				 "processes of the head are not compared with "
				 "a baseline: give --blocks %d or less",
				 TWO_SAMPLE_MOST, TWO_SAMPLE_MOST / 2);
	return 0;
}

static int plan_names(struct check *check, struct error *err)
{
	const struct options *options = check->options;
	const struct baseline *baseline = &check->baseline;
	const char *names[BASELINE_MOST_TARGETS];

	if (options->argument_count)
		return check_plan_targets(check, options->arguments,
					  options->argument_count, err);
	for (int t = 0; t < baseline->count; t++)
		names[t] = baseline->targets[t].run->target;
	return check_plan_targets(check, names, baseline->count, err);
}

static int find_stored(struct check *check, struct error *err)
{
	char missing[256] = "";

	for (int t = 0; t < check->target_count; t++) {
		struct check_target *target = &check->targets[t];

		target->stored = baseline_find(&check->baseline, target->name);
		if (!target->stored)
			error_list(missing, sizeof(missing), target->name);
	}
	return missing[0] ?
		       error_set(err, ERROR_NO_VERDICT, "no verdict: %s: not "
				 "in the baseline %s: save it anew or leave it "
				 "out", missing, check->options->baseline) : 0;
}

/* More processes of the head would not help. */
static int refuse_few(const struct check_target *target, const char *dir,
		      struct error *err)
{
	if (target->stored->count >= gate_rule_default.fewest)
		return 0;
	return error_set(err, ERROR_NO_VERDICT, "no verdict: %s: the baseline "
			 "has %zu processes, and %zu are needed: bench "
			 "baseline save %s %s measures it anew, with --blocks "
			 "%zu or more", target->name, target->stored->count,
			 gate_rule_default.fewest, dir, target->name,
			 gate_rule_default.fewest);
}

static int refuse(const struct run *was, const struct run *is,
		  struct error *err)
{
	char around[400], work[400], what[80] = "";
	const int arounds = machine_difference(was, is, around,
					       sizeof(around));
	const int machines = machine_is_another(was, is);
	const int works = settings_compare(was, is, work, sizeof(work));

	if (!arounds && !works)
		return 0;
	if (machines)
		error_list(what, sizeof(what), "another machine");
	if (arounds > machines)
		error_list(what, sizeof(what), "other variables");
	if (works)
		error_list(what, sizeof(what), "other work");
	return error_set(err, ERROR_NO_VERDICT, "no verdict: %s: the baseline "
			 "is of %s (first its, then this): %s%s%s",
			 was->target, what, around,
			 arounds && works ? "; " : "", work);
}

/* What is known of this machine before anything is measured on it. */
static int compare_machine(const struct run *stored, struct error *err)
{
	struct run now = *stored;

	machine_describe(&now);
	return refuse(stored, &now, err);
}

int check_baseline_plan(struct check *check, struct error *err)
{
	const struct options *options = check->options;

	if (baseline_load(&check->baseline, options->baseline, err) ||
	    plan_names(check, err) || find_stored(check, err))
		return -1;
	check->named = 1; /* by the baseline, if by nobody else */
	check->arm_count = 1;
	check->lone_arm = ARM_HEAD;
	for (int t = 0; t < check->target_count; t++)
		if (refuse_few(&check->targets[t], options->baseline, err) ||
		    settings_agree(options, check->targets[t].stored->run, err))
			return -1;
	for (int t = 0; t < check->target_count; t++)
		if (compare_machine(check->targets[t].stored->run, err))
			return -1;
	return 0;
}

int check_baseline_compare(struct check *check, struct error *err)
{
	for (int t = 0; t < check->target_count; t++) {
		struct check_target *target = &check->targets[t];
		const struct baseline_target *stored = target->stored;
		struct run pilot = target->pilot;

		/* Variables of the head's own are asked for; all others were
		 * compared before. */
		if (check->options->head_env[0])
			memcpy(pilot.variables, stored->run->variables,
			       sizeof(pilot.variables));
		if (refuse(stored->run, &pilot, err))
			return -1;
		/* What its processes are held to. */
		target->steps_done = stored->run->updates;
		target->first_loss = stored->first_loss;
	}
	return 0;
}

void check_baseline_advise(struct judged *rows, int count)
{
	for (int i = 0; i < count; i++)
		gate_advise(&rows[i].gate, "slower than the baseline twice, "
			    "but both times than the same saved processes: "
			    "advisory; --base-ref measures a base now");
}
