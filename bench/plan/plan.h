/* Plans a run: turns options into numbers and estimates its memory, before any
 * device is opened. */
#ifndef BENCH_PLAN_PLAN_H
#define BENCH_PLAN_PLAN_H

#include "bench/options/options.h"
#include "bench/plan/job.h"
#include "bench/plan/target.h"

/* Plans everything that needs no data: model, recipe, batch sizes, sums and
 * slowdown. Options that the target does not take are ignored. A file of
 * weights is compared with the model by its header only. Fails with ERROR_USAGE
 * if options contradict each other or the model. */
int plan_run(struct training *training, const struct target *target,
	     const struct options *given, struct error *err);

/* Implements --quick: reduces batches, steps and warm-up so that a planned run
 * takes a similar time on every network. Options that the user gave stay. */
void plan_quick(struct options *options, const struct training *training);

/* Shortens each process of `bench check`, so that a few iterations take
 * seconds. It reduces the batch size, and then the image size if that is not
 * enough. most_cores is the largest number of cores of any target: all targets
 * get the same sizes, which are verified once. The learning rate falls with the
 * batch (Goyal et al. 2017, arXiv 1706.02677), so that no loss overflows.
 * Options that the user gave stay. */
void plan_gate(struct options *options, const struct training *training,
	       int most_cores);

/* Sets the global batch size and the first core's share. */
void plan_batch(struct training *training, int global_samples);

/* Returns the options with which a core compiles its program. */
struct program_options plan_program(const struct training *training);

/* Returns the length of FILE in an argument of --save-weights: FILE or
 * FILE:best. */
size_t plan_saved_length(const char *text);

/* Sets the number of iterations. The data set must be loaded. Fails with
 * ERROR_USAGE if the model does not fit the data, or a batch has more samples
 * than the data set. */
int plan_iterations(struct training *training, const struct options *options,
		    struct error *err);

/* Loads the data set that the options or their model name. With is_scan, it
 * loads only what a plan needs. */
int plan_dataset(struct dataset *dataset, const struct options *options,
		 int is_scan, struct error *err);

/* Estimated bytes on this host, of all its cores together. */
struct memory_plan {
	double vectors; /* parameters, gradients, optimizer state */
	double batches; /* outputs of layers, and ready batches or the device's
			   copy of the data set */
	double data;	/* the data set */
	double host;	/* program, libraries, driver, copies of parameters,
			   images that are being decoded, rows */
};

struct memory_plan plan_memory(const struct training *training);
double memory_plan_total(const struct memory_plan *plan);

/* Returns the estimated bytes of the rows that bench run keeps per process
 * until it prints the tables. */
double plan_row_bytes(const struct training *training);

/* Fails with ERROR_USAGE if a batch norm would see one value per channel, or if
 * a core has no sample in any iteration. plan_iterations() calls it. */
int plan_check_norms(const struct training *training, struct error *err);

/*
 * Fails with ERROR_MISSING and the estimate if the run needs more than
 * available bytes (NAN = not known) or more shared memory than MPI has. If a
 * device computes, its memory is not known yet: plan_check_device() checks it
 * later.
 */
int plan_check_memory(const struct training *training,
		      const struct target *target, double available,
		      struct error *err);

/* Fails with ERROR_MISSING if a device of this kind, one per core, lacks
 * memory. available: bytes of the host, used by devices that are CPUs. */
int plan_check_device(const struct training *training,
		      const struct device_info *info, double available,
		      struct error *err);

#endif
