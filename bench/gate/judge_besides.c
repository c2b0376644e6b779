#include "bench/gate/judge_besides.h"

#include <stdlib.h>
#include <string.h>

#include "bench/gate/arm.h"
#include "bench/gate/pair.h"

static double setup_of(const struct run *run)
{
	return run->setup_s;
}

static double cpu_of(const struct run *run)
{
	return run->loop_cpu_s;
}

static double memory_of(const struct run *run)
{
	return run->maxrss_bytes == CELL_NO_INT ? CELL_NO_REAL :
						  (double)run->maxrss_bytes;
}

static double loss_of(const struct run *run)
{
	return run->final_loss;
}

#define VERDICT(member) offsetof(struct verdict, member)

static const struct besides {
	pair_value *value;
	size_t base, head; /* in the verdict */
} all[] = {
	{ setup_of, VERDICT(base_setup_s), VERDICT(head_setup_s) },
	{ cpu_of, VERDICT(base_cpu_s), VERDICT(head_cpu_s) },
	{ memory_of, VERDICT(base_maxrss_bytes), VERDICT(head_maxrss_bytes) },
	{ loss_of, VERDICT(base_last_loss), VERDICT(head_last_loss) },
};

static void set(struct verdict *verdict, size_t at, double value)
{
	memcpy((char *)verdict + at, &value, sizeof(value));
}

int judge_besides(struct verdict *verdict, const struct campaign *campaign,
		  const char *campaign_id, struct error *err)
{
	struct pair_stage *stages = calloc(CHECK_STAGES, sizeof(*stages));
	const struct pair_stage *screen;

	if (!stages)
		return error_memory(err, "the blocks of a check");
	screen = &stages[CHECK_SCREEN];
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		pair_gather_runs(stages, campaign, campaign_id,
				 verdict->target, all[i].value);
		set(verdict, all[i].base, pair_arm_median(screen, ARM_BASE));
		set(verdict, all[i].head, pair_arm_median(screen, ARM_HEAD));
	}
	free(stages);
	return 0;
}
