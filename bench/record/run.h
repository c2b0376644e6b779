/*
 * One process that measured one target: a row of runs.csv, and what it says of
 * its run.
 */
#ifndef BENCH_RECORD_RUN_H
#define BENCH_RECORD_RUN_H

#include "bench/record/column.h"
#include "bench/system/kernel.h"

#define RUN_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(run_id, 48, "the process; joins observations.csv", NEEDED) \
	TEXT(campaign_id, 48, "the invocation of bench run it belongs to", \
	     NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	/* 2026-01-31T23:59:59Z */ \
	TEXT(started_utc, 24, "when the process was started", NEEDED) \
	TEXT(status, 12, "ok, partial, error or skipped", NEEDED) \
	TEXT(reason, 400, "why not ok") \
	INT(exit_code, "of the process; 128 and more: killed by a signal; " \
	    "after --timeout that of a run that failed, 6") \
	TEXT(target, 64, "what was timed, as asked for: cpu-8, opencl:1", \
	     NEEDED) \
	TEXT(backend, 16, "who computed") \
	TEXT(transport, 16, "how the cores met") \
	INT(cores, "emulated cores") \
	INT(cpus, "CPUs the process was confined to") \
	TEXT(device_name, 128, "as its driver calls it; of several all that " \
	     "differ") \
	TEXT(device_type, 16, "CPU, GPU, ...") \
	TEXT(device_driver, 160, "library or driver, with version and " \
	     "settings") \
	INT(device_units, "compute units, of several devices together") \
	TEXT(model, 32, "network") \
	INT(parameters, "of the network") \
	TEXT(dataset, 32, "name, by content") \
	TEXT(dataset_sha256, 68, "of the training images; of a folder, of " \
	     "paths, targets and bytes of all its images, or beyond 256 MiB " \
	     "of their sizes") \
	INT(train_samples, "in the training set") \
	INT(test_samples, "in the test set") \
	INT(batch, "samples per core and iteration; empty: they differ") \
	INT(global_batch, "samples per iteration, of all cores") \
	INT(test_batch, "samples per batch of the test") \
	INT(epochs, "asked for") \
	INT(steps, "most iterations an epoch; empty: all") \
	INT(seed, "of parameters, order and dropout") \
	REAL(lr, "learning rate of the first epoch") \
	TEXT(dropout, 4, "on or off") \
	TEXT(reshuffle, 4, "on: each epoch has its own order") \
	INT(warmup, "steps before the timed ones") \
	REAL(setup_s, "start-up, without warm-up") \
	REAL(warmup_s, "warm-up") \
	REAL(loop_s, "training loop, from just before epoch 1 to its end") \
	REAL(iterations_s, "all iterations of the loop") \
	REAL(loader_s, "waiting for batches in the loop") \
	REAL(test_s, "test sets in the loop") \
	REAL(unaccounted_s, "what is left of the total") \
	REAL(total_s, "start-up and training loop") \
	REAL(cpu_user_s, "CPU time of the process, user") \
	REAL(cpu_sys_s, "CPU time of the process, system") \
	REAL(loop_cpu_s, "CPU time of the process in the loop; of a command, " \
	     "of its whole run, as the other numbers of the loop") \
	INT(maxrss_bytes, "peak memory; of @fork's cores what they have at " \
	    "the end, shared memory counted once; of a command and what it " \
	    "waited for, the largest; empty: it had no more than bench") \
	INT(involuntary_switches, "times the process lost its CPU") \
	REAL(steal_pct, "CPU time stolen from the machine in the loop") \
	INT(updates, "parameter updates made") \
	REAL(final_loss, "of the last test, else of the last iteration") \
	REAL(final_accuracy_pct, "of the last test") \
	TEXT(parameters_hash, 20, "of the final parameters; empty where " \
	     "batch norms were folded into them") \
	TEXT(buffers_hash, 20, "of core 0's final running statistics; empty " \
	     "without batch norm") \
	TEXT(version, 48, "of bench") \
	TEXT(git_commit, 48, "bench was built from") \
	TEXT(compiler, 64, "bench was built with") \
	TEXT(cflags, 200, "bench was built with") \
	TEXT(variables, 400, "OPENBLAS_*, OMP_*, POCL_* ... that were set") \
	TEXT(cpu_model, 80, "of the machine") \
	INT(logical_cpus, "of the machine") \
	REAL(cpu_quota, "CPUs the control group allows; empty: no limit") \
	INT(mem_bytes, "memory of the machine") \
	TEXT(os, 80, "operating system") \
	TEXT(kernel, 80, "its kernel") \
	TEXT(straggler, 24, "--straggler: the core that was delayed on " \
	     "purpose, and by how many ms in each iteration") \
	/* Set by a parent that compares: `bench check` and its like. */ \
	TEXT(arm, 12, "of a comparison: A base, B head, A2 base again") \
	INT(stage, "of a comparison: 1 screen, 2 confirmation, 0 before them") \
	INT(block, "whose arms are compared, from 1") \
	INT(attempt, "at the block, from 1: one is measured again if others " \
	    "used the machine, and the last one counts") \
	INT(order_in_block, "from 1") \
	INT(env_pad_bytes, "added to the environment, so that the layout of " \
	    "the stack differs") \
	REAL(inject_pct, "--inject: work done on purpose in each iteration, " \
	     "of the time that it took without; empty: none") \
	/* Of all cores; exactly the same again in a run like it. */ \
	INT(launches, "kernels and transfers given to the device in the " \
	    "iterations of the loop; empty: there is none") \
	INT(reduced_bytes, "of gradients that the cores gave to be summed in " \
	    "them, all cores together, and of factors that they gave to " \
	    "other hosts instead; not of what they make together and never " \
	    "sum, as cpu's linear layers, of which older rows count some; " \
	    "nor of parameters that they then pass on, where they have no " \
	    "common copy, as on cpu") \
	INT(allocations, "of memory, by the program itself in them, not by " \
	    "its libraries") \
	/* What else went on: bench/system/kernel.h. */ \
	REAL(throttled_s, "that quotas kept CPUs from its control groups, in " \
	     "the loop, all CPUs together; empty: the system does not report " \
	     "it") \
	REAL(pressure_pct, "of the loop in which something in its control " \
	     "group waited for a CPU, or on the machine if groups do not " \
	     "report it") \
	REAL(foreign_pct, "CPU time of the machine, used by others in the " \
	     "loop") \
	REAL(data_s, "of setup_s: finding and loading the data set") \
	REAL(compile_s, "of setup_s: compiling the model, on the first core") \
	/* bench/record/time_to_accuracy.h */ \
	REAL(target_accuracy_pct, "the test accuracy at which the run was to " \
	     "end; empty: after its epochs") \
	REAL(time_to_accuracy_s, "from before the data set was read to the " \
	     "end of the first test that reached it, without the rest of " \
	     "start-up and warm-up but for what exceeds 10 s; empty: not " \
	     "reached") \
	INT(epochs_to_accuracy, "the epoch of that test") \
	/* machine_key() */ \
	TEXT(host_key, 20, "the same for machines of one kind: CPU, logical " \
	     "CPUs, quota, memory, kernel, virtualisation") \
	TEXT(virtualisation, 32, "maker of the virtual machine, or none; " \
	     "empty: not known") \
	TEXT(governor, 24, "frequency governor of the first CPU; empty: not " \
	     "known") \
	TEXT(binary_sha256, 68, "of the program that measured; distinguishes " \
	     "builds of one commit") \
	TEXT(algorithm, 8, "dense: every multiplication of the layers' " \
	     "definitions; fast: fewer, for the same result") \
	TEXT(precision, 16, "fp32, or bf16: factors of products rounded to " \
	     "it where that pays; everything else fp32; fp64: all in double; " \
	     "fp16: mixed, with a scaled loss; bf16-storage: all that is " \
	     "stored") \
	TEXT(resident, 4, "yes: the device held the data set, and made each " \
	     "batch of it in the iteration; no: batches were uploaded in it; " \
	     "empty: not a device that could hold it") \
	TEXT(not_resident_reason, 160, "why not, where --resident allowed it") \
	TEXT(kernels, 8, "cold: a driver compiled some in compile_s, or " \
	     "another process did meanwhile, into the same cache; warm: its " \
	     "cache had all; empty: none, or its cache is not known") \
	TEXT(sync, 8, "step: each iteration was waited for; epoch: the " \
	     "device ran ahead within an epoch, whose iterations were timed " \
	     "together") \
	TEXT(device_class, 8, "cpu, gpu: what the device's kernels are " \
	     "written for; empty: the backend has one kind, or none was " \
	     "opened") \
	TEXT(cpu_list, 200, "CPUs the process was confined to, as in 0,2-3") \
	INT(offloads, "1: devices compute; 0: the threads that call them; " \
	    "empty: not known") \
	INT(passes, "of an inference: forward passes that are timed; empty: " \
	    "it trained") \
	INT(test_steps, "most steps of a test; empty: all") \
	INT(image_size, "side of the images as the model takes them") \
	TEXT(weights, 68, "SHA-256 of the file of --weights, with which it " \
	     "began; empty: with seeded parameters") \
	REAL(loss_scale, "of --precision fp16: what the loss was multiplied " \
	     "by in the end, a power of two; empty: it was not") \
	INT(skipped_steps, "likewise: iterations whose gradient overflowed, " \
	    "so that no step was made; they are not among updates") \
	TEXT(pad, 4, "on: a pass goes on with the first samples of its " \
	     "order until every core has as many") \
	INT(epoch_iterations, "of a whole epoch, which steps may cut; empty: " \
	    "not trained, or on data without an end") \
	TEXT(allreduce, 8, "of ranks of MPI: ordered, whole or native sums " \
	     "of gradients; empty: other cores, whose sums are ordered") \
	TEXT(hosts, 400, "of ranks of MPI: where they were, and how many, " \
	     "as a:4,b:4; empty: other cores, all of them here") \
	INT(bucket_mb, "of ranks of MPI: MiB of a gradient that they send at " \
	    "a time, where they are on several hosts, on cpu in fp32 while " \
	    "they compute the rest; 0: all of it; empty: other cores, or " \
	    "native sums") \
	REAL(overlapped_s, "of iterations_s: while cores computed and parts " \
	     "of their gradients were under way between hosts, the mean " \
	     "core; empty: nothing was")

struct run {
	RUN_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind run_rows;

/* The --resident that asks for such a run; empty where no device could. */
const char *run_asked_resident(const struct run *run);

/* Its precision where that is worth a word: empty for fp32. */
const char *run_odd_precision(const struct run *run);

/* Did its iterations have a time together, one an epoch? */
int run_is_ahead(const struct run *run);

/* Is this the campaign's one-core target, which speed-ups are relative to? */
int run_is_one_core(const struct run *run);

/* Do devices compute, instead of the cores that call them? */
int run_is_on_devices(const struct run *run);

/* What its cores are, if there are several: "cores", "devices" or
 * "sub-devices". */
const char *run_cores_name(const struct run *run);

/* Iterations that its loop made: parameter updates, and steps that fp16
 * skipped; CELL_NO_INT if they are not known. */
long run_iterations(const struct run *run);

/* Iterations of a whole epoch; CELL_NO_INT if it is not known. */
long run_whole_epoch(const struct run *run);

/* Did --steps end its epochs before the training set did? Where nobody knows,
 * those with --steps. */
int run_is_cut(const struct run *run);

/* Samples of an update: the global batch, or a training set that is smaller;
 * CELL_NO_INT: not known. */
long run_update_samples(const struct run *run);

/* Epochs that it did, or was to do if it was cut short: a target accuracy may
 * end it early. CELL_NO_INT: not known. */
long run_epochs_done(const struct run *run);

/* Did it time forward passes alone? */
int run_is_inference(const struct run *run);

/* Samples that each of its tests had; CELL_NO_INT if that is not known. */
long run_tested(const struct run *run);

/*
 * Did others than the process take more of the machine than is usual on a quiet
 * one: the hypervisor, a quota, other programs? Its own cores, which may share
 * CPUs, are no others, and no time that was measured is asked.
 *
 * The kernel counts in ticks of 10 ms: the few of them that rounding alone can
 * make disturb nothing, whatever their share of a short process is.
 */
int run_is_disturbed(const struct run *run);

/* Sets the columns of what went on beside the run, between two moments
 * elapsed_s apart, in which it used cpu_s. */
void run_set_disturbance(struct run *run,
			 const struct disturbance_counters *before,
			 const struct disturbance_counters *after,
			 double elapsed_s, double cpu_s);

/* Were its ranks on several hosts? "name:4" is one. */
int run_has_hosts(const struct run *run);

/* CPUs that the run could use at a time: those that it was confined to, or less
 * by the quota of its control groups; NAN: not known. */
double run_cpus(const struct run *run);

/* CPUs that others used, the hypervisor included; NAN where nobody knows. */
double run_others_cpus(const struct run *run);

/*
 * Was it disturbed, or did it get less than nine tenths of its CPUs? (Of
 * several cores with a CPU for each one may wait for another, and devices' CPUs
 * are their own affair.) Then why holds the cause, as in "others used 0.52 of 2
 * CPUs"; a quota and others are both named.
 */
int run_is_slowed(const struct run *run, char *why, size_t size);

/* What was done on purpose to make it slower, in words (bench/plan/slowdown.h);
 * empty if it was nothing. */
void run_explain_slowdown(const struct run *run, char *text, size_t size);

#endif
