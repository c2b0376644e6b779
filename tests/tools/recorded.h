/* For tests: the pairs that checks have recorded. */
#ifndef TESTS_RECORDED_H
#define TESTS_RECORDED_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/memory.h"
#include "bench/gate/pair.h"
#include "bench/record/campaign.h"
#include "bench/record/rows_by_run.h"

#define RECORDED_MOST_TARGETS 16

/* Pairs in the order in which they were measured, of all checks. */
struct recorded_target {
	char name[64];
	double (*values)[ARM_COUNT]; /* of each pair, s; NAN: no such arm */
	size_t count, room;
};

struct recorded {
	struct campaign campaign;
	struct rows_by_run groups;
	struct recorded_target targets[RECORDED_MOST_TARGETS];
	int target_count;
};

static inline int recorded_add_targets(struct recorded *recorded,
				       struct error *err)
{
	for (size_t i = 0; i < recorded->campaign.run_count; i++) {
		const struct run *run = &recorded->campaign.runs[i];
		struct recorded_target *target = recorded->targets;
		struct recorded_target *end = target + recorded->target_count;

		while (target < end && strcmp(target->name, run->target))
			target++;
		if (target < end || !*run->arm)
			continue;
		if (recorded->target_count == RECORDED_MOST_TARGETS)
			return error_set(err, ERROR_INPUT, "more than %d "
					 "targets", RECORDED_MOST_TARGETS);
		snprintf(target->name, sizeof(target->name), "%s", run->target);
		recorded->target_count++;
	}
	return 0;
}

/* Blocks of one check that have the base and arm. */
static inline int recorded_add_pairs(struct recorded_target *target,
				     const struct pair_stage *stage, int arm,
				     struct error *err)
{
	for (int b = 0; b < SIGNED_RANK_MOST; b++) {
		const double *values = stage->blocks[b].values;

		if (!isfinite(values[ARM_BASE]) || !isfinite(values[arm]))
			continue;
		if (array_make_room((void **)&target->values, target->count,
				    &target->room, sizeof(*target->values),
				    "pairs", err))
			return -1;
		memcpy(target->values[target->count++], values,
		       sizeof(*target->values));
	}
	return 0;
}

static inline int recorded_add_check(struct recorded *recorded, int arm,
				     const char *campaign_id, struct error *err)
{
	static struct pair_stage stages[CHECK_STAGES];
	int is_command;

	for (int t = 0; t < recorded->target_count; t++) {
		struct recorded_target *target = &recorded->targets[t];

		pair_gather(stages, &recorded->campaign, &recorded->groups,
			    campaign_id, target->name, &is_command);
		if (recorded_add_pairs(target, &stages[CHECK_SCREEN], arm,
				       err) ||
		    recorded_add_pairs(target, &stages[CHECK_CONFIRM], arm,
				       err))
			return -1;
	}
	return 0;
}

/* From results folders of `bench check`: pairs of the base and arm. Release it
 * also after a failure. */
static inline int recorded_load(struct recorded *recorded, int arm,
				const char *const *paths, int count,
				struct error *err)
{
	struct campaign *campaign = &recorded->campaign;
	struct names ids = { 0 };
	int failed;

	failed = campaign_load(campaign, paths, count, 0, stderr, err) ||
		 rows_by_run_make(&recorded->groups, campaign, err) ||
		 recorded_add_targets(recorded, err);
	for (size_t i = 0; !failed && i < campaign->run_count; i++) {
		const char *id = campaign->runs[i].campaign_id;
		const int known = ids.count;
		const int number = names_number(&ids, id, err);

		failed = number < 0 ||
			 (number == known &&
			  recorded_add_check(recorded, arm, id, err));
	}
	names_free(&ids);
	if (!failed && !recorded->target_count)
		failed = error_set(err, ERROR_INPUT, "%s: no rows of bench "
				   "check, they have an arm", paths[0]);
	return failed ? -1 : 0;
}

static inline void recorded_release(struct recorded *recorded)
{
	for (int t = 0; t < recorded->target_count; t++)
		free(recorded->targets[t].values);
	rows_by_run_free(&recorded->groups);
	campaign_release(&recorded->campaign);
}

#endif
