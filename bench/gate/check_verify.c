/*
 * Both programs of a check have to be right before their speed matters. What
 * was found right is kept, so that the next check of the same does not wait.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/gate/check.h"
#include "bench/options/forward.h"
#include "bench/record/machine.h"
#include "bench/system/file.h"
#include "bench/system/hash.h"
#include "bench/system/kernel.h"
#include "bench/system/memory.h"
#include "bench/system/process.h"
#include "bench/verify/verify.h"

#define KEPT "verified"
#define SELF "/proc/self/exe"
#define STEPS 3
/* A verification takes about as long as so many of a target's processes:
 * of resnet50 at 112x112 10 on cpu and 6 on opencl. */
#define PROCESSES 10

/* One `bench verify`. */
struct proof {
	const struct check_target *target;
	const struct arm *arm;
	char **words, **environment;
	char program[HASH_SHA256_SIZE];
};

/* With the variables of its arm. */
static int run(const struct proof *proof, double seconds,
	       struct process_status *status, struct error *err)
{
	const struct process_setting setting = {
		.stdout_fd = PROCESS_NOWHERE,
		.stderr_fd = -1,
		.environment = (const char *const *)proof->environment,
	};

	return process_run((const char *const *)proof->words, &setting,
			   seconds, status, err);
}

/* BACKEND or BACKEND:DEVICE of a target's name, whose cores are then as usual;
 * a target of another transport is verified itself. */
static void name_place(char place[64], const struct check_target *target)
{
	const char *device = strchr(target->name, ':');

	if (strchr(target->name, '@'))
		snprintf(place, 64, "%s", target->name);
	else
		snprintf(place, 64, "%s%s", target->backend->name,
			 device ? device : "");
}

/* All that decides whether it is right. */
static int print_proof(FILE *out, const void *context, struct error *err)
{
	const struct proof *proof = context;
	const struct run *pilot = &proof->target->pilot;

	(void)err;
	fprintf(out, "bench verify found this right\nprogram %s\n",
		proof->program);
	for (char **word = proof->words + 1; *word; word++)
		fprintf(out, "word %s\n", *word);
	for (char **variable = proof->environment; *variable; variable++)
		if (machine_has_variable(*variable))
			fprintf(out, "variable %s\n", *variable);
	fprintf(out, "cpu %s\ndevice %s, %s\ndata %s\n", pilot->cpu_model,
		pilot->device_name, pilot->device_driver,
		pilot->dataset_sha256);
	return 0;
}

/* The text to keep, for free(); NULL: nothing is. Of a script the bytes do not
 * tell what it does. */
static char *describe(struct proof *proof)
{
	const char *path = proof->arm->program ? proof->arm->program : SELF;
	char magic[5], *text = NULL;
	struct error ignored;
	size_t size;

	if (!strchr(path, '/') ||
	    small_file_read(NULL, path, magic, sizeof(magic)) ||
	    strcmp(magic, "\177ELF") ||
	    hash_sha256_file(path, proof->program) ||
	    memory_print(&text, &size, print_proof, proof, "a result",
			 &ignored))
		return NULL;
	return text;
}

/* A program that has been replaced meanwhile is another one. */
static void keep(const struct check *check, struct proof *proof,
		 const char *before)
{
	char *after = describe(proof);
	struct error why;

	if (after && before && !strcmp(before, after) &&
	    kept_add(KEPT, after, &why) && check->log)
		fprintf(check->log, "note: the verification could not be "
			"cached and will be repeated next time: %s\n",
			why.message);
	free(after);
}

/* A few steps, and one as it is measured. */
static int make_words(struct proof *proof, const struct check *check,
		      struct error *err)
{
	const char *const extra[] = { NULL };
	struct options options;
	char place[64];

	check_target_options(&options, check, proof->target);
	/* Of what takes long two are enough to begin one with a state. */
	options.steps = proof->target->less_batch || proof->target->less_side ?
				2 : STEPS;
	options.batch = proof->target->batch;
	options.quiet = 1;
	/* Zeros verify nothing, and files take no part in it. */
	if (!strcmp(options.dataset, "fake") ||
	    !strcmp(options.dataset, "folder")) {
		options.dataset = "synthetic";
		options.data_dir = NULL;
	}
	name_place(place, proof->target);
	free(proof->words);
	proof->words = forward_options(&options, proof->arm->program,
				       VERB_VERIFY, place, extra, err);
	return proof->words ? 0 : -1;
}

/* *code: what it ended with, 0 for what was right before. */
static int prove(struct proof *proof, const struct check *check,
		 const char *side, int *code, struct error *err)
{
	const double seconds = check->options->timeout == OPTION_UNSET ?
				       INFINITY :
				       (double)check->options->timeout;
	struct process_status status = { 0 };
	char *text, place[64];
	int failed;

	*code = 0;
	text = describe(proof);
	if (text && kept_has(KEPT, text)) {
		free(text);
		return 0;
	}
	name_place(place, proof->target);
	if (check->log)
		fprintf(check->log, "verifying the %s on %s\n", side, place);
	failed = run(proof, seconds, &status, err);
	*code = status.code;
	if (!failed && !status.code)
		keep(check, proof, text);
	free(text);
	return failed;
}

/* Its command, for whoever wants to see what is wrong. */
static void print_command(const struct proof *proof, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s", proof->arm->program ?
				       proof->arm->program : "bench");

	for (char **word = proof->words + 1; *word && used < size; word++)
		used += (size_t)snprintf(text + used, size - used, " %s",
					 *word);
}

/* All but its program. To be closed on failure as well. */
static int open_proof(struct proof *proof, const struct check *check, int a,
		      const struct check_target *target, struct error *err)
{
	*proof = (struct proof){ .target = target, .arm = &check->arms[a] };
	proof->environment = arm_environment(proof->arm, 0, err);
	return proof->environment ? make_words(proof, check, err) : -1;
}

static void close_proof(struct proof *proof)
{
	free(proof->environment);
	free(proof->words);
}

/* An older base may not know how to verify a target as it is timed; a head has
 * to. */
static int is_too_old(const struct check *check, int a, int code,
		      const char *command)
{
	const int too_old = a != ARM_HEAD && check->arms[a].program &&
			    code == ERROR_USAGE;

	if (too_old && check->log)
		fprintf(check->log, "note: the base is not verified: it does "
			"not know the words of %s\n", command);
	return too_old;
}

static int verify(const struct check *check, int a,
		  const struct check_target *target, struct error *err)
{
	struct proof proof;
	char command[900] = "";
	struct error cause;
	char place[64];
	int code, failed;

	name_place(place, target);
	failed = open_proof(&proof, check, a, target, &cause) ||
		 prove(&proof, check, arm_words[a], &code, &cause);
	if (!failed)
		print_command(&proof, command, sizeof(command));
	close_proof(&proof);
	if (failed)
		return error_set(err, cause.kind, "%s, bench verify %s: "
				 "%.800s", arm_words[a], place, cause.message);
	if (!code || is_too_old(check, a, code, command))
		return 0;
	/* 1 is its verdict; anything else says that it came to none. */
	return error_set(err, ERROR_FAILED, code == 1 ?
			 "the %s is wrong, speed not compared: see %s" :
			 "the %s cannot be verified, speed not compared: "
			 "see %s", arm_words[a], command);
}

/* An error comes up again where it is reported. */
static int is_kept(const struct check *check, int a,
		   const struct check_target *target)
{
	struct proof proof;
	struct error ignored;
	char *text = NULL;
	int kept;

	if (!open_proof(&proof, check, a, target, &ignored))
		text = describe(&proof);
	kept = text && kept_has(KEPT, text);
	free(text);
	close_proof(&proof);
	return kept;
}

/* Targets that differ in the number of their cores alone are one. */
static int is_first(const struct check *check, int t)
{
	char place[64], other[64];

	name_place(place, &check->targets[t]);
	for (int i = 0; i < t; i++) {
		if (!check->targets[i].backend)
			continue;
		name_place(other, &check->targets[i]);
		if (!strcmp(place, other) &&
		    check->targets[i].batch == check->targets[t].batch &&
		    check->targets[i].less_side == check->targets[t].less_side)
			return 0;
	}
	return 1;
}

static int is_verified(const struct check *check, int t, int arm)
{
	const struct check_target *target = &check->targets[t];

	if (!target->backend || !verify_compares(target->backend) ||
	    !is_first(check, t))
		return 0;
	if (check->arm_count == 1)
		return arm == check->lone_arm;
	return arm == ARM_BASE || (arm == ARM_HEAD &&
				   !arm_equals(&check->arms[ARM_BASE],
					       &check->arms[ARM_HEAD]));
}

double check_verification_estimate(const struct check *check)
{
	double seconds = 0;

	for (int t = 0; t < check->target_count; t++)
		for (int arm = 0; arm < ARM_COUNT; arm++)
			if (is_verified(check, t, arm) &&
			    !is_kept(check, arm, &check->targets[t]))
				seconds += PROCESSES *
					   check->targets[t].process_s;
	return seconds;
}

int check_verify(struct check *check, struct error *err)
{
	for (int t = 0; t < check->target_count; t++)
		for (int arm = 0; arm < ARM_COUNT; arm++)
			if (is_verified(check, t, arm) &&
			    verify(check, arm, &check->targets[t], err))
				return -1;
	return 0;
}
