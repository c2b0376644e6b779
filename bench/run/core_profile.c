/* The profile of a core: from where it is asked for to where it is written. */
#include "bench/run/core.h"

#include "bench/run/profile_table.h"

int core_open_profile(struct core *core, struct error *err)
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

static int write_profile(struct core *core, struct error *err)
{
	const struct training *training = core->training;
	struct progress *progress = core->outcome->recorder.progress;
	struct profile_row rows[PROFILE_MOST_ROWS];
	const int count = profile_build(core->profile, rows, err);

	if (count < 0)
		return -1;
	progress_pause(progress);
	if (profile_print(training->profile_log, rows, count, err))
		return -1;
	return profile_write(training->profile, rows, count, err);
}

int core_end_profile(struct core *core, int failed, struct error *err)
{
	if (core->profile && !failed)
		failed = write_profile(core, err);
	profile_close(core->profile);
	core->profile = NULL;
	return failed;
}
