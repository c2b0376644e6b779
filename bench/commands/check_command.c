#include "bench/commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "bench/gate/check.h"
#include "bench/system/text.h"

/* A row for each target, from the usual rule. */
static void make_rows(const struct check *check, struct judged *rows)
{
	for (int t = 0; t < check->target_count; t++) {
		const struct check_target *target = &check->targets[t];
		struct judged *row = &rows[t];

		*row = (struct judged){ .gate.rule = gate_rule_default };
		snprintf(row->target, sizeof(row->target), "%s", target->name);
		if (check->options->extend)
			row->gate.rule.alpha /= 2; /* it is asked twice */
	}
}

/* Chooses the targets whose rows are as asked for; how many that are. */
static int choose(struct check *check, const struct judged *rows,
		  int is_wanted(const struct judged *row))
{
	int count = 0;

	for (int t = 0; t < check->target_count; t++) {
		check->targets[t].is_chosen = is_wanted(&rows[t]);
		count += check->targets[t].is_chosen;
	}
	return count;
}

static int is_flagged(const struct judged *row)
{
	return !row->settled && gate_needs_confirmation(&row->gate);
}

static int is_noisy(const struct judged *row)
{
	return !row->settled && row->gate.verdict == GATE_INCONCLUSIVE &&
	       !is_flagged(row);
}

/* Measures blocks of the chosen targets, then judges all of them. */
static int measure_stage(struct check *check, int stage, int first,
			 struct judged *rows, struct error *err)
{
	return check_measure(check, stage, first, err) ||
	       judge_rows(rows, check->target_count, &check->campaign,
			  check->campaign.id, err) ? -1 : 0;
}

/* Screen, perhaps an extension, confirmation. */
static int measure(struct check *check, struct judged *rows, struct error *err)
{
	char time[CHECK_TIME_SIZE];

	if (measure_stage(check, CHECK_SCREEN, 1, rows, err))
		return -1;
	if (check->options->extend && choose(check, rows, is_noisy) &&
	    measure_stage(check, CHECK_SCREEN, 1 + check->blocks, rows, err))
		return -1;
	if (!choose(check, rows, is_flagged))
		return 0;
	if (check->log) {
		check_print_time(time, check_estimate(check));
		progress_pause(&check->progress);
		fprintf(check->log, "slower in the screen: measuring again, "
			"about %s\n", time);
	}
	return measure_stage(check, CHECK_CONFIRM, 1, rows, err);
}

/* Severity of the verdicts, and their words in the last line. */
static const struct {
	int rank;
	const char *words;
} endings[] = {
	[GATE_OK] = { 0, "no regression" },
	[GATE_FASTER] = { 0, "no regression" },
	[GATE_INCONCLUSIVE] = { 1, "inconclusive" },
	[GATE_REGRESSION] = { 2, "regression" },
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

/* The verdict is printed even if the table cannot be written. */
static int conclude(struct check *check, struct judged *rows, FILE *out,
		    FILE *log, struct error *err)
{
	enum gate_verdict worst;
	int failed;

	progress_end(&check->progress);
	worst = worst_verdict(rows, check->target_count);
	failed = check_report(check, rows, out, err);
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

	if (check_pilot(check, err))
		return -1;
	progress_pause(&check->progress);
	if (check->options->dry_run) {
		check_print_plan(check, out);
		return 0;
	}
	if (check->log)
		check_print_plan(check, log);
	if (check_verify(check, err))
		return -1;
	make_rows(check, rows);
	if (measure(check, rows, err))
		return -1;
	return conclude(check, rows, out, log, err);
}

/* A reader of the last line finds the verdict there. */
static void end_with_verdict(struct error *err)
{
	text_append(err->message, sizeof(err->message), "\nverdict: none");
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
	code = check_plan(check, err) ||
			       check_open(check, options->out, err) ?
		       -1 : run_check(check, out, log, err);
	if (code < 0 &&
	    (check->campaign.dir[0] || err->kind == ERROR_NO_VERDICT))
		end_with_verdict(err);
	check_release(check);
	free(check);
	return code < 0 ? (int)err->kind : code;
}
