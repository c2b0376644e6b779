#include "bench/gate/verdict.h"

#include <stdlib.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/json.h"
#include "bench/system/append.h"
#include "bench/system/memory.h"

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

static int print_header(FILE *out, const void *context, struct error *err)
{
	(void)context, (void)err;
	csv_write_header(out, &verdict_rows);
	return 0;
}

static int print_rows(FILE *out, const void *context, struct error *err)
{
	const struct verdicts *verdicts = context;

	(void)err;
	for (size_t i = 0; i < verdicts->count; i++)
		csv_write_row(out, &verdict_rows, &verdicts->rows[i]);
	return 0;
}

int verdicts_print_csv(FILE *out, const void *verdicts, struct error *err)
{
	return print_header(out, NULL, err) || print_rows(out, verdicts, err);
}

int verdicts_print_json(FILE *out, const void *context, struct error *err)
{
	const struct verdicts *verdicts = context;

	(void)err;
	fputs("{\n  \"schema\": \"bench/1\",\n  \"verdicts\": [", out);
	for (size_t i = 0; i < verdicts->count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_write_row(out, &verdict_rows, &verdicts->rows[i], NULL);
	}
	fputs("\n  ]\n}\n", out);
	return 0;
}

int verdicts_append(const char *dir, const struct verdicts *verdicts,
		    struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE], *header = NULL, *text = NULL;
	struct append_note note;
	size_t size;
	int failed;

	campaign_path(path, dir, "verdicts.csv");
	failed = memory_print(&header, &size, print_header, NULL, "a header",
			      err) ||
		 memory_print(&text, &size, print_rows, verdicts, "verdicts",
			      err) ||
		 append_rows(path, header, text, size, 1, &note, err) ||
		 append_sync(path, err);
	free(header);
	free(text);
	return failed ? -1 : 0;
}

int verdicts_read(struct verdicts *verdicts, const char *dir, struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	void *rows;

	*verdicts = (struct verdicts){ 0 };
	campaign_path(path, dir, "verdicts.csv");
	if (access(path, F_OK))
		return 0;
	if (csv_read(path, &verdict_rows, &rows, &verdicts->count, err))
		return -1;
	verdicts->rows = rows;
	return 0;
}

void verdicts_release(struct verdicts *verdicts)
{
	free(verdicts->rows);
	*verdicts = (struct verdicts){ 0 };
}
