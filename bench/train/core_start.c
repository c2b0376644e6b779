/* Prepares a core: device, program, files and loader; then warm-up. */
#include "bench/train/core.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plan/plan.h"
#include "bench/record/machine.h"
#include "bench/system/clock.h"
#include "bench/system/text.h"
#include "models/random.h"

static int open_device(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct device_request request = {
		.choice = training->device,
		.threads = training->one_process ? core->group->size : 1,
		.cpus = core->outcome->process.cpus,
		.device_class = training->device_class,
	};

	return replica_open(core->group, training->backend, &request,
			    &core->device, err);
}

static int cannot_write(const char *path, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write %s: %s", path,
			 strerror(errno));
}

static int open_masks(struct core *core, struct error *err)
{
	const char *path = core->training->dump_masks;
	const int first = core->group->rank == 0;

	if (path && first) {
		core->masks_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC |
						    O_CLOEXEC, 0666);
		if (core->masks_fd < 0)
			return cannot_write(path, err);
	}
	if (group_wait(core->group, err))
		return -1;
	if (path && !first)
		core->masks_fd = open(path, O_WRONLY | O_CLOEXEC);
	if (path && core->masks_fd < 0)
		return cannot_write(path, err);
	return 0;
}

static struct loader_plan plan_loading(const struct core *core)
{
	const struct training *training = core->training;
	struct program *program = core->program;

	return (struct loader_plan){
		.dataset = training->dataset,
		.model = &training->model,
		.rank = core->group->rank,
		.size = core->group->size,
		.epochs = training->recipe.epochs,
		.infers = training->infers,
		.iterations = training->iterations,
		.global_batch = training->global_samples,
		.test_batch = training->test_batch,
		.test_steps = training->test_steps,
		.drop_last = training->drop_last,
		.pad = training->pad,
		.seed = training->seed,
		.reshuffle = training->reshuffle,
		.resident = program->resident_samples ? program : NULL,
	};
}

/* A core's report of its device. */
struct device_part {
	char name[sizeof(((struct device_info *)NULL)->name)];
	char type[sizeof(((struct device_info *)NULL)->type)];
	int units;
};

/* Appends a part's text if it is new and fits. */
static void append_new(char *text, size_t size, const struct device_part *parts,
		       int rank, size_t member)
{
	const char *own = (const char *)&parts[rank] + member;

	for (int r = 0; r < rank; r++)
		if (!strcmp((const char *)&parts[r] + member, own))
			return;
	text_append(text, size, " and %s", own);
}

/* Describes the devices for rank 0: each name and type once, and the sum of
 * their units. */
static int describe_devices(struct core *core, struct device_info *info,
			    struct error *err)
{
	struct device_part mine = { .units = 0 }, all[GROUP_MAX_SIZE];
	const struct group *group = core->group;

	device_describe(core->device, info);
	memcpy(mine.name, info->name, sizeof(mine.name));
	memcpy(mine.type, info->type, sizeof(mine.type));
	mine.units = info->units;
	if (group_gather(core->group, &mine, sizeof(mine), all, err))
		return -1;
	for (int r = 1; core->training->backend->offloads && r < group->size;
	     r++) {
		append_new(info->name, sizeof(info->name), all, r,
			   offsetof(struct device_part, name));
		append_new(info->type, sizeof(info->type), all, r,
			   offsetof(struct device_part, type));
		info->units += all[r].units;
	}
	return 0;
}

static void record_device(struct run *run, const struct device_info *info)
{
	static const char *const states[] = {
		[KERNELS_UNKNOWN] = "",
		[KERNELS_COLD] = "cold",
		[KERNELS_WARM] = "warm",
	};

	memcpy(run->device_name, info->name, sizeof(info->name));
	memcpy(run->device_type, info->type, sizeof(info->type));
	memcpy(run->device_driver, info->driver, sizeof(info->driver));
	memcpy(run->device_class, info->device_class,
	       sizeof(info->device_class));
	run->device_units = info->units;
	snprintf(run->kernels, sizeof(run->kernels), "%s",
		 states[info->kernels]);
}

/* Prints the device for --verbose. */
static void print_device(struct core *core, const struct device_info *info)
{
	static const char *const states[] = {
		[KERNELS_UNKNOWN] = "",
		[KERNELS_COLD] = " (cold: its kernels were not cached)",
		[KERNELS_WARM] = " (warm: from cached kernels)",
	};
	const struct training *training = core->training;
	FILE *log = core->outcome->process.log;
	char steps[256 * MODEL_MAX_LAYERS];

	if (!log)
		return;
	program_explain(core->program, steps, sizeof(steps));
	fprintf(log, "device: %s, %s, %d unit%s%s\n"
		"compiled in %.3f s%s\nfused steps:\n%s",
		info->name, info->driver, info->units,
		info->units == 1 ? "" : "s",
		training->backend->offloads && core->group->size > 1 ?
			" together" : "", core->outcome->run.compile_s,
		states[info->kernels], steps);
}

/* Names the cores in the timeline, and marks the delayed one. */
static int open_trace(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct slowdown *slowdown = &training->slowdown;
	struct recorder *recorder = &core->outcome->recorder;

	if (!training->trace)
		return 0;
	recorder->trace = trace_open(training->trace, recorder->start.target,
				     core->outcome->process.began_at, err);
	if (!recorder->trace)
		return -1;
	for (int r = 0; r < core->group->size; r++) {
		char name[64];

		if (slowdown->straggler_s > 0 && slowdown->straggler == r)
			snprintf(name, sizeof(name),
				 "core %d (straggler: +%g ms)", r,
				 slowdown->straggler_s * 1e3);
		else
			snprintf(name, sizeof(name), "core %d", r);
		trace_name_core(recorder->trace, r, name);
	}
	return 0;
}

static int open_profile(struct core *core, struct error *err)
{
	const struct recorder *recorder = &core->outcome->recorder;

	if (!core->training->profile)
		return 0;
	core->profile_subject = (struct profile_subject){
		.run_id = recorder->start.run_id,
		.target = recorder->start.target,
		.cores = core->group->size,
		.core = core->group->rank,
	};
	core->profile = profile_open(core->program, &core->profile_subject,
				     err);
	return core->profile ? 0 : -1;
}

static int compile(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	struct program_options options = plan_program(training);
	struct device_info info;
	double began_s;

	/* Batch norm needs two samples of a gradient; evaluation works with any
	 * number. */
	if (training->infers && options.batch < 2)
		options.batch = 2;
	options.ahead = training->ahead ? training->iterations : 0;
	device_describe(core->device, &info);
	if (plan_check_device(training, &info,
			      machine_memory_available(""), err))
		return -1;
	began_s = clock_now();
	if (replica_compile(core->group, core->device, &training->model,
			    &options, &core->program, err))
		return -1;
	if (core->group->rank == 0)
		core->outcome->run.compile_s = clock_now() - began_s;
	return 0;
}

/* Uploaded batches would have to stay until the epoch's end. */
static int refuse_ahead(const char *why, struct error *err)
{
	return error_set(err, ERROR_MISSING,
			 "--sync epoch needs the data set on the device, and "
			 "%s; leave the option out", why);
}

struct upload {
	int done;
	char reason[160]; /* why not */
};

/* If a core does not hold the data set, copies the first such core's reason. */
static int find_refusal(const struct core *core, struct upload *upload,
			struct error *err)
{
	const struct group *group = core->group;
	struct upload all[GROUP_MAX_SIZE];
	int r = 0;

	if (group_gather(core->group, upload, sizeof(*upload), all, err))
		return -1;
	while (r < group->size && all[r].done)
		r++;
	if (r == group->size)
		return 0;
	upload->done = 0;
	snprintf(upload->reason, sizeof(upload->reason), "%.*s",
		 (int)sizeof(upload->reason) - 1, all[r].reason);
	return 0;
}

static int upload_own(const struct core *core, struct upload *upload,
		      struct error *err)
{
	upload->done = !loader_upload(core->program, core->training->dataset,
				      core->training->pad, err);
	if (upload->done)
		return 0;
	snprintf(upload->reason, sizeof(upload->reason), "%.159s",
		 err->message);
	return err->kind == ERROR_MISSING ? 0 : -1;
}

/* If the data set does not fit on one of the cores, all cores load batches:
 * they would wait for the slowest anyway. The cores take turns, since drivers
 * compile kernels for it (replica_compile). */
static int upload_data(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	struct run *run = &core->outcome->run;
	struct upload upload = { 0 };

	if (!training->resident || !backend_uploads_data(training->backend))
		return 0;
	for (int r = 0; r < core->group->size; r++)
		if ((r == core->group->rank &&
		     upload_own(core, &upload, err)) ||
		    group_wait(core->group, err))
			return -1;
	if (find_refusal(core, &upload, err))
		return -1;
	if (!upload.done)
		program_release_data(core->program);
	if (!upload.done && training->ahead)
		return refuse_ahead(upload.reason, err);
	if (core->group->rank)
		return 0;
	snprintf(run->resident, sizeof(run->resident), "%s",
		 upload.done ? "yes" : "no");
	memcpy(run->not_resident_reason, upload.reason,
	       sizeof(upload.reason));
	return 0;
}

/* Called before the warm-up and again after it. */
static int initialise(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct weights *weights = training->weights;

	loss_scaler_begin(&core->scaler);
	return weights ? replica_begin(core->group, core->program,
				       weights->parameters, weights->buffers,
				       err) :
			 replica_initialise(core->group, core->program,
					    training->seed, err);
}

int core_start(struct core *core, struct error *err)
{
	struct device_info info;
	struct loader_plan plan;

	if (open_device(core, err) || compile(core, err) ||
	    upload_data(core, err) || initialise(core, err) ||
	    open_masks(core, err) || describe_devices(core, &info, err))
		return -1;
	if (core->group->rank == 0) {
		record_device(&core->outcome->run, &info);
		print_device(core, &info);
		if (open_trace(core, err) || open_profile(core, err))
			return -1;
	}
	plan = plan_loading(core);
	core->test_batches = loader_test_batches(&plan);
	core->loader = loader_open(&plan, err);
	return core->loader ? 0 : -1;
}

/* Generated images have zero mean and unit variance, as real ones have; sample
 * i is of class i, or has that target. */
static void generate(struct core *core, struct batch *batch)
{
	const struct model *model = &core->training->model;
	const size_t size = shape_size(model->input);
	const int classes = model_classes(model);
	struct mt19937 generator;
	const float bound = sqrtf(3);

	mt19937_seed(&generator, 0);
	for (size_t i = 0; i < (size_t)batch->count * size; i++)
		core->images[i] = mt19937_uniform(&generator, -bound, bound);
	for (int i = 0; i < batch->count; i++) {
		core->labels[i] = (uint16_t)(i % classes);
		for (int k = 0; core->targets && k < classes; k++)
			core->targets[i * classes + k] = k == i % classes;
	}
	batch->images = core->images;
	batch->labels = core->labels;
	batch->targets = core->targets;
}

static int warm_up_steps(struct core *core, struct batch *batch,
			 struct error *err)
{
	const struct training *training = core->training;

	for (int i = 1; i <= training->warmup; i++) {
		/* No learning: large rates may leave the numbers. */
		const struct update update =
			recipe_update(&training->recipe, 0, (uint32_t)i);

		core->epoch = 0;
		core->iteration = i;
		batch->step = (uint32_t)i;
		if (core_iterate(core, batch, &update, err) ||
		    core_exchange(core, err))
			return -1;
	}
	return 0;
}

int core_warm_up(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	const struct group *group = core->group;
	const struct model *model = &training->model;
	const size_t size = shape_size(model->input);
	struct batch batch = {
		.count = replica_share(group->rank, group->size,
				       training->global_samples),
		.global_count = training->global_samples,
		.place = group->rank,
		.stride = group->size,
	};
	const size_t count = (size_t)batch.count;

	core->images = malloc((count * size + 1) * sizeof(*core->images));
	core->labels = malloc((count + 1) * sizeof(*core->labels));
	if (!model_has_classes(model))
		core->targets = malloc((count * (size_t)model_classes(model) +
					1) * sizeof(*core->targets));
	if (!core->images || !core->labels ||
	    (!core->targets && !model_has_classes(model)))
		return error_memory(err, "the warm-up batch");
	generate(core, &batch);
	if (warm_up_steps(core, &batch, err) || initialise(core, err))
		return -1;
	core_end_warm_up(core);
	return 0;
}

void core_end_warm_up(struct core *core)
{
	free(core->images);
	free(core->labels);
	free(core->targets);
	core->images = core->targets = NULL;
	core->labels = NULL;
}
