/* Refuses batches that leave a core's batch norm without statistics. */
#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/plan/plan.h"

/* With this number of samples, some core has only one, and its batch norm one
 * value per channel. */
static int check_values(const struct training *training, int samples,
			const char *which, struct error *err)
{
	const int row = model_lone_norm(&training->model);
	const int least = replica_share(training->cores - 1, training->cores,
					samples);
	const int cores = training->cores;
	char where[80];

	if (row < 0 || samples == 0 || (least ? least : 1) > 1)
		return 0;
	layer_describe(&training->model, row, where, sizeof(where));
	return error_set(err, ERROR_USAGE, "model '%s', %s: %s iteration has "
			 "%d sample%s for %d core%s; the variance of 1 value "
			 "per channel is undefined: choose another --batch or "
			 "--global-batch",
			 training->model.name, where, which, samples,
			 samples == 1 ? "" : "s", cores,
			 cores == 1 ? "" : "s");
}

/* A core without a sample in any iteration would be tested with the initial
 * statistics of its batch norms. */
static int check_statistics(const struct training *training, int samples,
			    struct error *err)
{
	const int cores = training->cores;
	const int is_all = samples < training->global_samples;
	char where[80];
	int row = 0;

	if (samples >= cores)
		return 0;
	while (training->model.layers[row].kind != LAYER_BATCHNORM)
		row++;
	layer_describe(&training->model, row, where, sizeof(where));
	return error_set(err, ERROR_USAGE, "model '%s', %s: an iteration has "
			 "%d sample%s for %d cores; each core needs one for "
			 "its statistics. Choose %d core%s or fewer, or a %s "
			 "of %d or more",
			 training->model.name, where, samples,
			 samples == 1 ? "" : "s", cores, samples,
			 samples == 1 ? "" : "s", is_all ? "training set" :
			 "--global-batch", cores);
}

int plan_check_norms(const struct training *training, struct error *err)
{
	const int all = loader_samples(training->dataset->train.count,
				       training->cores, training->pad);
	const int global = training->global_samples;
	const int first = all < global ? all : global;
	const int left = all % global;

	if (!model_has_batchnorm(&training->model))
		return 0;
	return check_values(training, first, "an", err) ||
	       (left && training->iterations == all / global + 1 &&
		check_values(training, left, "an epoch's last", err)) ||
	       check_statistics(training, first, err) ? -1 : 0;
}
