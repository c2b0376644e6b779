/* For tests: processes that a baseline has, and what they were told. */
#ifndef TESTS_BASELINE_ROWS_H
#define TESTS_BASELINE_ROWS_H

#include "bench/gate/pair.h"
#include "tests/rows.h"

static const char stamp[] = "2026-01-31T23:59:59Z";

/* A process of two iterations, of s each. */
static inline void process(struct made *made, const char *id,
			   const char *target, const char *arm, double s)
{
	struct run *run = &made->run;

	made->count = 0;
	row_clear(&run_rows, run);
	snprintf(run->run_id, sizeof(run->run_id), "%s", id);
	snprintf(run->campaign_id, sizeof(run->campaign_id), "c");
	snprintf(run->target, sizeof(run->target), "%s", target);
	snprintf(run->status, sizeof(run->status), "ok");
	snprintf(run->arm, sizeof(run->arm), "%s", arm);
	snprintf(run->started_utc, sizeof(run->started_utc), "%s", stamp);
	snprintf(run->model, sizeof(run->model), "tiny");
	snprintf(run->dataset, sizeof(run->dataset), "synthetic");
	snprintf(run->dataset_sha256, sizeof(run->dataset_sha256), "abc");
	snprintf(run->dropout, sizeof(run->dropout), "off");
	snprintf(run->reshuffle, sizeof(run->reshuffle), "on");
	run->train_samples = 70;
	run->test_samples = 40;
	run->steps = run->updates = 2;
	run->batch = 16;
	run->global_batch = 32;
	run->seed = 7;
	run->lr = .25;
	run->warmup = 3;
	run->stage = CHECK_SCREEN;
	run->block = run->attempt = 1;
	run->cores = 2;
	for (long i = 1; i <= 2; i++) {
		struct observation *row = made_add(made, "step", 1, s);

		row->iter = i;
		row->loss = 2.5 / (double)i;
	}
}

#endif
