/* Verifies both programs of a check before their speed is compared. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/check.h"
#include "bench/gate/proof.h"
#include "bench/options/forward.h"
#include "bench/record/machine.h"
#include "bench/system/command_line.h"
#include "bench/verify/verify.h"

#define STEPS 3
/* Estimated time of a verification, in processes of the target (resnet50 at
 * 112x112: 10 on cpu, 6 on opencl). */
#define PROCESSES 10

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

/* A few steps, and one as it is measured. */
static int make_words(struct proof *proof, const struct check *check,
		      struct error *err)
{
	const char *const extra[] = { NULL };
	struct options options;
	char place[64];

	check_target_options(&options, check, proof->target);
	/* Slow targets get two: the second step starts from an optimizer
	 * state. */
	options.steps = proof->target->less_batch || proof->target->less_side ?
				2 : STEPS;
	options.batch = proof->target->batch;
	if (options.infer)
		options.steps = OPTION_UNSET;
	options.quiet = 1;
	options.dry_run = 0;
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

static double seconds_of(const struct check *check)
{
	return check->options->timeout == OPTION_UNSET ?
		       INFINITY : (double)check->options->timeout;
}

/* Sets *code to the exit code; 0 if the cache has a success. */
static int prove(struct proof *proof, const struct check *check,
		 const char *side, int *code, struct error *err)
{
	struct process_status status = { 0 };
	struct error why;
	char place[64];

	*code = 0;
	if (proof_is_kept(proof))
		return 0;
	name_place(place, proof->target);
	if (check->log)
		fprintf(check->log, "verifying the %s on %s\n", side, place);
	if (proof_run(proof, seconds_of(check), &status, err))
		return -1;
	*code = status.code;
	if (!status.code && proof_keep(proof, &why) && check->log)
		fprintf(check->log, "note: the verification could not be "
			"cached and will be repeated next time: %s\n",
			why.message);
	return 0;
}

/* Prints the command with its arm's variables, for the user to repeat. */
static void print_command(const struct proof *proof, char *text, size_t size)
{
	const char *const *variable = proof->arm->variables;

	snprintf(text, size, "%s", *variable ? "env" : "");
	for (; *variable; variable++)
		command_line_append(text, size, *variable);
	command_line_append(text, size,
			    proof->arm->program ? proof->arm->program :
						  program_invocation_name);
	for (char **word = proof->words + 1; *word; word++)
		command_line_append(text, size, *word);
}

/* Opens a proof. Close it also after a failure. */
static int open_proof(struct proof *proof, const struct check *check, int a,
		      const struct check_target *target, struct error *err)
{
	*proof = (struct proof){ .target = target, .arm = &check->arms[a] };
	return make_words(proof, check, err) ||
	       proof_open(proof, seconds_of(check), err) ? -1 : 0;
}

/* An older base may not support verification of a target as it is timed. The
 * head must, and so must a base of this version that ran its pilot. */
static int is_too_old(const struct check *check, int a,
		      const struct check_target *target, int code,
		      const char *command)
{
	const struct run *pilot = &target->pilot;
	const int is_ours = !strcmp(pilot->version, machine_version()) &&
			    !strcmp(pilot->git_commit, machine_commit());
	const int too_old = a != ARM_HEAD && check->arms[a].program &&
			    !is_ours && code == ERROR_USAGE;

	if (too_old && check->log)
		fprintf(check->log, "note: the base is not verified: it does "
			"not support %s\n", command);
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
	proof_close(&proof);
	if (failed)
		return error_set(err, cause.kind, "%s, bench verify %s: "
				 "%.800s", arm_words[a], place, cause.message);
	if (!code || is_too_old(check, a, target, code, command))
		return 0;
	/* Exit code 1 is a verdict; other codes mean that there is none. */
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
	const int kept = !open_proof(&proof, check, a, target, &ignored) &&
			 proof_is_kept(&proof);

	proof_close(&proof);
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
	return arm == ARM_BASE || (arm == ARM_HEAD &&
				   !arm_equals(&check->arms[ARM_BASE],
					       &check->arms[ARM_HEAD]));
}

double check_verification_estimate(struct check *check)
{
	double seconds = 0;

	for (int t = 0; t < check->target_count; t++)
		for (int arm = 0; arm < ARM_COUNT; arm++) {
			struct check_target *target = &check->targets[t];

			if (!is_verified(check, t, arm))
				continue;
			target->is_proved[arm] = is_kept(check, arm, target);
			if (!target->is_proved[arm])
				seconds += PROCESSES * target->process_s;
		}
	return seconds;
}

int check_verify(struct check *check, struct error *err)
{
	for (int t = 0; t < check->target_count; t++)
		for (int arm = 0; arm < ARM_COUNT; arm++)
			if (is_verified(check, t, arm) &&
			    !check->targets[t].is_proved[arm] &&
			    verify(check, arm, &check->targets[t], err))
				return -1;
	return 0;
}
