#include "bench/app/busy.h"

#include "bench/record/run.h"

void busy_note(const struct run *run, FILE *log)
{
	char why[96];

	if (run_is_slowed(run, why, sizeof(why)))
		fprintf(log, "note: %s was disturbed: %s; its times are "
			"inflated\n", run->target, why);
}
