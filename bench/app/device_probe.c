#include "bench/app/device_probe.h"

#include <unistd.h>

#include "backends/group/replica.h"
#include "bench/system/cpus.h"
#include "bench/app/device_list.h"

struct probe {
	const struct target *target;
	const char *device_class;
};

static int open_one(struct group *group, void *context, struct error *err)
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
	const struct group_job job = { .body = open_one,
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
