#include "bench/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/cgroup.h"
#include "bench/small_file.h"

/* The Makefile says what is built; without it, nothing is known. */
#ifndef BENCH_VERSION
#define BENCH_VERSION "unknown"
#endif
#ifndef BENCH_COMMIT
#define BENCH_COMMIT "unknown"
#endif
#ifndef BENCH_DATE
#define BENCH_DATE "unknown"
#endif
#ifndef BENCH_LIBRARIES
#define BENCH_LIBRARIES "unknown"
#endif
#ifndef BENCH_CFLAGS
#define BENCH_CFLAGS "unknown"
#endif

extern char **environ;

const char *const machine_variables[] = {
	"OPENBLAS_", "GOTO_",  "OMP_",	     "POCL_",		"OCL_",
	"MALLOC_",   "BENCH_", "LD_PRELOAD", "LD_LIBRARY_PATH", NULL,
};

static int is_telling(const char *variable)
{
	for (const char *const *begin = machine_variables; *begin; begin++)
		if (!strncmp(variable, *begin, strlen(*begin)))
			return 1;
	return 0;
}

static void list_variables(char *text, size_t size)
{
	size_t used = 0;

	for (char **variable = environ; *variable; variable++) {
		if (!is_telling(*variable) || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 used ? ";" : "", *variable);
	}
}

/* The text after the first line of path that starts with key. */
static void find_line(const char *path, const char *key, const char *separators,
		      char *text, size_t size)
{
	char lines[4096];
	const char *line;

	small_file_read(path, lines, sizeof(lines));
	line = small_file_line(lines, key);
	if (line) {
		line += strspn(line, separators);
		snprintf(text, size, "%.*s", (int)strcspn(line, "\"\n"), line);
	}
}

void machine_describe(struct run *run)
{
	struct utsname name;
	const long pages = sysconf(_SC_PHYS_PAGES);

	snprintf(run->version, sizeof(run->version), "%s", BENCH_VERSION);
	snprintf(run->git_commit, sizeof(run->git_commit), "%s", BENCH_COMMIT);
#ifdef __clang__
	snprintf(run->compiler, sizeof(run->compiler), "clang %s",
		 __clang_version__);
#else
	snprintf(run->compiler, sizeof(run->compiler), "gcc %s", __VERSION__);
#endif
	snprintf(run->cflags, sizeof(run->cflags), "%s", BENCH_CFLAGS);
	list_variables(run->variables, sizeof(run->variables));
	find_line("/proc/cpuinfo", "model name", " \t:", run->cpu_model,
		  sizeof(run->cpu_model));
	find_line("/etc/os-release", "PRETTY_NAME", "=\"", run->os,
		  sizeof(run->os));
	if (!uname(&name)) {
		snprintf(run->kernel, sizeof(run->kernel), "%.30s %.45s",
			 name.sysname, name.release);
		if (!run->cpu_model[0])
			snprintf(run->cpu_model, sizeof(run->cpu_model),
				 "%.64s", name.machine);
	}
	run->logical_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	run->cpu_quota = cgroup_cpus("");
	run->mem_bytes = pages * sysconf(_SC_PAGESIZE);
}

const char *machine_version(void)
{
	return BENCH_VERSION;
}

const char *machine_date(void)
{
	return BENCH_DATE;
}

void machine_print_version(FILE *out)
{
	struct run run = { 0 };

	machine_describe(&run);
	fprintf(out, "bench %s (%s), %s, %s\nbuilt with %s\n", run.version,
		run.git_commit, run.compiler, run.cflags, BENCH_LIBRARIES);
}
