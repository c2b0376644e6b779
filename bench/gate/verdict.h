/* What a check says of each target: the rows of verdicts.csv. */
#ifndef BENCH_GATE_VERDICT_H
#define BENCH_GATE_VERDICT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"
#include "bench/show/table.h"

struct verdict {
	char schema[12];
	char campaign_id[48];
	char label[64];
	char target[64];
	char metric[16]; /* iter_p50_s, or process_s of a command */
	char verdict[24];
	char reason[160];
	double base_s, head_s; /* medians over the blocks of ratio's stage */
	long pairs;
	/* head / base, 95 % interval: the confirmation's, or else the screen's
	 * (an older bench put the screen's there always) */
	double ratio, ratio_lo, ratio_hi;
	double detectable_pct, margin_pct;
	long confirm_pairs;
	double confirm_ratio, confirm_lo, confirm_hi;
	long control_pairs;
	double control_ratio, control_lo, control_hi; /* base / base */
	long order_seed;
	char inject[24]; /* --inject: the head is slower on purpose */
	long redone;	 /* blocks that were measured again */
	long disturbed;	 /* processes that count, and were not alone */
	/* Medians over the screen's processes; not gated. */
	double base_setup_s, head_setup_s;
	double base_cpu_s, head_cpu_s; /* of the loop */
	double base_maxrss_bytes, head_maxrss_bytes;
	/* Of the last iteration. Rounding alone moves it: never compared. */
	double base_last_loss, head_last_loss;
	long baseline_processes; /* missing: the base was measured, too */
	double baseline_age_days;
	/* What was compared, in words: see bench/gate/check_report.c. */
	char base[400], head[400];
	char model[32], dataset[32];
	long global_batch, iterations;
	char cpu_model[80];
	long logical_cpus;
	char started_utc[24];
	long processes; /* that disturbed is of */
	double screen_ratio, screen_lo, screen_hi; /* missing: older */
};

extern const struct row_kind verdict_rows;

/* verdicts.csv of a results folder: what its checks said. */
struct verdicts {
	struct verdict *rows;
	size_t count;
};

/* Adds rows to the folder's file, and waits for the disk. */
int verdicts_append(const char *dir, const struct verdicts *verdicts,
		    struct error *err);

/* All of the folder; none if there is no such file. */
int verdicts_read(struct verdicts *verdicts, const char *dir,
		  struct error *err);
void verdicts_release(struct verdicts *verdicts); /* all zero is fine */

/* A table for each check, and under it what was compared and a line for each
 * reason. Fails only for want of memory. */
int verdicts_print(const struct verdicts *verdicts,
		   const struct table_options *options, FILE *out,
		   struct error *err);

/* A memory_printer of struct verdicts as rows, and one as a JSON document. */
int verdicts_print_csv(FILE *out, const void *verdicts, struct error *err);
int verdicts_print_json(FILE *out, const void *verdicts, struct error *err);

#endif
