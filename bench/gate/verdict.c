#include "bench/gate/verdict.h"

#define TEXT(member, meaning) COLUMN_TEXT(verdict, member, meaning, 0)
#define INT(member, meaning) COLUMN_INT(verdict, member, meaning, 0)
#define REAL(member, meaning) COLUMN_REAL(verdict, member, meaning, 0)
#define NEEDED(member, meaning) COLUMN_TEXT(verdict, member, meaning, 1)

static const struct column columns[] = {
	NEEDED(schema, "version of the columns"),
	NEEDED(campaign_id, "the invocation of bench check"),
	TEXT(label, "--label of that invocation"),
	NEEDED(target, "what was timed"),
	TEXT(metric, "iter_p50_s: the median iteration of a process, in older "
	     "rows s_iter; process_s: the whole process, of a command"),
	NEEDED(verdict, "ok, faster, REGRESSION (confirmed), inconclusive, "
	       "slower (advisory): confirmed, but than a saved baseline"),
	TEXT(reason, "of a verdict that needs one"),
	REAL(base_s, "the base's metric: median over its processes in the "
	     "stage that ratio is of"),
	REAL(head_s, "the head's"),
	INT(pairs, "processes of each arm in the screen"),
	REAL(ratio, "head / base, Hodges and Lehmann's estimate: of the "
	     "confirmation where there is one, which no flag chose, else of "
	     "the screen; without screen_ratio always of the screen"),
	REAL(ratio_lo, "95 % interval of ratio"),
	REAL(ratio_hi, "its upper end"),
	REAL(detectable_pct, "a slowdown that is caught in at least nine "
	     "of ten checks"),
	REAL(margin_pct, "a smaller one is none: 3, or the noise floor"),
	INT(confirm_pairs, "of the confirmation; 0: not flagged"),
	REAL(confirm_ratio, "head / base in the confirmation"),
	REAL(confirm_lo, "95 % interval of confirm_ratio"),
	REAL(confirm_hi, "its upper end"),
	INT(control_pairs, "of the base with itself, --control on"),
	REAL(control_ratio, "base / base"),
	REAL(control_lo, "95 % interval of control_ratio"),
	REAL(control_hi, "its upper end"),
	INT(order_seed, "of the order of the arms"),
	TEXT(inject, "--inject: the head is slower on purpose, by so many "
	     "percent"),
	INT(redone, "blocks that were measured again, because others used the "
	    "machine"),
	INT(disturbed, "processes beside which others used the machine, and "
	    "which count all the same"),
	REAL(base_setup_s, "start-up of the base: median, not gated"),
	REAL(head_setup_s, "of the head"),
	REAL(base_cpu_s, "CPU time of the base's loop: median, not gated"),
	REAL(head_cpu_s, "of the head's"),
	REAL(base_maxrss_bytes, "peak memory of the base: median, not gated"),
	REAL(head_maxrss_bytes, "of the head"),
	INT(baseline_processes, "--baseline: processes that were saved, which "
	    "are in no pairs; empty: there is none"),
	REAL(baseline_age_days, "since the first of them was started"),
	REAL(base_last_loss, "of the base's last iteration: never compared, "
	     "since rounding alone moves it"),
	REAL(head_last_loss, "of the head's"),
	TEXT(base, "what was compared: program with version and commit, "
	     "revision, command or baseline, and its own variables"),
	TEXT(head, "with what"),
	TEXT(model, "what was trained"),
	TEXT(dataset, "on what"),
	INT(global_batch, "samples an iteration, of all cores"),
	INT(iterations, "of each process, without warm-up"),
	TEXT(cpu_model, "of the machine"),
	INT(logical_cpus, "of the machine"),
	TEXT(started_utc, "the first process of this target"),
	INT(processes, "that count, of all arms: disturbed is of these"),
	REAL(screen_ratio, "head / base in the screen: what was flagged was "
	     "flagged for being large there"),
	REAL(screen_lo, "95 % interval of screen_ratio"),
	REAL(screen_hi, "its upper end"),
};

const struct row_kind verdict_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct verdict),
};
