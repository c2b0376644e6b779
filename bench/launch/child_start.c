#include "bench/launch/child_start.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/options/forward.h"
#include "bench/plan/ranks.h"
#include "bench/system/process.h"

int child_is_launched(const struct child_request *request,
		      struct target *target)
{
	struct error unknown;

	/* Another program may have other targets. */
	return !request->words &&
	       !target_parse(target, request->target, &unknown) &&
	       ranks_are_launched(target);
}

/* A group of its own does not get a terminal's Ctrl-C: this process passes it
 * on. */
static int start_command(const struct child_request *request, int pipe,
			 pid_t *pid, struct error *err)
{
	const struct process_setting setting = {
		.stdout_fd = pipe,
		.stderr_fd = -1,
		.environment = request->environment,
		.own_group = 1,
	};

	return process_start(request->words, &setting, pid, err);
}

/* This program has a name of its own in another process. */
static int start_bench(const struct child_request *request, char **argv,
		       const struct process_setting *setting, pid_t *pid,
		       struct error *err)
{
	struct target target;
	const int is_launched = child_is_launched(request, &target);
	char number[16], self[PATH_MAX];
	const char **all = ranks_command(is_launched ? &target : NULL,
					 request->options->hosts,
					 (const char *const *)argv, number,
					 err);
	struct process_setting own = *setting;
	ssize_t length;
	int failed;

	if (!all)
		return -1;
	length = readlink(argv[0], self, sizeof(self) - 1);
	self[length > 0 ? length : 0] = '\0';
	for (int w = 1; !request->program && *self && all[w]; w++)
		if (all[w] == argv[0])
			all[w] = self;
	/* A launcher that hears of a signal twice gives up at once. */
	own.own_group = all[0] != argv[0];
	failed = process_start(all, &own, pid, err);
	free(all);
	return failed;
}

pid_t child_start(const struct child_request *request, const char *run_file,
		  int out_pipe, int errors, struct error *err)
{
	struct options options = *request->options;
	char words[3][600], **argv;
	const char *const extra[] = {
		words[0], words[1], words[2],
		options.verb == VERB_INFER ? "--infer" : NULL, NULL
	};
	const struct process_setting setting = {
		.stdout_fd = out_pipe,
		.stderr_fd = errors,
		.environment = request->environment,
	};
	pid_t pid = -1;

	/* This process shows progress, by the rows that it reads. */
	options.progress = "never";
	snprintf(words[0], sizeof(words[0]), "--run-file=%s", run_file);
	snprintf(words[1], sizeof(words[1]), "--run-id=%s", request->run_id);
	snprintf(words[2], sizeof(words[2]), "--campaign-id=%s",
		 request->campaign_id);
	if (request->words)
		return start_command(request, out_pipe, &pid, err) ? -1 : pid;
	argv = forward_options(&options, request->program, VERB_MEASURE,
			       request->target, extra, err);
	if (!argv)
		return -1;
	if (start_bench(request, argv, &setting, &pid, err))
		pid = -1;
	free(argv);
	return pid;
}
