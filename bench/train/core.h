/* One core while it trains. Private to training.c and its helpers. */
#ifndef BENCH_TRAIN_CORE_H
#define BENCH_TRAIN_CORE_H

#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/train/outcome.h"
#include "bench/train/profile.h"

struct core {
	struct replica_observer observer; /* first member: cast to struct
					     core */
	const struct training *training;
	struct training_outcome *outcome;
	struct group *group;
	struct device *device;
	struct program *program;
	struct loader *loader;
	struct profile *profile; /* profile of rank 0; NULL = none */
	struct profile_subject profile_subject;
	/* Batch of the warm-up. After an error the device may still read it. */
	float *images, *targets;
	uint16_t *labels;
	int masks_fd; /* file of --dump-masks, or -1 */
	int test_batches; /* batches of the test after each epoch */
	double phase_began_s, phase_began_cpu_s;
	int updated; /* 1 after the iteration's first update: see again_s */
	struct step_report report; /* the last iteration's */
	/* --inject adds a share of an iteration's time as work. work_owed_s is
	 * the rest in seconds; it is below 0 after too much work. The result
	 * keeps the compiler from removing the work. */
	double work_began_s, work_owed_s;
	uint64_t worked;
	/* iterations that the cores have not reported to each other: 0 or 1 */
	int unreported;
	struct loss_scaler scaler; /* for --precision fp16 */
	int epoch, iteration; /* epoch and iteration of report */
	double loop_began_s;
	double clock_shift_s; /* seconds from this host's clock to the first
				 core's */
	struct weights kept; /* weights of rank 0 that will be saved */
	double best_loss; /* lowest mean test loss of all cores so far */
	int tested, improved; /* 1 after a test; 1 if the last test was the
				 best */
	int reached; /* 1: the accuracy that ends the run is reached */
	/* 1 for each core on this host. Set only if a launcher started the
	 * cores. */
	char is_near[GROUP_MAX_SIZE];
};

/* Opens the device and the data, and compiles the program. training_run()
 * closes them, after a failure too. */
int core_start(struct core *core, struct error *err);

/* Returns 1 for the first core of a process. */
int core_leads_process(const struct core *core);

/* Returns the CPU time of the core's work so far, in seconds. */
double core_cpu(const struct core *core);

/* Adds the times of a phase that ends now and starts the next phase. */
void core_end_phase(struct core *core, enum replica_phase phase);

/* Writes the dropout masks of the last iteration, in the order of the global
 * batch. Does nothing without --dump-masks. */
int core_dump_masks(struct core *core, const struct batch *batch,
		    struct error *err);

/* Frees the batch of the warm-up. */
void core_end_warm_up(struct core *core);

/* Runs the warm-up on generated data, then restores parameters and state. */
int core_warm_up(struct core *core, struct error *err);

/* Runs one iteration, or one forward pass if training->infers, and fills
 * core->report. */
int core_iterate(struct core *core, const struct batch *batch,
		 const struct update *update, struct error *err);

/* Makes all cores report times of the first core's clock, since clocks of
 * several hosts differ. All cores must call it. */
int core_share_clock(struct core *core, struct error *err);

/* Exchanges the last reports of all cores; rank 0 records them. Fails with
 * ERROR_STOPPED if a core got a signal, and with ERROR_FAILED if a loss is not
 * a number. */
int core_exchange(struct core *core, struct error *err);

/* Returns -1 with ERROR_STOPPED and notes the signal in the run's row. */
int core_stop(struct core *core, int number, struct error *err);

/* Runs the iterations of an epoch on a device without waiting for each of
 * them. */
int core_train_ahead(struct core *core, struct error *err);

/* Returns the optimizer step of core->epoch and core->iteration for their
 * batch. */
struct update core_update(const struct core *core, const struct batch *batch);

/* Returns a copy of count values of a vector of the program, or NULL on
 * failure. The caller frees it. */
float *core_load(struct core *core, enum vector which, size_t count,
		 struct error *err);

/* Hashes count values of a vector of the program. */
int core_hash(struct core *core, enum vector which, size_t count,
	      uint64_t *hash, struct error *err);

/* Hashes the parameters as this core sees them. Fails if another core sees
 * others. Cores that share one copy cannot differ in it; what they derive from
 * it is checked by verify_cores(). hash may be NULL. */
int core_check_replicas(struct core *core, uint64_t *hash, struct error *err);

/* Writes the hash of the parameters and of core 0's running statistics into the
 * run's row. */
int core_record_hashes(struct core *core, struct error *err);

#endif
