/* Baselines: what is kept, what it is compared by, and how it is judged. */
#include "bench/gate/baseline.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/gate/baseline_settings.h"
#include "bench/gate/baseline_store.h"
#include "bench/gate/judge.h"
#include "bench/gate/pair.h"
#include "bench/options/option_table.h"
#include "bench/system/clock.h"
#include "tests/rows.h"
#include "tests/stages.h"

static const char stamp[] = "2026-01-31T23:59:59Z";

/* A process of two iterations, of s each. */
static void process(struct made *made, const char *id, const char *target,
		    const char *arm, double s)
{
	struct run *run = &made->run;

	made->count = 0;
	run_rows.clear(run);
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

/* What the command line says. */
static void parse(struct options *options, const char *line)
{
	static char text[512];
	char *argv[32], *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "bench check --base x %s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		if (*argv[argc])
			argc++;
	if (options_parse(options, argc, argv, &err))
		fail_msg("%s", err.message);
}

static void options_come_from_the_row(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	assert_int_equal(settings_check(&made.run, &err), 0);
	parse(&options, "--timeout 5 --batch 4");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.model, "tiny");
	assert_string_equal(options.dataset, "synthetic");
	assert_int_equal(options.synthetic_train, 70);
	assert_int_equal(options.synthetic_test, 40);
	assert_int_equal(options.steps, 2);
	assert_int_equal(options.batch, OPTION_UNSET);
	assert_int_equal(options.global_batch, 32);
	assert_int_equal(options.seed, 7);
	assert_true(options.lr == .25);
	assert_int_equal(options.dropout, 0);
	assert_int_equal(options.reshuffle, 1);
	assert_int_equal(options.warmup, 3);
	assert_int_equal(options.timeout, 5);
	options_release(&options);
}

/* Images that have no name are what the options say they are. */
static void data_without_a_name(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	snprintf(made.run.dataset, sizeof(made.run.dataset), "unknown-12ab");
	parse(&options, "--data-dir here");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	settings_repeat(&options, &made.run);
	assert_string_equal(options.dataset, "auto");
	assert_string_equal(options.data_dir, "here");
	assert_int_equal(options.synthetic_train, 60000);
	options_release(&options);
}

static void disagrees(const char *text, const struct run *run,
		      const char *says)
{
	struct options options;

	parse(&options, text);
	assert_int_equal(settings_agree(&options, run, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_non_null(strstr(err.message, says));
	options_release(&options);
}

static void only_what_was_given_can_disagree(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	parse(&options, "");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
	parse(&options, "--lr 0.250 --seed 7 --batch 16 --dropout off -w 3");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
	/* The default, and not the baseline's. */
	disagrees("--seed 1", &made.run, "--seed 1, and the baseline has 7");
	/* More iterations than there are: of 70 samples these are not all. */
	parse(&options, "--steps 9");
	assert_int_equal(settings_agree(&options, &made.run, &err), -1);
	made.run.steps = 3;
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
}

/* Where the data set was is told by what came of the option. */
static void residence_is_repeated(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "opencl", "", 1);
	parse(&options, "--resident auto");
	/* Cores beside a device have no such thing. */
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	snprintf(made.run.resident, sizeof(made.run.resident), "no");
	disagrees("--resident auto", &made.run, "and the baseline has no");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.resident, "no");
	/* It did not fit. */
	snprintf(made.run.not_resident_reason,
		 sizeof(made.run.not_resident_reason), "too much");
	disagrees("--resident no", &made.run, "and the baseline has auto");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.resident, "auto");
	options_release(&options);
}

static void what_differs_is_listed(void **state)
{
	struct made one, other;
	char text[200];

	(void)state;
	process(&one, "a", "cpu-2", "", 1);
	process(&other, "b", "cpu-2", "", 2);
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 0);
	assert_string_equal(text, "");
	other.run.lr = .5;
	other.run.seed = CELL_NO_INT;
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 2);
	assert_string_equal(text, "seed: 7, then -; lr: 0.25, then 0.5");
	/* The one is of an older version, which had but one. */
	snprintf(other.run.algorithm, sizeof(other.run.algorithm), "dense");
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 2);
	snprintf(one.run.algorithm, sizeof(one.run.algorithm), "fast");
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 3);
	one.run.algorithm[0] = '\0';
	/* What does not fit is cut. */
	assert_int_equal(settings_compare(&one.run, &other.run, text, 8), 2);
	assert_string_equal(text, "seed: 7");
}

static void age(void **state)
{
	char now[24];

	(void)state;
	clock_stamp(now, sizeof(now));
	assert_true(clock_since(now) >= 0 && clock_since(now) < 60);
	/* Whatever the summer time of the place is. */
	assert_true(clock_since("2026-06-01T00:00:00Z") -
			    clock_since("2026-06-02T01:00:00Z") == 90000);
	assert_true(isnan(clock_since("")));
	assert_true(isnan(clock_since("2026-01-31T23:59:59")));
	assert_true(isnan(clock_since("2026-01-31T23:59:59Zx")));
	assert_true(isnan(clock_since("2026-13-31T23:59:59Z")));
}

static void measured(struct campaign *campaign, const char *id,
		     const char *target, long block, long attempt, double s)
{
	struct made made;

	process(&made, id, target, "A", s);
	made.run.block = block;
	made.run.attempt = attempt;
	made_into(campaign, &made, 1);
}

static void keep(const char *dir, const struct campaign *campaign)
{
	struct baseline_store store;

	if (store_open(&store, dir, stamp, &err) ||
	    store_keep(&store, campaign, &err))
		fail_msg("%s", err.message);
	store_release(&store);
}

static void load(struct baseline *baseline, const char *dir)
{
	if (baseline_load(baseline, dir, &err))
		fail_msg("%s", err.message);
}

/* A block that was measured again has its last attempt, a failed pilot of
 * another target takes nothing away. */
static void what_is_kept(void **state)
{
	const char *dir = in_folder("kept");
	struct campaign first = { 0 }, second = { 0 };
	const struct baseline_target *target;
	struct baseline baseline;

	(void)state;
	measured(&first, "a", "x-1", 1, 1, 3);
	measured(&first, "b", "y-1", 1, 1, 5);
	measured(&first, "c", "x-1", 2, 1, 9);
	measured(&first, "d", "x-1", 2, 2, 4);
	keep(dir, &first);
	load(&baseline, dir);
	assert_int_equal(baseline.count, 2);
	target = baseline_find(&baseline, "x-1");
	assert_int_equal(target->count, 2);
	assert_true(target->median == 3.5);
	assert_true(target->first_loss == 2.5);
	assert_true(baseline_age(target) > 0);
	assert_null(baseline_find(&baseline, "z-1"));
	baseline_release(&baseline);

	measured(&second, "e", "x-1", 1, 1, 1);
	measured(&second, "f", "y-1", 1, 1, 1);
	second.runs[1].stage = CHECK_PILOT;
	keep(dir, &second);
	load(&baseline, dir);
	assert_int_equal(baseline.count, 2);
	assert_int_equal(baseline_find(&baseline, "x-1")->count, 1);
	assert_true(baseline_find(&baseline, "x-1")->median == 1);
	assert_true(baseline_find(&baseline, "y-1")->median == 5);
	baseline_release(&baseline);
	campaign_release(&first);
	campaign_release(&second);
}

static struct baseline_target stored_target(double percent, double spread)
{
	struct baseline_target target = { .count = PAIRS, .median = 1 };

	shift(target.values, percent, spread);
	for (int i = 0; i < PAIRS; i++)
		target.values[i] = exp(target.values[i]);
	return target;
}

/* The head took ratio seconds or so, in both stages. */
static struct judged judge(const struct baseline_target *stored,
			   const struct campaign *campaign)
{
	struct judged row = { .target = "x-1", .stored = stored,
			      .gate.rule = gate_rule_default };

	if (judge_rows(&row, 1, campaign, "c", &err))
		fail_msg("%s", err.message);
	return row;
}

static void add_heads(struct campaign *campaign, double percent, long launches)
{
	struct made made;
	double logs[PAIRS];
	char id[16];

	shift(logs, percent, 2);
	for (long i = 0; i < 2 * PAIRS; i++) {
		snprintf(id, sizeof(id), "h%ld", i);
		process(&made, id, "x-1", "B", exp(logs[i % PAIRS]));
		made.run.stage = i < PAIRS ? CHECK_SCREEN : CHECK_CONFIRM;
		made.run.block = 1 + i % PAIRS;
		made.run.launches = launches;
		made_into(campaign, &made, 1);
	}
}

static void judged_without_pairs(void **state)
{
	struct baseline_target stored = stored_target(0, 2);
	struct campaign campaign = { 0 };
	struct made base;
	struct verdict verdict;
	struct judged row;

	(void)state;
	process(&base, "a", "x-1", "", 1);
	base.run.launches = CELL_NO_INT;
	stored.run = &base.run;
	add_heads(&campaign, 6, 100);
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_REGRESSION);
	assert_true(fabs(row.gate.screen.ratio - 1.06) < .005);
	judge_describe(&verdict, &row);
	assert_true(verdict.base_s == 1);
	assert_int_equal(verdict.pairs, PAIRS);
	assert_int_equal(verdict.baseline_processes, PAIRS);
	assert_true(verdict.baseline_age_days > 0);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_ADVISORY);
	assert_string_equal(row.gate.reason, "why");
	/* Too few of them. */
	stored.count = 11;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_INCONCLUSIVE);
	assert_non_null(strstr(row.gate.reason, "11 processes of the screen"));
	campaign_release(&campaign);
}

static void counted_without_pairs(void **state)
{
	struct baseline_target stored = stored_target(0, 2);
	struct campaign campaign = { 0 };
	struct made base;
	struct judged row;

	(void)state;
	process(&base, "a", "x-1", "", 1);
	stored.run = &base.run;
	add_heads(&campaign, 0, 100);
	base.run.launches = 100;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_OK);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_OK);
	base.run.launches = 99;
	row = judge(&stored, &campaign);
	assert_int_equal(row.gate.verdict, GATE_REGRESSION);
	gate_advise(&row.gate, "why");
	assert_int_equal(row.gate.verdict, GATE_ADVISORY);
	assert_non_null(strstr(row.gate.reason, "99 by the base, 100"));
	campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_come_from_the_row),
		cmocka_unit_test(data_without_a_name),
		cmocka_unit_test(only_what_was_given_can_disagree),
		cmocka_unit_test(residence_is_repeated),
		cmocka_unit_test(what_differs_is_listed),
		cmocka_unit_test(age),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(judged_without_pairs),
		cmocka_unit_test(counted_without_pairs),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
