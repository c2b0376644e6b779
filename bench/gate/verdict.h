/* What a check says of each target: the rows of verdicts.csv. */
#ifndef BENCH_GATE_VERDICT_H
#define BENCH_GATE_VERDICT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"
#include "bench/report/export.h"
#include "bench/report/table_format.h"

#define VERDICT_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(campaign_id, 48, "the invocation of bench check", NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 64, "what was timed", NEEDED) \
	TEXT(metric, 16, "iter_p50_s: the median iteration of a process, in " \
	     "older rows s_iter; process_s: the whole process, of a command") \
	TEXT(verdict, 24, "ok, faster, REGRESSION (confirmed), inconclusive, " \
	     "in older files slower (advisory): than a saved baseline", \
	     NEEDED) \
	TEXT(reason, 160, "of a verdict that needs one") \
	REAL(base_s, "the base's metric: median over its processes in the " \
	     "stage that ratio is of") \
	REAL(head_s, "the head's") \
	INT(pairs, "processes of each arm in the screen") \
	REAL(ratio, "head / base, Hodges and Lehmann's estimate: of the " \
	     "confirmation where there is one, which no flag chose, else of " \
	     "the screen; without screen_ratio always of the screen") \
	REAL(ratio_lo, "95 % interval of ratio") \
	REAL(ratio_hi, "its upper end") \
	REAL(detectable_pct, "a slowdown that is caught in at least nine of " \
	     "ten checks") \
	REAL(margin_pct, "smaller ones do not count") \
	INT(confirm_pairs, "of the confirmation; 0: not flagged") \
	REAL(confirm_ratio, "head / base in the confirmation") \
	REAL(confirm_lo, "95 % interval of confirm_ratio") \
	REAL(confirm_hi, "its upper end") \
	INT(control_pairs, "of the base with itself, --control on") \
	REAL(control_ratio, "base / base") \
	REAL(control_lo, "95 % interval of control_ratio") \
	REAL(control_hi, "its upper end") \
	INT(order_seed, "of the order of the arms") \
	TEXT(inject, 24, "--inject: by how many percent the head is " \
	     "artificially slower") \
	INT(redone, "blocks that were measured again, because others used " \
	    "the machine") \
	INT(disturbed, "processes during which others used the machine, and " \
	    "which count all the same") \
	REAL(base_setup_s, "start-up of the base: median, not gated") \
	REAL(head_setup_s, "of the head") \
	REAL(base_cpu_s, "CPU time of the base's loop: median, not gated") \
	REAL(head_cpu_s, "of the head's") \
	REAL(base_maxrss_bytes, "peak memory of the base: median, not gated") \
	REAL(head_maxrss_bytes, "of the head") \
	INT(baseline_processes, "in older files: processes of a saved " \
	    "baseline, which are in no pairs") \
	REAL(baseline_age_days, "since the first of them was started") \
	REAL(base_last_loss, "of the base's last iteration: never compared, " \
	     "since rounding alone moves it") \
	REAL(head_last_loss, "of the head's") \
	TEXT(base, 400, "what was compared: program with version and commit, " \
	     "revision or command, and its own variables") \
	TEXT(head, 400, "with what") \
	TEXT(model, 32, "what was trained") \
	TEXT(dataset, 32, "on what") \
	INT(global_batch, "samples an iteration, of all cores") \
	INT(iterations, "of each process, without warm-up") \
	TEXT(cpu_model, 80, "of the machine") \
	INT(logical_cpus, "of the machine") \
	TEXT(started_utc, 24, "the first process of this target") \
	INT(processes, "that count, of all arms: disturbed is of these") \
	REAL(screen_ratio, "head / base in the screen: what was flagged was " \
	     "flagged for being large there") \
	REAL(screen_lo, "95 % interval of screen_ratio") \
	REAL(screen_hi, "its upper end")

/* What is shown beside a verdict: its members base_... and head_..., the column
 * of runs.csv that they are of, and its name in words, as "12.3 MB". */
#define UNGATED(OF) \
	OF(setup_s, "setup_s", "start-up", " s", 3, 1) \
	OF(cpu_s, "loop_cpu_s", "CPU time of the loop", " s", 3, 1) \
	OF(maxrss_bytes, "maxrss_bytes", "peak memory", " MB", 1, 1e-6) \
	OF(last_loss, "final_loss", "last loss", "", 6, 1)

struct verdict {
	VERDICT_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
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

/* Adds all of the folder's to those that there are; none if there is no such
 * file. After a failure they are as before. */
int verdicts_read(struct verdicts *verdicts, const char *dir,
		  struct error *err);
void verdicts_release(struct verdicts *verdicts); /* all zero is fine */

/* A table for each check, and under it what was compared and a line for each
 * reason. Fails only for want of memory. */
int verdicts_print(const struct verdicts *verdicts,
		   const struct table_options *options, FILE *out,
		   struct error *err);

/* What --export-* asks for, of verdicts alone: export_print(). */
int verdicts_export(const struct verdicts *verdicts,
		    const struct options *options, FILE *out,
		    struct error *err);

#endif
