#include "bench/commands/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/launch/launcher_log.h"
#include "bench/plan/plan.h"
#include "bench/plan/ranks.h"
#include "bench/plan/target.h"
#include "bench/record/csv.h"
#include "bench/record/machine.h"
#include "bench/record/run.h"
#include "bench/system/clock.h"
#include "bench/system/cpus.h"
#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/system/terminal.h"
#include "bench/train/training.h"
#include "models/fold_norms.h"

static const char *on_off(int value)
{
	return value ? "on" : "off";
}

#define COPY(field, text) snprintf(field, sizeof(field), "%s", text)

/* Fills the columns that are known before anything is opened. */
static void describe_request(struct run *run, const struct target *target,
			     const struct training *training,
			     const struct options *options)
{
	row_clear(&run_rows, run);
	clock_stamp(run->started_utc, sizeof(run->started_utc));
	if (options->run_id)
		COPY(run->run_id, options->run_id);
	else
		snprintf(run->run_id, sizeof(run->run_id), "%s-%08x",
			 run->started_utc, file_unique());
	if (options->campaign_id)
		COPY(run->campaign_id, options->campaign_id);
	slowdown_name(&training->slowdown, target->name, run->target,
		      sizeof(run->target));
	if (target_sums_natively(target))
		COPY(run->allreduce, options->allreduce ? options->allreduce :
							  "ordered");
	if (target_sums_natively(target) && !training->native_sums)
		run->bucket_mb = (long)(training->bucket_floats *
					sizeof(float) / (1024 * 1024));
	if (options->straggler)
		COPY(run->straggler, options->straggler);
	run->inject_pct = training->slowdown.inject_pct;
	COPY(run->backend, target->backend->name);
	COPY(run->transport, target_transport(target));
	COPY(run->model, training->model.name);
	COPY(run->dropout, on_off(training->dropout));
	COPY(run->algorithm, algorithm_name(training->algorithm));
	COPY(run->precision, precision_name(training->precision));
	COPY(run->reshuffle, on_off(training->reshuffle));
	COPY(run->pad, on_off(training->pad));
	COPY(run->sync, training->ahead ? "epoch" : "step");
	run->cores = target->cores;
	run->offloads = target->backend->offloads;
	run->image_size = training->model.input.height;
	run->parameters = (long)model_parameter_count(&training->model);
	if (training->global_samples % target->cores == 0)
		run->batch = training->samples_per_core;
	run->global_batch = training->global_samples;
	if (training->test_batch)
		run->test_batch = training->test_batch;
	if (training->test_batch && training->test_steps)
		run->test_steps = training->test_steps;
	if (!training->infers)
		run->epochs = training->recipe.epochs;
	run->seed = options->seed;
	run->lr = training->recipe.lr;
	run->warmup = training->warmup;
	run->target_accuracy_pct = training->target_accuracy_pct;
	machine_describe(run);
}

static void describe_data(struct run *run, const struct training *training,
			  const struct options *options)
{
	const struct dataset *dataset = training->dataset;

	COPY(run->dataset, dataset->name);
	COPY(run->dataset_sha256, dataset->train.sha256);
	run->train_samples = dataset->train.count;
	if (dataset->is_fake && training->recipe.steps)
		run->train_samples = CELL_NO_INT; /* the set has no end */
	run->test_samples = dataset->test.count;
	if (training->infers)
		run->passes = training->iterations;
	if (options->steps != OPTION_UNSET)
		run->steps = training->iterations;
	if (training->epoch_iterations)
		run->epoch_iterations = training->epoch_iterations;
}

/* CPU time and memory of this process and of its cores. */
static void describe_resources(struct training_outcome *outcome)
{
	const struct usage own = usage_read(USAGE_PROCESS);
	const struct usage cores = usage_read(USAGE_CHILDREN);
	struct run *run = &outcome->run;

	run->cpu_user_s = own.user_s + cores.user_s + outcome->others.user_s;
	run->cpu_sys_s = own.system_s + cores.system_s +
			 outcome->others.system_s;
	run->involuntary_switches = own.involuntary_switches +
				    cores.involuntary_switches +
				    outcome->others.involuntary_switches;
	run->maxrss_bytes = own.maxrss_bytes + outcome->others.maxrss_bytes;
	for (int r = 0; r < GROUP_MAX_SIZE; r++)
		run->maxrss_bytes += outcome->memory_bytes[r];
}

static void describe_failure(struct training_outcome *outcome,
			     const struct error *err)
{
	struct run *run = &outcome->run;

	/* A failure to write other files does not invalidate the rows. */
	COPY(run->status, err->kind == ERROR_STOPPED ? "partial" :
			  err->kind == ERROR_OUTPUT && outcome->is_complete ?
						       "ok" : "error");
	COPY(run->reason, err->message);
	run->exit_code = err->kind == ERROR_STOPPED ?
				 128 + interrupt_signal() : (long)err->kind;
}

/* Writes the row of runs.csv; a failure before it stays the one reported. */
static int write_run(const char *path, const struct run *run, int failed,
		     struct error *err)
{
	struct error local;
	int result;

	if (!path)
		return failed;
	result = csv_write_file(path, &run_rows, run, 1, failed ? &local : err);
	return failed ? failed : result;
}

static int launch(const struct target *target, struct training *training,
		  struct training_outcome *outcome, FILE *out,
		  const struct options *options, struct error *err)
{
	const struct group_job job = {
		.body = training_run,
		.context = outcome,
		.context_size = sizeof(*outcome),
		.caught = interrupt_signal,
	};
	struct run *run = &outcome->run;
	struct progress progress;
	int failed;

	recorder_start(&outcome->recorder, run, !target->backend->offloads,
		       out, &progress);
	outcome->recorder.answers = model_answers(&training->model);
	progress_start(&progress, options->progress,
		       options->quiet, target->name, training->recipe.epochs,
		       training->iterations, out);
	csv_write_header(out, &observation_rows);
	/* Stops if nobody reads the rows: a parent may have ended before this
	 * process asked to end with it. */
	if (fflush(out))
		return recorder_refuse_rows(err);
	if (backend_uploads_data(target->backend) && !training->resident)
		COPY(run->resident, "no");
	if (!training->one_process && !outcome->process.joined)
		outcome->process.launcher_cpu_s = clock_process_cpu();
	outcome->is_launched = 1;
	failed = group_launch(target->transport, target->cores, &job, err);
	progress_end(&progress);
	/* A signal may have come to one core alone. */
	interrupt_adopt(outcome->stopped_by);
	describe_resources(outcome);
	return failed;
}

static int measure(const struct target *target, struct training *training,
		   struct training_outcome *outcome,
		   const struct options *options, FILE *out, FILE *log,
		   struct error *err)
{
	/* A parent prints it, and so do tables. */
	FILE *notes = options->quiet || options->has_parent ? NULL : log;
	struct run *run = &outcome->run;
	struct dataset dataset = { 0 };
	double began_s;
	int failed = -1;

	/* A whole device may use all CPUs; one of several cores its own. */
	outcome->process.cpus = cpus_confine(
		target->backend->offloads && target->cores == 1 ?
			cpus_available() : training->cores_here,
		run->cpu_list, sizeof(run->cpu_list), err);
	if (outcome->process.cpus < 0)
		goto out;
	run->cpus = outcome->process.cpus;
	began_s = clock_now();
	if (plan_dataset(&dataset, options, 0, err))
		goto out;
	run->data_s = clock_now() - began_s;
	training->dataset = &dataset;
	if (dataset.notice[0] && notes)
		fprintf(notes, "note: %s\n", dataset.notice);
	if (notes)
		weights_print_note(options->weights, training->weights_prefix,
				   notes);
	if (plan_iterations(training, options, err) ||
	    plan_check_memory(training, target, machine_memory_available(""),
			      err))
		goto out;
	describe_data(run, training, options);
	failed = launch(target, training, outcome, out, options, err);
	if (run->not_resident_reason[0] && notes)
		fprintf(notes, "note: the data set is not kept on the device, "
			       "batches are uploaded one by one: %s\n",
			run->not_resident_reason);
	if (!failed && (fflush(out) || ferror(out)))
		failed = recorder_refuse_rows(err);
out:
	dataset_release(&dataset);
	return failed;
}

/* Makes the initial weights of a run without a file. Returns -1 if there is no
 * memory. */
static int seed_weights(const struct training *training,
			struct weights *weights)
{
	const struct model *model = &training->model;

	if (weights_allocate(model, weights))
		return -1;
	model_init(model, training->seed, weights->parameters);
	model_init_buffers(model, weights->buffers);
	return 0;
}

/*
 * Replaces the training's network and weights by folded ones, made from weights
 * or from seeded ones. Does nothing if no norm folds.
 */
static int fold(struct training *training, struct folded_model *folded,
		struct weights *weights, struct error *err)
{
	struct weights original = *weights;
	int failed = -1;

	fold_norms(folded, &training->model);
	training->folds = folded->model.layer_count !=
			  training->model.layer_count;
	if (!training->folds)
		return 0;
	if (!weights_allocate(&folded->model, weights) &&
	    (training->weights || !seed_weights(training, &original))) {
		fold_norms_vectors(folded, &training->model,
				   original.parameters, original.buffers,
				   weights->parameters, weights->buffers);
		failed = 0;
	}
	weights_release(&original);
	training->model = folded->model;
	training->weights = weights;
	return failed ? error_memory(err, "the folded weights") : 0;
}

/* Measures, beginning with --weights, which all cores then have in memory, and
 * in forward passes with batch norms folded. The training's model is left as it
 * was. */
static int measure_weights(const struct target *target,
			   struct training *training,
			   struct training_outcome *outcome,
			   const struct options *options, FILE *out, FILE *log,
			   struct error *err)
{
	const struct model original = training->model;
	struct weights weights = { 0 };
	struct folded_model folded;
	int failed = -1;

	if (options->weights) {
		if (weights_read(options->weights, &training->model, &weights,
				 err))
			return -1;
		training->weights = &weights;
		COPY(outcome->run.weights, weights.sha256);
	}
	failed = (training->folds && fold(training, &folded, &weights, err)) ||
		 measure(target, training, outcome, options, out, log, err) ?
			 -1 : 0;
	training->model = original;
	training->weights = NULL;
	weights_release(&weights);
	return failed;
}

void note_disturbed(const struct run *run, FILE *log)
{
	char why[96];

	if (run_is_slowed(run, why, sizeof(why)))
		fprintf(log, "note: %s was disturbed: %s; its times are "
			"inflated\n", run->target, why);
}

/* Files that cannot be written are refused before anything is measured. */
static int check_files(const struct options *options,
		       const struct training *training, struct error *err)
{
	const char *const paths[] = {
		options->trace, options->profile, options->run_file,
		options->save_parameters, options->dump_masks,
		training->save_weights[0] ? training->save_weights : NULL,
	};

	if (options->profile && !strcmp(options->profile, "-"))
		return error_set(err, ERROR_USAGE,
				 "--profile -: standard output is used for the "
				 "rows of the measurement; name a file");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i] && file_check(paths[i], err))
			return -1;
	return 0;
}

/* Opens the transport's plug-in and joins the other cores, unless this process
 * starts them. Reports to the parent that they have met. */
static int open_transport(struct target *target, struct training *training,
			  struct training_outcome *outcome,
			  const struct options *options, FILE *log,
			  struct error *err)
{
	const struct transport *transport;

	if (target_load(target, err))
		return -1;
	transport = target->transport;
	training->one_process = transport->one_process;
	if (transport->join && transport->join(target->cores, err))
		return -1;
	outcome->process.joined = transport->join != NULL;
	if (outcome->process.joined && options->has_parent &&
	    !ranks_own(target))
		fputs(LAUNCHER_LOG_MET "\n", log);
	return 0;
}

/* The first core prints the error before it leaves, so that err has no message
 * afterwards. */
static void leave(const struct target *target, const struct options *options,
		  int failed, int is_launched, FILE *log, struct error *err)
{
	/* Otherwise a parent prints it. */
	const int says = failed && !options->has_parent && !ranks_own(target);

	if (says)
		terminal_print_error(err, log);
	target->transport->leave(failed && !is_launched ? err : NULL);
	if (says)
		err->message[0] = '\0';
}

/* joined: whether the cores have met that others started. */
static int measure_target(const struct options *options, FILE *out, FILE *log,
			  int *joined, struct error *err)
{
	struct target target;
	struct training training;
	struct training_outcome outcome = { .training = &training };
	struct run *run = &outcome.run;
	int failed;

	if (options->argument_count != 1)
		return error_set(err, ERROR_USAGE,
				 "bench measure takes one TARGET, as in: bench "
				 "measure cpu-1");
	if (target_parse(&target, options->arguments[0], err) ||
	    ranks_check_started(&target, err) ||
	    target_options_check(options, &target, 1, NULL, err) ||
	    plan_run(&training, &target, options, err))
		return -1;
	/* A child of `bench run` ends with its parent, or when the parent
	 * asks. */
	prctl(PR_SET_NAME, "bench measure"); /* it was started as exe */
	if (options->has_parent || ranks_are_launched(&target))
		process_end_with_parent();
	interrupt_install(options->has_parent);
	outcome.process = (struct measured_process){
		/* A core that is a process is patient too. */
		.patient = options->has_parent || !training.one_process,
		.log = options->verbose ? log : NULL,
		.profile_log = log,
		.began_at = clock_now() - clock_process_age(),
	};
	if (check_files(options, &training, err))
		return -1;
	describe_request(run, &target, &training, options);
	failed = backend_check_algorithm(target.backend, options->algorithm,
					 err) ||
		 backend_check_precision(target.backend,
					 precision_find(options->precision),
					 err) ||
		 open_transport(&target, &training, &outcome, options, log,
				err) ||
		 measure_weights(&target, &training, &outcome, options, out,
				 log, err) ? -1 : 0;
	run->exit_code = 0;
	COPY(run->status, "ok");
	if (failed)
		describe_failure(&outcome, err);
	else if (!options->quiet && !options->has_parent)
		note_disturbed(run, log); /* a parent prints it otherwise */
	if (options->run_file)
		machine_read_binary(run);
	failed = write_run(options->run_file, run, failed, err);
	*joined = outcome.process.joined;
	if (outcome.process.joined)
		leave(&target, options, failed, outcome.is_launched, log, err);
	return failed;
}

int measure_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err)
{
	struct options own = *options;
	struct target target;
	int rank = 0, joined = 0, failed;

	if (options->argument_count == 1 &&
	    !target_parse(&target, options->arguments[0], err))
		rank = ranks_own(&target);
	if (!rank)
		return measure_target(options, out, log, &joined, err);
	/* The first core speaks for all of them once they have met; and so it
	 * does of a command that is wrong. */
	own.run_file = NULL;
	own.quiet = 1;
	out = fopen("/dev/null", "w");
	if (!out)
		return error_set(err, ERROR_FAILED, "/dev/null: %s",
				 strerror(errno));
	failed = measure_target(&own, out, log, &joined, err);
	fclose(out);
	if (failed && !joined && err->kind != ERROR_USAGE)
		fprintf(log, "bench: core %d: %s\n", rank, err->message);
	err->message[0] = '\0';
	return failed;
}
