#include "bench/system/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/system/kernel.h"

static const char stamp_format[] = "%Y-%m-%dT%H:%M:%SZ";

static double read_clock(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

double clock_thread_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double clock_process_cpu(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double clock_process_age(void)
{
	char line[1024];
	unsigned long long start_ticks = 0;
	const char *after_name;

	if (small_file_read(NULL, "/proc/self/stat", line, sizeof(line)))
		return 0;
	/* The name may hold blanks and brackets; field 22 counts from it. */
	after_name = strrchr(line, ')');
	if (!after_name ||
	    sscanf(after_name, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			       "%*s %*s %*s %*s %*s %*s %*s %*s %llu",
		   &start_ticks) != 1)
		return 0;
	return read_clock(CLOCK_BOOTTIME) -
	       (double)start_ticks / (double)sysconf(_SC_CLK_TCK);
}

void clock_sleep(double seconds)
{
	struct timespec rest = { (time_t)seconds,
				 (long)((seconds - (double)(time_t)seconds) *
					1e9) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
		;
}

void clock_stamp(char *text, size_t size)
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, size, stamp_format, &utc);
}
