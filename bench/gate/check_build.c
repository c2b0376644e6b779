#include "bench/gate/check_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/append.h"
#include "bench/system/command_line.h"
#include "bench/system/cpus.h"
#include "bench/system/file.h"
#include "bench/system/hash.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/system/text.h"

#define SHORTEST_COMMIT 7 /* letters of git's; "unknown" begins none */
#define DEFAULT_COMPILER "gcc" /* the Makefile's */
/* CPU time of a build by gcc 12 on a Xeon of 2.1 GHz. */
#define BUILD_CPU_S 240

/* Variables that change the program built from one commit: of the Makefile, of
 * gcc and of clang. */
static const char *const knobs[] = {
	"CC", "CFLAGS", "LDFLAGS", "DEFINES", "SAN", "WERROR", "PKG_CONFIG",
	"PKG_CONFIG_PATH", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH",
	"COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH",
};

/* Runs a program with standard files out and errors; -1 = ours. Fails unless
 * its exit code is 0. */
static int start(const char *const *words, int out, int errors,
		 struct error *err)
{
	const struct process_setting setting = { .stdout_fd = out,
						 .stderr_fd = errors };
	struct process_status status;

	if (process_run(words, &setting, INFINITY, &status, err))
		return -1;
	if (status.code)
		return error_set(err, ERROR_FAILED, "%s failed", words[0]);
	return 0;
}

/* Returns what a program prints; fails if it prints nothing. */
static int ask(const char *const *words, char *answer, size_t size,
	       struct error *err)
{
	if (process_read(words, INFINITY, 1, answer, size, err))
		return -1;
	return *answer ? 0 : error_set(err, ERROR_FAILED, "%s printed nothing",
				       words[0]);
}

/*
 * Unsets the variables of an outer make, which would change the inner one.
 * Unsets the variables of a git hook: git would use its repository, HEAD and
 * index in every folder. They stay unset, since empty values have another
 * meaning.
 */
static int leave_surroundings(struct error *err)
{
	static const char *const of_make[] = { "MAKEFLAGS", "MFLAGS",
					       "MAKELEVEL", "GNUMAKEFLAGS" };
	const char *const list[] = { "git", "rev-parse", "--local-env-vars",
				     NULL };
	char of_git[4096], *name = of_git, *end;
	struct error cause;

	for (size_t i = 0; i < sizeof(of_make) / sizeof(of_make[0]); i++)
		process_unset(of_make[i]);
	if (ask(list, of_git, sizeof(of_git), &cause))
		return error_set(err, ERROR_FAILED, "--base-ref: git rev-parse "
				 "--local-env-vars: %.500s", cause.message);
	for (; (end = strchr(name, '\n')); name = end + 1) {
		*end = '\0';
		process_unset(name);
	}
	process_unset(name);
	return 0;
}

static int find_commit(struct check_build *build, const char *revision,
		       char top[PATH_MAX], struct error *err)
{
	char wanted[300];
	struct error cause;
	const char *const where[] = { "git", "rev-parse", "--show-toplevel",
				      NULL };
	const char *const which[] = { "git", "rev-parse", "--verify",
				      "--quiet", "--end-of-options", wanted,
				      NULL };

	if (!process_find_program("git") || !process_find_program("make"))
		return error_set(err, ERROR_MISSING, "--base-ref needs git and "
				 "make: apt-get install git make");
	if (leave_surroundings(err))
		return -1;
	snprintf(wanted, sizeof(wanted), "%.250s^{commit}", revision);
	if (ask(where, top, PATH_MAX, &cause))
		return error_set(err, ERROR_INPUT, "--base-ref: git finds no "
				 "repository (GIT_DIR and similar variables "
				 "are ignored): %.600s", cause.message);
	if (ask(which, build->commit, sizeof(build->commit), &cause))
		return error_set(err, ERROR_INPUT, "--base-ref: '%.60s' is not "
				 "a revision of %.400s; a shallow clone lacks "
				 "older ones: git fetch --unshallow", revision,
				 top);
	return 0;
}

/* If the compiler prints no version, make will report it. */
static void ask_compiler(char *version, size_t size)
{
	const char *cc = getenv("CC");
	char command[512], **words = NULL;
	struct error ignored;

	snprintf(command, sizeof(command), "%s --version",
		 cc && *cc ? cc : DEFAULT_COMPILER);
	if (command_line_split(command, "CC", &words, &ignored) ||
	    ask((const char *const *)words, version, size, &ignored))
		snprintf(version, size, "an unknown compiler");
	version[strcspn(version, "\n")] = '\0'; /* of several lines */
	free(words);
}

/* Sets the path in the cache: one per commit, compiler and flags. */
static void find_place(struct check_build *build, const char *top)
{
	char *tools = build->tools, hex[HASH_SHA256_SIZE];

	ask_compiler(tools, sizeof(build->tools) / 2);
	hash_sha256(build->commit, strlen(build->commit), tools, strlen(tools),
		    hex);
	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		const char *value = getenv(knobs[i]);

		value = value ? value : "";
		if (*value)
			text_append(tools, sizeof(build->tools), ", %s=%s",
				    knobs[i], value);
		hash_sha256(hex, strlen(hex), value, strlen(value), hex);
	}
	snprintf(build->kept, sizeof(build->kept), "%s/build/base/%.12s-%.16s"
		 "/bench", top, build->commit, hex);
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

	snprintf(jobs, sizeof(jobs), "-j%d", cpus_available());
	return start(clone, PROCESS_NOWHERE, -1, err) ||
	       start(checkout, PROCESS_NOWHERE, -1, err) ||
	       start(make, PROCESS_NOWHERE, -1, err) ? -1 : 0;
}

/* Hides the folder from git's lists, whatever the repository ignores. */
static int hide(const struct check_build *build, struct error *err)
{
	char path[sizeof(build->kept) + 24];
	const size_t folder = (size_t)(strrchr(build->kept, '/') - build->kept);

	snprintf(path, sizeof(path), "%.*s/.gitignore", (int)folder,
		 build->kept);
	return file_replace(path, "*\n", 2, err);
}

/*
 * Takes the place of none, or of the same: under another name until it is
 * whole. Without it the program is used from where it was built.
 */
static void keep(struct check_build *build, FILE *log)
{
	char new[sizeof(build->kept) + 24];
	const char *const install[] = { "install", "-D", "-m", "755", "--",
					build->program, new, NULL };
	struct error why;

	snprintf(new, sizeof(new), "%s.%ld", build->kept, (long)getpid());
	if (!start(install, -1, -1, &why) && !append_sync(new, &why) &&
	    !hide(build, &why) && !rename(new, build->kept))
		snprintf(build->program, sizeof(build->program), "%s",
			 build->kept);
	else {
		unlink(new);
		if (log)
			fprintf(log, "note: the base could not be cached as %s "
				"and will be rebuilt next time\n",
				build->kept);
	}
}

static void announce(const struct check_build *build, const char *head,
		     int dry_run, FILE *log)
{
	const int cpus = cpus_available();
	const int is_same = head && strlen(head) >= SHORTEST_COMMIT &&
			    !strncmp(build->commit, head, strlen(head));

	if (is_same)
		fprintf(log, "note: base and head are the same commit, %.12s: "
			"comparing a program with itself\n",
			build->commit);
	if (build->program[0])
		fprintf(log, "the base, %.12s, was already built with %s: %s\n",
			build->commit, build->tools, build->program);
	else if (dry_run)
		fprintf(log, "note: a dry run does not build the base, %.12s: "
			"the estimate is for the head\n",
			build->commit);
	else
		fprintf(log, "building the base, %.12s, with %s: about %.0f "
			"min on %d CPU%s\n", build->commit, build->tools,
			fmax(1, BUILD_CPU_S / 60. / cpus), cpus,
			cpus == 1 ? "" : "s");
}

static int build_revision(struct check_build *build, const char *revision,
			  const char *head, int dry_run, FILE *log,
			  struct error *err)
{
	char top[PATH_MAX];
	struct error cause;

	if (find_commit(build, revision, top, err))
		return -1;
	find_place(build, top);
	if (!access(build->kept, X_OK))
		snprintf(build->program, sizeof(build->program), "%s",
			 build->kept);
	if (log)
		announce(build, head, dry_run, log);
	if (build->program[0] || dry_run)
		return 0;
	if (file_make_scratch(build->folder, sizeof(build->folder),
			      "bench-base", err))
		return -1;
	snprintf(build->program, sizeof(build->program), "%s/build/bench",
		 build->folder);
	if (build_it(build, top, &cause))
		return error_set(err, ERROR_FAILED, "--base-ref: %.12s cannot "
				 "be built: %s, see above", build->commit,
				 cause.message);
	keep(build, log);
	return interrupt_signal() ? -1 : 0;
}

int check_build(struct check_build *build, const char *revision,
		const char *head, int dry_run, FILE *log, struct error *err)
{
	*build = (struct check_build){ 0 };
	if (!build_revision(build, revision, head, dry_run, log, err))
		return 0;
	/* After a signal, that is the cause of any failure. */
	return interrupt_signal() ? error_set(err, ERROR_STOPPED, "interrupted "
					      "while the base was being built")
					      : -1;
}

void check_build_release(struct check_build *build)
{
	if (build->folder[0])
		file_remove_tree(build->folder);
	build->folder[0] = '\0';
}
