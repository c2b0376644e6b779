#include "bench/usage.h"

#include <sys/resource.h>
#include <sys/time.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

struct usage usage_read(enum usage_of whose)
{
	static const int whom[] = { RUSAGE_THREAD, RUSAGE_SELF,
				    RUSAGE_CHILDREN };
	struct rusage raw;

	if (getrusage(whom[whose], &raw))
		return (struct usage){ 0 };
	return (struct usage){
		.user_s = seconds(raw.ru_utime),
		.system_s = seconds(raw.ru_stime),
		.maxrss_bytes = raw.ru_maxrss * 1024,
		.voluntary_switches = raw.ru_nvcsw,
		.involuntary_switches = raw.ru_nivcsw,
	};
}
