/* The rows that a whole run writes, and how it ends. */
#include "bench/training.h"

#include "tests/runs.h"

#include "backends/replica.h"

/* The rows one after the other. */
struct reader {
	const struct outcome *outcome;
	size_t at;
};

static const struct observation *take(struct reader *reader, const char *phase,
				      long epoch, long iter, long core)
{
	const struct observation *row = &reader->outcome->rows[reader->at++];

	assert_true(reader->at <= reader->outcome->count);
	assert_string_equal(row->phase, phase);
	assert_int_equal(row->epoch, epoch);
	assert_int_equal(row->iter, iter);
	assert_int_equal(row->core, core);
	assert_int_equal(row->is_warmup, epoch == 0);
	assert_int_equal(row->cores, reader->outcome->run.cores);
	assert_string_equal(row->run_id, reader->outcome->run.run_id);
	assert_string_equal(row->target, reader->outcome->run.target);
	assert_string_equal(row->status, "ok");
	assert_true(row->elapsed_s >= 0);
	return row;
}

/* The target's row is of the slowest core and of the whole batch. */
static const struct observation *take_step(struct reader *reader, long epoch,
					   long iter, int samples)
{
	const int cores = (int)reader->outcome->run.cores;
	const struct observation *all =
		take(reader, "step", epoch, iter, CELL_NO_INT);
	double loss = 0, cpu = 0, longest = 0;

	assert_int_equal(all->samples, samples);
	assert_true(all->loss > 0 && all->loss < 10);
	for (int r = 0; cores > 1 && r < cores; r++) {
		const struct observation *one =
			take(reader, "step", epoch, iter, r);

		assert_int_equal(one->samples,
				 replica_share(r, cores, samples));
		longest = fmax(longest, one->elapsed_s);
		cpu += one->cpu_s;
		if (one->samples)
			loss += one->loss * (double)one->samples;
		else
			assert_true(isnan(one->loss));
	}
	if (cores > 1) {
		/* From the first core's begin to the last one's end. */
		assert_true(all->elapsed_s >= longest - 1e-8);
		assert_close("CPU time", all->cpu_s, cpu, 1e-8);
		assert_close("the loss", all->loss, loss / samples, 1e-7);
	}
	return all;
}

static void take_epoch(struct reader *reader, long epoch, int batch, int tests)
{
	const int iterations = (TRAIN + batch - 1) / batch;
	double steps_s = 0, phases_s = 0, parts_s, loss = 0;
	const struct observation *row;

	for (int i = 0; i < iterations; i++) {
		const int rest = TRAIN - i * batch;
		const int samples = rest < batch ? rest : batch;

		row = take_step(reader, epoch, i + 1, samples);
		steps_s += row->elapsed_s;
		loss += row->loss * samples;
	}
	parts_s = steps_s;
	if (tests) {
		row = take(reader, "test", epoch, CELL_NO_INT, CELL_NO_INT);
		assert_int_equal(row->samples, TEST);
		assert_true(row->loss > 0 && row->elapsed_s > 0);
		assert_true(row->accuracy_pct >= 0 &&
			    row->accuracy_pct <= 100);
		/* A whole number of images was recognised. */
		assert_close("accuracy", remainder(row->accuracy_pct * TEST,
						   100), 0, 1e-5);
		parts_s += row->elapsed_s;
	}
	row = take(reader, "loader", epoch, CELL_NO_INT, CELL_NO_INT);
	parts_s += row->elapsed_s;
	phases_s += take(reader, "compute", epoch, CELL_NO_INT,
			 CELL_NO_INT)->elapsed_s;
	phases_s += take(reader, "reduce", epoch, CELL_NO_INT,
			 CELL_NO_INT)->elapsed_s;
	phases_s += take(reader, "update", epoch, CELL_NO_INT,
			 CELL_NO_INT)->elapsed_s;
	row = take(reader, "epoch", epoch, CELL_NO_INT, CELL_NO_INT);
	assert_int_equal(row->samples, TRAIN);
	assert_close("the loss", row->loss, loss / TRAIN, 1e-7);
	/* Several cores begin one after the other, each with its phases. */
	if (reader->outcome->run.cores == 1) {
		assert_close("the phases", phases_s, steps_s, 1e-6);
		assert_true(row->elapsed_s >= parts_s - 1e-6);
	}
}

/* Of all rows of the target in a phase, warm-up left out. */
static double sum_of(const struct outcome *outcome, const char *phase)
{
	double sum = 0;

	for (size_t i = 0; i < outcome->count; i++) {
		const struct observation *row = &outcome->rows[i];

		if (!strcmp(row->phase, phase) && !row->is_warmup &&
		    row->core == CELL_NO_INT)
			sum += row->elapsed_s;
	}
	return sum;
}

static void assert_rows(const struct outcome *outcome, int batch, int tests)
{
	const struct run *run = &outcome->run;
	struct reader reader = { outcome, 0 };
	double epochs_s = 0;

	take(&reader, "setup", CELL_NO_INT, CELL_NO_INT, CELL_NO_INT);
	for (long i = 1; i <= 2; i++)
		take_step(&reader, 0, i, batch);
	for (long e = 1; e <= run->epochs; e++) {
		take_epoch(&reader, e, batch, tests);
		epochs_s += outcome->rows[reader.at - 1].elapsed_s;
	}
	take(&reader, "loop", CELL_NO_INT, CELL_NO_INT, CELL_NO_INT);
	assert_int_equal(reader.at, outcome->count);
	assert_close("the loop", outcome->rows[reader.at - 1].elapsed_s,
		     run->loop_s, 1e-6);
	assert_true(run->loop_s >= epochs_s - 1e-6);
	assert_close("iterations", run->iterations_s,
		     sum_of(outcome, "step"), 1e-6);
	assert_close("the loader", run->loader_s, sum_of(outcome, "loader"),
		     1e-6);
	assert_close("the tests", run->test_s, sum_of(outcome, "test"), 1e-6);
	assert_close("the parts",
		     run->iterations_s + run->loader_s + run->test_s +
			     run->unaccounted_s, run->loop_s, 1e-6);
	assert_close("the total", run->total_s, run->setup_s + run->loop_s,
		     1e-6);
	assert_int_equal(run->updates,
			 run->epochs * ((TRAIN + batch - 1) / batch));
}

static void one_core_writes_its_rows(void **state)
{
	struct outcome outcome;

	(void)state;
	measure_well(&outcome, "cpu-1 --epochs=2");
	assert_rows(&outcome, BATCH, 1);
	assert_string_equal(outcome.run.target, "cpu-1");
	assert_string_equal(outcome.run.transport, "self");
	assert_string_equal(outcome.run.dataset, "synthetic");
	assert_int_equal(outcome.run.parameters, 2492);
	assert_int_equal(outcome.run.batch, BATCH);
	assert_int_equal(outcome.run.global_batch, BATCH);
	assert_int_equal(outcome.run.cpus, 1);
	assert_true(outcome.run.unaccounted_s >= -1e-6);
	release(&outcome);
	measure_well(&outcome, "cpu-1 --epochs=1 --test=off");
	assert_rows(&outcome, BATCH, 0);
	assert_close("the last loss", outcome.run.final_loss,
		     find_step(&outcome, 1, ITERATIONS)->loss, 1e-9);
	assert_true(isnan(outcome.run.final_accuracy_pct));
	release(&outcome);
}

/* 32 a core by default; a global batch of 8 leaves shares of 3, 3 and 2. */
static void three_cores_write_their_rows(void **state)
{
	struct outcome outcome;

	(void)state;
	measure_well(&outcome, "cpu-3 --epochs=2");
	assert_rows(&outcome, 3 * BATCH, 1);
	assert_string_equal(outcome.run.transport, "threads");
	assert_int_equal(outcome.run.batch, BATCH);
	assert_int_equal(outcome.run.global_batch, 3 * BATCH);
	release(&outcome);
	measure_well(&outcome, "cpu-3 --epochs=1 --global-batch=8");
	assert_rows(&outcome, 8, 1);
	assert_int_equal(outcome.run.batch, CELL_NO_INT);
	release(&outcome);
	/* Two cores have nothing in the last batch, of 2, but take part. */
	measure_well(&outcome, "cpu-4 --epochs=1 --batch=8 --test-batch=3");
	assert_rows(&outcome, 32, 1);
	release(&outcome);
}

static void steps_end_an_epoch(void **state)
{
	struct outcome outcome;

	(void)state;
	measure_well(&outcome, "cpu-1 --epochs=2 --steps=3");
	assert_int_equal(outcome.run.updates, 6);
	assert_int_equal(outcome.run.steps, 3);
	assert_int_equal(find_row(&outcome, "epoch", 2)->samples, 96);
	release(&outcome);
}

static void what_is_not_a_number_ends_the_run(void **state)
{
	static const char *const lines[] = {
		"cpu-1 -e2 --lr=1e30", "cpu-3 -e2 --lr=1e30 --global-batch=32"
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct observation *row;
		struct outcome outcome;

		measure(&outcome, lines[i]);
		assert_int_equal(outcome.failed, -1);
		assert_int_equal(outcome.err.kind, ERROR_FAILED);
		assert_non_null(strstr(outcome.err.message,
				       "epoch 1, iteration 2"));
		assert_null(outcome.parameters);
		assert_string_equal(outcome.run.status, "error");
		assert_int_equal(outcome.run.exit_code, ERROR_FAILED);
		assert_non_null(strstr(outcome.run.reason, "iteration 2"));
		row = find_step(&outcome, 1, 2);
		assert_string_equal(row->status, "error");
		assert_true(isnan(row->loss) && isnan(row->elapsed_s));
		row = find_row(&outcome, "epoch", 1);
		assert_string_equal(row->status, "partial");
		assert_int_equal(row->samples, BATCH);
		release(&outcome);
	}
}

static void null_runs_the_harness_alone(void **state)
{
	struct outcome outcome;

	(void)state;
	measure_well(&outcome, "null-8 --epochs=2");
	assert_int_equal(outcome.run.updates, 2);
	assert_int_equal(find_row(&outcome, "epoch", 2)->samples, TRAIN);
	assert_true(find_row(&outcome, "test", 2)->loss == 0);
	assert_true(outcome.run.iterations_s < outcome.run.loop_s);
	release(&outcome);
}

static void assert_refused(const char *line, const char *says)
{
	char text[512], *argv[MOST_WORDS], *rest = text;
	FILE *out = fopen(in_folder("refused"), "w");
	struct options options;
	struct error err;
	int argc = 1;

	assert_non_null(out);
	snprintf(text, sizeof(text), "measure -q -d synthetic %s", line);
	while ((argv[argc] = strsep(&rest, " ")) && argc < MOST_WORDS - 1)
		argc++;
	argv[0] = argv[1];
	must(options_parse(&options, argc, argv, &err), &err);
	assert_int_equal(measure_command(&options, out, stderr, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	if (!strstr(err.message, says))
		fail_msg("'%s' does not say '%s'", err.message, says);
	/* Not even a header, for who reads rows. */
	assert_int_equal(ftell(out), 0);
	fclose(out);
	options_release(&options);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("-m tiny cpu-1 cpu-2", "one TARGET");
	assert_refused("-m tiny --steps=3", "one TARGET");
	assert_refused("-m resnet cpu-1", "mnist, mnist-example, tiny");
	assert_refused("-m tiny gpu", "there is no backend 'gpu'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_cores_write_their_rows),
		cmocka_unit_test(one_core_writes_its_rows),
		cmocka_unit_test(steps_end_an_epoch),
		cmocka_unit_test(what_is_not_a_number_ends_the_run),
		cmocka_unit_test(null_runs_the_harness_alone),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests_name("training", tests, folder_make,
					   folder_remove);
}
