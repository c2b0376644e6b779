/* How a check uses what `bench calibrate` found. */
#include "bench/check/check.h"

static void use_floor(struct check *check, struct check_target *target)
{
	const struct floor *floor, *other;

	floor = floors_find(&check->floors, &target->pilot,
			    floor_metrics[FLOOR_ITER]);
	if (floor) {
		target->floor = floor->floor_pct / 100;
		return;
	}
	other = floors_find_elsewhere(&check->floors, &target->pilot);
	if (other && check->log)
		fprintf(check->log, "note: %s: there are noise floors of other "
			"machines only (%.60s); bench calibrate measures this "
			"one's\n", target->name, other->cpu_model);
}

void check_use_floors(struct check *check)
{
	for (int t = 0; t < check->target_count; t++)
		if (!check->targets[t].missing && check->targets[t].backend)
			use_floor(check, &check->targets[t]);
}
