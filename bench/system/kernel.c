#include "bench/system/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int small_file_read(const char *folder, const char *name, char *text,
		    size_t size)
{
	char path[PATH_MAX];
	size_t at = 0;
	ssize_t count = 1;
	int fd;

	text[0] = '\0';
	if (snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "",
		     folder ? "/" : "", name) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (at < size - 1 && count) {
		count = read(fd, text + at, size - 1 - at);
		if (count < 0 && errno != EINTR)
			break;
		at += count > 0 ? (size_t)count : 0;
	}
	close(fd);
	text[at] = '\0';
	return at ? 0 : -1;
}

const char *small_file_line(const char *text, const char *key)
{
	const size_t length = strlen(key);

	while (*text && strncmp(text, key, length)) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text ? text + length : NULL;
}

#define MOST_NUMBERS 2
/* In version 1, LLONG_MAX rounded down to pages means no limit. */
#define NO_LIMIT (1LL << 60)

/* Whole numbers in the first line of a file; returns how many. */
static int read_numbers(const char *folder, const char *name,
			long long numbers[MOST_NUMBERS])
{
	char line[64], *at = line, *end;
	int count = 0;

	small_file_read(folder, name, line, sizeof(line));
	line[strcspn(line, "\n")] = '\0';
	for (; count < MOST_NUMBERS; count++) {
		numbers[count] = strtoll(at, &end, 10);
		if (end == at || (*end && *end != ' '))
			break;
		at = end;
	}
	return count;
}

/* In version 1, -1 means no quota. */
static void find_quota(const char *folder, void *context)
{
	long long quota[MOST_NUMBERS], period[MOST_NUMBERS];
	int found = read_numbers(folder, "cpu.max", quota) == 2;
	double *least = context;

	if (found)
		period[0] = quota[1];
	else
		found = read_numbers(folder, "cpu.cfs_quota_us", quota) &&
			read_numbers(folder, "cpu.cfs_period_us", period);
	if (!found || quota[0] <= 0 || period[0] <= 0)
		return;
	/* A NAN takes anything. */
	*least = fmin(*least, (double)quota[0] / (double)period[0]);
}

typedef void group_visitor(const char *folder, void *context);

/* Mount point of a version's groups, and this process's group. */
struct cgroup_place {
	const char *mount;
	char path[PATH_MAX];
};

static void cut_slashes(char *path)
{
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		path[--length] = '\0';
}

/*
 * Visits a group and its parents up to the mounted one. A container may see the
 * path that its group has outside, which does not exist here; then its own
 * group is mounted.
 */
static void visit_place(const char *root, const struct cgroup_place *place,
			group_visitor *visit, void *context)
{
	char folder[PATH_MAX];
	int base = snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup%s", root,
			    place->mount);

	if (base < 0 || base >= (int)sizeof(folder))
		return;
	if (strlen(place->path) < sizeof(folder) - (size_t)base)
		memcpy(folder + base, place->path, strlen(place->path) + 1);
	cut_slashes(folder + base);
	while (folder[base]) {
		visit(folder, context);
		*strrchr(folder + base, '/') = '\0';
		cut_slashes(folder + base);
	}
	visit(folder, context);
}

static int lists(const char *controllers, const char *name)
{
	while (*controllers) {
		size_t length = strcspn(controllers, ",");

		if (length == strlen(name) &&
		    !strncmp(controllers, name, length))
			return 1;
		controllers += length + (controllers[length] == ',');
	}
	return 0;
}

/* "NUMBER:CONTROLLERS:/PATH"; version 2 names no controllers. */
static void read_line(char *line, const char *controller,
		      struct cgroup_place *v2, struct cgroup_place *v1)
{
	char *controllers = strchr(line, ':'), *path;
	struct cgroup_place *place;

	if (!controllers)
		return;
	path = strchr(++controllers, ':');
	if (!path || path[1] != '/')
		return;
	*path++ = '\0';
	/* A group outside of what is mounted starts with "/..". */
	if (strstr(path, "/..") || strlen(path) >= sizeof(v2->path) ||
	    (*controllers && !lists(controllers, controller)))
		return;
	place = *controllers ? v1 : v2;
	memcpy(place->path, path, strlen(path) + 1);
}

/*
 * Calls visit once for the folder of each group of this process that belongs to
 * the controller ("cpu" or "memory"). Groups may be of either version; a group
 * comes before its parents. The folder may not exist.
 */
static void visit_groups(const char *root, const char *controller,
			 group_visitor *visit, void *context)
{
	char mount[16];
	struct cgroup_place v2 = { "", "" }, v1 = { mount, "" };
	char text[16 * 1024], *rest = text, *line;

	snprintf(mount, sizeof(mount), "/%s", controller);
	small_file_read(root, "proc/self/cgroup", text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		read_line(line, controller, &v2, &v1);
	visit_place(root, &v2, visit, context);
	visit_place(root, &v1, visit, context);
}

double cgroup_cpus(const char *root)
{
	double least = NAN;

	visit_groups(root, "cpu", find_quota, &least);
	return least;
}

/* The number after key, where a line begins with it; NAN without one. */
static double number_after(const char *text, const char *key)
{
	const char *number = small_file_line(text, key);
	char *end;
	unsigned long long value;

	if (!number || *number < '0' || *number > '9')
		return NAN;
	value = strtoull(number, &end, 10);
	return *end == '\n' || !*end ? (double)value : NAN;
}

/* The caches of files in a group, which are given up for what needs memory.
 * Version 1 has the sums over the groups below in lines of their own. */
static double reclaimable(const char *folder, const char *sums)
{
	char text[8192], key[48];
	double bytes = 0;

	small_file_read(folder, "memory.stat", text, sizeof(text));
	for (int active = 0; active < 2; active++) {
		snprintf(key, sizeof(key), "%s%sactive_file ", sums,
			 active ? "" : "in");
		if (isfinite(number_after(text, key)))
			bytes += number_after(text, key);
	}
	return bytes;
}

static void find_memory(const char *folder, void *context)
{
	long long limit[MOST_NUMBERS], used[MOST_NUMBERS];
	const int is_v2 = read_numbers(folder, "memory.max", limit) > 0;
	double *least = context, taken = 0;

	if (!is_v2 && !read_numbers(folder, "memory.limit_in_bytes", limit))
		return;
	if (limit[0] <= 0 || limit[0] >= NO_LIMIT)
		return;
	if (read_numbers(folder, is_v2 ? "memory.current" :
					 "memory.usage_in_bytes", used))
		taken = fmax((double)used[0] -
			     reclaimable(folder, is_v2 ? "" : "total_"), 0);
	*least = fmin(*least, fmax((double)limit[0] - taken, 0));
}

double cgroup_memory(const char *root)
{
	double least = NAN;

	visit_groups(root, "memory", find_memory, &least);
	return least;
}

static void add_known(double *sum, double value)
{
	if (isfinite(value))
		*sum = isfinite(*sum) ? *sum + value : value;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static double parse_pressure(const char *text)
{
	const char *some = small_file_line(text, "some ");
	unsigned long long total;

	if (!some || sscanf(some, "avg10=%*f avg60=%*f avg300=%*f total=%llu",
			    &total) != 1)
		return NAN;
	return (double)total * 1e-6;
}

static void add_group(const char *folder, void *context)
{
	struct disturbance_counters *counters = context;
	char text[1024];

	small_file_read(folder, "cpu.stat", text, sizeof(text));
	/* Microseconds in version 2, nanoseconds in version 1. */
	add_known(&counters->throttled_s,
		  number_after(text, "throttled_usec ") * 1e-6);
	add_known(&counters->throttled_s,
		  number_after(text, "throttled_time ") * 1e-9);
	if (isfinite(counters->pressure_s))
		return;
	small_file_read(folder, "cpu.pressure", text, sizeof(text));
	counters->pressure_s = parse_pressure(text);
}

/* Order of the first line of /proc/stat. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TICKS };

static void read_machine(struct disturbance_counters *counters,
			 const char *text)
{
	const char *line = small_file_line(text, "cpu ");
	const double tick_s = 1. / (double)sysconf(_SC_CLK_TCK);
	unsigned long long t[TICKS] = { 0 };
	double all = 0;

	if (!line || sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu",
			    &t[USER], &t[NICE], &t[SYSTEM], &t[IDLE],
			    &t[IOWAIT], &t[IRQ], &t[SOFTIRQ],
			    &t[STEAL]) != TICKS)
		return;
	for (int i = 0; i < TICKS; i++)
		all += (double)t[i];
	counters->all_s = tick_s * all;
	counters->stolen_s = tick_s * (double)t[STEAL];
	counters->busy_s = tick_s * (all - (double)t[IDLE] -
				     (double)t[IOWAIT] - (double)t[STEAL]);
}

void disturbance_read(struct disturbance_counters *counters, const char *root)
{
	char text[1024];

	*counters = (struct disturbance_counters){ NAN, NAN, NAN, NAN, NAN };
	visit_groups(root, "cpu", add_group, counters);
	if (!isfinite(counters->pressure_s)) {
		small_file_read(root, "proc/pressure/cpu", text, sizeof(text));
		counters->pressure_s = parse_pressure(text);
	}
	small_file_read(root, "proc/stat", text, sizeof(text));
	read_machine(counters, text);
}

/* Counters of different files may be read a moment apart. */
static double percent(double part_s, double whole_s)
{
	if (!(whole_s > 0) || !isfinite(part_s))
		return NAN;
	return fmin(fmax(100 * part_s / whole_s, 0), 100);
}

struct disturbance
disturbance_between(const struct disturbance_counters *before,
		    const struct disturbance_counters *after, double elapsed_s,
		    double own_cpu_s)
{
	const double all_s = after->all_s - before->all_s;
	const double busy_s = after->busy_s - before->busy_s;

	return (struct disturbance){
		.throttled_s = after->throttled_s - before->throttled_s,
		.pressure_pct = percent(after->pressure_s - before->pressure_s,
					elapsed_s),
		.steal_pct = percent(after->stolen_s - before->stolen_s, all_s),
		.foreign_pct = percent(busy_s - own_cpu_s, all_s),
	};
}
