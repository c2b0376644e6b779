#include "bench/gate/arm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/command_line.h"
#include "bench/system/process.h"

const char *const arm_names[ARM_COUNT] = { "A", "B", "A2" };
const char *const arm_words[ARM_COUNT] = { "base", "head", "control" };

/* Not listed in a run's row: its length says nothing about the program. */
static const char pad_name[] = "PADDING_OF_STACK=";

/* A folder is what people give who have built another tree. */
static int refuse_program(const char *side, const char *program,
			  struct error *err)
{
	char inside[PATH_MAX];
	struct stat about;

	if (stat(program, &about))
		return error_set(err, ERROR_MISSING, "--%s: no such program: "
				 "'%s'", side, program);
	if (!S_ISDIR(about.st_mode))
		return error_set(err, ERROR_MISSING, "--%s: '%s' is not a "
				 "program that can be started", side, program);
	snprintf(inside, sizeof(inside), "%s%sbuild/bench", program,
		 program[strlen(program) - 1] == '/' ? "" : "/");
	if (process_find_program(inside))
		return error_set(err, ERROR_MISSING, "--%s: '%s' is a folder; "
				 "the program in it is --%s %s", side, program,
				 side, inside);
	return error_set(err, ERROR_MISSING, "--%s: '%s' is a folder, and "
			 "there is no build/bench in it: build it (make -C), "
			 "or give a program", side, program);
}

static int make_arm(struct arm *arm, const char *side, const char *program,
		    const char *command, const char *const *variables,
		    struct error *err)
{
	char option[16];

	*arm = (struct arm){ .program = program, .variables = variables };
	for (; *variables; variables++)
		if (!strchr(*variables, '=') || **variables == '=')
			return error_set(err, ERROR_USAGE, "--%s-env: '%s' is "
					 "not VARIABLE=VALUE", side,
					 *variables);
	if (program && command)
		return error_set(err, ERROR_USAGE, "--%s and --%s-cmd exclude "
				 "each other", side, side);
	snprintf(option, sizeof(option), "%s-cmd", side);
	if (command && command_line_split(command, option, &arm->words, err))
		return -1;
	if (command)
		program = arm->words[0];
	if (!program || process_find_program(program))
		return 0;
	if (!command)
		return refuse_program(side, program, err);
	return error_set(err, ERROR_MISSING, "--%s-cmd: no such program: '%s'; "
			 "for a shell command, use sh -c '...'", side, program);
}

int arms_make(struct arm arms[ARM_COUNT], const struct options *options,
	      struct error *err)
{
	memset(arms, 0, ARM_COUNT * sizeof(*arms));
	if (make_arm(&arms[ARM_BASE], "base", options->base,
		     options->base_cmd, options->base_env, err) ||
	    make_arm(&arms[ARM_HEAD], "head", options->head,
		     options->head_cmd, options->head_env, err))
		return -1;
	if (!arms[ARM_BASE].words != !arms[ARM_HEAD].words)
		return error_set(err, ERROR_USAGE, "a command can only be "
				 "compared with another command: give both "
				 "--base-cmd and --head-cmd");
	arms[ARM_CONTROL] = arms[ARM_BASE];
	return 0;
}

void arms_release(struct arm arms[ARM_COUNT])
{
	free(arms[ARM_BASE].words); /* the control's as well */
	free(arms[ARM_HEAD].words);
	memset(arms, 0, ARM_COUNT * sizeof(*arms));
}

static int are_same(const char *const *words, const char *const *others)
{
	for (; *words && *others; words++, others++)
		if (strcmp(*words, *others))
			return 0;
	return !*words && !*others;
}

int arm_equals(const struct arm *arm, const struct arm *other)
{
	const char *program = arm->program ? arm->program : "";

	return !strcmp(program, other->program ? other->program : "") &&
	       are_same(arm->variables, other->variables) &&
	       !arm->words == !other->words &&
	       (!arm->words || are_same((const char *const *)arm->words,
					(const char *const *)other->words));
}

/* Is the variable set anew by the arm? */
static int is_replaced(const char *variable, const struct arm *arm)
{
	const size_t name = strcspn(variable, "=") + 1;

	for (const char *const *new = arm->variables; *new; new++)
		if (!strncmp(variable, *new, name))
			return 1;
	return 0;
}

char **arm_environment(const struct arm *arm, int pad, struct error *err)
{
	const size_t name = sizeof(pad_name) - 1;
	size_t count = 2, at = 0; /* the padding and NULL */
	char **list, *padding;

	for (char **variable = environ; *variable; variable++)
		count++;
	for (const char *const *new = arm->variables; *new; new++)
		count++;
	list = malloc(count * sizeof(*list) + name + (size_t)pad + 1);
	if (!list) {
		error_memory(err, "a list of variables");
		return NULL;
	}
	for (char **variable = environ; *variable; variable++)
		if (!is_replaced(*variable, arm))
			list[at++] = *variable;
	/* posix_spawn promises not to change the strings. */
	for (const char *const *new = arm->variables; *new; new++)
		list[at++] = (char *)(size_t)*new;
	padding = (char *)(list + count);
	memcpy(padding, pad_name, name);
	memset(padding + name, 'x', (size_t)pad);
	padding[name + (size_t)pad] = '\0';
	list[at++] = padding;
	list[at] = NULL;
	return list;
}
