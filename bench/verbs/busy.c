#include "bench/verbs/busy.h"

#define BUSY .9 /* a smaller share of the CPUs is worth a note */

void busy_note(const struct target *target, const struct run *run, FILE *log)
{
	const double cpus = run->cpus < run->cores ? (double)run->cpus :
						     (double)run->cores;
	const double share = run->loop_cpu_s / (run->loop_s * cpus);

	/* A device's CPUs are its own affair; NAN compares as false. */
	if (!target->backend->offloads && share < BUSY && run->loop_s > 1 &&
	    !run->straggler[0])
		fprintf(log, "note: %s got %.0f %% of its CPUs: its times are "
			"too long\n", target->name, 100 * share);
}
