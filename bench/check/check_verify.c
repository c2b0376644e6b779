/* Both programs of a check have to be right before their speed matters. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/check/check.h"
#include "bench/options/forward.h"
#include "bench/system/process.h"
#include "bench/verify/verify.h"

/* Its report is not wanted here. */
static int start(char *const *words, const struct arm *arm, double seconds,
		 struct process_status *status, struct error *err)
{
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char **environment = arm_environment(arm, 0, err);
	const struct process_setting setting = {
		.stdout_fd = nowhere,
		.stderr_fd = -1,
		.environment = (const char *const *)environment,
	};
	int failed = -1;

	if (nowhere < 0)
		error_set(err, ERROR_FAILED, "/dev/null: %s", strerror(errno));
	else if (environment)
		failed = process_run((const char *const *)words, &setting,
				     seconds, status, err);
	free(environment);
	if (nowhere >= 0)
		close(nowhere);
	return failed ? -1 : 0;
}

/* A few small steps: what is wrong is wrong there, too. */
static int run_verify(const struct check *check, const struct arm *arm,
		      const struct check_target *target,
		      struct process_status *status, struct error *err)
{
	const char *const extra[] = { NULL };
	struct options options;
	double seconds = INFINITY;
	char **words;
	int failed;

	check_target_options(&options, check, target);
	options.steps = 3;
	options.batch = 4;
	options.quiet = 1;
	if (options.timeout != OPTION_UNSET)
		seconds = (double)options.timeout;
	words = forward_options(&options, arm->program, VERB_VERIFY,
				target->backend->name, extra, err);
	if (!words)
		return -1;
	failed = start(words, arm, seconds, status, err);
	free(words);
	return failed;
}

static int verify(const struct check *check, int a,
		  const struct check_target *target, struct error *err)
{
	const char *backend = target->backend->name;
	const struct arm *arm = &check->arms[a];
	struct process_status status;
	struct error cause;

	if (run_verify(check, arm, target, &status, &cause))
		return error_set(err, cause.kind, "%s, bench verify %s: "
				 "%.800s", arm_words[a], backend,
				 cause.message);
	if (!status.code)
		return 0;
	/* 1 is its verdict; anything else says that it came to none. */
	return error_set(err, ERROR_FAILED, "the %s %s, speed not compared: "
			 "see %s verify %s", arm_words[a], status.code == 1 ?
				 "is wrong" : "cannot be verified",
			 arm->program ? arm->program : "bench", backend);
}

static int is_first(const struct check *check, int t)
{
	for (int i = 0; i < t; i++)
		if (!check->targets[i].missing &&
		    check->targets[i].backend == check->targets[t].backend)
			return 0;
	return 1;
}

static int is_verified(const struct check *check, int arm)
{
	if (check->arm_count == 1)
		return arm == check->lone_arm;
	return arm == ARM_BASE || (arm == ARM_HEAD &&
				   !arm_equals(&check->arms[ARM_BASE],
					       &check->arms[ARM_HEAD]));
}

int check_verify(struct check *check, struct error *err)
{
	for (int t = 0; t < check->target_count; t++) {
		const struct check_target *target = &check->targets[t];

		if (!target->backend || target->missing ||
		    !verify_compares(target->backend) || !is_first(check, t))
			continue;
		for (int arm = 0; arm < ARM_COUNT; arm++)
			if (is_verified(check, arm) &&
			    verify(check, arm, target, err))
				return -1;
	}
	return 0;
}
