#include "bench/verify/verify_launch.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/options/forward.h"
#include "bench/plan/ranks.h"
#include "bench/system/file.h"
#include "bench/system/process.h"
#include "bench/system/terminal.h"

struct job_launch {
	const struct verify_job *job;
	int one_process;
	/* The results follow: cores that are processes share only this
	 * block. */
};

static int launched_body(struct group *group, void *context, struct error *err)
{
	struct job_launch *launch = context;
	const struct verify_core core = {
		.group = group,
		.threads = launch->one_process ? group->size : 1,
		.context = launch->job->context,
		.made = launch + 1,
	};

	return launch->job->body(&core, err);
}

int verify_launch(const struct verify_job *job,
		  const struct transport *transport, int cores,
		  struct error *err)
{
	const size_t size = sizeof(struct job_launch) + job->size;
	struct job_launch *launch = calloc(1, size);
	const struct group_job launched = { launched_body, launch, size, NULL };
	int failed;

	if (!launch)
		return error_memory(err, "the cores to compare");
	launch->job = job;
	launch->one_process = transport->one_process;
	failed = group_launch(transport, cores, &launched, err);
	memcpy(job->made, launch + 1, job->size);
	free(launch);
	return failed;
}

/* Runs the job in this process and in the processes of the transport. Sets
 * *joined if a launcher started the cores and they have met. */
static int run_here(const struct verify_job *job, struct target *target,
		    int *joined, struct error *err)
{
	*joined = 0;
	if (target_load(target, err))
		return -1;
	if (target->transport->join &&
	    target->transport->join(target->cores, err))
		return -1;
	*joined = target->transport->join != NULL;
	return verify_launch(job, target->transport, target->cores, err);
}

static int read_made(const char *path, const struct verify_job *job,
		     const struct target *target, struct error *err)
{
	FILE *file = fopen(path, "rb");
	int is_whole;

	if (!file)
		return error_set(err, ERROR_FAILED, "%s: its cores left no "
				 "results: %s", target->name, strerror(errno));
	is_whole = fread(job->made, 1, job->size, file) == job->size &&
		   fgetc(file) == EOF;
	fclose(file);
	return is_whole ? 0 : error_set(err, ERROR_FAILED, "%s: its cores "
					"left results of another size",
					target->name);
}

static int end_of(const struct process_status *status,
		  const struct target *target, struct error *err)
{
	if (!status->code)
		return 0;
	return error_set(err, status->code == ERROR_MISSING ? ERROR_MISSING :
							      ERROR_FAILED,
			 "%s: its cores, which another program starts, ended "
			 "with %s %d", target->name,
			 status->signal ? "signal" : "exit code",
			 status->signal ? status->signal : status->code);
}

/* Starts the launcher of the target's cores; each core is this program with
 * --team. */
static int run_launched(const struct target *target,
			const struct options *options, const char *path,
			struct error *err)
{
	const struct process_setting setting = {
		.stdout_fd = PROCESS_NOWHERE, .stderr_fd = -1,
	};
	char option[PATH_MAX + 16], self[PATH_MAX], number[16];
	const char *const extra[] = { option, NULL };
	const ssize_t length = readlink("/proc/self/exe", self,
					sizeof(self) - 1);
	struct process_status status;
	const char **words;
	char **argv;
	int failed;

	self[length > 0 ? length : 0] = '\0';
	snprintf(option, sizeof(option), "--team=%s", path);
	argv = forward_options(options, self, VERB_VERIFY, target->name, extra,
			       err);
	if (!argv)
		return -1;
	words = ranks_command(target, NULL, (const char *const *)argv, number,
			      err);
	failed = !words ||
		 process_run(words, &setting, INFINITY, &status, err) ||
		 end_of(&status, target, err);
	free(words);
	free(argv);
	return failed ? -1 : 0;
}

static int run_apart(const struct verify_job *job, const struct target *target,
		     const struct options *options, struct error *err)
{
	char folder[PATH_MAX - 16], path[PATH_MAX];
	int failed;

	if (ranks_check_launcher(target, NULL, err) ||
	    file_make_scratch(folder, sizeof(folder), "bench-verify", err))
		return -1;
	snprintf(path, sizeof(path), "%s/team", folder);
	failed = run_launched(target, options, path, err) ||
		 read_made(path, job, target, err);
	file_remove_tree(folder);
	return failed ? -1 : 0;
}

int verify_launch_own(const struct verify_job *job, struct target *target,
		      const struct options *options, struct error *err)
{
	int joined, failed;

	if (ranks_are_launched(target))
		return run_apart(job, target, options, err);
	failed = run_here(job, target, &joined, err);
	if (joined)
		target->transport->leave(NULL);
	return failed;
}

int verify_be_core(const struct verify_job *job, struct target *target,
		   const struct options *options, FILE *log,
		   struct error *err)
{
	const int is_first = !ranks_own(target);
	int joined, failed = run_here(job, target, &joined, err);

	if (!failed && is_first)
		failed = file_replace(options->team, job->made, job->size,
				      err);
	if (failed && is_first)
		terminal_print_error(err, log);
	if (failed && (is_first || joined))
		err->message[0] = '\0';
	if (joined)
		target->transport->leave(NULL);
	return failed ? -1 : 0;
}
