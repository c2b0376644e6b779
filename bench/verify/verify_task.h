/*
 * What `bench verify` compares with what, on which samples, what it has found,
 * and how far apart two tensors are.
 */
#ifndef BENCH_VERIFY_VERIFY_TASK_H
#define BENCH_VERIFY_VERIFY_TASK_H

#include <stdio.h>

#include "bench/data/dataset.h"
#include "bench/data/transform.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

#define VERIFY_NOT_MEASURED (-1.)

/* What a step leaves of each tensor. */
enum verify_kind {
	VERIFY_GRADIENTS,
	VERIFY_PARAMETERS, /* after the update */
	VERIFY_STATISTICS, /* running ones */
	VERIFY_KINDS
};

/* What is compared with what. */
struct verify_task {
	const struct model *model;
	const struct dataset *dataset;
	const struct backend *backend;
	const struct backend *right; /* in double; it is right by definition */
	const char *device; /* of the backend; NULL: any */
	enum algorithm algorithm; /* of the backend */
	enum precision precision; /* likewise */
	double bound; /* of every error but ... */
	double bounds[VERIFY_KINDS];
	double cores_bound; /* of the sum over cores */
	const struct options *options;
	FILE *log;   /* errors of this process, with --team */
	int checked; /* threads that have checked the backend's library */
	int batch, steps;   /* in lockstep */
	int measured_batch; /* of one step more, as a run has it, ... */
	int test_batch;	    /* ... and of one evaluation */
	double lr;
	struct tensor tensors[MODEL_MAX_TENSORS];
	int tensor_count;
};

/* Double; what rounds where it stores is held to the same roundings. */
static inline enum precision
verify_right_precision(const struct verify_task *task)
{
	return precision_rounds(task->precision) ? task->precision :
						   PRECISION_FP64;
}

/* Whether something is rounded that the reference rounds, too. */
static inline int verify_is_rounded(const struct verify_task *task)
{
	return precision_rounds(task->precision) ||
	       task->precision == PRECISION_BF16;
}

/* An error, and what it is held to: the task's bound, or so many times as far
 * as the reference moves by rounding alone, see verify_lockstep.c; that is at
 * most so many times the bound: beyond, a comparison would show nothing. */
#define VERIFY_OF_MOVES 8
#define VERIFY_MOST_HELD 10

struct verify_held {
	double error, bound;
};

/* Worst errors over some steps; NAN counts as worst. */
struct verify_errors {
	/* Of the tensor's largest entry. */
	struct verify_held tensors[VERIFY_KINDS][MODEL_MAX_TENSORS];
	struct verify_held loss;    /* relative */
	struct verify_held regrets[MODEL_MAX_LAYERS]; /* program_regret() */
};

/* The steps in lockstep, and the one of the batch that is measured. */
enum verify_pass { VERIFY_LOCKSTEP, VERIFY_MEASURED, VERIFY_PASSES };

/* What forward passes alone give, beside the reference. */
struct verify_passes {
	struct verify_held outputs; /* a sample's, over the largest of all */
	struct verify_held scale;   /* by how much all are too large or small */
	struct verify_held loss, correct; /* as those of a test */
	struct verify_held folded; /* outputs, by folding norms, in double */
	int samples, batch;
};

/* What was found of one backend. */
struct verify_result {
	struct target target; /* a backend, and which of its devices */
	const struct backend *right; /* that it was compared with */
	struct error why;     /* it was not compared; no message: it was */
	struct verify_errors errors[VERIFY_PASSES];
	struct verify_held test_outputs; /* of the largest of all */
	struct verify_held test_loss;	 /* relative */
	struct verify_held test_correct; /* more or fewer, of all samples */
	/* Compared are the target's cores, by its transport; else 1 to
	 * most_cores by threads and fork, as many as a device has. */
	int own_cores, most_cores;
	struct verify_held cores; /* parameters, beside those of one core */
	long masks_wrong; /* dropout decisions unlike models/random.h */
	int replicas_differ; /* parameters, or what cores make of them */
	struct verify_passes passes; /* of --infer, instead of all above */
};

/* PoCL makes a process's device of as many CPUs as it is first opened with. */
#define VERIFY_MOST_CORES 3

/* That a backend has the slots that comparing needs; else -1, and an error,
 * ERROR_MISSING, that names one. */
int verify_check_slots(const struct backend *backend, struct error *err);

/* Largest |value|, and largest |a - b|: NAN if any difference is none. */
double verify_largest(const float *values, size_t count);
double verify_distance(const float *a, const float *b, size_t count);

/* Each becomes the float above or below it, by chance: number seeds that. */
void verify_nudge(float *values, size_t count, int number);

/* The distance over the largest |b|. */
double verify_error(const float *a, const float *b, size_t count);

/* What errors of tensor t are of, in a gradient, a vector of parameters or what
 * an update has changed: its largest entry, or that of all where it is 0 by
 * construction, to rounding or, of batch norm's weight whose biases are still
 * 0, to eps. Such are the gradients by a bias before a batch norm. */
double verify_scale(const struct verify_task *task, int t, const float *right);

/* Errors of the tensors of two vectors of a kind, each the distance over that;
 * of running statistics over the largest entry. Returns how many. */
int verify_tensor_errors(const struct verify_task *task, enum verify_kind kind,
			 const float *tried, const float *right,
			 double errors[MODEL_MAX_TENSORS]);

/* Keeps the larger error, or NAN. */
void verify_worsen(double *worst, double error);

/* Keeps the one that is worse beside its bound. */
void verify_hold(struct verify_held *worst, double error, double bound);

/* Samples of the evaluation: task->test_batch, or all that there are. */
int verify_tested(const struct verify_task *task);

/* The errors of an evaluation. Rounding may decide between two answers that are
 * as likely, in one sample. */
double verify_loss_error(const struct score *tried, const struct score *right);
void verify_hold_answers(struct verify_held *worst,
			 const struct verify_task *task,
			 const struct score *tried, const struct score *right);

/* Decisions of the layer that takes most of them for one sample. */
size_t verify_most_decisions(const struct model *model);

/* Whether a channel's factor changes nothing but by batch norm's eps: what
 * follows normalises it, behind rows that do not mix channels. */
int verify_is_normalised(const struct model *model, int row);

/* After a signal, -1 and ERROR_STOPPED that says where it came; to be called
 * after whatever opens devices or compiles: drivers have their own handlers. */
int verify_check_signal(struct error *err, const char *where, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The last line, which nobody may take for more than was compared; without:
 * names of those that were not, or empty. The exit code: 1 if one is wrong, 128
 * and the signal that came, or 0.
 */
int verify_conclude(FILE *out, int wrong, int compared, const char *without);

/* Room for the samples of a share. */
struct share {
	float *images, *targets;
	uint16_t *labels;
	struct transform *transform; /* its own: cores may be threads */
};

/* Of so many samples; on failure, to be released. */
int share_allocate(struct share *share, const struct verify_task *task,
		   int samples);
void share_release(struct share *share);

/* Training samples step * count ... in this order, one core's share. Where the
 * model wants vectors as targets, .9 stands for the class and .1 for others. */
void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, struct share *share, struct batch *batch);

/* The same of count samples of the test set from first on, which begins again
 * at its end. */
void verify_test_batch(const struct verify_task *task, int first, int count,
		       struct share *share, struct batch *batch);

#endif
