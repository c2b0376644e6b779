/*
 * The verdicts of a check, from the rows that it measured. `bench check` asks
 * after each stage, and whoever has the rows can ask again.
 */
#ifndef BENCH_GATE_JUDGE_H
#define BENCH_GATE_JUDGE_H

#include "bench/gate/gate.h"
#include "bench/gate/verdict.h"
#include "bench/record/campaign.h"

/* One target. */
struct judged {
	char target[64];
	int is_command;	   /* seconds of processes, not of iterations */
	double base, head; /* medians over the blocks of the ratio's stage, s */
	long redone;	   /* blocks of all stages, because of others */
	long counted;	   /* processes of the last attempts, of all arms */
	long disturbed;	   /* of these, those that were not alone */
	int settled;	   /* no more blocks can change the verdict */
	struct gate_row gate;
};

/*
 * rows are count targets whose names and rules are set. Only runs of the
 * campaign with this id count, and of a block its last attempt, if that went
 * well for both arms.
 */
int judge_rows(struct judged *rows, int count, const struct campaign *campaign,
	       const char *campaign_id, struct error *err);

/* Clears verdict and fills in what row knows. */
void judge_describe(struct verdict *verdict, const struct judged *row);

#endif
