/*
 * --sync epoch: the device runs ahead of the host, within an epoch, and no
 * iteration is waited for. What they scored is known when all are done.
 */
#include "bench/run/core.h"

#include <math.h>
#include <stdlib.h>

#include "bench/system/clock.h"
#include "bench/system/interrupt.h"

/* Gives the device all iterations, or those until a signal; *given of them.
 * *before is what was counted before the first. */
static int give_all(struct core *core, int *given, struct step_counts *before,
		    struct error *err)
{
	struct step_report *report = &core->report;
	struct batch batch;

	report->asked_at = clock_now();
	for (int i = 1; i <= core->training->iterations; i++) {
		struct update update;

		if (interrupt_signal())
			return 0;
		if (loader_next(core->loader, &batch, err))
			return -1;
		/* Only the first has something to wait for: the order. */
		if (i == 1) {
			core->phase_began_cpu_s = core_cpu(core);
			report->ready_at = report->began_at = clock_now();
			*before = core_count(core);
		}
		core->iteration = i;
		update = core_update(core, &batch);
		if (program_train(core->program, &batch, &update, err) ||
		    core_dump_masks(core, &batch, err))
			return -1;
		*given = i;
	}
	return 0;
}

/* Records those up to the first whose loss is not a number. */
static int record(struct core *core, const struct score *scores, int count,
		  struct error *err)
{
	int numbers = 0;

	while (numbers < count && isfinite(scores[numbers].loss))
		numbers++;
	if (core->group->rank == 0)
		recorder_ahead(&core->outcome->recorder, core->epoch, scores,
			       numbers, numbers == count ? &core->report :
							   NULL);
	if (numbers == count)
		return 0;
	core->iteration = numbers + 1;
	return core_refuse_loss(core, err);
}

int core_train_ahead(struct core *core, struct error *err)
{
	struct score *scores = calloc((size_t)core->training->iterations,
				      sizeof(*scores));
	struct step_report *report = &core->report;
	struct step_counts before = core_count(core);
	int given = 0, failed;

	if (!scores)
		return error_memory(err, "the losses of an epoch");
	failed = give_all(core, &given, &before, err) ||
		 program_scores(core->program, scores, given, err);
	report->ended_at = clock_now();
	report->phases_s[REPLICA_UPDATE] = report->ended_at - report->began_at;
	report->phases_cpu_s[REPLICA_UPDATE] =
		core_cpu(core) - core->phase_began_cpu_s;
	report->counts = core_count_since(core, &before);
	if (!failed && given)
		failed = record(core, scores, given, err);
	free(scores);
	/* A signal ends the run there. */
	return failed ? -1 : core_exchange(core, err);
}
