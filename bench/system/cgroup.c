#include "bench/system/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/small_file.h"

#define MOST_NUMBERS 2

/* Whole numbers in the first line of a file; returns how many. */
static int read_numbers(const char *folder, const char *name,
			long long numbers[MOST_NUMBERS])
{
	char path[PATH_MAX], line[64] = "", *at = line, *end;
	int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
	int count = 0;

	if (length < 0 || length >= (int)sizeof(path) ||
	    small_file_read(path, line, sizeof(line)))
		return 0;
	line[strcspn(line, "\n")] = '\0';
	for (; count < MOST_NUMBERS; count++) {
		numbers[count] = strtoll(at, &end, 10);
		if (end == at || (*end && *end != ' '))
			break;
		at = end;
	}
	return count;
}

/* -1 is how version 1 says that there is no quota. */
static void take_quota(const char *folder, void *context)
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

/* Of a version: where its groups are mounted, and that of this process. */
struct place {
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
 * From a group outwards to the one that is mounted. A container may see the
 * path that its group has outside, which leads nowhere here, but what is
 * mounted is then its own group.
 */
static void visit_place(const char *root, const struct place *place,
			cgroup_visitor *visit, void *context)
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

static int lists_cpu(const char *controllers)
{
	while (*controllers) {
		size_t length = strcspn(controllers, ",");

		if (length == 3 && !strncmp(controllers, "cpu", length))
			return 1;
		controllers += length + (controllers[length] == ',');
	}
	return 0;
}

/* "NUMBER:CONTROLLERS:/PATH"; version 2 names no controllers. */
static void take_line(char *line, struct place *v2, struct place *v1)
{
	char *controllers = strchr(line, ':'), *path;
	struct place *place;

	if (!controllers)
		return;
	path = strchr(++controllers, ':');
	if (!path || path[1] != '/')
		return;
	*path++ = '\0';
	/* A group outside of what is mounted starts with "/..". */
	if (strstr(path, "/..") || strlen(path) >= sizeof(v2->path) ||
	    (*controllers && !lists_cpu(controllers)))
		return;
	place = *controllers ? v1 : v2;
	memcpy(place->path, path, strlen(path) + 1);
}

void cgroup_visit(const char *root, cgroup_visitor *visit, void *context)
{
	struct place v2 = { "", "" }, v1 = { "/cpu", "" };
	char path[PATH_MAX], text[16 * 1024], *rest = text, *line;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	small_file_read(path, text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		take_line(line, &v2, &v1);
	visit_place(root, &v2, visit, context);
	visit_place(root, &v1, visit, context);
}

double cgroup_cpus(const char *root)
{
	double least = NAN;

	cgroup_visit(root, take_quota, &least);
	return least;
}

static void take_memory(const char *folder, void *context)
{
	long long limit[MOST_NUMBERS];
	double *least = context;

	if (read_numbers(folder, "memory.max", limit) && limit[0] > 0)
		*least = fmin(*least, (double)limit[0]);
}

double cgroup_memory(const char *root)
{
	double least = NAN;

	cgroup_visit(root, take_memory, &least);
	return least;
}
