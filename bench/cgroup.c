#include "bench/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/small_file.h"

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

/* Of a group's folder; -1 is how version 1 says that there is no quota. */
static void take_folder(const char *folder, double *least)
{
	long long quota[MOST_NUMBERS], period[MOST_NUMBERS];
	int found = read_numbers(folder, "cpu.max", quota) == 2;

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

/*
 * From a group outwards to the one that is mounted. A container may see the
 * path that its group has outside, which leads nowhere here, but what is
 * mounted is then its own group.
 */
static void take_path(const char *root, const char *mount, const char *path,
		      double *least)
{
	char folder[PATH_MAX], *inner;
	int base = snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup%s", root,
			    mount);

	if (base < 0 || base >= (int)sizeof(folder))
		return;
	inner = folder + base;
	/* A group outside of what is mounted starts with "/..". */
	if (!strstr(path, "/..") &&
	    strlen(path) < sizeof(folder) - (size_t)base)
		memcpy(inner, path, strlen(path) + 1);
	while (*inner) {
		take_folder(folder, least);
		*strrchr(inner, '/') = '\0';
	}
	take_folder(folder, least);
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
static void take_line(const char *root, char *line, double *least)
{
	char *controllers = strchr(line, ':'), *path;

	if (!controllers)
		return;
	path = strchr(++controllers, ':');
	if (!path || path[1] != '/')
		return;
	*path++ = '\0';
	if (!*controllers)
		take_path(root, "", path, least);
	else if (lists_cpu(controllers))
		take_path(root, "/cpu", path, least);
}

double cgroup_cpus(const char *root)
{
	char path[PATH_MAX], text[16 * 1024], *rest = text, *line;
	double least = NAN;

	take_path(root, "", "", &least);
	take_path(root, "/cpu", "", &least);
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	small_file_read(path, text, sizeof(text));
	while ((line = strsep(&rest, "\n")))
		take_line(root, line, &least);
	return least;
}
