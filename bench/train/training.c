#include "bench/train/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/time_to_accuracy.h"
#include "bench/system/clock.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/train/core.h"
#include "bench/train/rank_hosts.h"

static void phase_ended(struct replica_observer *observer,
			enum replica_phase phase)
{
	core_end_phase((struct core *)observer, phase);
}

/*
 * Sets *sum to the CPU time of all processes since began_cpu_s of each, and
 * *near to the part of processes on this host. Only rank 0's values are
 * complete. A core that shares its process has no part of its own.
 */
static int add_processes(struct core *core, double began_cpu_s, double *sum,
			 double *near, struct error *err)
{
	double all[GROUP_MAX_SIZE], mine = clock_process_cpu() - began_cpu_s;

	if (group_gather(core->group, &mine, sizeof(mine), all, err))
		return -1;
	/* The other threads have arrived here as well. */
	*sum = core->training->one_process ? clock_process_cpu() - began_cpu_s :
					     0;
	for (int r = 0; !core->training->one_process && r < core->group->size;
	     r++)
		*sum += all[r];
	*near = *sum;
	for (int r = 0; core->outcome->process.joined && r < core->group->size;
	     r++)
		*near -= core->is_near[r] ? 0 : all[r];
	return 0;
}

/* Start-up ends where warm-up begins; both are over when this returns. */
static int start_and_warm_up(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	struct training_outcome *outcome = core->outcome;
	const int first = core->group->rank == 0;
	double began_s, cpu_s, near_s;

	if ((outcome->process.joined && rank_hosts_compare(core, err)) ||
	    core_start(core, err) ||
	    add_processes(core, 0, &cpu_s, &near_s, err) ||
	    core_share_clock(core, err))
		return -1;
	began_s = clock_now();
	/* Opening the device may have put handlers of its driver in place, */
	if (core_leads_process(core))
		interrupt_install(outcome->process.patient);
	if (first) {
		outcome->run.setup_s = began_s - outcome->process.began_at;
		recorder_setup(&outcome->recorder, outcome->run.setup_s,
			       outcome->process.launcher_cpu_s + cpu_s,
			       training->dataset->train.count);
	}
	if (core_warm_up(core, err) ||
	    (outcome->process.joined && rank_hosts_compare_start(core, err)))
		return -1;
	/* and so may the first kernels that ran. */
	if (core_leads_process(core))
		interrupt_install(outcome->process.patient);
	if (first)
		outcome->run.warmup_s = clock_now() - began_s;
	return group_wait(core->group, err);
}

static int train_epoch(struct core *core, struct error *err)
{
	const struct training *training = core->training;

	if (training->ahead)
		return core_train_ahead(core, err);
	for (int i = 1; i <= training->iterations; i++) {
		const double requested_at = clock_now();
		struct update update;
		struct batch batch;
		double ready_at;

		if (loader_next(core->loader, &batch, err))
			return -1;
		ready_at = clock_now();
		if (core_exchange(core, err))
			return -1;
		core->iteration = i;
		core->report.requested_at = requested_at;
		core->report.ready_at = ready_at;
		update = core_update(core, &batch);
		if (core_iterate(core, &batch, &update, err) ||
		    core_dump_masks(core, &batch, err))
			return -1;
	}
	return core_exchange(core, err);
}

static int test_epoch(struct core *core, struct epoch_report *report,
		      struct error *err)
{
	const double cpu_s = core_cpu(core);

	if (!core->test_batches)
		return 0;
	report->test_began_at = clock_now() + core->clock_shift_s;
	for (int b = 0; b < core->test_batches; b++) {
		struct batch batch;

		report->stop = interrupt_signal();
		if (report->stop)
			break;
		if (loader_next(core->loader, &batch, err) ||
		    program_evaluate(core->program, &batch, &report->test, err))
			return -1;
	}
	report->test_s = clock_now() + core->clock_shift_s -
			 report->test_began_at;
	report->test_cpu_s = core_cpu(core) - cpu_s;
	return 0;
}

/* Clocks and counters at the start of an epoch. */
struct epoch_start {
	double at, cpu_s, process_cpu_s, loader_cpu_s;
	struct usage usage;
};

static struct epoch_start start_epoch(const struct core *core)
{
	return (struct epoch_start){
		.at = clock_now(),
		.cpu_s = core_cpu(core),
		.process_cpu_s = clock_process_cpu(),
		.loader_cpu_s = loader_cpu(core->loader),
		.usage = usage_read(USAGE_THREAD),
	};
}

/* All cores decide alike, since they have the same scores. */
static int reaches_accuracy(const struct training *training,
			    const struct epoch_report *reports, int cores)
{
	struct score all = { 0 };
	double answers;

	for (int r = 0; r < cores; r++) {
		all.correct += reports[r].test.correct;
		all.count += reports[r].test.count;
	}
	/* Without a test, and without a goal, it compares as false. */
	answers = (double)all.count * model_answers(&training->model);
	return answers > 0 && 100. * (double)all.correct / answers >=
				      training->target_accuracy_pct;
}

/* Sets core->improved. All cores agree, since they have equal reports. */
static void find_best(struct core *core, const struct epoch_report *reports)
{
	double loss = 0, count = 0;

	for (int r = 0; r < core->group->size; r++) {
		loss += reports[r].test.loss;
		count += (double)reports[r].test.count;
	}
	core->improved = count > 0 && (!core->tested ||
				       loss / count < core->best_loss);
	core->tested |= count > 0;
	if (core->improved)
		core->best_loss = loss / count;
}

static void end_epoch(struct core *core, const struct epoch_start *start,
		      const struct epoch_report *reports)
{
	struct run *run = &core->outcome->run;
	const double now = clock_now();

	if (core->reached) {
		run->epochs_to_accuracy = core->epoch;
		run->time_to_accuracy_s =
			time_to_accuracy(run, now - core->loop_began_s);
	}
	recorder_epoch(&core->outcome->recorder, core->epoch, now - start->at,
		       reports);
}

/* Fails if a core's test was cut short, or if its loss is not a number. */
static int check_tests(struct core *core, const struct epoch_report *reports,
		       struct error *err)
{
	for (int r = 0; r < core->group->size; r++)
		if (reports[r].stop)
			return core_stop(core, reports[r].stop, err);
	for (int r = 0; r < core->group->size; r++)
		if (!isfinite(reports[r].test.loss))
			return error_set(err, ERROR_FAILED,
					 "the test loss is not a number after "
					 "epoch %d; a smaller --lr than %g may "
					 "help", core->epoch,
					 core->training->recipe.lr);
	return 0;
}

/* All cores exchange their reports; rank 0 records them. */
static int report_epoch(struct core *core, const struct epoch_start *start,
			struct epoch_report *report, struct error *err)
{
	struct epoch_report all[GROUP_MAX_SIZE];
	const struct epoch_start end = start_epoch(core);

	report->elapsed_s = end.at - start->at;
	report->cpu_s = end.cpu_s - start->cpu_s;
	report->loader_cpu_s = end.loader_cpu_s - start->loader_cpu_s;
	report->process_cpu_s = end.process_cpu_s - start->process_cpu_s;
	report->voluntary_switches = end.usage.voluntary_switches -
				     start->usage.voluntary_switches;
	report->involuntary_switches = end.usage.involuntary_switches -
				       start->usage.involuntary_switches;
	if (group_gather(core->group, report, sizeof(*report), all, err))
		return -1;
	if (check_tests(core, all, err))
		return -1;
	/* One process was counted before the other threads were done. */
	for (int r = 0; core->training->one_process && r < core->group->size;
	     r++)
		all[r].process_cpu_s = r ? 0 : clock_process_cpu() -
						       start->process_cpu_s;
	core->reached = reaches_accuracy(core->training, all,
					 core->group->size);
	find_best(core, all);
	if (core->group->rank == 0)
		end_epoch(core, start, all);
	return 0;
}

static int run_epoch(struct core *core, struct error *err)
{
	struct recorder *recorder = &core->outcome->recorder;
	const struct epoch_start start = start_epoch(core);
	const int first = core->group->rank == 0;
	struct epoch_report report = { 0 };

	if (first)
		recorder_begin_epoch(recorder, start.at);
	if (!train_epoch(core, err) && !test_epoch(core, &report, err) &&
	    !report_epoch(core, &start, &report, err))
		return 0;
	if (first)
		recorder_partial_epoch(recorder, core->epoch,
				       clock_now() - start.at);
	return -1;
}

static int save_parameters(struct core *core, struct error *err)
{
	const char *path = core->training->save_parameters;
	const size_t count = core->program->parameters;
	float *values;
	int failed;

	if (!path || core->group->rank)
		return 0;
	values = core_load(core, VECTOR_PARAMETERS, count, err);
	if (!values)
		return -1;
	failed = file_replace(path, (const char *)values,
			      count * sizeof(*values), err);
	free(values);
	return failed;
}

/* Counts on from what the training began with. */
static void count_batches(const struct core *core, struct weights *weights)
{
	const struct training *training = core->training;
	const uint64_t made = training->infers ? 0 :
			(uint64_t)core->outcome->recorder.updates;

	for (int row = 0; row < training->model.layer_count; row++)
		weights->tracked[row] =
			made + (training->weights ?
					training->weights->tracked[row] : 0);
}

/* Keeps the weights of core 0, which has running statistics of its own. */
static int keep_weights(struct core *core, struct error *err)
{
	struct weights *kept = &core->kept;

	if (!core->training->save_weights[0] || core->group->rank)
		return 0;
	weights_release(kept);
	if (weights_allocate(&core->training->model, kept))
		return error_memory(err, "the weights to save");
	if (program_load(core->program, VECTOR_PARAMETERS, kept->parameters,
			 err) ||
	    (core->program->buffers &&
	     program_load(core->program, VECTOR_BUFFERS, kept->buffers,
			  err))) {
		weights_release(kept);
		return -1;
	}
	count_batches(core, kept);
	return 0;
}

/* Called after the loop, so that writing is not timed. The best weights are
 * written even if a later epoch failed. */
static int save_weights(struct core *core, int failed, struct error *err)
{
	const struct training *training = core->training;
	struct error other;

	if (!failed && !training->save_best)
		failed = keep_weights(core, err);
	if (core->kept.parameters &&
	    weights_write(training->save_weights, &training->model, &core->kept,
			  failed ? &other : err))
		failed = -1;
	weights_release(&core->kept);
	return failed;
}

static int run_epochs(struct core *core, struct error *err)
{
	for (int e = 1; e <= core->training->recipe.epochs && !core->reached;
	     e++) {
		core->epoch = e;
		if (run_epoch(core, err))
			return -1;
		if (core->group->size > 1 &&
		    core_check_replicas(core, NULL, err))
			return -1;
		if (core->improved && core->training->save_best &&
		    keep_weights(core, err))
			return -1;
	}
	return 0;
}

/* All epochs, and what they took. */
static int run_loop(struct core *core, struct error *err)
{
	struct training_outcome *outcome = core->outcome;
	const int first = core->group->rank == 0;
	struct disturbance_counters before, after;
	double began_s, began_cpu_s, loop_s;
	double cpu_s = CELL_NO_REAL, near_s = CELL_NO_REAL;
	int failed;

	if (first)
		disturbance_read(&before, "");
	began_s = clock_now();
	began_cpu_s = clock_process_cpu();
	core->loop_began_s = began_s;
	failed = run_epochs(core, err);
	loop_s = clock_now() - began_s;
	if (first)
		disturbance_read(&after, "");
	if (!failed)
		failed = add_processes(core, began_cpu_s, &cpu_s, &near_s, err);
	if (failed && core->training->one_process)
		near_s = cpu_s = clock_process_cpu() - began_cpu_s;
	if (first) {
		outcome->run.loop_s = loop_s;
		outcome->run.loop_cpu_s = cpu_s;
		recorder_loop(&outcome->recorder, &outcome->run, failed);
		if (core->training->infers)
			outcome->run.updates = 0;
		run_set_disturbance(&outcome->run, &before, &after, loop_s,
				    near_s);
	}
	return failed;
}

/* Adds up the use of the other ranks' processes: rank 0 is not their parent. */
static int gather_usage(struct core *core, struct error *err)
{
	struct usage all[GROUP_MAX_SIZE];
	struct usage mine = usage_read(USAGE_PROCESS);
	struct usage *others = &core->outcome->others;

	mine.maxrss_bytes = usage_own_memory();
	if (group_gather(core->group, &mine, sizeof(mine), all, err))
		return -1;
	for (int r = 1; core->group->rank == 0 && r < core->group->size; r++) {
		others->user_s += all[r].user_s;
		others->system_s += all[r].system_s;
		others->maxrss_bytes += all[r].maxrss_bytes;
		others->voluntary_switches += all[r].voluntary_switches;
		others->involuntary_switches += all[r].involuntary_switches;
	}
	return 0;
}

static int run_core(struct core *core, struct error *err)
{
	int failed;

	if (core_leads_process(core))
		interrupt_install(core->outcome->process.patient);
	if (start_and_warm_up(core, err))
		return -1;
	failed = run_loop(core, err) || core_record_hashes(core, err) ||
		 save_parameters(core, err);
	if (save_weights(core, failed, err))
		return -1;
	return core->outcome->process.joined ? gather_usage(core, err) : 0;
}

static int write_profile(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	struct progress *progress = core->outcome->recorder.progress;
	struct profile_row rows[PROFILE_MOST_ROWS];
	const int count = profile_build(core->profile, rows, err);

	if (count < 0)
		return -1;
	progress_pause(progress);
	if (profile_print(core->outcome->process.profile_log, rows, count, err))
		return -1;
	return csv_write_file(training->profile, &profile_rows, rows,
			      (size_t)count, err);
}

static int end_profile(struct core *core, int failed, struct error *err)
{
	if (core->profile && !failed)
		failed = write_profile(core, err);
	profile_close(core->profile);
	core->profile = NULL;
	return failed;
}

/* Flushes rank 0's output; the run fails if that fails. */
static int finish_output(struct core *core, int failed, struct error *err)
{
	struct recorder *recorder = &core->outcome->recorder;
	FILE *rows = recorder->rows;
	struct error other;

	if (core->group->rank)
		return failed;
	failed = end_profile(core, failed, err);
	if ((fflush(rows) || ferror(rows)) && !failed)
		failed = recorder_refuse_rows(err);
	if (trace_close(recorder->trace, failed ? &other : err))
		failed = -1;
	recorder->trace = NULL;
	return failed;
}

int training_run(struct group *group, void *context, struct error *err)
{
	struct training_outcome *outcome = context;
	const int one_process = outcome->training->one_process;
	struct core core = { .observer = { phase_ended },
			     .training = outcome->training,
			     .outcome = outcome,
			     .group = group,
			     .masks_fd = -1 };
	long memory_bytes;
	int failed;

	group->native_sums = core.training->native_sums;
	group->whole_gradients = core.training->whole_gradients;
	group->bucket_floats = core.training->bucket_floats;
	failed = run_core(&core, err);
	memory_bytes = one_process ? 0 : usage_own_memory();
	failed = finish_output(&core, failed, err);
	/* First: after an error it may still be reading a batch. */
	program_free(core.program);
	core_end_warm_up(&core);
	loader_close(core.loader);
	device_close(core.device);
	if (core.masks_fd >= 0)
		close(core.masks_fd);
	if (!one_process && !outcome->process.joined)
		outcome->memory_bytes[group->rank] = memory_bytes;
	return failed;
}
