/* Reports the results of `bench check`. */
#include "bench/gate/check.h"

#include <string.h>
#include <unistd.h>

#include "bench/gate/verdict.h"
#include "bench/report/export.h"
#include "bench/system/file.h"
#include "bench/system/terminal.h"
#include "bench/system/text.h"

/* The first process of the arm (of any arm for NULL) on this target. */
static const struct run *find_run(const struct check *check,
				  const struct check_target *target,
				  const char *arm)
{
	const struct campaign *campaign = &check->campaign;

	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];

		if (!strcmp(run->campaign_id, campaign->id) &&
		    !strcmp(run->target, target->name) &&
		    (!arm || !strcmp(run->arm, arm)))
			return run;
	}
	return NULL;
}

static void add_program(char *text, size_t size, const char *program)
{
	char self[512];
	const ssize_t length = program ? -1 :
				readlink("/proc/self/exe", self, sizeof(self));

	if (program)
		text_append(text, size, "%s", program);
	else if (length > 0)
		text_append(text, size, "%.*s", (int)length, self);
	else
		text_append(text, size, "this program");
}

static void add_build(char *text, size_t size, const struct run *run)
{
	if (!run || !run->version[0])
		return;
	text_append(text, size, ", version %s", run->version);
	if (run->git_commit[0])
		text_append(text, size, ", commit %s", run->git_commit);
}

static void describe_arm(char *text, size_t size, const struct check *check,
			 const struct check_target *target, int side)
{
	const struct options *options = check->options;
	const struct arm *arm = &check->arms[side];
	const char *command = side == ARM_BASE ? options->base_cmd :
						 options->head_cmd;
	const char *const *variable = arm->variables;

	text[0] = '\0';
	if (command)
		text_append(text, size, "command %s", command);
	else if (side == ARM_BASE && options->base_ref)
		text_append(text, size, "revision %s, commit %s",
			    options->base_ref, check->build.commit);
	else {
		add_program(text, size, arm->program);
		add_build(text, size, find_run(check, target,
					       arm_names[side]));
	}
	for (; *variable; variable++)
		text_append(text, size, "%s %s",
			    variable == arm->variables ? ", with" : "",
			    *variable);
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Describes the compared programs, so that a verdict can be read alone. Unknown
 * columns stay empty. */
static void describe_subject(struct verdict *verdict, const struct check *check,
			     const struct check_target *target)
{
	const struct run *run = find_run(check, target, NULL);

	describe_arm(verdict->base, sizeof(verdict->base), check, target,
		     ARM_BASE);
	describe_arm(verdict->head, sizeof(verdict->head), check, target,
		     ARM_HEAD);
	if (target->steps_done > 0)
		verdict->iterations = target->steps_done;
	if (!run)
		return;
	copy(verdict->model, sizeof(verdict->model), run->model);
	copy(verdict->dataset, sizeof(verdict->dataset), run->dataset);
	verdict->global_batch = run->global_batch;
	copy(verdict->cpu_model, sizeof(verdict->cpu_model), run->cpu_model);
	verdict->logical_cpus = run->logical_cpus;
	copy(verdict->started_utc, sizeof(verdict->started_utc),
	     run->started_utc);
}

/* Medians of a column of runs.csv over the screen's processes of each arm. */
static void set_medians(double *base, double *head, const struct check *check,
			const char *target, const char *column)
{
	struct pair_stage stages[CHECK_STAGES];

	pair_gather_column(stages, &check->campaign, check->campaign.id,
			   target, column);
	*base = pair_arm_median(&stages[CHECK_SCREEN], ARM_BASE);
	*head = pair_arm_median(&stages[CHECK_SCREEN], ARM_HEAD);
}

#define SET_MEDIANS(member, column, ...) \
	set_medians(&verdict->base_##member, &verdict->head_##member, check, \
		    verdict->target, column);

static void describe(struct verdict *verdict, const struct check *check,
		     const struct check_target *target,
		     const struct judged *row)
{
	const struct options *options = check->options;

	judge_describe(verdict, row);
	UNGATED(SET_MEDIANS)
	describe_subject(verdict, check, target);
	copy(verdict->campaign_id, sizeof(verdict->campaign_id),
	     check->campaign.id);
	copy(verdict->label, sizeof(verdict->label), check->campaign.label);
	verdict->order_seed = (long)check->seed;
	if (options->inject)
		copy(verdict->inject, sizeof(verdict->inject),
		     options->inject);
}

/* Verdicts as a table of some look, for a memory_printer. */
struct table {
	const struct verdicts *verdicts;
	const struct table_options *options;
};

static int print_table(FILE *out, const void *context, struct error *err)
{
	const struct table *table = context;

	return verdicts_print(table->verdicts, table->options, out, err);
}

/* new are the verdicts of this check, all those in the folder. Tries all
 * files. */
static int write_all(const struct check *check, const struct verdicts *new,
		     const struct verdicts *all, FILE *out, struct error *err)
{
	const struct options *options = check->options;
	const struct table_options github = { .format = TABLE_GITHUB,
					      .utf8 = 1 };
	struct table_options plain = {
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, out),
	};
	const struct table folder = { all, &github };
	char path[CAMPAIGN_PATH_SIZE];
	struct error other;
	int failed;

	table_format_find(options->format, &plain.format);
	campaign_path(path, check->campaign.dir, "verdicts.md");
	failed = !export_uses_terminal(options) &&
		 verdicts_print(new, &plain, out, err);
	if (file_replace_with(path, print_table, &folder,
			      failed ? &other : err))
		failed = 1;
	if (verdicts_export(new, options, out, failed ? &other : err))
		failed = 1;
	return failed ? -1 : 0;
}

int check_report(const struct check *check, const struct judged *rows,
		 FILE *out, struct error *err)
{
	struct verdict described[CHECK_MOST_TARGETS];
	const struct verdicts new = { described,
				      (size_t)check->target_count };
	struct verdicts all = { 0 };
	struct error other;
	int failed;

	for (int t = 0; t < check->target_count; t++)
		describe(&described[t], check, &check->targets[t], &rows[t]);
	failed = verdicts_append(check->campaign.dir, &new, err) ||
		 verdicts_read(&all, check->campaign.dir, err);
	if (write_all(check, &new, &all, out, failed ? &other : err))
		failed = 1;
	verdicts_release(&all);
	return failed ? -1 : 0;
}
