#include "bench/app/check_command.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/check_baseline.h"
#include "bench/gate/check_plan.h"
#include "bench/gate/check_report.h"
#include "bench/gate/judge.h"
#include "bench/record/machine.h"
#include "bench/options/option_table.h"
#include "bench/system/clock.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/show/export.h"

/* Is there anything to compare? */
static int check_question(const struct options *options, struct error *err)
{
	if (options->baseline)
		return check_baseline_question(options, err);
	if (options->verb == VERB_CALIBRATE || /* the base with itself */
	    options->base || options->head || options->base_cmd ||
	    options->head_cmd || options->base_ref || options->base_env[0] ||
	    options->head_env[0] || options->inject)
		return 0;
	return error_set(err, ERROR_USAGE, "what is compared with what? Give "
			 "--base PROGRAM, --base-ref REVISION, --baseline "
			 "DIR, --head-env VARIABLE=VALUE, or --base-cmd and "
			 "--head-cmd; see bench check --help");
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
		return error_set(err, ERROR_USAGE, "--base-ref names the base, "
				 "and so does --base%s",
				 options->base ? "" : "-cmd");
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

/* What a bench would be told, a command does not hear. */
static int refuse_deaf(const struct options *options, struct error *err)
{
	if (options->argument_count)
		return error_set(err, ERROR_USAGE, "a command has no TARGET: "
				 "found '%.60s' beside --base-cmd",
				 options->arguments[0]);
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (verb_knows(VERB_MEASURE, row) &&
		    option_is_given(options, row) &&
		    row->offset != offsetof(struct options, progress) &&
		    row->offset != offsetof(struct options, quiet))
			return error_set(err, ERROR_USAGE, "--%s is for what "
					 "bench measures: a command is told by "
					 "its own words, in --base-cmd and "
					 "--head-cmd", row->name);
	}
	return 0;
}

static int plan_targets(struct check *check, struct error *err)
{
	const struct options *options = check->options;

	if (options->baseline)
		return check_baseline_plan(check, err);
	if (!check->arms[ARM_BASE].words)
		return check_plan_targets(check, options->arguments,
					  options->argument_count, err);
	if (refuse_deaf(options, err))
		return -1;
	snprintf(check->targets[0].name, sizeof(check->targets[0].name),
		 "command");
	check->target_count = 1;
	check->named = 1;
	return 0;
}

/* The rows of the targets that could be measured. */
static int make_rows(const struct check *check, struct judged *rows)
{
	int count = 0;

	for (int t = 0; t < check->target_count; t++) {
		struct judged *row = &rows[count];

		if (check->targets[t].missing)
			continue;
		*row = (struct judged){ .gate.rule = gate_rule_default };
		row->gate.rule.margin = fmax(row->gate.rule.margin,
					     check->targets[t].floor);
		row->stored = check->targets[t].stored;
		snprintf(row->target, sizeof(row->target), "%s",
			 check->targets[t].name);
		if (check->options->extend)
			row->gate.rule.alpha /= 2; /* it is asked twice */
		count++;
	}
	return count;
}

/* The targets whose rows are as asked for; how many that are. */
static int choose(const struct check *check, const struct judged *rows,
		  int is_chosen(const struct judged *row), int *chosen)
{
	int count = 0, r = 0;

	for (int t = 0; t < check->target_count; t++) {
		chosen[t] = !check->targets[t].missing && is_chosen(&rows[r]);
		count += chosen[t];
		r += !check->targets[t].missing;
	}
	return count;
}

static int is_flagged(const struct judged *row)
{
	return !row->settled && gate_wants_confirmation(&row->gate);
}

static int is_noisy(const struct judged *row)
{
	return !row->settled && row->gate.verdict == GATE_INCONCLUSIVE &&
	       !is_flagged(row);
}

/* Screen, perhaps an extension, confirmation: judged after each. */
static int measure(struct check *check, struct judged *rows, int count,
		   struct error *err)
{
	int chosen[CHECK_MOST_TARGETS];
	char time[CHECK_TIME_SIZE];

	check_choose_all(check, chosen);
	if (check_measure(check, CHECK_SCREEN, 1, chosen, err) ||
	    judge_rows(rows, count, &check->campaign, check->campaign.id, err))
		return -1;
	if (check->options->extend && choose(check, rows, is_noisy, chosen) &&
	    (check_measure(check, CHECK_SCREEN, 1 + check->blocks, chosen,
			   err) ||
	     judge_rows(rows, count, &check->campaign, check->campaign.id,
			err)))
		return -1;
	if (!choose(check, rows, is_flagged, chosen))
		return 0;
	if (check->log) {
		check_print_time(time, check_estimate(check, chosen));
		progress_pause(&check->progress);
		fprintf(check->log, "slower in the screen: measured again, "
			"about %s\n", time);
	}
	return check_measure(check, CHECK_CONFIRM, 1, chosen, err) ||
	       judge_rows(rows, count, &check->campaign, check->campaign.id,
			  err) ? -1 : 0;
}

/* How bad a verdict is, and what the last line says of it. */
static const struct {
	int rank;
	const char *words;
} endings[] = {
	[GATE_OK] = { 0, "no regression" },
	[GATE_FASTER] = { 0, "no regression" },
	[GATE_INCONCLUSIVE] = { 1, "inconclusive" },
	[GATE_ADVISORY] = { 2, "slower (advisory)" },
	[GATE_REGRESSION] = { 3, "regression" },
};

static enum gate_verdict worst_verdict(const struct judged *rows, int count)
{
	enum gate_verdict worst = GATE_OK;

	for (int i = 0; i < count; i++)
		if (endings[rows[i].gate.verdict].rank > endings[worst].rank)
			worst = rows[i].gate.verdict;
	return worst;
}

static int exit_code(const struct check *check, enum gate_verdict worst)
{
	const int fails = !strcmp(check->options->on_inconclusive, "fail");

	if (worst == GATE_REGRESSION)
		return 1;
	return endings[worst].rank && fails ? ERROR_NO_VERDICT : 0;
}

/* The verdict stands, and is told, even if the table cannot be written. */
static int conclude(struct check *check, struct judged *rows, int count,
		    FILE *out, FILE *log, struct error *err)
{
	enum gate_verdict worst;
	int failed;

	progress_end(&check->progress);
	if (check->options->baseline)
		check_baseline_advise(rows, count);
	worst = worst_verdict(rows, count);
	failed = check_report(check, rows, count, out, err);
	if (!failed && (fflush(out) || ferror(out)))
		failed = error_set(err, ERROR_OUTPUT,
				   "standard output could not be written");
	if (check->log)
		fprintf(log, "results: %s\n", check->campaign.dir);
	fprintf(log, "verdict: %s\n", endings[worst].words);
	return failed ? (int)err->kind : exit_code(check, worst);
}

static int run_check(struct check *check, FILE *out, FILE *log,
		     struct error *err)
{
	struct judged rows[CHECK_MOST_TARGETS];
	int chosen[CHECK_MOST_TARGETS], count;

	if (check_pilot(check, err) ||
	    (check->options->baseline && check_baseline_compare(check, err)))
		return -1;
	check_choose_all(check, chosen);
	progress_pause(&check->progress);
	if (check->options->dry_run) {
		check_print_plan(check, chosen, out);
		return 0;
	}
	if (check->log)
		check_print_plan(check, chosen, log);
	if (check_verify(check, err))
		return -1;
	check_use_floors(check);
	count = make_rows(check, rows);
	if (measure(check, rows, count, err))
		return -1;
	return conclude(check, rows, count, out, log, err);
}

int check_prepare(struct check *check, struct error *err)
{
	const struct options *options = check->options;
	const struct export_paths exports = {
		options->export_csv, options->export_json,
		options->export_markdown
	};
	char stamp[24];
	struct campaign_request request = { options->out, options->label,
					    stamp };

	check_plan_blocks(check);
	check->arm_count = options->control ? ARM_COUNT : ARM_CONTROL;
	clock_stamp(stamp, sizeof(stamp));
	/* The folder that --base-ref builds in goes. Commands end soon after
	 * the first signal, and are ours to end. */
	interrupt_install(options->base_cmd != NULL);
	if (check_question(options, err) ||
	    plan_arms(check, err) ||
	    plan_targets(check, err) || check_plan_data(check, err) ||
	    export_check(&exports, err) ||
	    check_load_floors(check, err) ||
	    (options->dry_run &&
	     file_make_scratch(check->scratch, sizeof(check->scratch),
			       "bench-dry-run", err)))
		return -1;
	if (options->dry_run)
		request.dir = check->scratch;
	if (campaign_create(&check->campaign, &request, err))
		return -1;
	check->started = check->campaign.run_count;
	progress_start(&check->progress, options->progress, options->quiet,
		       verb_name(options->verb), 1, 1, NULL);
	return 0;
}

void check_release(struct check *check)
{
	arms_release(check->arms);
	check_build_release(&check->build);
	baseline_release(&check->baseline);
	campaign_release(&check->campaign);
	if (check->scratch[0])
		file_remove_tree(check->scratch);
	floors_release(&check->floors);
	free(check);
}

/* Whoever waits for the last line finds it there. */
static void end_with_verdict(struct error *err)
{
	const size_t used = strlen(err->message);

	snprintf(err->message + used, sizeof(err->message) - used,
		 "\nverdict: none");
}

int check_command(const struct options *options, FILE *out, FILE *log,
		  struct error *err)
{
	struct check *check = calloc(1, sizeof(*check));
	int code;

	if (!check)
		return error_memory(err, "a check");
	check->options = options;
	check->log = options->quiet ? NULL : log;
	code = check_prepare(check, err);
	if (!code)
		code = run_check(check, out, log, err);
	progress_end(&check->progress);
	if (code < 0 &&
	    (check->campaign.dir[0] || err->kind == ERROR_NO_VERDICT))
		end_with_verdict(err);
	check_release(check);
	return code < 0 ? (int)err->kind : code;
}
