/* The verdicts of a check: the rows of verdicts.csv. */
#ifndef BENCH_GATE_VERDICT_H
#define BENCH_GATE_VERDICT_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/column.h"
#include "bench/report/export.h"
#include "bench/report/table_format.h"

#define VERDICT_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(campaign_id, 48, "invocation of bench check", NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	TEXT(target, 64, "measured target", NEEDED) \
	TEXT(metric, 16, "iter_p50_s: median iteration of a process, called " \
	     "s_iter in older rows; process_s: whole process of a command") \
	TEXT(verdict, 24, "ok, faster, REGRESSION (confirmed) or " \
	     "inconclusive; older files: slower (advisory), than a saved " \
	     "baseline", NEEDED) \
	TEXT(reason, 160, "reason of the verdict, if it needs one") \
	REAL(base_s, "metric of the base: median over its processes in the " \
	     "stage of ratio") \
	REAL(head_s, "metric of the head: median over its processes in that " \
	     "stage") \
	INT(pairs, "processes of each side in the screen") \
	REAL(ratio, "head / base, Hodges and Lehmann's estimate, from the " \
	     "confirmation or else from the screen; rows without " \
	     "screen_ratio: always from the screen") \
	REAL(ratio_lo, "lower end of the 95 % interval of ratio") \
	REAL(ratio_hi, "upper end of that interval") \
	REAL(detectable_pct, "slowdown that at least nine of ten checks find") \
	REAL(margin_pct, "smaller estimates are no regression") \
	INT(confirm_pairs, "pairs of the confirmation; 0: not flagged") \
	REAL(confirm_ratio, "head / base in the confirmation") \
	REAL(confirm_lo, "lower end of the 95 % interval of confirm_ratio") \
	REAL(confirm_hi, "upper end of that interval") \
	INT(control_pairs, "pairs of the base with itself, --control on") \
	REAL(control_ratio, "base / base") \
	REAL(control_lo, "lower end of the 95 % interval of control_ratio") \
	REAL(control_hi, "upper end of that interval") \
	INT(order_seed, "seed of the order in each block") \
	TEXT(inject, 24, "--inject: artificial slowdown of the head in " \
	     "percent") \
	INT(redone, "blocks that were repeated because other programs used " \
	    "the machine") \
	INT(disturbed, "processes that count although other programs used " \
	    "the machine") \
	REAL(base_setup_s, "median start-up of the base; not gated") \
	REAL(head_setup_s, "median start-up of the head") \
	REAL(base_cpu_s, "median CPU time of the base's loop; not gated") \
	REAL(head_cpu_s, "median CPU time of the head's loop") \
	REAL(base_maxrss_bytes, "median peak memory of the base; not gated") \
	REAL(head_maxrss_bytes, "median peak memory of the head") \
	INT(baseline_processes, "older files: processes of a saved baseline, " \
	    "which are in no pairs") \
	REAL(baseline_age_days, "older files: days since the first of these " \
	     "was started") \
	REAL(base_last_loss, "loss of the base's last iteration; never " \
	     "compared, because rounding changes it") \
	REAL(head_last_loss, "loss of the head's last iteration") \
	TEXT(base, 400, "base: program with version and commit, revision or " \
	     "command, and its own variables") \
	TEXT(head, 400, "head, described in the same way") \
	TEXT(model, 32, "trained network") \
	TEXT(dataset, 32, "training data") \
	INT(global_batch, "samples of all cores per iteration") \
	INT(iterations, "iterations of each process, without warm-up") \
	TEXT(cpu_model, 80, "CPU model of the machine") \
	INT(logical_cpus, "logical CPUs of the machine") \
	TEXT(started_utc, 24, "start of the first process of this target") \
	INT(processes, "processes that count, of all sides; disturbed is a " \
	    "part of them") \
	REAL(screen_ratio, "head / base in the screen; biased in flagged " \
	     "rows, which are flagged because it is large") \
	REAL(screen_lo, "lower end of the 95 % interval of screen_ratio") \
	REAL(screen_hi, "upper end of that interval")

/* Figures next to a verdict: the members base_... and head_..., their column of
 * runs.csv, their name in words, and unit, digits and factor as in "12.3
 * MB". */
#define UNGATED(OF) \
	OF(setup_s, "setup_s", "start-up", " s", 3, 1) \
	OF(cpu_s, "loop_cpu_s", "CPU time of the loop", " s", 3, 1) \
	OF(maxrss_bytes, "maxrss_bytes", "peak memory", " MB", 1, 1e-6) \
	OF(last_loss, "final_loss", "last loss", "", 6, 1)

struct verdict {
	VERDICT_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind verdict_rows;

/* All rows of verdicts.csv in a results folder. */
struct verdicts {
	struct verdict *rows;
	size_t count;
};

/* Appends rows to the folder's file and waits for the disk. */
int verdicts_append(const char *dir, const struct verdicts *verdicts,
		    struct error *err);

/* Appends the folder's rows to verdicts; none if there is no such file. After a
 * failure verdicts is unchanged. */
int verdicts_read(struct verdicts *verdicts, const char *dir,
		  struct error *err);
void verdicts_release(struct verdicts *verdicts); /* all zero is allowed */

/* Prints a table per check, what was compared and a line per reason. Fails only
 * if there is no memory. */
int verdicts_print(const struct verdicts *verdicts,
		   const struct table_options *options, FILE *out,
		   struct error *err);

/* Writes the files of --export-* with verdicts only. */
int verdicts_export(const struct verdicts *verdicts,
		    const struct options *options, FILE *out,
		    struct error *err);

#endif
