#include "bench/training.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/core.h"
#include "bench/file.h"
#include "bench/interrupt.h"

static void phase_ended(struct replica_observer *observer,
			enum replica_phase phase)
{
	struct core *core = (struct core *)observer;
	const double now = clock_now();

	core->report.phases_s[phase] = now - core->phase_began_s;
	core->phase_began_s = now;
}

/* One rank after the other: libraries set themselves up without locks. */
static int open_in_order(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct device_request request = {
		.choice = training->device,
		.threads = training->one_process ? core->group->size : 1,
		.cpus = training->cpus,
	};

	for (int r = 0; r < core->group->size; r++) {
		if (r == core->group->rank &&
		    device_open(training->backend, &request, &core->device,
				err))
			return -1;
		if (group_gather(core->group, NULL, 0, NULL, err))
			return -1;
	}
	return 0;
}

static int open_masks(struct core *core, struct error *err)
{
	const char *path = core->training->dump_masks;
	const int first = core->group->rank == 0;

	if (path && first) {
		core->masks = open(path, O_WRONLY | O_CREAT | O_TRUNC |
						 O_CLOEXEC, 0666);
		if (core->masks < 0)
			return error_set(err, ERROR_OUTPUT, "%s: %s", path,
					 strerror(errno));
	}
	if (group_gather(core->group, NULL, 0, NULL, err))
		return -1;
	if (path && !first)
		core->masks = open(path, O_WRONLY | O_CLOEXEC);
	if (path && core->masks < 0)
		return error_set(err, ERROR_OUTPUT, "%s: %s", path,
				 strerror(errno));
	return 0;
}

static struct loader_plan plan_loading(const struct core *core)
{
	const struct training *training = core->training;

	return (struct loader_plan){
		.dataset = training->dataset,
		.rank = core->group->rank,
		.size = core->group->size,
		.epochs = training->recipe.epochs,
		.iterations = training->iterations,
		.global_batch = training->global_batch,
		.test_batch = training->test_batch,
		.seed = training->seed,
		.reshuffle = training->reshuffle,
	};
}

/* Rank 0 notes what computes, and tells who wants to know. */
static void introduce(struct core *core)
{
	struct training *training = core->training;
	struct device_info *info = &training->device_info;
	char steps[2048];

	device_describe(core->device, info);
	if (!training->log)
		return;
	program_explain(core->program, steps, sizeof(steps));
	fprintf(training->log, "device: %s, %s, %d unit%s\nfused steps:\n%s",
		info->name, info->driver, info->units,
		info->units == 1 ? "" : "s", steps);
}

static int start_core(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const int size = core->group->size;
	struct loader_plan plan;
	const struct program_options options = {
		.batch = replica_share(0, size, training->global_batch),
		.test_batch = replica_share(0, size, training->test_batch),
		.seed = training->seed,
		.dropout = training->dropout,
	};

	if (open_in_order(core, err) ||
	    program_compile(core->device, training->model, &options,
			    &core->program, err) ||
	    core_initialise(core, err) || open_masks(core, err))
		return -1;
	if (core->group->rank == 0)
		introduce(core);
	plan = plan_loading(core);
	core->loader = loader_open(&plan, err);
	return core->loader ? 0 : -1;
}

/* Start-up ends where warm-up begins; both are over when this returns. */
static int start_and_warm_up(struct core *core, struct error *err)
{
	struct training *training = core->training;
	const int first = core->group->rank == 0;
	double began_s;

	if (start_core(core, err) ||
	    group_gather(core->group, NULL, 0, NULL, err))
		return -1;
	began_s = clock_now();
	if (first) {
		interrupt_install(training->patient);
		training->setup_s = clock_process_age();
		recorder_setup(training->recorder, training->setup_s,
			       clock_process_cpu(),
			       training->dataset->train.count);
	}
	if (core_warm_up(core, err))
		return -1;
	if (first) {
		interrupt_install(training->patient);
		training->warmup_s = clock_now() - began_s;
	}
	return group_gather(core->group, NULL, 0, NULL, err);
}

static int train_epoch(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct recipe *recipe = &training->recipe;
	const struct update update = { recipe_rate(recipe, core->epoch - 1),
				       recipe->rho, recipe->eps };

	for (int i = 1; i <= training->iterations; i++) {
		struct batch batch;
		double ready_at;

		if (loader_next(core->loader, &batch, err))
			return -1;
		ready_at = clock_now();
		if (core_exchange(core, err))
			return -1;
		core->iteration = i;
		core->report.ready_at = ready_at;
		if (core_iterate(core, &batch, &update, err) ||
		    core_dump_masks(core, &batch, err))
			return -1;
	}
	return core_exchange(core, err);
}

static int test_epoch(struct core *core, struct error *err)
{
	const struct loader_plan plan = plan_loading(core);
	const int batches = loader_test_batches(&plan);
	struct test_report report = { 0 }, all[GROUP_MAX_SIZE];
	const double began_s = clock_now();

	for (int b = 0; b < batches; b++) {
		struct batch batch;

		if (loader_next(core->loader, &batch, err) ||
		    program_evaluate(core->program, &batch, &report.score, err))
			return -1;
	}
	if (!batches)
		return 0;
	report.elapsed_s = clock_now() - began_s;
	if (group_gather(core->group, &report, sizeof(report), all, err))
		return -1;
	for (int r = 0; r < core->group->size; r++)
		if (!isfinite(all[r].score.loss))
			return error_set(err, ERROR_FAILED,
					 "the test loss is not a number after "
					 "epoch %d; a smaller --lr may help",
					 core->epoch);
	if (core->group->rank == 0)
		recorder_test(core->training->recorder, core->epoch, all);
	return 0;
}

static int run_epochs(struct core *core, struct error *err)
{
	struct training *training = core->training;
	const int first = core->group->rank == 0;
	char hash[20];

	for (int e = 1; e <= training->recipe.epochs; e++) {
		const double began_s = clock_now();
		const double cpu_s = clock_process_cpu();
		int failed;

		core->epoch = e;
		if (first)
			recorder_begin(training->recorder, began_s);
		failed = train_epoch(core, err) || test_epoch(core, err);
		if (first)
			recorder_epoch(training->recorder, e,
				       clock_now() - began_s,
				       clock_process_cpu() - cpu_s, failed);
		if (failed)
			return -1;
		if (core->group->size > 1 &&
		    core_check_replicas(core, hash, sizeof(hash), err))
			return -1;
	}
	return 0;
}

static int save_parameters(struct core *core, struct error *err)
{
	const char *path = core->training->save_parameters;
	const size_t count = core->program->parameters;
	float *values;
	int failed;

	if (!path || core->group->rank)
		return 0;
	values = malloc(count * sizeof(*values));
	if (!values)
		return error_memory(err, "the parameters");
	failed = program_load(core->program, VECTOR_PARAMETERS, values, err) ||
		 file_replace(path, (const char *)values,
			      count * sizeof(*values), err);
	free(values);
	return failed ? -1 : 0;
}

static int run_core(struct core *core, struct error *err)
{
	struct training *training = core->training;
	const int first = core->group->rank == 0;
	double began_s, began_cpu_s;
	char hash[20];
	int failed;

	if (start_and_warm_up(core, err))
		return -1;
	began_s = clock_now();
	began_cpu_s = clock_process_cpu();
	failed = run_epochs(core, err);
	if (first) {
		training->loop_s = clock_now() - began_s;
		training->loop_cpu_s = clock_process_cpu() - began_cpu_s;
		recorder_loop(training->recorder, training->loop_s,
			      training->loop_cpu_s, failed);
	}
	if (failed)
		return -1;
	if (core_check_replicas(core, hash, sizeof(hash), err))
		return -1;
	if (first)
		memcpy(training->parameters_hash, hash, sizeof(hash));
	return save_parameters(core, err);
}

int training_run(struct group *group, void *context, struct error *err)
{
	struct core core = { .observer = { phase_ended },
			     .training = context,
			     .group = group,
			     .masks = -1 };
	int failed = run_core(&core, err);

	loader_close(core.loader);
	program_free(core.program);
	device_close(core.device);
	if (core.masks >= 0)
		close(core.masks);
	return failed;
}
