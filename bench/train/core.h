/* One core while it trains: private to training.c and its helpers. */
#ifndef BENCH_TRAIN_CORE_H
#define BENCH_TRAIN_CORE_H

#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/train/outcome.h"
#include "bench/train/profile.h"

struct core {
	struct replica_observer observer; /* first: it is the core */
	const struct training *training;
	struct training_outcome *outcome;
	struct group *group;
	struct device *device;
	struct program *program;
	struct loader *loader;
	struct profile *profile; /* of rank 0; NULL: not asked for */
	struct profile_subject profile_subject;
	/* Of the warm-up; after an error the device may still read them. */
	float *images, *targets;
	uint16_t *labels;
	int masks_fd; /* of the file of --dump-masks, or -1 */
	int test_batches; /* after each epoch */
	double phase_began_s, phase_began_cpu_s;
	int updated; /* the iteration's update has ended once: see again_s */
	struct step_report report; /* of the last iteration */
	/* --inject adds a share of an iteration's time as work: the clock when
	 * the iteration began, how much work is still owed (below 0: too much
	 * was done), and what it computes, so that it is not optimised away. */
	double work_began_s, work_owed_s;
	uint64_t worked;
	/* Iterations whose reports the cores have not exchanged yet: 0 or 1. */
	int unreported;
	struct loss_scaler scaler; /* of --precision fp16 */
	int epoch, iteration; /* of report */
	double loop_began_s;
	double clock_shift_s; /* from this host's clock to the first core's */
	struct weights kept; /* of rank 0, to be saved */
	double best_loss; /* of the tests so far, of all cores together */
	int tested, improved; /* there was one; the last one is the best */
	int reached; /* the accuracy that ends the run */
	/* Whether each core is on this host; where they join alone. */
	char is_near[GROUP_MAX_SIZE];
};

/* Opens and compiles all that the core needs; training_run() closes it. */
int core_start(struct core *core, struct error *err);

/* Whether the core is the first of its process, or alone there. */
int core_leads_process(const struct core *core);

/* The CPU time of the core's work so far. */
double core_cpu(const struct core *core);

/* Adds the times of a phase that ends now, and begins the next one. */
void core_end_phase(struct core *core, enum replica_phase phase);

/* Dropout decisions of the last iteration, in the global batch's order. */
int core_dump_masks(struct core *core, const struct batch *batch,
		    struct error *err);

/* Frees the batch of the warm-up. */
void core_end_warm_up(struct core *core);

/* Steps on generated data; parameters and state are as before afterwards. */
int core_warm_up(struct core *core, struct error *err);

/* One iteration, or forward pass where training->infers, timed into
 * core->report. */
int core_iterate(struct core *core, const struct batch *batch,
		 const struct update *update, struct error *err);

/* All cores meet. From now on what they report is of the first one's clock:
 * those of several hosts have nothing in common. */
int core_share_clock(struct core *core, struct error *err);

/* All cores exchange their last reports; rank 0 records them. ERROR_STOPPED:
 * one of them got a signal. */
int core_exchange(struct core *core, struct error *err);

/* -1: ERROR_STOPPED by this signal, for the run's row. */
int core_stop(struct core *core, int number, struct error *err);

/* The iterations of an epoch by a device that runs ahead: none of them is
 * waited for. */
int core_train_ahead(struct core *core, struct error *err);

/* The optimizer's step of core->epoch and core->iteration, whose batch it is.
 */
struct update core_update(const struct core *core, const struct batch *batch);

/* The count values of a vector of the program, to be freed; NULL on failure. */
float *core_load(struct core *core, enum vector which, size_t count,
		 struct error *err);

/* Of the count values of a vector of the program. */
int core_hash(struct core *core, enum vector which, size_t count,
	      uint64_t *hash, struct error *err);

/* The hash of the parameters as this core sees them; with several cores, all
 * must see the same. Where they share one copy they cannot but do so, and what
 * each has derived from it is not in the hash: verify_cores() looks at that.
 * hash may be NULL. */
int core_check_replicas(struct core *core, uint64_t *hash, struct error *err);

/* That hash, and the one of core 0's running statistics, for the run's row. */
int core_record_hashes(struct core *core, struct error *err);

#endif
