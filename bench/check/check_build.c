#include "bench/check/check_build.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/gate/arm.h"
#include "bench/machine/cpus.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"

#define SHORTEST_COMMIT 7 /* letters of git's; "unknown" begins none */

/* A make around us is no business of the one that builds. */
static const char *const no_make[] = { "MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=",
				       "GNUMAKEFLAGS=", NULL };

/* Its standard output goes to out. Fails unless the program ends with 0. */
static int start(const char *const *words, int out, struct error *err)
{
	const struct arm plain = { .variables = no_make };
	char **environment = arm_environment(&plain, 0, err);
	const struct process_setting setting = {
		.stdout_fd = out,
		.stderr_fd = -1,
		.environment = (const char *const *)environment,
	};
	struct process_status status;
	int failed;

	if (!environment)
		return -1;
	failed = process_run(words, &setting, INFINITY, &status, err);
	free(environment);
	if (failed)
		return -1;
	if (status.code)
		return error_set(err, ERROR_FAILED, "%s failed", words[0]);
	return 0;
}

/* What a program prints: one line that fits into a pipe. */
static int ask(const char *const *words, char *answer, size_t size,
	       struct error *err)
{
	ssize_t count = -1;
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	if (!start(words, pipes[1], err))
		count = read(pipes[0], answer, size - 1);
	close(pipes[0]);
	close(pipes[1]);
	if (count <= 0)
		return -1;
	answer[count] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	return 0;
}

static int find_commit(struct check_build *build, const char *revision,
		       char top[PATH_MAX], struct error *err)
{
	char wanted[300];
	const char *const where[] = { "git", "rev-parse", "--show-toplevel",
				      NULL };
	const char *const which[] = { "git", "rev-parse", "--verify",
				      "--quiet", "--end-of-options", wanted,
				      NULL };

	if (!process_find_program("git") || !process_find_program("make"))
		return error_set(err, ERROR_MISSING, "--base-ref needs git and "
				 "make: apt-get install git make");
	snprintf(wanted, sizeof(wanted), "%.250s^{commit}", revision);
	if (ask(where, top, PATH_MAX, err))
		return error_set(err, ERROR_INPUT, "--base-ref: this folder is "
				 "in no git repository");
	if (ask(which, build->commit, sizeof(build->commit), err))
		return error_set(err, ERROR_INPUT, "--base-ref: '%.60s' is no "
				 "revision of %.400s; a shallow clone lacks "
				 "older ones: git fetch --unshallow", revision,
				 top);
	return 0;
}

static int build_it(const struct check_build *build, const char *top,
		    struct error *err)
{
	char jobs[24];
	const char *const clone[] = { "git", "clone", "--quiet", "--shared",
				      "--no-checkout", "--", top,
				      build->folder, NULL };
	const char *const checkout[] = { "git", "-C", build->folder,
					 "checkout", "--quiet", "--detach",
					 build->commit, NULL };
	const char *const make[] = { "make", "-C", build->folder, jobs,
				     "--no-print-directory", "DEPS=no", "all",
				     NULL };
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int failed = -1;

	snprintf(jobs, sizeof(jobs), "-j%d", cpus_available());
	if (nowhere < 0)
		return error_set(err, ERROR_FAILED, "/dev/null: %s",
				 strerror(errno));
	if (!start(clone, nowhere, err) && !start(checkout, nowhere, err))
		failed = start(make, nowhere, err);
	close(nowhere);
	return failed;
}

static void announce(const struct check_build *build, const char *head,
		     FILE *log)
{
	const int is_same = head && strlen(head) >= SHORTEST_COMMIT &&
			    !strncmp(build->commit, head, strlen(head));

	if (is_same)
		fprintf(log, "note: the head was built from this very commit, "
			"%.12s: a program is compared with itself\n",
			build->commit);
	fprintf(log, "building the base, %.12s\n", build->commit);
}

static int build_revision(struct check_build *build, const char *revision,
			  const char *head, FILE *log, struct error *err)
{
	char top[PATH_MAX];
	struct error cause;

	if (find_commit(build, revision, top, err) ||
	    file_make_scratch(build->folder, sizeof(build->folder),
			      "bench-base", err))
		return -1;
	if (log)
		announce(build, head, log);
	snprintf(build->program, sizeof(build->program), "%s/build/bench",
		 build->folder);
	if (!build_it(build, top, &cause))
		return 0;
	return error_set(err, ERROR_FAILED, "--base-ref: %.12s cannot be "
			 "built: %s, as said above", build->commit,
			 cause.message);
}

int check_build(struct check_build *build, const char *revision,
		const char *head, FILE *log, struct error *err)
{
	*build = (struct check_build){ 0 };
	if (!build_revision(build, revision, head, log, err))
		return 0;
	/* Whatever failed then, that is why. */
	return interrupt_signal() ? error_set(err, ERROR_STOPPED, "interrupted "
					      "while the base was built") : -1;
}

void check_build_release(struct check_build *build)
{
	if (build->folder[0])
		file_remove_tree(build->folder);
	build->folder[0] = '\0';
}
