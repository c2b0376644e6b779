#include "bench/system/usage.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "bench/system/small_file.h"

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

struct usage usage_from(const struct rusage *raw)
{
	return (struct usage){
		.user_s = seconds(raw->ru_utime),
		.system_s = seconds(raw->ru_stime),
		.maxrss_bytes = raw->ru_maxrss * 1024,
		.voluntary_switches = raw->ru_nvcsw,
		.involuntary_switches = raw->ru_nivcsw,
	};
}

struct usage usage_read(enum usage_of whose)
{
	static const int whom[] = { RUSAGE_THREAD, RUSAGE_SELF,
				    RUSAGE_CHILDREN };
	struct rusage raw;

	if (getrusage(whom[whose], &raw))
		return (struct usage){ 0 };
	return usage_from(&raw);
}

/* Of a line "NAME:   NUMBER kB"; 0 if it is not there. */
static long kilobytes(const char *text, const char *name)
{
	const char *line = small_file_line(text, name);

	return line ? strtol(line, NULL, 10) : 0;
}

long usage_own_memory(void)
{
	char text[2048];
	long sum;

	if (small_file_read("/proc/self/smaps_rollup", text, sizeof(text)))
		return usage_read(USAGE_PROCESS).maxrss_bytes;
	sum = kilobytes(text, "Private_Clean:") +
	      kilobytes(text, "Private_Dirty:") +
	      kilobytes(text, "Pss_Shmem:");
	return sum * 1024;
}
