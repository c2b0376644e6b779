/* Makes the verdicts of a check from its rows. `bench check` calls it after
 * each stage; it can also be called on saved rows. */
#ifndef BENCH_GATE_JUDGE_H
#define BENCH_GATE_JUDGE_H

#include "bench/gate/gate.h"
#include "bench/gate/verdict.h"
#include "bench/record/campaign.h"

/* One target. */
struct judged {
	char target[64];
	int is_command;	   /* 1: base and head are seconds of processes, not of
			      iterations */
	double base, head; /* medians over the blocks of the ratio's stage, s */
	long redone;	   /* blocks of all stages that were repeated because of
			      others */
	long counted;	   /* processes of the last attempts, of all arms */
	long disturbed;	   /* processes of counted that did not have the machine
			      alone */
	int settled;	   /* 1: more blocks cannot change the verdict */
	struct gate_row gate;
};

/*
 * Judges count targets, whose names and rules are set in rows. Uses only runs
 * with this campaign_id, and of each block only the last attempt, if both arms
 * succeeded in it.
 */
int judge_rows(struct judged *rows, int count, const struct campaign *campaign,
	       const char *campaign_id, struct error *err);

/* Clears verdict and fills it from row. */
void judge_describe(struct verdict *verdict, const struct judged *row);

#endif
