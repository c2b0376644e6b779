#include "bench/run/places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/machine.h"
#include "bench/system/text.h"

struct place {
	char host[64], version[40];
	char data[sizeof(((struct samples *)NULL)->sha256)];
	int cpus;
};

static struct place own_place(const struct training *training)
{
	struct place place = { .cpus = training->cpus };

	gethostname(place.host, sizeof(place.host) - 1);
	snprintf(place.version, sizeof(place.version), "%s (%.24s)",
		 machine_version(), machine_commit());
	memcpy(place.data, training->dataset->train.sha256,
	       sizeof(place.data));
	return place;
}

static int check_alike(const struct place *first, const struct place *other,
		       int rank, struct error *err)
{
	if (strcmp(first->version, other->version))
		return error_set(err, ERROR_MISSING, "core %d on host %s is "
				 "bench %s, and core 0 on host %s bench %s: "
				 "install the same on both", rank, other->host,
				 other->version, first->host, first->version);
	if (strcmp(first->data, other->data))
		return error_set(err, ERROR_INPUT, "core %d on host %s has a "
				 "data set with SHA-256 %.12s..., and core 0 "
				 "on host %s %.12s...: copy it from there",
				 rank, other->host, other->data, first->host,
				 first->data);
	return 0;
}

/* As --hosts has them, and the CPUs of all. */
static void describe(const struct place *places, int size, struct run *run)
{
	run->hosts[0] = '\0';
	run->cpus = 0;
	for (int r = 0; r < size; r++) {
		int count = 0, before = 0;

		for (int other = 0; other < size; other++) {
			const int same = !strcmp(places[other].host,
						 places[r].host);

			count += same;
			before += same && other < r;
		}
		if (before)
			continue;
		run->cpus += places[r].cpus;
		text_append(run->hosts, sizeof(run->hosts), "%s%s:%d",
			    r ? "," : "", places[r].host, count);
	}
}

int places_compare(struct core *core, struct error *err)
{
	struct place mine = own_place(core->training), all[GROUP_MAX_SIZE];
	const int size = core->group->size;

	if (group_gather(core->group, &mine, sizeof(mine), all, err))
		return -1;
	for (int r = 0; r < size; r++) {
		if (check_alike(&all[0], &all[r], r, err))
			return -1;
		core->is_near[r] = !strcmp(all[r].host, mine.host);
	}
	if (core->group->rank == 0)
		describe(all, size, &core->outcome->run);
	return 0;
}
