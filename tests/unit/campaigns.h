/* For tests: a campaign, and runs that are added to it. */
#ifndef TESTS_CAMPAIGNS_H
#define TESTS_CAMPAIGNS_H

#include "bench/record/campaign.h"
#include "tests/cmocka.h"
#include "tests/unit/rows.h"

static inline void create(struct campaign *campaign, const char *dir,
		   const char *label)
{
	const struct campaign_request request = { dir, label,
						  "2026-01-31T23:59:59Z" };
	struct error err;

	if (campaign_create(campaign, &request, &err))
		fail_msg("%s", err.message);
}

static inline void add_all(struct campaign *campaign, struct made *made)
{
	struct error err;

	for (size_t i = 0; i < made->count; i++)
		assert_int_equal(campaign_add(campaign, &made->rows[i], &err),
				 0);
}

static inline void append(struct campaign *campaign, struct made *made)
{
	struct error err;

	add_all(campaign, made);
	if (campaign_save(campaign, &err) ||
	    campaign_end_run(campaign, &made->run, &err))
		fail_msg("%s", err.message);
}

#endif
