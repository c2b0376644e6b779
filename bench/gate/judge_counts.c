#include "bench/gate/judge_counts.h"

#include <string.h>

#include "bench/gate/arm.h"
#include "bench/gate/pair.h"

static const struct counter {
	const char *name;
	size_t offset; /* of a long in struct run */
} counters[] = {
	{ "launches", offsetof(struct run, launches) },
	{ "reduced bytes", offsetof(struct run, reduced_bytes) },
	{ "allocations", offsetof(struct run, allocations) },
};

/* What the processes of one arm agree on, or CELL_NO_INT. */
static long count_of(const struct counter *counter, const char *arm,
		     const struct judged *row, const struct campaign *campaign,
		     const char *campaign_id)
{
	long agreed = CELL_NO_INT;

	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];
		long value;

		if (strcmp(run->arm, arm) || run->stage <= CHECK_PILOT ||
		    strcmp(run->campaign_id, campaign_id) ||
		    strcmp(run->target, row->target) ||
		    strcmp(run->status, "ok"))
			continue;
		memcpy(&value, (const char *)run + counter->offset,
		       sizeof(value));
		if (value == CELL_NO_INT ||
		    (agreed != CELL_NO_INT && agreed != value))
			return CELL_NO_INT;
		agreed = value;
	}
	return agreed;
}

static long count_of_base(const struct counter *counter,
			  const struct judged *row,
			  const struct campaign *campaign,
			  const char *campaign_id)
{
	long value;

	if (!row->stored)
		return count_of(counter, arm_names[ARM_BASE], row, campaign,
				campaign_id);
	memcpy(&value, (const char *)row->stored->run + counter->offset,
	       sizeof(value));
	return value;
}

void judge_counts(struct judged *row, const struct campaign *campaign,
		  const char *campaign_id)
{
	struct gate_row *gate = &row->gate;

	for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++) {
		const long base = count_of_base(&counters[c], row, campaign,
						campaign_id);
		const long head = count_of(&counters[c], arm_names[ARM_HEAD],
					   row, campaign, campaign_id);
		int worse;

		if (base == CELL_NO_INT || head == CELL_NO_INT || head == base)
			continue;
		/* Improvements never fail: another way may well be faster. */
		worse = head > base && gate->verdict != GATE_FASTER;
		if (worse)
			gate->verdict = GATE_REGRESSION;
		else if (gate->reason[0])
			continue;
		snprintf(gate->reason, sizeof(gate->reason), "%s in as many "
			 "iterations, exactly: %ld by the base, %ld by the "
			 "head", counters[c].name, base, head);
		if (worse)
			return;
	}
}
