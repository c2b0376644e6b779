/* Estimates a run's memory and refuses a run that does not fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/plan/plan.h"
#include "bench/plan/ranks.h"
#include "bench/record/observation.h"

/* Measured: the program with its libraries; PoCL, and what its compiler keeps
 * of a convolution's or a linear layer's kernels. */
#define PROGRAM_BYTES 20e6
#define DRIVER_BYTES 90e6
#define KERNELS_BYTES 3e6

static double driver_bytes(const struct model *model)
{
	double bytes = DRIVER_BYTES;

	for (int i = 0; i < model->layer_count; i++)
		if (model->layers[i].kind == LAYER_CONV ||
		    model->layers[i].kind == LAYER_LINEAR)
			bytes += KERNELS_BYTES;
	return bytes;
}

/* Returns 1 if a process keeps weights: read from a file, or changed by folding
 * batch norms. */
static int keeps_weights(const struct training *training)
{
	const struct model *model = &training->model;
	int norms = 0;

	for (int i = 0; i < model->layer_count; i++)
		norms += model->layers[i].kind == LAYER_BATCHNORM;
	return training->reads_weights || training->weights ||
	       (training->folds && norms);
}

/* Each core has a copy of the parameters while it starts and when they are
 * hashed. It also has a batch for the warm-up and an image that is being
 * decoded. Each process may keep weights, and the first core the weights of the
 * best epoch. */
static double host_bytes(const struct training *training)
{
	const struct model *model = &training->model;
	const double here = training->cores_here;
	const double kept = (keeps_weights(training) ? training->copies : 0) +
			    (training->save_best != 0);
	const double copies = (here + kept) *
			      (double)model_parameter_count(model);
	const double images = training->warmup ?
		(double)training->global_samples * here / training->cores *
			(double)shape_size(model->input) : 0;

	return (copies + images) * sizeof(float) +
	       here * training->dataset->decoding_bytes + training->row_bytes +
	       training->copies * PROGRAM_BYTES +
	       (training->backend->offloads ? driver_bytes(model) : 0);
}

static int is_resident(const struct training *training)
{
	struct error ignored;

	return training->resident && backend_uploads_data(training->backend) &&
	       !loader_check_upload(training->dataset, &training->model,
				    training->pad, &ignored);
}

struct program_options plan_program(const struct training *training)
{
	return (struct program_options){
		.batch = training->samples_per_core,
		.test_batch = training->infers ? training->samples_per_core :
				replica_share(0, training->cores,
					      training->test_batch),
		.seed = training->seed,
		.dropout = training->dropout,
		.algorithm = training->algorithm,
		.precision = training->precision,
		.masks_only = 1,
		.infers = training->infers,
	};
}

struct memory_plan plan_memory(const struct training *training)
{
	const int cores = training->cores, here = training->cores_here;
	const double share = (double)here / cores;
	const struct dataset *dataset = training->dataset;
	const struct program_options options = plan_program(training);
	const struct loader_plan loader = {
		.dataset = dataset,
		.model = &training->model,
		.global_batch = training->global_samples,
		.test_batch = training->test_batch,
	};

	return (struct memory_plan){
		.vectors = backend_vector_bytes(training->backend,
						&training->model, &options,
						here, here == cores),
		.batches = here * backend_batch_bytes(training->backend,
						      &training->model,
						      &options) +
			   (is_resident(training) ?
				    here * dataset_bytes(dataset) :
				    share * loader_bytes(&loader)),
		.data = training->copies * dataset_bytes(dataset),
		.host = host_bytes(training),
	};
}

/* An iteration has a row of each clock; a device's has one clock. */
double plan_row_bytes(const struct training *training)
{
	const int epochs = training->infers ? 1 : training->recipe.epochs;
	const int clocks = training->backend->offloads ? 1 : 2;

	return (double)clocks * epochs * training->iterations *
	       sizeof(struct observation);
}

double memory_plan_total(const struct memory_plan *plan)
{
	return plan->vectors + plan->batches + plan->data + plan->host;
}

/* Samples of a core with which it fits; 0: not even with 1. */
static int largest_batch(const struct training *training, double available)
{
	const int cores = training->cores;
	int fits = 0, most = training->samples_per_core;

	while (most - fits > 1) {
		struct training smaller = *training;
		const int batch = fits + (most - fits) / 2;
		struct memory_plan need;

		plan_batch(&smaller, batch * cores);
		need = plan_memory(&smaller);
		if (memory_plan_total(&need) > available)
			most = batch;
		else
			fits = batch;
	}
	return fits;
}

/* device: the one that lacks memory; NULL: this machine does. */
static int refuse_memory(const struct training *training,
			 const struct memory_plan *need, const char *who,
			 const char *device, double available,
			 struct error *err)
{
	const int batch = largest_batch(training, available);
	/* Several devices have memory of their own. */
	const int shares = training->cores > 1 && !device;
	char remedy[80] = "choose a smaller --image-size or model";

	if (batch)
		snprintf(remedy, sizeof(remedy), "--batch %d would fit%s",
			 batch, shares ? ", or choose fewer cores" : "");
	else if (shares)
		snprintf(remedy, sizeof(remedy), "choose fewer cores");
	return error_set(err, ERROR_MISSING, "%s needs about %.2f GB of memory "
			 "(batches %.2f, parameters and optimizer %.2f, data "
			 "set %.2f, rest %.2f), and %s has %.2f GB%s: %s",
			 who, memory_plan_total(need) * 1e-9,
			 need->batches * 1e-9, need->vectors * 1e-9,
			 need->data * 1e-9, need->host * 1e-9,
			 device ? device : "this machine", available * 1e-9,
			 device ? "" : " available", remedy);
}

/* Bytes of vectors in fp32, which ranks on this host have in common at least;
 * 0: other cores, whose memory no file system limits. */
static double common_bytes(const struct training *training,
			   const struct target *target)
{
	const struct program_options options = {
		.precision = PRECISION_FP32,
		.infers = training->infers,
	};

	if (!ranks_are_launched(target) || training->cores == 1 ||
	    training->cores_here < training->cores ||
	    training->backend->offloads)
		return 0;
	return backend_vector_bytes(training->backend, &training->model,
				    &options, training->cores, 1);
}

/* MiB of a file system with room for these bytes and for MPI's own files. */
static double common_size(double bytes)
{
	return ceil(bytes * 1.05 / (64 << 20) + 1) * 64;
}

/* Open MPI has common memory in files of a folder, which containers give little
 * room. */
static int check_common(const struct training *training,
			const struct target *target, struct error *err)
{
	const double need = common_bytes(training, target);
	const char *folder = getenv("OMPI_MCA_osc_sm_backing_directory");
	struct statvfs about;
	double left, all, size;

	folder = folder ? folder : "/dev/shm";
	if (!(need > 0) || statvfs(folder, &about))
		return 0;
	left = (double)about.f_bavail * (double)about.f_frsize;
	all = (double)about.f_blocks * (double)about.f_frsize;
	size = common_size(all - left + need);
	if (need <= left)
		return 0;
	return error_set(err, ERROR_MISSING, "the cores of %s would share "
			 "about %.1f MB of parameters and gradients in %.200s. "
			 "It has %.1f MB of %.1f left: enlarge it by docker "
			 "run --shm-size=%.0fm, or mount -o remount,size=%.0fm "
			 "%.200s", target->name, need * 1e-6, folder,
			 left * 1e-6, all * 1e-6, size, size, folder);
}

int plan_check_memory(const struct training *training,
		      const struct target *target, double available,
		      struct error *err)
{
	const struct memory_plan need = plan_memory(training);

	if (check_common(training, target, err))
		return -1;
	return target->backend->offloads ||
			       !(memory_plan_total(&need) > available) ?
		       0 : refuse_memory(training, &need, target->name, NULL,
					 available, err);
}

int plan_check_device(const struct training *training,
		      const struct device_info *info, double available,
		      struct error *err)
{
	const int cores = training->cores;
	struct memory_plan need = plan_memory(training);
	const int is_here = !strcmp(info->type, "CPU");
	const double room = is_here || !info->memory ?
				    available : (double)info->memory;

	/* Each core has one then, and the host the rest. */
	if (!is_here) {
		need.batches /= cores;
		need.vectors /= cores;
		need.data = need.host = 0;
	}
	return !training->backend->offloads ||
			       !(memory_plan_total(&need) > room) ?
		       0 : refuse_memory(training, &need,
					 training->backend->name,
					 is_here ? NULL : info->name, room,
					 err);
}
