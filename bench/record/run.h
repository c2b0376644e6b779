/* One process that measured one target: a row of runs.csv, and what follows
 * from it. */
#ifndef BENCH_RECORD_RUN_H
#define BENCH_RECORD_RUN_H

#include "bench/record/column.h"
#include "bench/system/kernel.h"

#define RUN_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(run_id, 48, "process; joins observations.csv", NEEDED) \
	TEXT(campaign_id, 48, "invocation of bench run that started the " \
	     "process", NEEDED) \
	TEXT(label, 64, "--label of that invocation") \
	/* 2026-01-31T23:59:59Z */ \
	TEXT(started_utc, 24, "start of the process", NEEDED) \
	TEXT(status, 12, "ok, partial, error or skipped", NEEDED) \
	TEXT(reason, 400, "why the status is not ok") \
	INT(exit_code, "exit code of the process; 128 or more: ended by a " \
	    "signal; 6 after --timeout") \
	TEXT(target, 64, "measured target, as requested: cpu-8, opencl:1", \
	     NEEDED) \
	TEXT(backend, 16, "backend that computed") \
	TEXT(transport, 16, "transport between the cores") \
	INT(cores, "emulated cores") \
	INT(cpus, "CPUs that the process was confined to") \
	TEXT(device_name, 128, "name in the device's driver; several " \
	     "devices: all different names") \
	TEXT(device_type, 16, "CPU, GPU, ...") \
	TEXT(device_driver, 160, "library or driver, with version and " \
	     "settings") \
	INT(device_units, "compute units of all devices") \
	TEXT(model, 32, "network") \
	INT(parameters, "parameters of the network") \
	TEXT(dataset, 32, "data set, named by its content") \
	TEXT(dataset_sha256, 68, "SHA-256 of the training images; folder: of " \
	     "paths, targets and bytes of all images, above 256 MiB of their " \
	     "sizes instead of their bytes") \
	INT(train_samples, "samples of the training set") \
	INT(test_samples, "samples of the test set") \
	INT(batch, "samples per core and iteration; empty: cores differ") \
	INT(global_batch, "samples of all cores per iteration") \
	INT(test_batch, "samples per batch of the test") \
	INT(epochs, "requested epochs") \
	INT(steps, "most iterations per epoch; empty: no limit") \
	INT(seed, "seed of parameters, sample order and dropout") \
	REAL(lr, "learning rate of the first epoch") \
	TEXT(dropout, 4, "on or off") \
	TEXT(reshuffle, 4, "on: each epoch has its own order; off: all " \
	     "epochs have the first one's") \
	INT(warmup, "warm-up iterations") \
	REAL(setup_s, "start-up, without warm-up") \
	REAL(warmup_s, "warm-up") \
	REAL(loop_s, "training loop, from just before epoch 1 to the end of " \
	     "the last epoch") \
	REAL(iterations_s, "all iterations of the loop") \
	REAL(loader_s, "waits for batches in the loop") \
	REAL(test_s, "tests in the loop") \
	REAL(unaccounted_s, "rest of total_s") \
	REAL(total_s, "start-up and training loop") \
	REAL(cpu_user_s, "user CPU time of the process") \
	REAL(cpu_sys_s, "system CPU time of the process") \
	REAL(loop_cpu_s, "CPU time of the process in the loop; command: in " \
	     "its whole run, like all columns of the loop") \
	INT(maxrss_bytes, "peak memory; cores of @fork: their memory at the " \
	    "end, shared memory once. Command: largest of it and the " \
	    "processes that it waited for; empty: not above bench's") \
	INT(involuntary_switches, "times that other programs took the CPU of " \
	    "the process") \
	REAL(steal_pct, "CPU time that the hypervisor took in the loop, as a " \
	     "share of the machine's") \
	INT(updates, "parameter updates") \
	REAL(final_loss, "loss of the last test; no test: of the last " \
	     "iteration") \
	REAL(final_accuracy_pct, "accuracy of the last test") \
	TEXT(parameters_hash, 20, "hash of the final parameters; empty: " \
	     "batch norms were folded into them") \
	TEXT(buffers_hash, 20, "hash of core 0's final running statistics; " \
	     "empty: no batch norm") \
	TEXT(version, 48, "version of bench") \
	TEXT(git_commit, 48, "commit that bench was built from") \
	TEXT(compiler, 64, "compiler that built bench") \
	TEXT(cflags, 200, "compiler flags of that build") \
	TEXT(variables, 400, "environment variables that can change speed, " \
	     "such as OPENBLAS_*, OMP_* and POCL_*") \
	TEXT(cpu_model, 80, "CPU model of the machine") \
	INT(logical_cpus, "logical CPUs of the machine") \
	REAL(cpu_quota, "CPUs that the control group allows; empty: no limit") \
	INT(mem_bytes, "memory of the machine") \
	TEXT(os, 80, "operating system") \
	TEXT(kernel, 80, "kernel of the operating system") \
	TEXT(straggler, 24, "--straggler: delayed core and ms of delay per " \
	     "iteration") \
	/* Set by a parent that compares: `bench check` and its like. */ \
	TEXT(arm, 12, "bench check: A base, B head, A2 base again") \
	INT(stage, "bench check: 1 screen, 2 confirmation, 0 before them") \
	INT(block, "bench check: block of the process, from 1") \
	INT(attempt, "bench check: attempt at the block, from 1; only the " \
	    "last one counts; blocks that other programs disturbed are " \
	    "repeated") \
	INT(order_in_block, "bench check: position in the block, from 1") \
	INT(env_pad_bytes, "bench check: bytes added to the environment, to " \
	    "move the stack") \
	REAL(inject_pct, "--inject: added work per iteration, relative to " \
	     "the iteration without it; empty: none") \
	/* Over all cores; exactly equal in an equal run. */ \
	INT(launches, "kernels and transfers submitted to the device in the " \
	    "loop's iterations; empty: no device") \
	INT(reduced_bytes, "bytes of gradients that all cores summed in the " \
	    "loop's iterations, and of factors sent to other hosts. " \
	    "Excluded: copied parameters, and gradients that cores compute " \
	    "jointly (linear layers of cpu; older rows count some)") \
	INT(allocations, "memory allocations in the loop's iterations, by " \
	    "bench but not by libraries") \
	/* Disturbance: see bench/system/kernel.h. */ \
	REAL(throttled_s, "time that quotas kept CPUs from the process in " \
	     "the loop, summed over CPUs; empty: not reported by the system") \
	REAL(pressure_pct, "share of the loop in which a task of the control " \
	     "group, or of the machine if groups are not reported, waited " \
	     "for a CPU") \
	REAL(foreign_pct, "CPU time that other programs used in the loop, as " \
	     "a share of the machine's") \
	REAL(data_s, "part of setup_s: finding and loading the data set") \
	REAL(compile_s, "part of setup_s: compiling the model on the first " \
	     "core") \
	/* bench/record/time_to_accuracy.h */ \
	REAL(target_accuracy_pct, "test accuracy that ends the run; empty: " \
	     "it ends after its epochs") \
	REAL(time_to_accuracy_s, "time from before reading the data set to " \
	     "the end of the first test that reaches the accuracy. Other " \
	     "start-up and warm-up count only above 10 s. Empty: not reached") \
	INT(epochs_to_accuracy, "epoch of that test") \
	/* machine_key() */ \
	TEXT(host_key, 20, "equal for machines with equal CPU, logical CPUs, " \
	     "quota, memory, kernel and virtualisation") \
	TEXT(virtualisation, 32, "vendor of the virtual machine, or none; " \
	     "empty: unknown") \
	TEXT(governor, 24, "frequency governor of the first CPU; empty: " \
	     "unknown") \
	TEXT(binary_sha256, 68, "SHA-256 of the program that measured; " \
	     "distinguishes builds of one commit") \
	TEXT(algorithm, 8, "dense: every multiplication of the layers' " \
	     "definitions; fast: fewer, for the same result") \
	TEXT(precision, 16, "fp32; bf16: some factors of products rounded, " \
	     "the rest fp32; fp64: double; fp16: mixed, with a scaled loss; " \
	     "bf16-storage: all stored values rounded") \
	TEXT(resident, 4, "yes: the device kept the data set; no: each " \
	     "iteration uploaded its batch; empty: the device cannot keep a " \
	     "data set") \
	TEXT(not_resident_reason, 160, "why resident is no although " \
	     "--resident allows yes") \
	TEXT(kernels, 8, "cold: compile_s has a driver's compilations, or " \
	     "another process filled the cache meanwhile; warm: the cache " \
	     "had all; empty: no kernels, or an unknown cache") \
	TEXT(sync, 8, "step: the host waited for each iteration; epoch: the " \
	     "device ran ahead within an epoch, timed as a whole") \
	TEXT(device_class, 8, "cpu or gpu: class of the device's kernels; " \
	     "empty: the backend has no classes, or opened no device") \
	TEXT(cpu_list, 200, "CPUs that the process was confined to, such as " \
	     "0,2-3") \
	INT(offloads, "1: devices compute; 0: the threads that call them " \
	    "compute; empty: unknown") \
	INT(passes, "timed forward passes of an inference; empty: training") \
	INT(test_steps, "most steps per test; empty: no limit") \
	INT(image_size, "side of the images that the model reads") \
	TEXT(weights, 68, "SHA-256 of the file of --weights; empty: seeded " \
	     "parameters") \
	REAL(loss_scale, "--precision fp16: scale of the loss at the end, a " \
	     "power of two; empty: not scaled") \
	INT(skipped_steps, "--precision fp16: iterations whose gradient " \
	    "overflowed; they make no update") \
	TEXT(pad, 4, "on: an epoch reuses the first samples of its order " \
	     "until all cores have equally many") \
	INT(epoch_iterations, "iterations of a whole epoch, which steps may " \
	    "cut; empty: inference, or data without an end") \
	TEXT(allreduce, 8, "MPI: ordered, whole or native sums of gradients; " \
	     "empty: another transport, whose sums are ordered") \
	TEXT(hosts, 400, "MPI: hosts and their number of ranks, such as " \
	     "a:4,b:4; empty: another transport") \
	INT(bucket_mb, "MPI on several hosts: MiB of gradient sent at a " \
	    "time; cpu in fp32 computes meanwhile. 0: all at once; empty: " \
	    "another transport, or native sums") \
	REAL(overlapped_s, "part of iterations_s, mean of the cores: " \
	     "computing while parts of the gradient were sent between hosts; " \
	     "empty: none")

struct run {
	RUN_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

extern const struct row_kind run_rows;

/* Returns the --resident that such a run needs; empty if its backend supports
 * none. */
const char *run_asked_resident(const struct run *run);

/* Returns the precision; empty for fp32. */
const char *run_odd_precision(const struct run *run);

/* Returns 1 if all iterations of an epoch were timed together. */
int run_is_ahead(const struct run *run);

/* Returns 1 for a one-core target that can be the base of speed-ups. */
int run_is_one_core(const struct run *run);

/* Returns 1 if devices compute, not the cores that call them. */
int run_is_on_devices(const struct run *run);

/* Returns the name of several cores: "cores", "devices" or "sub-devices". */
const char *run_cores_name(const struct run *run);

/* Returns the iterations of the loop: updates and steps that fp16 skipped;
 * CELL_NO_INT if not known. */
long run_iterations(const struct run *run);

/* Returns the iterations of a whole epoch; CELL_NO_INT if not known. */
long run_whole_epoch(const struct run *run);

/* Returns 1 if --steps ended the epochs early, or if it was given and the
 * length of an epoch is not known. */
int run_is_cut(const struct run *run);

/* Returns the samples per update: the global batch, or the training set if that
 * is smaller; CELL_NO_INT if not known. */
long run_update_samples(const struct run *run);

/* Returns the epochs that the run did or was asked for; a target accuracy may
 * end it early. CELL_NO_INT if not known. */
long run_epochs_done(const struct run *run);

/* Returns 1 if the run timed forward passes only. */
int run_is_inference(const struct run *run);

/* Returns the samples of each test; CELL_NO_INT if not known. */
long run_tested(const struct run *run);

/*
 * Returns 1 if others took more of the machine than is usual on a quiet one:
 * the hypervisor, a quota, other programs. The process's own cores, which may
 * share CPUs, are not others. Measured times are not used.
 *
 * The kernel counts ticks of 10 ms: the few ticks that rounding can produce are
 * ignored, whatever their share of a short process is.
 */
int run_is_disturbed(const struct run *run);

/* Sets the columns of disturbance between two readings, elapsed_s apart, during
 * which the run used cpu_s. */
void run_set_disturbance(struct run *run,
			 const struct disturbance_counters *before,
			 const struct disturbance_counters *after,
			 double elapsed_s, double cpu_s);

/* Returns 1 if the ranks were on several hosts. "name:4" is one host. */
int run_has_hosts(const struct run *run);

/* Returns the CPUs that the run could use at a time: its CPU set, or the quota
 * of its control groups if that is less. NAN if not known. */
double run_cpus(const struct run *run);

/* Returns the CPUs that others used, the hypervisor included; NAN if not
 * known. */
double run_others_cpus(const struct run *run);

/*
 * Returns 1 if the run was disturbed, or got less than nine tenths of its CPUs.
 * The latter is not tested for several cores with a CPU each, which may wait
 * for one another, nor for devices. why gets the cause: "others used 0.52 of 2
 * CPUs"; a quota and others are both named.
 */
int run_is_slowed(const struct run *run, char *why, size_t size);

/* Describes a deliberate slowdown in words (bench/plan/slowdown.h); empty if
 * there was none. */
void run_explain_slowdown(const struct run *run, char *text, size_t size);

#endif
