/* The iterations of a core, and the results that are read from it later. */
#include "bench/train/core.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/allocation.h"
#include "bench/system/clock.h"
#include "bench/system/hash.h"
#include "bench/system/interrupt.h"

#define ROUNDS 400 /* between looks at the clock: about a microsecond */

int core_leads_process(const struct core *core)
{
	return core->group->rank == 0 || !core->training->one_process;
}

/* A device may compute in threads of its own. They count for the process; their
 * core is not known, so each core gets an equal share. */
double core_cpu(const struct core *core)
{
	const struct training *training = core->training;

	if (!training->backend->offloads)
		return clock_thread_cpu();
	return training->one_process ?
		       clock_process_cpu() / core->group->size :
		       clock_process_cpu();
}

void core_end_phase(struct core *core, enum replica_phase phase)
{
	const double now = clock_now(), cpu = core_cpu(core);
	struct step_report *report = &core->report;

	report->phases_s[phase] += now - core->phase_began_s;
	report->phases_cpu_s[phase] += cpu - core->phase_began_cpu_s;
	if (core->updated)
		report->again_s[phase] += now - core->phase_began_s;
	core->updated |= phase == REPLICA_UPDATE;
	if (core->profile)
		profile_end_phase(core->profile, phase);
	core->phase_began_s = now;
	core->phase_began_cpu_s = cpu;
}

/* The clock of a core's own work; a device works in parallel to this thread. */
static double own_time(const struct core *core)
{
	return core->training->backend->offloads ? clock_now() :
						   clock_thread_cpu();
}

static void delay_straggler(struct core *core)
{
	const struct slowdown *slowdown = &core->training->slowdown;

	if (!(slowdown->straggler_s > 0) ||
	    slowdown->straggler != core->group->rank)
		return;
	core->report.delay_s = slowdown->straggler_s;
	clock_sleep(slowdown->straggler_s);
}

/* Notes the time at which the first phase starts, by the clock of
 * own_time(). */
static void note_work_began(struct core *core)
{
	if (core->training->slowdown.inject_pct > 0)
		core->work_began_s = core->training->backend->offloads ?
					     clock_now() :
					     core->phase_began_cpu_s;
}

/* Each round needs the result of the previous one, so that none can be
 * skipped. */
static uint64_t work(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++) {
		value ^= value >> 31;
		value = value * 0x9e3779b97f4a7c15u + 1;
	}
	return value;
}

static void inject_work(struct core *core)
{
	const double share = core->training->slowdown.inject_pct / 100;
	double began_s, began_at, done_s = 0;

	if (!(share > 0))
		return;
	began_at = clock_now();
	began_s = own_time(core);
	core->work_owed_s += share * (began_s - core->work_began_s);
	while (done_s < core->work_owed_s) {
		core->worked = work(core->worked);
		done_s = own_time(core) - began_s;
	}
	core->work_owed_s -= done_s;
	core->report.injected_s = clock_now() - began_at;
	core_end_phase(core, REPLICA_UPDATE);
}

static struct step_counts read_counts(const struct core *core)
{
	return (struct step_counts){ core->program->launches,
				     core->group->summed_bytes,
				     allocation_count() };
}

static struct step_counts count_since(const struct core *core,
				      const struct step_counts *then)
{
	const struct step_counts now = read_counts(core);

	return (struct step_counts){ now.launches - then->launches,
				     now.reduced_bytes - then->reduced_bytes,
				     now.allocations - then->allocations };
}

/* A forward pass alone, which all of an inference's iterations are. */
static int pass_forward(struct core *core, const struct batch *batch,
			struct error *err)
{
	int failed;

	core->report.score = (struct score){ 0 };
	failed = program_evaluate(core->program, batch, &core->report.score,
				  err);
	core_end_phase(core, REPLICA_COMPUTE);
	return failed;
}

/* NULL: the loss is not scaled. */
static struct loss_scaler *scaler_of(struct core *core)
{
	const struct training *training = core->training;

	return training->precision == PRECISION_FP16 && !training->infers ?
		       &core->scaler : NULL;
}

int core_iterate(struct core *core, const struct batch *batch,
		 const struct update *update, struct error *err)
{
	const struct step_counts before = read_counts(core);
	const double overlapped_s = core->group->overlapped_s;
	const long skipped = core->scaler.skipped;
	struct step_report *report = &core->report;
	int failed;

	core->updated = 0;
	core->phase_began_cpu_s = core_cpu(core);
	core->phase_began_s = report->began_at = clock_now();
	if (core->profile)
		profile_begin(core->profile);
	delay_straggler(core);
	note_work_began(core);
	if (core->profile)
		profile_end_other(core->profile);
	failed = core->training->infers ?
			 pass_forward(core, batch, err) :
			 replica_train(core->group, core->program, batch,
				       update, scaler_of(core),
				       &core->observer, &report->score, err);
	if (!failed)
		inject_work(core);
	report->ended_at = core->phase_began_s;
	report->counts = count_since(core, &before);
	report->overlapped_s = core->group->overlapped_s - overlapped_s;
	report->loss_scale = scaler_of(core) ? core->scaler.scale : 0;
	report->skipped = core->scaler.skipped > skipped;
	core->unreported = 1;
	/* Warm-up is no part of it. */
	if (!failed && core->profile && core->epoch)
		failed = profile_keep(core->profile, batch->count, err);
	return failed;
}

static int refuse_loss(struct core *core, struct error *err)
{
	char reason[160];

	if (core->training->infers)
		snprintf(reason, sizeof(reason), "the loss is not a number in "
			 "forward pass %d: check the weights", core->iteration);
	else
		snprintf(reason, sizeof(reason),
			 "the loss is not a number at epoch %d, iteration %d; "
			 "a smaller --lr than %g may help", core->epoch,
			 core->iteration, core->training->recipe.lr);
	if (core->group->rank == 0)
		recorder_not_a_number(&core->outcome->recorder, core->epoch,
				      core->iteration, reason);
	return error_set(err, ERROR_FAILED, "%s", reason);
}

/* No core's clock starts before rank 0 has written its rows. */
static int wait_for_rows(struct core *core, struct error *err)
{
	if (core->group->rank == 0 && ferror(core->outcome->recorder.rows))
		return recorder_refuse_rows(err);
	if (core->group->size == 1)
		return 0;
	return group_wait(core->group, err);
}

int core_stop(struct core *core, int number, struct error *err)
{
	if (core->group->rank == 0)
		core->outcome->stopped_by = number;
	return error_set(err, ERROR_STOPPED, number == SIGTERM ? "terminated" :
								 "interrupted");
}

int core_share_clock(struct core *core, struct error *err)
{
	double all[GROUP_MAX_SIZE], now;

	if (group_wait(core->group, err))
		return -1;
	now = clock_now();
	if (group_gather(core->group, &now, sizeof(now), all, err))
		return -1;
	if (core->group->size > 1 && !core->group->memory)
		core->clock_shift_s = all[0] - now;
	return 0;
}

int core_exchange(struct core *core, struct error *err)
{
	struct step_report all[GROUP_MAX_SIZE], mine;
	int stop = 0, finite = 1;

	core->report.stop = interrupt_signal();
	mine = core->report;
	mine.requested_at += core->clock_shift_s;
	mine.ready_at += core->clock_shift_s;
	mine.began_at += core->clock_shift_s;
	mine.ended_at += core->clock_shift_s;
	if (group_gather(core->group, &mine, sizeof(mine), all, err))
		return -1;
	for (int r = 0; r < core->group->size; r++) {
		finite &= isfinite(all[r].score.loss) != 0;
		if (all[r].stop)
			stop = all[r].stop;
	}
	if (core->unreported && !finite)
		return refuse_loss(core, err);
	if (core->unreported && core->group->rank == 0)
		recorder_step(&core->outcome->recorder, core->epoch,
			      core->iteration, all);
	core->unreported = 0;
	core->report = (struct step_report){ 0 };
	return stop ? core_stop(core, stop, err) : wait_for_rows(core, err);
}

struct update core_update(const struct core *core, const struct batch *batch)
{
	const struct recipe *recipe = &core->training->recipe;
	const long iterations = core->training->iterations;
	const long iteration = (core->epoch - 1) * iterations +
			       core->iteration - 1;

	/* Steps that were left out count for the rate, not for Adam. */
	return recipe_update(recipe, recipe_rate(recipe, iteration, iterations),
			     batch->step - (uint32_t)core->scaler.skipped);
}

static int dump_layer(struct core *core, const struct batch *batch, int layer,
		      size_t each, off_t start, struct error *err)
{
	uint8_t *taken = malloc((size_t)core->program->options.batch * each);
	int failed = -1;

	if (!taken)
		return error_memory(err, "the masks");
	if (program_decisions(core->program, layer, taken, err))
		goto out;
	for (int i = 0; i < batch->count; i++) {
		off_t at = start + (off_t)each *
					   (batch->place + batch->stride * i);

		if (pwrite(core->masks_fd, taken + (size_t)i * each, each,
			   at) != (ssize_t)each) {
			error_set(err, ERROR_OUTPUT, "%s: %s",
				  core->training->dump_masks, strerror(errno));
			goto out;
		}
	}
	failed = 0;
out:
	free(taken);
	return failed;
}

int core_dump_masks(struct core *core, const struct batch *batch,
		    struct error *err)
{
	const struct training *training = core->training;
	const struct model *model = &training->model;
	size_t each[MODEL_MAX_LAYERS] = { 0 }, all = 0;
	off_t at;

	if (core->masks_fd < 0)
		return 0;
	for (int l = 0; l < model->layer_count; l++)
		if (layer_drops(&model->layers[l])) {
			each[l] = layer_decisions(&model->layers[l],
						  model_layer_input(model, l));
			all += each[l];
		}
	/* Every step before this one but the last of an epoch was full. */
	at = core->iteration - 1;
	at *= training->global_samples;
	if (core->epoch > 1) {
		off_t whole = (off_t)training->iterations *
			      training->global_samples;
		off_t count = loader_samples(training->dataset->train.count,
					     training->cores, training->pad);

		at += (core->epoch - 1) * (whole < count ? whole : count);
	}
	at *= (off_t)all;
	for (int l = 0; l < model->layer_count; l++) {
		if (each[l] && dump_layer(core, batch, l, each[l], at, err))
			return -1;
		at += (off_t)each[l] * batch->global_count;
	}
	return 0;
}

/* --sync epoch: the device runs ahead of the host within an epoch, and the host
 * does not wait for each iteration. The scores are read after the last one. */

/* Submits all iterations to the device, or *submitted of them if a signal
 * arrives. *before gets the counts before the first one. */
static int submit_all(struct core *core, int *submitted,
		      struct step_counts *before, struct error *err)
{
	struct step_report *report = &core->report;
	struct batch batch;

	report->requested_at = clock_now();
	for (int i = 1; i <= core->training->iterations; i++) {
		struct update update;

		if (interrupt_signal())
			return 0;
		if (loader_next(core->loader, &batch, err))
			return -1;
		/* Only the first has something to wait for: the order. */
		if (i == 1) {
			core->phase_began_cpu_s = core_cpu(core);
			report->ready_at = report->began_at = clock_now();
			*before = read_counts(core);
		}
		core->iteration = i;
		update = core_update(core, &batch);
		if (program_train(core->program, &batch, &update, err) ||
		    core_dump_masks(core, &batch, err))
			return -1;
		*submitted = i;
	}
	return 0;
}

/* Records the scores up to the first loss that is not a number. */
static int record_scores(struct core *core, const struct score *scores,
			 int count, struct error *err)
{
	int numbers = 0;

	while (numbers < count && isfinite(scores[numbers].loss))
		numbers++;
	if (core->group->rank == 0)
		recorder_ahead(&core->outcome->recorder, core->epoch, scores,
			       numbers, numbers == count ? &core->report :
							   NULL);
	if (numbers == count)
		return 0;
	core->iteration = numbers + 1;
	return refuse_loss(core, err);
}

int core_train_ahead(struct core *core, struct error *err)
{
	struct score *scores = calloc((size_t)core->training->iterations,
				      sizeof(*scores));
	struct step_report *report = &core->report;
	struct step_counts before = read_counts(core);
	int submitted = 0, failed;

	if (!scores)
		return error_memory(err, "the losses of an epoch");
	failed = submit_all(core, &submitted, &before, err) ||
		 program_scores(core->program, scores, submitted, err);
	report->ended_at = clock_now();
	report->phases_s[REPLICA_UPDATE] = report->ended_at - report->began_at;
	report->phases_cpu_s[REPLICA_UPDATE] =
		core_cpu(core) - core->phase_began_cpu_s;
	report->counts = count_since(core, &before);
	if (!failed && submitted)
		failed = record_scores(core, scores, submitted, err);
	free(scores);
	/* A signal ends the run there. */
	return failed ? -1 : core_exchange(core, err);
}

float *core_load(struct core *core, enum vector which, size_t count,
		 struct error *err)
{
	float *values = malloc(count * sizeof(*values));

	if (!values) {
		error_memory(err, "a vector");
		return NULL;
	}
	if (!program_load(core->program, which, values, err))
		return values;
	free(values);
	return NULL;
}

int core_hash(struct core *core, enum vector which, size_t count,
	      uint64_t *hash, struct error *err)
{
	float *values = core_load(core, which, count, err);

	if (!values)
		return -1;
	*hash = hash_bytes64(values, count * sizeof(*values));
	free(values);
	return 0;
}

int core_check_replicas(struct core *core, uint64_t *hash, struct error *err)
{
	/* If all cores share one copy, one of them reads it. */
	const int reads = core->group->rank == 0 || !core->program->shared;
	uint64_t own = 0, all[GROUP_MAX_SIZE];

	if ((reads && core_hash(core, VECTOR_PARAMETERS,
				core->program->parameters, &own, err)) ||
	    group_gather(core->group, &own, sizeof(own), all, err))
		return -1;
	if (hash)
		*hash = own;
	for (int r = 1; !core->program->shared && r < core->group->size; r++)
		if (all[r] != all[0])
			return error_set(err, ERROR_FAILED,
					 "the replicas of core 0 and core %d "
					 "differ after epoch %d: %016" PRIx64
					 ", %016" PRIx64, r, core->epoch,
					 all[0], all[r]);
	return 0;
}

int core_record_hashes(struct core *core, struct error *err)
{
	const size_t count = core->program->buffers;
	struct run *run = &core->outcome->run;
	uint64_t parameters, buffers = 0;

	if (core_check_replicas(core, &parameters, err) ||
	    (count && core_hash(core, VECTOR_BUFFERS, count, &buffers, err)))
		return -1;
	if (core->group->rank)
		return 0;
	core->outcome->is_complete = 1;
	/* Parameters of a folded network could not be compared with other
	 * runs. */
	if (core->training->folds)
		return 0;
	snprintf(run->parameters_hash, sizeof(run->parameters_hash),
		 "%016" PRIx64, parameters);
	if (count)
		snprintf(run->buffers_hash, sizeof(run->buffers_hash),
			 "%016" PRIx64, buffers);
	return 0;
}
