#include "bench/run/plan_memory.h"

#include <string.h>

#include "backends/group/replica.h"
#include "bench/run/loader.h"

struct memory_plan plan_memory(const struct training *training, int cores)
{
	const struct dataset *dataset = training->dataset;
	const struct program_options options = {
		.batch = replica_share(0, cores, training->global_batch),
		.algorithm = training->algorithm,
		.precision = training->precision,
	};
	const struct loader_plan loader = {
		.dataset = dataset,
		.global_batch = training->global_batch,
		.test_batch = training->test_batch,
	};
	const int is_held = training->resident &&
			    backend_holds(training->backend);

	return (struct memory_plan){
		.vectors = backend_vector_bytes(training->backend,
						training->model, &options,
						cores),
		.batches = cores * backend_batch_bytes(training->backend,
						       training->model,
						       &options) +
			   (is_held ? 0 : loader_bytes(&loader)),
		.data = (double)(shape_size(dataset->shape) +
				 sizeof(*dataset->train.labels)) *
			(dataset->train.count + dataset->test.count),
	};
}

double memory_plan_total(const struct memory_plan *plan)
{
	return plan->vectors + plan->batches + plan->data;
}

static int refuse_memory(const struct memory_plan *need, const char *who,
			 const char *where, double available, struct error *err)
{
	return error_set(err, ERROR_MISSING, "%s would take about %.2f GB of "
			 "memory (its batches %.2f, parameters and optimizer "
			 "%.2f, data set %.2f), and %s has %.2f GB: choose a "
			 "smaller --batch, or fewer cores", who,
			 memory_plan_total(need) * 1e-9, need->batches * 1e-9,
			 need->vectors * 1e-9, need->data * 1e-9, where,
			 available * 1e-9);
}

int plan_check_memory(const struct training *training,
		      const struct target *target, double available,
		      struct error *err)
{
	const struct memory_plan need = plan_memory(training, target->cores);

	return target->backend->offloads ||
			       !(memory_plan_total(&need) > available) ?
		       0 : refuse_memory(&need, target->name, "this machine",
					 available, err);
}

int plan_check_device(const struct training *training, int cores,
		      const struct device_info *info, double available,
		      struct error *err)
{
	struct memory_plan need = plan_memory(training, cores);
	const int is_here = !strcmp(info->type, "CPU");
	const double room = is_here || !info->memory ?
				    available : (double)info->memory;

	/* Each core has one, but all of them are this machine then. */
	if (!is_here && cores > 1) {
		need.batches /= cores;
		need.vectors /= cores;
	}
	return !training->backend->offloads ||
			       !(memory_plan_total(&need) > room) ?
		       0 : refuse_memory(&need, training->backend->name,
					 is_here ? "this machine" : info->name,
					 room, err);
}
