#include "bench/run/plan_sync.h"

#include <string.h>

static int refuse_others(const struct options *options, struct error *err)
{
	const struct {
		const char *name, *value;
	} others[] = {
		{ "profile", options->profile },
		{ "trace", options->trace },
		{ "straggler", options->straggler },
		{ "inject", options->inject },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].value)
			return error_set(err, ERROR_USAGE,
					 "--%s is about single iterations, "
					 "which --sync epoch does not wait "
					 "for: leave out one of them",
					 others[i].name);
	return 0;
}

int plan_sync(struct training *training, const struct options *options,
	      struct error *err)
{
	training->ahead = options->sync && !strcmp(options->sync, "epoch");
	if (!training->ahead)
		return 0;
	if (!training->resident)
		return error_set(err, ERROR_USAGE,
				 "--sync epoch needs the data set on the "
				 "device: leave out --resident no");
	return refuse_others(options, err);
}
