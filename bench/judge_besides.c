#include "bench/judge_besides.h"

#include <math.h>
#include <string.h>

#include "bench/arm.h"
#include "bench/pair.h"
#include "bench/stats.h"

#define VERDICT(member) offsetof(struct verdict, member)
#define RUN(member) offsetof(struct run, member)

static const struct besides {
	size_t base, head; /* in the verdict */
	size_t from;	   /* in a run: a double, or a long */
	int is_long;
} all[] = {
	{ VERDICT(base_setup_s), VERDICT(head_setup_s), RUN(setup_s), 0 },
	{ VERDICT(base_cpu_s), VERDICT(head_cpu_s), RUN(loop_cpu_s), 0 },
	{ VERDICT(base_maxrss_bytes), VERDICT(head_maxrss_bytes),
	  RUN(maxrss_bytes), 1 },
};

static double value_of(const struct besides *besides, const struct run *run)
{
	const char *field = (const char *)run + besides->from;
	double real;
	long whole;

	if (!besides->is_long) {
		memcpy(&real, field, sizeof(real));
		return real;
	}
	memcpy(&whole, field, sizeof(whole));
	return whole == CELL_NO_INT ? NAN : (double)whole;
}

static double median_of(const struct besides *besides, const char *arm,
			const char *target, const struct campaign *campaign,
			const char *campaign_id)
{
	double values[2 * SIGNED_RANK_MOST];
	size_t count = 0;

	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];
		const double value = value_of(besides, run);

		if (run->stage == CHECK_SCREEN && !strcmp(run->arm, arm) &&
		    !strcmp(run->campaign_id, campaign_id) &&
		    !strcmp(run->target, target) &&
		    !strcmp(run->status, "ok") && isfinite(value) &&
		    count < sizeof(values) / sizeof(values[0]))
			values[count++] = value;
	}
	return stats_compute(values, count).median;
}

void judge_besides(struct verdict *verdict, const struct campaign *campaign,
		   const char *campaign_id)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const double base = median_of(&all[i], arm_names[ARM_BASE],
					      verdict->target, campaign,
					      campaign_id);
		const double head = median_of(&all[i], arm_names[ARM_HEAD],
					      verdict->target, campaign,
					      campaign_id);

		memcpy((char *)verdict + all[i].base, &base, sizeof(base));
		memcpy((char *)verdict + all[i].head, &head, sizeof(head));
	}
}
