#include "bench/system/disturbance.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/system/cgroup.h"
#include "bench/system/small_file.h"

/* Reads folder/name, or leaves text empty. */
static void read_file(const char *folder, const char *name, char *text,
		      size_t size)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	small_file_read(path, text, size);
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

static void take_group(const char *folder, void *context)
{
	struct disturbance_counters *counters = context;
	char text[1024];

	read_file(folder, "cpu.stat", text, sizeof(text));
	/* Microseconds in version 2, nanoseconds in version 1. */
	add_known(&counters->throttled_s,
		  number_after(text, "throttled_usec ") * 1e-6);
	add_known(&counters->throttled_s,
		  number_after(text, "throttled_time ") * 1e-9);
	if (isfinite(counters->pressure_s))
		return;
	read_file(folder, "cpu.pressure", text, sizeof(text));
	counters->pressure_s = parse_pressure(text);
}

/* In the order of the first line of /proc/stat. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TICKS };

static void take_machine(struct disturbance_counters *counters,
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
	cgroup_visit(root, take_group, counters);
	if (!isfinite(counters->pressure_s)) {
		read_file(root, "proc/pressure/cpu", text, sizeof(text));
		counters->pressure_s = parse_pressure(text);
	}
	read_file(root, "proc/stat", text, sizeof(text));
	take_machine(counters, text);
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
