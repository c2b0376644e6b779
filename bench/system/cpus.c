#include "bench/system/cpus.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/kernel.h"

#define SYSTEM_CPUS "sys/devices/system/cpu/"

/* Parses a set as the kernel writes it: "0,2-3" and a line end. Fails
 * otherwise; beyond gets the first number that no set can have. */
static int parse_list(const char *text, cpu_set_t *set, long *beyond)
{
	CPU_ZERO(set);
	*beyond = -1;
	for (;; text++) {
		char *end;
		long first, last;

		if (*text < '0' || *text > '9')
			return -1;
		first = last = strtol(text, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtol(end + 1, &end, 10);
		if (last < first || (*end && *end != ',' && *end != '\n'))
			return -1;
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
		if (first <= last && *beyond < 0)
			*beyond = first;
		if (*end != ',')
			return end[0] && end[1] ? -1 : 0;
		text = end;
	}
}

/* Prints the list; CPUs beyond the room are left out. */
static void print_list(const cpu_set_t *set, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu, length;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		length = snprintf(text + used, size - used,
				  last > cpu ? "%s%d-%d" : "%s%d",
				  used ? "," : "", cpu, last);
		if (length >= (int)(size - used)) {
			text[used] = '\0';
			return;
		}
		used += (size_t)length;
		cpu = last;
	}
}

/* Reads a set from a file below root. Fails if there is no such file. */
static int read_list(const char *root, const char *name, cpu_set_t *set)
{
	char text[8192];
	long beyond;

	return small_file_read(root, name, text, sizeof(text)) ||
	       parse_list(text, set, &beyond) ? -1 : 0;
}

/* Returns a number from a file of a CPU; 0 if there is none. */
static long read_number(const char *root, int cpu, const char *name)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), SYSTEM_CPUS "cpu%d/%s", cpu, name);
	return small_file_read(root, path, text, sizeof(text)) ?
		       0 : strtol(text, NULL, 10);
}

/* One CPU, and what makes it a better or a worse one. */
struct cpu_choice {
	int cpu;
	int small;  /* of a core that is made to save power */
	int thread; /* allowed ones of its core that come before it */
	long capacity; /* of its core: the kernel's measure, or its clock's */
};

static int count_before(const char *root, int cpu, const cpu_set_t *allowed)
{
	static const char *const names[] = { "core_cpus_list",
					     "thread_siblings_list" };
	int before = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[96];
		cpu_set_t core;

		snprintf(name, sizeof(name), SYSTEM_CPUS "cpu%d/topology/%s",
			 cpu, names[i]);
		if (read_list(root, name, &core))
			continue;
		CPU_AND(&core, &core, allowed);
		for (int other = cpu + 1; other < CPU_SETSIZE; other++)
			before += CPU_ISSET(other, &core) != 0;
		break;
	}
	return before;
}

/* Sorts the best first: one thread of each large core, then their other
 * threads, then small cores. The last of equal ones comes first: the first CPU
 * serves most interrupts. */
static int compare(const void *a, const void *b)
{
	const struct cpu_choice *left = a, *right = b;

	if (left->small != right->small)
		return left->small - right->small;
	if (left->thread != right->thread)
		return left->thread - right->thread;
	if (left->capacity != right->capacity)
		return left->capacity > right->capacity ? -1 : 1;
	return right->cpu - left->cpu;
}

/*
 * On hybrid x86 the kernel lists the large cores. Elsewhere a core is small if
 * it has less than three quarters of the largest capacity. Equal cores differ
 * by a few percent, little ones by a factor.
 */
static void mark_small(const char *root, struct cpu_choice *places, int count)
{
	cpu_set_t large;
	const int is_hybrid = !read_list(root, "sys/devices/cpu_core/cpus",
					 &large);
	long most = 0;

	for (int i = 0; i < count; i++)
		most = places[i].capacity > most ? places[i].capacity : most;
	for (int i = 0; i < count; i++)
		places[i].small = is_hybrid ?
					  !CPU_ISSET(places[i].cpu, &large) :
					  4 * places[i].capacity < 3 * most;
}

/* Returns how many were there to be chosen, up to count. */
static int choose(const char *root, const cpu_set_t *allowed, int count,
		  cpu_set_t *chosen)
{
	struct cpu_choice places[CPU_SETSIZE];
	int found = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct cpu_choice *place = &places[found];

		if (!CPU_ISSET(cpu, allowed))
			continue;
		*place = (struct cpu_choice){ .cpu = cpu };
		place->thread = count_before(root, cpu, allowed);
		place->capacity = read_number(root, cpu, "cpu_capacity");
		if (!place->capacity)
			place->capacity = read_number(
				root, cpu, "cpufreq/cpuinfo_max_freq");
		found++;
	}
	mark_small(root, places, found);
	qsort(places, (size_t)found, sizeof(places[0]), compare);
	CPU_ZERO(chosen);
	for (int i = 0; i < found && i < count; i++)
		CPU_SET(places[i].cpu, chosen);
	return found < count ? found : count;
}

void cpus_choose(const char *root, const char *allowed, int count, char *list,
		 size_t size)
{
	cpu_set_t from, chosen;
	long beyond;

	list[0] = '\0';
	if (parse_list(allowed, &from, &beyond))
		return;
	choose(root, &from, count, &chosen);
	print_list(&chosen, list, size);
}

/* Fails for the first CPU in list that is not allowed; the message says why. */
static int check_list(const char *root, const cpu_set_t *allowed,
		      const char *list, cpu_set_t *set, struct error *err)
{
	char names[256];
	cpu_set_t online;
	long cpu, beyond;

	if (parse_list(list, set, &beyond))
		return error_set(err, ERROR_USAGE, "--cpus must be a list of "
				 "CPUs such as 0,2-3, not '%.60s'", list);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set) && !CPU_ISSET(cpu, allowed))
			break;
	if (cpu == CPU_SETSIZE && beyond < 0)
		return 0;
	if (cpu == CPU_SETSIZE)
		cpu = beyond;
	if (!read_list(root, SYSTEM_CPUS "online", &online) &&
	    (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &online))) {
		print_list(&online, names, sizeof(names));
		return error_set(err, ERROR_USAGE, "--cpus %.60s: there is no "
				 "CPU %ld; this machine has %s", list, cpu,
				 names);
	}
	print_list(allowed, names, sizeof(names));
	return error_set(err, ERROR_USAGE, "--cpus %.60s: CPU %ld may not be "
			 "used; affinity and control groups allow %s", list,
			 cpu, names);
}

int cpus_check(const char *root, const char *allowed, const char *list,
	       struct error *err)
{
	cpu_set_t from, set;
	long beyond;

	return parse_list(allowed, &from, &beyond) ||
	       check_list(root, &from, list, &set, err) ? -1 : 0;
}

int cpus_allowed(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set);
}

int cpus_available(void)
{
	const int allowed = cpus_allowed();
	const double quota = cgroup_cpus("");

	return isfinite(quota) && ceil(quota) < allowed ? (int)ceil(quota) :
							  allowed;
}

/* Confines all threads: libraries may have started some already. Without a list
 * of threads, as without /proc, only this one is confined. Fails if the list
 * could not be read for lack of memory. */
static int confine_threads(const cpu_set_t *chosen)
{
	int failed = sched_setaffinity(0, sizeof(*chosen), chosen);
	DIR *tasks = failed ? NULL : opendir("/proc/self/task");
	const struct dirent *task;

	if (!tasks)
		return failed || errno == ENOMEM ? -1 : 0;
	while ((task = readdir(tasks))) {
		const long thread = strtol(task->d_name, NULL, 10);

		/* One that has ended since is no matter. */
		if (thread > 0)
			sched_setaffinity((pid_t)thread, sizeof(*chosen),
					  chosen);
	}
	closedir(tasks);
	return 0;
}

static int read_allowed(cpu_set_t *allowed, struct error *err)
{
	if (!sched_getaffinity(0, sizeof(*allowed), allowed))
		return 0;
	return error_set(err, ERROR_FAILED,
			 "the CPU affinity cannot be read: %s",
			 strerror(errno));
}

static int confine(const cpu_set_t *chosen, struct error *err)
{
	char list[256];

	if (!confine_threads(chosen))
		return 0;
	print_list(chosen, list, sizeof(list));
	return error_set(err, ERROR_FAILED,
			 "the process cannot be confined to CPU %s: %s", list,
			 strerror(errno));
}

int cpus_restrict(const char *list, struct error *err)
{
	cpu_set_t allowed, chosen;

	return read_allowed(&allowed, err) ||
	       check_list("", &allowed, list, &chosen, err) ||
	       confine(&chosen, err) ? -1 : 0;
}

int cpus_confine(int count, char *list, size_t size, struct error *err)
{
	cpu_set_t allowed, chosen;

	if (read_allowed(&allowed, err))
		return -1;
	if (count > cpus_available())
		count = cpus_available();
	count = choose("", &allowed, count, &chosen);
	print_list(&chosen, list, size);
	return confine(&chosen, err) ? -1 : count;
}

size_t cache_bytes(int level)
{
	static const int names[] = { _SC_LEVEL1_DCACHE_SIZE,
				     _SC_LEVEL2_CACHE_SIZE,
				     _SC_LEVEL3_CACHE_SIZE };
	const long bytes = level >= 1 && level <= 3 ?
				   sysconf(names[level - 1]) : 0;

	return bytes > 0 ? (size_t)bytes : 0;
}

size_t memory_free_bytes(void)
{
	const double bytes = (double)sysconf(_SC_AVPHYS_PAGES) *
			     (double)sysconf(_SC_PAGESIZE);

	return bytes > 0 ? (size_t)fmin(bytes, cgroup_memory("")) : 0;
}
