/* The rows that a whole run writes, and how it ends. */
#include "bench/train/training.h"

#include "tests/unit/runs.h"
#include "backends/parallel/replica.h"

/* The rows one after the other. */
struct reader {
	const struct outcome *outcome;
	size_t at;
};

static const struct observation *take_of(struct reader *reader,
					 const char *clock, const char *phase,
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
	assert_string_equal(row->clock, clock);
	assert_true(row->elapsed_s >= 0);
	return row;
}

static const struct observation *take(struct reader *reader, const char *phase,
				      long epoch, long iter, long core)
{
	return take_of(reader, "wall", phase, epoch, iter, core);
}

/* No core has more CPU time than the model's slowest ones together. */
static const struct observation *take_model(struct reader *reader,
					    const char *phase, long epoch,
					    long iter)
{
	return take_of(reader, "model", phase, epoch, iter, CELL_NO_INT);
}

/* The target's row is of the slowest core and of the whole batch. */
static const struct observation *take_step(struct reader *reader, long epoch,
					   long iter, int samples)
{
	const int cores = (int)reader->outcome->run.cores;
	const struct observation *all =
		take(reader, "step", epoch, iter, CELL_NO_INT);
	double loss = 0, cpu = 0, longest = 0;
	const struct observation *model;

	assert_int_equal(all->samples, samples);
	assert_true(all->loss > 0 && all->loss < 10);
	model = take_model(reader, "step", epoch, iter);
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
		/* What a core does while it waits is in no model. */
		assert_true(model->elapsed_s <= cpu + 1e-8);
		assert_true(model->elapsed_s > 0);
		assert_close("the loss", all->loss, loss / samples, 1e-7);
	}
	return all;
}

/* Rows of a core, or of the target; the sum of the parts of its steps. */
static double take_phases(struct reader *reader, const char *clock, long epoch,
			  long core, double *loader_s)
{
	static const char *const names[] = { "compute", "wait", "reduce",
					     "update" };
	double sum = 0;

	*loader_s = take_of(reader, clock, "loader", epoch, CELL_NO_INT,
			    core)->elapsed_s;
	for (int p = 0; p < 4; p++)
		sum += take_of(reader, clock, names[p], epoch, CELL_NO_INT,
			       core)->elapsed_s;
	return sum;
}

static const struct observation *take_test(struct reader *reader, long epoch)
{
	const struct observation *row =
		take(reader, "test", epoch, CELL_NO_INT, CELL_NO_INT);

	assert_int_equal(row->samples, TEST);
	assert_true(row->loss > 0 && row->elapsed_s > 0);
	assert_true(row->accuracy_pct >= 0 && row->accuracy_pct <= 100);
	/* A whole number of images was recognised. */
	assert_close("accuracy", remainder(row->accuracy_pct * TEST, 100), 0,
		     1e-5);
	return row;
}

/* The model's parts are its whole, and the sum of its iterations. */
static void take_model_epoch(struct reader *reader, long epoch, int tests,
			     double steps_s)
{
	double parts_s, loader_s;

	parts_s = take_phases(reader, "model", epoch, CELL_NO_INT, &loader_s);
	assert_close("the model's iterations", parts_s, steps_s, 1e-6);
	parts_s += loader_s;
	if (tests)
		parts_s += take_model(reader, "test", epoch,
				      CELL_NO_INT)->elapsed_s;
	assert_close("the model's epoch",
		     take_model(reader, "epoch", epoch, CELL_NO_INT)->elapsed_s,
		     parts_s, 1e-6);
}

static void take_cores(struct reader *reader, long epoch, int tests)
{
	const int cores = (int)reader->outcome->run.cores;
	long samples = 0;

	for (int r = 0; cores > 1 && r < cores; r++) {
		const struct observation *row;
		double parts_s, loader_s;

		parts_s = take_phases(reader, "wall", epoch, r, &loader_s);
		parts_s += loader_s;
		if (tests)
			parts_s += take(reader, "test", epoch, CELL_NO_INT,
					r)->elapsed_s;
		row = take(reader, "epoch", epoch, CELL_NO_INT, r);
		assert_true(row->elapsed_s >= parts_s - 1e-6);
		assert_true(row->cpu_s > 0);
		assert_true(row->voluntary_switches >= 0);
		assert_true(row->involuntary_switches >= 0);
		samples += row->samples;
	}
	assert_int_equal(samples, cores > 1 ? TRAIN : 0);
}

static void take_epoch(struct reader *reader, long epoch, int batch, int tests)
{
	const int iterations = (TRAIN + batch - 1) / batch;
	double steps_s = 0, model_s = 0, phases_s, loader_s, test_s = 0;
	const struct observation *row;
	double loss = 0;

	for (int i = 0; i < iterations; i++) {
		const int rest = TRAIN - i * batch;
		const int samples = rest < batch ? rest : batch;

		row = take_step(reader, epoch, i + 1, samples);
		steps_s += row->elapsed_s;
		loss += row->loss * samples;
		model_s += row[1].elapsed_s;
	}
	if (tests)
		test_s = take_test(reader, epoch)->elapsed_s;
	phases_s = take_phases(reader, "wall", epoch, CELL_NO_INT, &loader_s);
	row = take(reader, "epoch", epoch, CELL_NO_INT, CELL_NO_INT);
	assert_int_equal(row->samples, TRAIN);
	assert_close("the loss", row->loss, loss / TRAIN, 1e-7);
	/* Several cores begin one after the other, each with its phases. */
	if (reader->outcome->run.cores == 1) {
		assert_close("the phases", phases_s, steps_s, 1e-6);
		assert_true(row->elapsed_s >=
			    steps_s + test_s + loader_s - 1e-6);
	}
	take_model_epoch(reader, epoch, tests, model_s);
	take_cores(reader, epoch, tests);
}

/* Of all rows of the target in a phase, warm-up left out. */
static double sum_of(const struct outcome *outcome, const char *phase)
{
	double sum = 0;

	for (size_t i = 0; i < outcome->count; i++) {
		const struct observation *row = &outcome->rows[i];

		if (!strcmp(row->phase, phase) && !row->is_warmup &&
		    row->core == CELL_NO_INT && !strcmp(row->clock, "wall"))
			sum += row->elapsed_s;
	}
	return sum;
}

static void assert_rows(const struct outcome *outcome, int batch, int tests)
{
	const struct run *run = &outcome->run;
	struct reader reader = { outcome, 0 };

	take(&reader, "setup", CELL_NO_INT, CELL_NO_INT, CELL_NO_INT);
	for (long i = 1; i <= 2; i++)
		take_step(&reader, 0, i, batch);
	for (long e = 1; e <= run->epochs; e++)
		take_epoch(&reader, e, batch, tests);
	assert_close("the loop",
		     take(&reader, "loop", CELL_NO_INT, CELL_NO_INT,
			  CELL_NO_INT)->elapsed_s, run->loop_s, 1e-6);
	assert_true(run->loop_s >= sum_of(outcome, "epoch") - 1e-6);
	take_model(&reader, "loop", CELL_NO_INT, CELL_NO_INT);
	assert_int_equal(reader.at, outcome->count);
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
	/* NAN would compare as false. */
	assert_true(run->data_s > 0 && run->compile_s > 0);
	assert_true(run->data_s + run->compile_s < run->setup_s);
	assert_int_equal(run->updates,
			 run->epochs * ((TRAIN + batch - 1) / batch));
}

static void one_core_writes_its_rows(void **state)
{
	struct disturbance_counters counters;
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
	disturbance_read(&counters, "");
	assert_int_equal(isfinite(outcome.run.pressure_pct),
			 isfinite(counters.pressure_s));
	assert_int_equal(isfinite(outcome.run.throttled_s),
			 isfinite(counters.throttled_s));
	release(&outcome);
	measure_well(&outcome, "cpu-1 --epochs=1 --test=off");
	assert_rows(&outcome, BATCH, 0);
	assert_close("the last loss", outcome.run.final_loss,
		     find_step(&outcome, 1, ITERATIONS)->loss, 1e-9);
	assert_true(isnan(outcome.run.final_accuracy_pct));
	release(&outcome);
}

static void assert_same_bits(const struct outcome *one,
			     const struct outcome *other)
{
	assert_memory_equal(one->parameters, other->parameters,
			    model_parameter_count(tiny()) * sizeof(float));
	assert_string_equal(one->run.parameters_hash,
			    other->run.parameters_hash);
	assert_int_equal(one->count, other->count);
	for (size_t i = 0; i < one->count; i++)
		assert_memory_equal(&one->rows[i].loss, &other->rows[i].loss,
				    sizeof(double));
}

/* Processes write what threads do, and learn the same bit by bit. */
static void processes_are_as_threads(void **state)
{
	static const char *const rest = "--epochs=2 --global-batch=8";
	static const char *const backends[] = { "cpu", "openblas",
						"reference" };
	char line[96];

	(void)state;
	for (int b = 0; b < 3; b++) {
		struct outcome threads, processes;

		snprintf(line, sizeof(line), "%s-3 %s", backends[b], rest);
		measure_well(&threads, line);
		snprintf(line, sizeof(line), "%s-3@fork %s", backends[b], rest);
		measure_well(&processes, line);
		assert_rows(&processes, 8, 1);
		assert_string_equal(processes.run.transport, "fork");
		assert_true(processes.run.maxrss_bytes > 0);
		assert_true(processes.run.loop_cpu_s > 0);
		assert_same_bits(&threads, &processes);
		release(&threads);
		release(&processes);
	}
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
	/* Two cores have no sample of the last batch, of 2, but run it. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_cores_write_their_rows),
		cmocka_unit_test(one_core_writes_its_rows),
		cmocka_unit_test(processes_are_as_threads),
		cmocka_unit_test(steps_end_an_epoch),
		cmocka_unit_test(null_runs_the_harness_alone),
	};

	return cmocka_run_group_tests_name("training", tests, folder_make,
					   folder_remove);
}
