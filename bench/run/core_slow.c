/* How a core is slowed down on purpose, within its iteration. */
#include "bench/run/core.h"

#include "bench/system/clock.h"

#define ROUNDS 400 /* between looks at the clock: about a microsecond */

/* What a core's own work is told by. A device works beside this thread. */
static double own_time(const struct core *core)
{
	return core->training->backend->offloads ? clock_now() :
						   clock_thread_cpu();
}

void core_begin_work(struct core *core)
{
	const struct slowdown *slowdown = &core->training->slowdown;

	if (slowdown->straggler_s > 0 &&
	    slowdown->straggler == core->group->rank) {
		core->report.delay_s = slowdown->straggler_s;
		clock_sleep(slowdown->straggler_s);
	}
	/* On a core's CPU, from where its first phase counts. */
	if (slowdown->inject_pct > 0)
		core->work_began_s = core->training->backend->offloads ?
					     clock_now() :
					     core->phase_began_cpu_s;
}

/* Each round needs the one before: there is no way around them. */
static uint64_t work(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++) {
		value ^= value >> 31;
		value = value * 0x9e3779b97f4a7c15u + 1;
	}
	return value;
}

void core_add_work(struct core *core)
{
	const double share = core->training->slowdown.inject_pct / 100;
	double began_s, began_at, done_s = 0;

	if (!(share > 0))
		return;
	began_at = clock_now();
	began_s = own_time(core);
	core->work_owed_s += share * (began_s - core->work_began_s);
	while (done_s < core->work_owed_s) {
		core->worked = work(core->worked);
		done_s = own_time(core) - began_s;
	}
	core->work_owed_s -= done_s;
	core->report.injected_s = clock_now() - began_at;
	core_end_phase(core, REPLICA_UPDATE);
}
