/*
 * From options to numbers: what a run of a target will do, and how much memory
 * it will take, before anything is opened.
 */
#ifndef BENCH_PLAN_PLAN_H
#define BENCH_PLAN_PLAN_H

#include "bench/options/options.h"
#include "bench/plan/job.h"
#include "bench/plan/target.h"

/* Model, recipe and batch sizes; everything that needs no data. Of what only
 * some targets take, what this one does. A file of weights is held against the
 * model, and not read. */
int plan_run(struct training *training, const struct target *target,
	     const struct options *given, struct error *err);

/* Of --quick: what a run that is planned does less of, so that it is about as
 * short whatever its network is; given numbers of steps stay. */
void plan_quick(struct options *options, const struct training *training);

/* The same of a process of a comparison, which is one of many: batches, and
 * images where that is not enough, of which a few iterations take seconds, on
 * as many cores as any target of the comparison has: so all targets have the
 * same, which is verified once. The learning rate of one core, which all of
 * them then have, falls with its batch (Goyal et al. 2017, arXiv 1706.02677),
 * so that no loss overflows. What was asked for stays. */
void plan_gate(struct options *options, const struct training *training,
	       int most_cores);

/* Sets the batch size, of all cores and of each. */
void plan_batch(struct training *training, int global_samples);

/* What a core's program is compiled for. */
struct program_options plan_program(const struct training *training);

/* The length of FILE in what --save-weights takes, FILE or FILE:best. */
size_t plan_saved_length(const char *text);

/* The number of iterations, once the data set is known. */
int plan_iterations(struct training *training, const struct options *options,
		    struct error *err);

/* The data set that options ask for; of a scan, what plans need of it. */
int plan_dataset(struct dataset *dataset, const struct options *options,
		 int is_scan, struct error *err);

/* Bytes, about, of all cores together. */
struct memory_plan {
	double vectors; /* parameters, gradients, optimizer state */
	double batches; /* what layers make; ready batches, or the data set as
			   devices hold it */
	double data;	/* the data set */
	double host;	/* besides, where the device is not this CPU, too:
			   program, libraries, driver, copies of parameters,
			   images while they are decoded, rows */
};

struct memory_plan plan_memory(const struct training *training);
double memory_plan_total(const struct memory_plan *plan);

/* Bytes that bench run keeps of a process's rows until the tables are printed,
 * about. */
double plan_row_bytes(const struct training *training);

/* Refuses batch norm over one value, and cores without a sample in any
 * iteration; called by plan_iterations(). */
int plan_check_norms(const struct training *training, struct error *err);

/*
 * ERROR_MISSING, with the estimate, if that is more than available (NAN: not
 * known). Of a target whose device computes that is not known before it is
 * opened: it asks plan_check_device() then.
 */
int plan_check_memory(const struct training *training,
		      const struct target *target, double available,
		      struct error *err);

/* The same for cores with a device of that kind each; available is
 * the host's, which has the memory of devices that are CPUs. */
int plan_check_device(const struct training *training,
		      const struct device_info *info, double available,
		      struct error *err);

#endif
