#include "bench/app/device_list.h"

#include <string.h>
#include <unistd.h>

#include "backends/group/replica.h"
#include "bench/system/clock.h"
#include "bench/system/cpus.h"

/* What the process that asks is given, and leaves. */
struct listing {
	const struct backend *backend;
	struct device_info list[DEVICE_LIST_MOST];
	int count;
	int has_begun; /* the process got so far */
};

static int list_own(struct group *group, void *context, struct error *err)
{
	struct listing *listing = context;

	(void)group;
	listing->has_begun = 1;
	/* Nobody catches its signal, and a driver that hangs cannot. */
	alarm(DEVICE_LIST_LIMIT_S);
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

	/* Without drivers of others there is nothing to fear. */
	if (!backend->list)
		return backend_list(backend, cpus_available(), list,
				    DEVICE_LIST_MOST, err);
	if (group_launch(transport_find("fork"), 1, &job, err)) {
		/* No driver's fault, but ours. */
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

struct probe {
	const struct target *target;
	const char *device_class;
};

static int open_devices(struct group *group, void *context, struct error *err)
{
	const struct probe *probe = context;
	const struct target *target = probe->target;
	const struct device_request request = {
		.choice = target->device[0] ? target->device : NULL,
		.threads = 1,
		.cpus = cpus_available(),
		.device_class = probe->device_class,
	};
	struct device *device = NULL;
	int failed;

	/* Nobody catches its signal, and a driver that hangs cannot. */
	alarm(DEVICE_LIST_LIMIT_S);
	failed = replica_open(group, target->backend, &request, &device, err);
	device_close(device);
	return failed;
}

static int is_missing(const struct target *target, const char *device_class,
		      struct error *err)
{
	struct probe probe = { target, device_class };
	const struct group_job job = { .body = open_devices,
				       .context = &probe,
				       .context_size = sizeof(probe) };

	return group_launch(transport_find("fork"), target->cores, &job, err) &&
	       err->kind == ERROR_MISSING;
}

void devices_probe(const struct target *targets, int count,
		   const char *device_class, FILE *log, int *missing)
{
	for (int t = 0; t < count; t++) {
		struct error why;

		/* Without drivers of others a device is never missing. */
		if (!targets[t].backend->list ||
		    !is_missing(&targets[t], device_class, &why))
			continue;
		fprintf(log, "%s will fail: %s\n", targets[t].name,
			why.message);
		missing[t] = 1;
	}
}
