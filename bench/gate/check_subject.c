#include "bench/gate/check_subject.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* The end is left out of what is too long. */
__attribute__((format(printf, 3, 4)))
static void add(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

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
		add(text, size, "%s", program);
	else if (length > 0)
		add(text, size, "%.*s", (int)length, self);
	else
		add(text, size, "this program");
}

static void add_build(char *text, size_t size, const struct run *run)
{
	if (!run || !run->version[0])
		return;
	add(text, size, ", version %s", run->version);
	if (run->git_commit[0])
		add(text, size, ", commit %s", run->git_commit);
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
	if (side == ARM_BASE && target->stored) {
		add(text, size, "baseline %s", options->baseline);
		add_build(text, size, target->stored->run);
		return;
	}
	if (command)
		add(text, size, "command %s", command);
	else if (side == ARM_BASE && options->base_ref)
		add(text, size, "revision %s, commit %s", options->base_ref,
		    check->build.commit);
	else {
		add_program(text, size, arm->program);
		add_build(text, size, find_run(check, target,
					       arm_names[side]));
	}
	for (; *variable; variable++)
		add(text, size, "%s %s", variable == arm->variables ?
		    ", with" : "", *variable);
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void check_describe(struct verdict *verdict, const struct check *check,
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
