#include "bench/record/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/system/hash.h"
#include "bench/system/kernel.h"
#include "bench/system/text.h"

/* The Makefile defines them. */
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

/* Without OMPI_MCA_: mpirun sets many of these for each run. */
const char *const machine_variables[] = {
	"OPENBLAS_", "GOTO_",	"OMP_",		  "GOMP_",  "POCL_",
	"OCL_",	     "MALLOC_", "GLIBC_TUNABLES", "BENCH_", "LD_PRELOAD",
	"LD_LIBRARY_PATH", "LD_AUDIT", "MKL_", "KMP_", "CL_CONFIG_", "UCX_",
	NULL,
};

int machine_has_variable(const char *variable)
{
	for (const char *const *begin = machine_variables; *begin; begin++)
		if (!strncmp(variable, *begin, strlen(*begin)))
			return 1;
	return 0;
}

static void list_variables(char *text, size_t size)
{
	text[0] = '\0';
	for (char **variable = environ; *variable; variable++)
		if (machine_has_variable(*variable))
			text_append(text, size, "%s%s", text[0] ? ";" : "",
				    *variable);
}

/* Sets text to the rest of the line in root/path that starts with key, without
 * leading separators and quotation marks. Keeps text if there is no such
 * line. */
static void read_line(const char *root, const char *path, const char *key,
		      const char *separators, char *text, size_t size)
{
	char lines[8192];
	const char *line;

	small_file_read(root, path, lines, sizeof(lines));
	line = small_file_line(lines, key);
	if (!line)
		return;
	line += strspn(line, separators);
	snprintf(text, size, "%.*s", (int)strcspn(line, "\"\n"), line);
}

/* Returns 1 if the flags of an x86 CPU report a hypervisor. */
static int has_hypervisor(const char *flags)
{
	const char *found = strstr(flags, " hypervisor");

	return found && (!found[11] || found[11] == ' ');
}

/* Sets the maker of the virtual machine, or "none". */
static void read_virtualisation(struct run *run, const char *root,
				const char *flags)
{
	const size_t size = sizeof(run->virtualisation);
	char *maker = run->virtualisation;

	read_line(root, "sys/hypervisor/type", "", "", maker, size);
	if (maker[0] || !flags[0])
		return;
	snprintf(maker, size, "%s", has_hypervisor(flags) ? "some" : "none");
	if (has_hypervisor(flags))
		read_line(root, "sys/class/dmi/id/sys_vendor", "", "", maker,
			  size);
}

void machine_read(struct run *run, const char *root)
{
	char flags[4096] = "";

	read_line(root, "proc/cpuinfo", "model name", " \t:", run->cpu_model,
		  sizeof(run->cpu_model));
	read_line(root, "proc/cpuinfo", "flags", "\t:", flags, sizeof(flags));
	read_virtualisation(run, root, flags);
	read_line(root, "etc/os-release", "PRETTY_NAME", "=\"", run->os,
		  sizeof(run->os));
	read_line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		  "", "", run->governor, sizeof(run->governor));
	run->cpu_quota = cgroup_cpus(root);
}

double machine_memory_available(const char *root)
{
	const double limit = cgroup_memory(root);
	char number[32] = "";
	double available;

	read_line(root, "proc/meminfo", "MemAvailable:", " ", number,
		  sizeof(number));
	available = 1024 * strtod(number, NULL);
	return available > 0 ? fmin(available, limit) : limit;
}

void machine_describe_host(struct run *run)
{
	struct utsname name;
	const long pages = sysconf(_SC_PHYS_PAGES);

	machine_read(run, "");
	if (!uname(&name)) {
		snprintf(run->kernel, sizeof(run->kernel), "%.30s %.45s",
			 name.sysname, name.release);
		if (!run->cpu_model[0])
			snprintf(run->cpu_model, sizeof(run->cpu_model),
				 "%.64s", name.machine);
	}
	run->logical_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	run->mem_bytes = pages * sysconf(_SC_PAGESIZE);
	machine_key(run, run->host_key);
}

void machine_describe(struct run *run)
{
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
	machine_describe_host(run);
}

void machine_read_binary(struct run *run)
{
	char hex[HASH_SHA256_SIZE];

	hash_sha256_file("/proc/self/exe", hex);
	snprintf(run->binary_sha256, sizeof(run->binary_sha256), "%s", hex);
}

const char *machine_version(void)
{
	return BENCH_VERSION;
}

const char *machine_commit(void)
{
	return BENCH_COMMIT;
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
