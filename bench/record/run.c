#include "bench/record/run.h"

#include <string.h>

#define TEXT(member, meaning) COLUMN_TEXT(run, member, meaning, 0)
#define INT(member, meaning) COLUMN_INT(run, member, meaning, 0)
#define REAL(member, meaning) COLUMN_REAL(run, member, meaning, 0)
#define NEEDED(member, meaning) COLUMN_TEXT(run, member, meaning, 1)

static const struct column columns[] = {
	NEEDED(schema, "version of the columns"),
	NEEDED(run_id, "the process; joins observations.csv"),
	NEEDED(campaign_id, "the invocation of bench run it belongs to"),
	TEXT(label, "--label of that invocation"),
	NEEDED(started_utc, "when the process was started"),
	NEEDED(status, "ok, partial, error or skipped"),
	TEXT(reason, "why not ok"),
	INT(exit_code, "of the process; 128 and more: killed by a signal"),
	NEEDED(target, "what was timed, as asked for: cpu-8, opencl:1"),
	TEXT(backend, "who computed"),
	TEXT(transport, "how the cores met"),
	INT(cores, "emulated cores"),
	INT(cpus, "CPUs the process was confined to"),
	TEXT(device_name, "as its driver calls it; of several all that differ"),
	TEXT(device_type, "CPU, GPU, ..."),
	TEXT(device_driver, "library or driver, with version and settings"),
	INT(device_units, "compute units, of several devices together"),
	TEXT(model, "network"),
	INT(parameters, "of the network"),
	TEXT(dataset, "name, by content"),
	TEXT(dataset_sha256, "of the training images"),
	INT(train_samples, "in the training set"),
	INT(test_samples, "in the test set"),
	INT(batch, "samples per core and iteration; empty: they differ"),
	INT(global_batch, "samples per iteration, of all cores"),
	INT(test_batch, "samples per batch of the test"),
	INT(epochs, "asked for"),
	INT(steps, "most iterations an epoch; empty: all"),
	INT(seed, "of parameters, order and dropout"),
	REAL(lr, "learning rate of the first epoch"),
	TEXT(dropout, "on or off"),
	TEXT(reshuffle, "on: each epoch has its own order"),
	INT(warmup, "steps before the timed ones"),
	REAL(setup_s, "start-up, without warm-up"),
	REAL(warmup_s, "warm-up"),
	REAL(loop_s, "training loop, from just before epoch 1 to its end"),
	REAL(iterations_s, "all iterations of the loop"),
	REAL(loader_s, "waiting for batches in the loop"),
	REAL(test_s, "test sets in the loop"),
	REAL(unaccounted_s, "what is left of the total"),
	REAL(total_s, "start-up and training loop"),
	REAL(cpu_user_s, "CPU time of the process, user"),
	REAL(cpu_sys_s, "CPU time of the process, system"),
	REAL(loop_cpu_s, "CPU time of the process in the loop; of a command, "
	     "in all, as what else is said of the loop"),
	INT(maxrss_bytes, "peak memory; of @fork's cores what they have at the "
	    "end, shared memory counted once; of a command and what it waited "
	    "for, the largest; empty: it had no more than bench"),
	INT(involuntary_switches, "times the process lost its CPU"),
	REAL(steal_pct, "CPU time stolen from the machine in the loop"),
	INT(updates, "parameter updates made"),
	REAL(final_loss, "of the last test, else of the last iteration"),
	REAL(final_accuracy_pct, "of the last test"),
	TEXT(parameters_hash, "of the final parameters"),
	TEXT(buffers_hash, "of core 0's final running statistics; empty "
	     "without batch norm"),
	TEXT(version, "of bench"),
	TEXT(git_commit, "bench was built from"),
	TEXT(compiler, "bench was built with"),
	TEXT(cflags, "bench was built with"),
	TEXT(variables, "OPENBLAS_*, OMP_*, POCL_* ... that were set"),
	TEXT(cpu_model, "of the machine"),
	INT(logical_cpus, "of the machine"),
	REAL(cpu_quota, "CPUs the control group allows; empty: no limit"),
	INT(mem_bytes, "memory of the machine"),
	TEXT(os, "operating system"),
	TEXT(kernel, "its kernel"),
	TEXT(straggler, "--straggler: the core that was delayed on purpose, "
	     "and by how many ms in each iteration"),
	TEXT(arm, "of a comparison: A base, B head, A2 base again"),
	INT(stage, "of a comparison: 1 screen, 2 confirmation, 0 before them"),
	INT(block, "whose arms are compared, from 1"),
	INT(attempt, "at the block, from 1: one is measured again if others "
	    "used the machine, and the last one counts"),
	INT(order_in_block, "from 1"),
	INT(env_pad_bytes, "added to the environment, so that the layout of "
	    "the stack differs"),
	REAL(inject_pct, "--inject: work done on purpose in each iteration, of "
	     "the time that it took without; empty: none"),
	INT(launches, "kernels and transfers given to the device in the "
	    "iterations of the loop; empty: there is none"),
	INT(reduced_bytes, "of gradients that the cores gave to be summed in "
	    "them, all cores together; not of what they make together and "
	    "never sum, as cpu's first linear layer, which older rows count; "
	    "nor of parameters that they then pass on, where they have no "
	    "common copy, as on cpu"),
	INT(allocations, "of memory, by the program itself in them; of its "
	    "libraries not"),
	REAL(throttled_s, "that quotas kept CPUs from its control groups, in "
	     "the loop, all CPUs together; empty: the system does not tell"),
	REAL(pressure_pct, "of the loop in which something in its control "
	     "group waited for a CPU, or on the machine if groups do not tell"),
	REAL(foreign_pct, "CPU time of the machine, used by others in the "
	     "loop"),
	REAL(data_s, "of setup_s: finding and loading the data set"),
	REAL(compile_s, "of setup_s: compiling the model, on the first core"),
	REAL(target_accuracy_pct, "the test accuracy at which the run was to "
	     "end; empty: after its epochs"),
	REAL(time_to_accuracy_s, "from before the data set was read to the end "
	     "of the first test that reached it, without the rest of start-up "
	     "and warm-up but for what exceeds 10 s; empty: not reached"),
	INT(epochs_to_accuracy, "the epoch of that test"),
	TEXT(host_key, "the same for machines of one kind: CPU, logical CPUs, "
	     "quota, memory, kernel, virtualisation"),
	TEXT(virtualisation, "who made the virtual machine; none; empty: not "
	     "known"),
	TEXT(governor, "what rules the clock rate of the first CPU; empty: "
	     "not known"),
	TEXT(binary_sha256, "of the program that measured, which tells builds "
	     "of one commit apart"),
	TEXT(algorithm, "dense: every multiplication of the layers' "
	     "definitions; fast: fewer, for the same result"),
	TEXT(precision, "fp32, or bf16: factors of products rounded to it "
	     "where that pays; everything else fp32; fp64: all in double"),
	TEXT(resident, "yes: the device held the data set, and made each "
	     "batch of it in the iteration; no: batches were brought to it "
	     "there; empty: it is none that could"),
	TEXT(not_resident_reason, "why no, where --resident allowed it"),
	TEXT(kernels, "cold: a driver compiled some in compile_s, or another "
	     "process did meanwhile, into the same cache; warm: its cache "
	     "had all; empty: none, or its cache is not known"),
	TEXT(sync, "step: each iteration was waited for; epoch: the device "
	     "ran ahead within an epoch, whose iterations were timed "
	     "together"),
	TEXT(device_class, "cpu, gpu: what the device's kernels are written "
	     "for; empty: the backend has one kind, or none was opened"),
	TEXT(cpu_list, "CPUs the process was confined to, as in 0,2-3"),
};

const char *run_asked_resident(const struct run *run)
{
	if (!run->resident[0])
		return "";
	/* With a reason it was allowed to. */
	return !strcmp(run->resident, "no") && !run->not_resident_reason[0] ?
		       "no" : "auto";
}

const char *run_odd_precision(const struct run *run)
{
	return strcmp(run->precision, "fp32") ? run->precision : "";
}

int run_is_ahead(const struct run *run)
{
	return strcmp(run->sync, "epoch") == 0;
}

const struct row_kind run_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct run),
};
