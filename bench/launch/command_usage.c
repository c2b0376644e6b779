#include "bench/launch/command_usage.h"

#include "bench/record/machine.h"

static double parent_cpu(void)
{
	const struct usage own = usage_read(USAGE_PROCESS);

	return own.user_s + own.system_s;
}

void command_usage_begin(struct command_usage *usage)
{
	usage->parent_cpu_s = parent_cpu();
	disturbance_read(&usage->before, "");
}

void command_usage_end(struct command_usage *usage)
{
	disturbance_read(&usage->after, "");
	usage->parent_cpu_s = parent_cpu() - usage->parent_cpu_s;
}

void command_usage_describe(struct run *run, const struct command_usage *usage,
			    const struct process_status *status)
{
	const struct usage *used = &status->usage;
	const double cpu_s = used->user_s + used->system_s;

	run->cpu_user_s = used->user_s;
	run->cpu_sys_s = used->system_s;
	run->loop_cpu_s = cpu_s;
	run->involuntary_switches = used->involuntary_switches;
	if (used->maxrss_bytes > usage_read(USAGE_PROCESS).maxrss_bytes)
		run->maxrss_bytes = used->maxrss_bytes;
	run_set_disturbance(run, &usage->before, &usage->after, run->total_s,
			    cpu_s + usage->parent_cpu_s);
	machine_describe_host(run);
}
