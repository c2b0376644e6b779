/* Runs that end with an accuracy: when, and how long they took until then. */
#include "bench/train/training.h"

#include "tests/unit/runs.h"

/* All cores stop with the epoch whose test is good enough. */
static void an_accuracy_ends_a_run(void **state)
{
	static const char *const targets[] = { "cpu-1", "cpu-3", "cpu-3@fork" };
	struct outcome outcome;
	char line[128];

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		const struct run *run = &outcome.run;

		snprintf(line, sizeof(line), "%s --epochs=5 "
			 "--target-accuracy=1", targets[i]);
		measure_well(&outcome, line);
		assert_int_equal(run->global_batch, 128);
		assert_int_equal(run->updates, 2);
		assert_int_equal(run->epochs, 5);
		assert_int_equal(run->epochs_to_accuracy, 1);
		assert_true(run->time_to_accuracy_s >=
			    run->data_s + find_row(&outcome, "epoch",
						   1)->elapsed_s - 1e-6);
		assert_true(run->time_to_accuracy_s <
			    run->data_s + run->loop_s + 1e-6);
		release(&outcome);
	}
	measure_well(&outcome, "cpu-3 --epochs=2 --target-accuracy=100");
	assert_int_equal(outcome.run.updates, 4);
	assert_int_equal(outcome.run.epochs_to_accuracy, CELL_NO_INT);
	assert_true(isnan(outcome.run.time_to_accuracy_s));
	release(&outcome);
}

/* An epoch after the first whose test is better than all before it, or 0. */
static long find_record(const struct outcome *outcome, double *accuracy_pct)
{
	*accuracy_pct = find_row(outcome, "test", 1)->accuracy_pct;
	for (long e = 2; e <= outcome->run.epochs; e++) {
		const double each = find_row(outcome, "test", e)->accuracy_pct;

		if (each > *accuracy_pct) {
			*accuracy_pct = each;
			return e;
		}
	}
	return 0;
}

/* All epochs until then are in the time. */
static void an_accuracy_takes_epochs(void **state)
{
	struct outcome outcome;
	double accuracy_pct, epochs_s = 0;
	long record = 0, seed = 0;
	char line[128];

	(void)state;
	while (!record && ++seed <= 50) {
		snprintf(line, sizeof(line), "cpu-1 --epochs=6 "
			 "--global-batch=32 --seed=%ld", seed);
		measure_well(&outcome, line);
		record = find_record(&outcome, &accuracy_pct);
		release(&outcome);
	}
	assert_true(record > 0);
	snprintf(line, sizeof(line), "cpu-1 --epochs=6 --global-batch=32 "
		 "--seed=%ld --target-accuracy=%.17g", seed,
		 accuracy_pct - 1e-6);
	measure_well(&outcome, line);
	assert_int_equal(outcome.run.epochs_to_accuracy, record);
	assert_int_equal(outcome.run.updates, record * ITERATIONS);
	for (long e = 1; e <= record; e++)
		epochs_s += find_row(&outcome, "epoch", e)->elapsed_s;
	assert_true(outcome.run.time_to_accuracy_s >=
		    outcome.run.data_s + epochs_s - 1e-6);
	release(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_accuracy_ends_a_run),
		cmocka_unit_test(an_accuracy_takes_epochs),
	};

	return cmocka_run_group_tests_name("training to an accuracy", tests,
					   folder_make, folder_remove);
}
