/* What is slowed down on purpose: how to ask for it, and what it is called. */
#include "bench/plan/slowdown.h"

#include "bench/record/run.h"
#include "tests/cmocka.h"

static int plan(struct slowdown *slowdown, const char *straggler,
		const char *inject, struct error *err)
{
	const struct options options = { .straggler = straggler,
					 .inject = inject };
	struct target target;

	assert_int_equal(target_parse(&target, "null-2", err), 0);
	return slowdown_plan(slowdown, &target, &options, err);
}

static void shares_are_understood(void **state)
{
	static const struct {
		const char *straggler, *inject, *suffix;
		double least, most;
	} known[] = {
		{ NULL, "5", "+inject=5%", 5, 5 },
		{ NULL, "5%", "+inject=5%", 5, 5 },
		{ NULL, "0", "+inject=0%", 0, 0 },
		{ NULL, "2.50%", "+inject=2.5%", 2.5, 2.5 },
		{ NULL, "0-80%", "+inject=0-80%", 0, 80 },
		{ NULL, "10%-11", "+inject=10-11%", 10, 11 },
		{ "1:20", "1000%", "+straggler=1:20+inject=1000%", 1000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct slowdown slowdown;
		struct error err;

		if (plan(&slowdown, known[i].straggler, known[i].inject, &err))
			fail_msg("%s", err.message);
		assert_string_equal(slowdown.suffix, known[i].suffix);
		assert_true(slowdown.inject_pct >= known[i].least);
		assert_true(slowdown.inject_pct <= known[i].most);
	}
}

static void nothing_is_slowed_down_unasked(void **state)
{
	struct slowdown slowdown;
	struct error err;

	(void)state;
	assert_int_equal(plan(&slowdown, NULL, NULL, &err), 0);
	assert_string_equal(slowdown.suffix, "");
	assert_true(isnan(slowdown.inject_pct));
	assert_true(slowdown.straggler_s == 0);
}

static void others_are_refused(void **state)
{
	static const char *const wrong[] = {
		"x", "%", "-5", "5x", "5%%", "1001", "5-3", "3-1001", "5-",
		"nan", "inf", "1-2-3", "-", "00000000000000000005",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct slowdown slowdown;
		struct error err;

		assert_int_equal(plan(&slowdown, NULL, wrong[i], &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_non_null(strstr(err.message, wrong[i]));
	}
}

static void each_draws_its_own_share(void **state)
{
	double least = INFINITY, most = 0;

	(void)state;
	for (int i = 0; i < 64; i++) {
		struct slowdown slowdown;
		struct error err;

		assert_int_equal(plan(&slowdown, NULL, "20-60%", &err), 0);
		least = fmin(least, slowdown.inject_pct);
		most = fmax(most, slowdown.inject_pct);
	}
	/* One in 2^60 draws has all of them in one half. */
	assert_true(least >= 20 && least < 40);
	assert_true(most >= 40 && most <= 60);
}

static void names_say_what_was_done(void **state)
{
	static const char *const names[] = { "cpu-1", "opencl:a+b",
					     "cpu-3@fork" };
	struct slowdown slowdown;
	char name[64];
	struct error err;

	(void)state;
	assert_int_equal(plan(&slowdown, "0:1.5", "5", &err), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		slowdown_name(&slowdown, names[i], name, sizeof(name));
		assert_memory_equal(name, names[i], strlen(names[i]));
		assert_string_equal(name + strlen(names[i]),
				    "+straggler=0:1.5+inject=5%");
	}
	/* What is cut is the target. */
	slowdown_name(&slowdown, "opencl:a-name-too-long", name, 32);
	assert_string_equal(name, "openc+straggler=0:1.5+inject=5%");
}

static void what_was_done_is_explained(void **state)
{
	char text[200];
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	run_explain_slowdown(&run, text, sizeof(text));
	assert_string_equal(text, "");
	run.inject_pct = 5;
	run_explain_slowdown(&run, text, sizeof(text));
	assert_memory_equal(text, "INJECTED: every core did 5 % more", 33);
	snprintf(run.straggler, sizeof(run.straggler), "3:100");
	run_explain_slowdown(&run, text, sizeof(text));
	assert_non_null(strstr(text, "--straggler 3:100 (rank:ms); INJECTED"));
	run.inject_pct = CELL_NO_REAL;
	run_explain_slowdown(&run, text, sizeof(text));
	assert_null(strstr(text, "INJECTED"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_understood),
		cmocka_unit_test(nothing_is_slowed_down_unasked),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(each_draws_its_own_share),
		cmocka_unit_test(names_say_what_was_done),
		cmocka_unit_test(what_was_done_is_explained),
	};

	return cmocka_run_group_tests_name("slowdown", tests, NULL, NULL);
}
