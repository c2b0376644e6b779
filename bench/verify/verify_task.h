/* A task of `bench verify`: its inputs, its results, and the distances between
 * tensors. */
#ifndef BENCH_VERIFY_VERIFY_TASK_H
#define BENCH_VERIFY_VERIFY_TASK_H

#include <stdio.h>

#include "bench/data/dataset.h"
#include "bench/data/transform.h"
#include "bench/options/options.h"
#include "bench/plan/target.h"

#define VERIFY_NOT_MEASURED (-1.)

/* The vectors that a step changes. */
enum verify_kind {
	VERIFY_GRADIENTS,
	VERIFY_PARAMETERS, /* after the update */
	VERIFY_STATISTICS, /* running statistics */
	VERIFY_KINDS
};

/* One comparison. */
struct verify_task {
	const struct model *model;
	const struct dataset *dataset;
	const struct backend *backend;
	const struct backend *right; /* the reference in double: right by
					definition */
	const char *device; /* device of backend; NULL = any */
	enum algorithm algorithm; /* of backend */
	enum precision precision; /* of backend */
	double bound; /* bound of errors without a bound of their own */
	double bounds[VERIFY_KINDS];
	double cores_bound; /* bound of the sum over cores */
	const struct options *options;
	FILE *log;   /* for errors of this process, with --team */
	int checked; /* threads that have checked the backend's library */
	int batch, steps;   /* batch size and number of steps in lockstep */
	int measured_batch; /* batch size of one more step, as in a run */
	int test_batch;	    /* samples of one evaluation */
	double lr;
	struct tensor tensors[MODEL_MAX_TENSORS];
	int tensor_count;
};

/* Returns the precision of the reference: double, or the backend's if that
 * rounds where it stores. */
static inline enum precision
verify_right_precision(const struct verify_task *task)
{
	return precision_rounds(task->precision) ? task->precision :
						   PRECISION_FP64;
}

/* Returns 1 if the reference repeats roundings of the backend. */
static inline int verify_is_rounded(const struct verify_task *task)
{
	return precision_rounds(task->precision) ||
	       task->precision == PRECISION_BF16;
}

/* An error and its bound. The bound is the task's, or VERIFY_OF_MOVES times the
 * distance that the reference moves by rounding alone (verify_lockstep.c). It
 * is at most VERIFY_MOST_HELD times the task's bound. Beyond that a comparison
 * would show nothing. */
#define VERIFY_OF_MOVES 8
#define VERIFY_MOST_HELD 10

struct verify_held {
	double error, bound;
};

/* The worst errors over some steps. NAN counts as worst. */
struct verify_errors {
	/* relative to the tensor's largest entry */
	struct verify_held tensors[VERIFY_KINDS][MODEL_MAX_TENSORS];
	struct verify_held loss;    /* relative */
	struct verify_held regrets[MODEL_MAX_LAYERS]; /* program_regret() */
};

/* Steps in lockstep, and the step of the measured batch. */
enum verify_pass { VERIFY_LOCKSTEP, VERIFY_MEASURED, VERIFY_PASSES };

/* Forward passes compared with the reference. */
struct verify_passes {
	struct verify_held outputs; /* of a sample, relative to the largest
				       output of all */
	struct verify_held scale;   /* relative error of the size of all
				       outputs */
	struct verify_held loss, correct; /* as in a test */
	struct verify_held folded; /* change of the outputs by folding norms, in
				      double */
	int samples, batch;
};

/* The result for one backend. */
struct verify_result {
	struct target target; /* a backend and its device */
	const struct backend *right; /* the reference that it was compared
					with */
	struct error why;     /* why it was not compared; no message = it was */
	struct verify_errors errors[VERIFY_PASSES];
	struct verify_held test_outputs; /* relative to the largest of all */
	struct verify_held test_loss;	 /* relative */
	struct verify_held test_correct; /* difference in right answers,
					    relative to all samples */
	/* own_cores: cores of the target by its transport. Otherwise 1 to
	 * most_cores cores by threads and fork, as many as a device
	 * supports. */
	int own_cores, most_cores;
	struct verify_held cores; /* error of parameters against one core */
	long masks_wrong; /* dropout decisions that differ from
			     models/random.h */
	int replicas_differ; /* 1: parameters, or values derived from them,
				differ between cores */
	struct verify_passes passes; /* for --infer, which measures nothing
					else */
};

/* PoCL's device has as many CPUs as the process had when it opened it. */
#define VERIFY_MOST_CORES 3

/* Fails with ERROR_MISSING, and names a slot, if the backend lacks a slot that
 * comparisons need. */
int verify_check_slots(const struct backend *backend, struct error *err);

/* Return the largest |value| and the largest |a - b|; NAN if a difference is
 * NAN. */
double verify_largest(const float *values, size_t count);
double verify_distance(const float *a, const float *b, size_t count);

/* Moves each value to the next float above or below it, drawn with seed
 * number. */
void verify_nudge(float *values, size_t count, int number);

/* Returns the largest |a - b| over the largest |b|. */
double verify_error(const float *a, const float *b, size_t count);

/* Returns the scale of errors of tensor t in right: a gradient, parameters, or
 * their change by an update. The scale is the tensor's largest entry. If tensor
 * t is 0 by construction, but for rounding or eps, it is the largest entry of
 * all tensors. Such tensors are gradients by a bias before a batch norm, or by
 * a batch norm's weight if another norm follows. */
double verify_scale(const struct verify_task *task, int t, const float *right);

/* Sets the errors of all tensors of a vector: their distance over
 * verify_scale(); running statistics over their own largest entry. Returns the
 * number of tensors. */
int verify_tensor_errors(const struct verify_task *task, enum verify_kind kind,
			 const float *tried, const float *right,
			 double errors[MODEL_MAX_TENSORS]);

/* Keeps the larger error; NAN counts as largest. */
void verify_worsen(double *worst, double error);

/* Keeps the error that is larger relative to its bound. */
void verify_hold(struct verify_held *worst, double error, double bound);

/* Returns the samples of an evaluation: task->test_batch, or all test samples
 * if there are fewer. */
int verify_tested(const struct verify_task *task);

/* Compare two evaluations. The bound of right answers allows one sample, since
 * rounding may decide between two equally likely answers. */
double verify_loss_error(const struct score *tried, const struct score *right);
void verify_hold_answers(struct verify_held *worst,
			 const struct verify_task *task,
			 const struct score *tried, const struct score *right);

/* Returns the decisions per sample of the layer that makes most of them. */
size_t verify_most_decisions(const struct model *model);

/* Fails with ERROR_STOPPED after a signal; the message says where. Call it
 * after opening devices or compiling, since drivers install signal handlers. */
int verify_check_signal(struct error *err, const char *where, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints the last line, which claims no more than was compared. without: names
 * of targets that were not compared; may be empty. Returns the exit code: 1 if
 * one is wrong, 128 and the signal after a signal, otherwise 0.
 */
int verify_conclude(FILE *out, int wrong, int compared, const char *without);

/* Buffers for the samples of a share. */
struct share {
	float *images, *targets;
	uint16_t *labels;
	struct transform *transform; /* one per share: cores may be threads */
};

/* Allocates buffers for samples. Release share also after a failure. */
int share_allocate(struct share *share, const struct verify_task *task,
		   int samples);
void share_release(struct share *share);

/* Fills batch with one core's share of the training samples of a step, in this
 * order. If the model needs vectors as targets, .9 stands for the class and .1
 * for the others. */
void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, struct share *share, struct batch *batch);

/* Fills batch with count samples of the test set from first on; the set starts
 * again at its end. */
void verify_test_batch(const struct verify_task *task, int first, int count,
		       struct share *share, struct batch *batch);

#endif
