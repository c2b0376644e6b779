/* The noise floors that `bench calibrate` finds and `bench check` uses. */
#include <unistd.h>

#include "bench/gate/check.h"
#include "bench/system/file.h"

const char *check_floors_path(const struct options *options)
{
	return options->floors ? options->floors : FLOOR_FILE;
}

/* Whether the floors that will be found can be saved beside those that are
 * there. */
static int check_place(struct check *check, struct error *err)
{
	const char *path = check_floors_path(check->options);

	if (!check->options->floors && file_make_folder("results", err))
		return -1;
	if (file_check(path, err))
		return -1;
	return access(path, F_OK) ? 0 : floors_read(&check->floors, path, err);
}

int check_load_floors(struct check *check, struct error *err)
{
	if (check->options->verb == VERB_CHECK)
		return floors_read(&check->floors, check->options->floors, err);
	return check->options->dry_run ? 0 : check_place(check, err);
}

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
