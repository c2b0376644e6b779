#include "bench/commands/device_list.h"

#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/plan/plan.h"
#include "bench/record/machine.h"
#include "bench/system/clock.h"
#include "bench/system/cpus.h"
#include "bench/system/interrupt.h"

/* Input and result of the child process. */
struct listing {
	const struct backend *backend;
	struct device_info list[DEVICE_LIST_MOST];
	int count;
	int has_begun; /* 1: the child process has started */
};

static int list_own(struct group *group, void *context, struct error *err)
{
	struct listing *listing = context;

	(void)group;
	listing->has_begun = 1;
	interrupt_after(DEVICE_LIST_LIMIT_S);
	listing->count = backend_list(listing->backend, cpus_available(),
				      listing->list, DEVICE_LIST_MOST, err);
	return listing->count < 0 ? -1 : 0;
}

int device_list(const struct backend *backend, struct device_info *list,
		struct error *err)
{
	struct listing listing = { .backend = backend, .count = -1 };
	const struct group_job job = { .body = list_own,
				       .context = &listing,
				       .context_size = sizeof(listing) };
	const double began_s = clock_now();

	/* This machine's CPU needs no driver. */
	if (!backend->list)
		return backend_list(backend, cpus_available(), list,
				    DEVICE_LIST_MOST, err);
	if (group_launch(transport_find("fork"), 1, &job, err)) {
		/* The failure was this process's, not a driver's. */
		err->memory |= !listing.has_begun;
		if (clock_now() - began_s >= DEVICE_LIST_LIMIT_S)
			error_set(err, ERROR_FAILED,
				  "a driver did not list its devices within "
				  "%d s", DEVICE_LIST_LIMIT_S);
		return -1;
	}
	memcpy(list, listing.list, sizeof(listing.list));
	return listing.count;
}

static int open_devices(struct group *group, void *context, struct error *err)
{
	const struct training *training = context;
	const struct device_request request = {
		.choice = training->device,
		.threads = 1,
		.cpus = cpus_available(),
		.device_class = training->device_class,
	};
	struct device *device = NULL;
	struct device_info info;
	int failed;

	interrupt_after(DEVICE_LIST_LIMIT_S);
	failed = replica_open(group, training->backend, &request, &device, err);
	if (!failed) {
		device_describe(device, &info);
		failed = plan_check_device(training, &info,
					   machine_memory_available(""), err);
	}
	device_close(device);
	return failed;
}

static int is_missing(const struct training *training, struct error *err)
{
	struct training own = *training;
	const struct group_job job = { .body = open_devices,
				       .context = &own,
				       .context_size = sizeof(own) };

	return group_launch(transport_find("fork"), training->cores, &job,
			    err) && err->kind == ERROR_MISSING;
}

void devices_probe(const struct target *targets,
		   const struct training *trainings, int count, FILE *log,
		   int *missing)
{
	for (int t = 0; t < count; t++) {
		struct error why;

		/* Without drivers of others a device is never missing. */
		if (!targets[t].backend->list ||
		    !is_missing(&trainings[t], &why))
			continue;
		fprintf(log, "%s will fail: %s\n", targets[t].name,
			why.message);
		missing[t] = 1;
	}
}
