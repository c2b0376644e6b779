/* The parts of `bench verify`; private to verify*.c. */
#ifndef BENCH_VERIFY_VERIFY_PARTS_H
#define BENCH_VERIFY_VERIFY_PARTS_H

#include "backends/group/transport.h"
#include "bench/run/dataset.h"
#include "bench/options/options.h"
#include "bench/run/target.h"

#define VERIFY_NOT_MEASURED (-1.)

/* What is compared with what. */
struct verify_task {
	const struct model *model;
	const struct dataset *dataset;
	const struct backend *backend;
	const char *device; /* of the backend; NULL: any */
	enum algorithm algorithm; /* of the backend */
	enum precision precision; /* likewise */
	double bound; /* of every error but ... */
	double gradient_bound; /* and of the sum over cores */
	double update_bound;   /* of parameters */
	const struct options *options;
	int batch, steps;   /* in lockstep */
	int measured_batch; /* of one step more, as a run has it, ... */
	int test_batch;	    /* ... and of one evaluation */
	double lr;
	struct tensor tensors[MODEL_MAX_TENSORS];
	int tensor_count;
};

/* One of the programs that are compared; all zero before. */
struct side {
	struct device *device;
	struct program *program;
	float *gradient, *parameters;
};

/* Opens a device, unless it has one, and compiles the task's model. On failure
 * to be closed as well. */
int side_open(struct side *side, const struct verify_task *task,
	      const struct backend *backend, struct error *err);
void side_close_program(struct side *side); /* the device stays */
void side_close(struct side *side);

/* Imposes what leader has decided in its last gradient, dropout included;
 * decisions: for those of a batch, see verify_most_decisions(). */
int side_follow(struct side *side, struct side *leader, uint8_t *decisions,
		struct error *err);

/* These leave side->gradient and side->parameters. */
int side_gradient(struct side *side, const struct batch *batch,
		  struct score *score, struct error *err);
int side_update(struct side *side, const struct update *update,
		struct error *err);

/* Largest errors over some steps; NAN counts as largest. */
struct verify_errors {
	/* Of the tensor's largest entry; parameters after the update. */
	double gradients[MODEL_MAX_TENSORS];
	double parameters[MODEL_MAX_TENSORS];
	double loss; /* relative */
	double buffers; /* running statistics, of each tensor's largest */
	double regrets[MODEL_MAX_LAYERS]; /* see program_regret() */
};

/* The steps in lockstep, and the one of the batch that is measured. */
enum verify_pass { VERIFY_LOCKSTEP, VERIFY_MEASURED, VERIFY_PASSES };

/* What was found of one backend. */
struct verify_result {
	struct target target; /* a backend, and which of its devices */
	struct error why;     /* it was not compared; no message: it was */
	struct verify_errors errors[VERIFY_PASSES];
	double test_loss;     /* of an evaluation, relative */
	double test_correct;  /* right answers, more or fewer, of all samples */
	int most_cores; /* compared by threads and fork: what a device has */
	double cores;	/* parameters of 2 and 3 cores against those of one */
	long masks_wrong; /* dropout decisions unlike models/random.h */
	int replicas_differ; /* parameters, or what cores make of them */
};

/* PoCL makes a process's device of as many CPUs as it is first opened with. */
#define VERIFY_MOST_CORES 3

/* Backend and reference side by side, the reference taking the backend's
 * parameters, state and decisions before each step. */
int verify_lockstep(const struct verify_task *task,
		    struct verify_result *result, struct error *err);

/* One step of task->measured_batch samples likewise, both in parts and as
 * program_train() does it, and an evaluation of task->test_batch; the last two
 * also of a data set that the program holds, if it can. */
int verify_measured(const struct verify_task *task,
		    struct verify_result *result, struct error *err);

/* Masks, replicas and parameters of 1, 2 and 3 cores, by threads and fork. To
 * be called before this process opens a device of the backend. */
int verify_cores(const struct verify_task *task, struct verify_result *result,
		 struct error *err);

/* Samples of the evaluation: task->test_batch, or all that there are. */
int verify_tested(const struct verify_task *task);

/* Largest |a - b| over the largest |b|; NAN if any of them is none. */
double verify_error(const float *a, const float *b, size_t count);

/* Decisions of the layer that takes most of them for one sample. */
size_t verify_most_decisions(const struct model *model);

/* Keeps the larger error, or NAN. */
void verify_worsen(double *worst, double error);

/* Room for the samples of a share. */
struct share {
	float *images, *targets;
	uint16_t *labels;
};

/* Of so many samples; on failure, to be released. */
int share_allocate(struct share *share, const struct verify_task *task,
		   int samples);
void share_release(struct share *share);

/* Training samples step * count ... in this order, one core's share. Where the
 * model wants vectors as targets, .9 stands for the class and .1 for others. */
void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, struct share *share, struct batch *batch);

/* The same of the first count samples of the test set. */
void verify_test_batch(const struct verify_task *task, int count,
		       struct share *share, struct batch *batch);

/* Cores that train task->steps steps together; parameters become those of
 * rank 0. Adds to result what of masks and replicas is wrong. */
int verify_team(const struct verify_task *task, const int *order,
		const struct transport *transport, int cores,
		float *parameters, struct verify_result *result,
		struct error *err);

/* verify.c: that a backend has the slots that comparing needs; else -1, and an
 * error, ERROR_MISSING, that names one. */
int verify_check_slots(const struct backend *backend, struct error *err);

/* verify_random.c: bench verify --random N, see verify.h. */
int verify_random(const struct options *options, const struct target *targets,
		  int count, FILE *out, FILE *log, struct error *err);

#endif
