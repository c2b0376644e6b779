#include "bench/machine/cpus.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine/cgroup.h"

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

/* All threads that there are: libraries may have started some already. Without
 * a list of them, as where there is no /proc, only this one is confined; it is
 * an error if the list could be had with more memory. */
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

int cpus_confine(int count, struct error *err)
{
	cpu_set_t all, chosen;
	int taken = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return error_set(err, ERROR_FAILED,
				 "the CPU affinity cannot be read: %s",
				 strerror(errno));
	if (count > cpus_available())
		count = cpus_available();
	CPU_ZERO(&chosen);
	/* From the last: the first CPU serves most interrupts. */
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && taken < count; cpu--)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &chosen);
			taken++;
		}
	if (confine_threads(&chosen))
		return error_set(err, ERROR_FAILED,
				 "the process cannot be confined to %d CPUs: "
				 "%s", taken, strerror(errno));
	return taken;
}
