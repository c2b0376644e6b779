/*
 * Devices, and the programs that they compile: the calls of the harness.
 *
 * A backend opens a device. A device compiles a model to a program, which holds
 * one replica: parameters, gradient and optimizer state. Whoever opened a
 * device closes it; whoever compiled a program frees it, before its device. A
 * program is used by one thread at a time.
 *
 * Vectors that cross this border are flat and laid out as models/model.h says,
 * whatever a backend keeps inside. A program knows its rank among the other
 * replicas, their number and the allocator that shares memory with them; what
 * replicas do together is in backends/parallel/replica.h.
 *
 * Functions that return int return 0, or -1 with *err set.
 */
#ifndef BACKENDS_CONTRACT_PROGRAM_H
#define BACKENDS_CONTRACT_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/allocator.h"
#include "backends/contract/error.h"
#include "backends/contract/precision.h"
#include "backends/contract/profile.h"
#include "models/model.h"

/*
 * The samples of one core in one iteration; borrowed until program_finish.
 * Where images and labels are NULL they are those that the program holds: of
 * its training set for a gradient, of its test set for an evaluation. Sample i
 * is then the one at place at + place + stride * i of the order.
 */
struct batch {
	const float *images;   /* [count][channel][row][column], normalised */
	const uint16_t *labels; /* [count], where the loss has classes */
	const float *targets;  /* [count][model_classes()], where it has none */
	int at;		       /* of resident samples; else undefined */
	int count;	       /* at most the program's; 0 is an empty share */
	int global_count;      /* of all cores: what the mean divides by */
	/* The gradient is computed of the loss times this, a power of two by
	 * which it is divided in the end: what is too small for fp16 is not
	 * lost. 0: 1, which is that of all other precisions. */
	double loss_scale;
	uint32_t step;	       /* iterations before this one */
	int place, stride;     /* sample i is place + stride * i of all */
	/* The outputs of an evaluation, before any softmax:
	 * [count][model_classes()]; NULL = not wanted. */
	float *outputs;
};

/* Sums, so that shares of unequal size add up. */
struct score {
	double loss;
	/* Right answers, of model_answers() a sample: the largest output is
	 * that of the label; or an output is above 0 where its target is above
	 * a half, and only there. */
	long correct;
	long count;
};

/* The flat vectors of a replica; the last ones are the optimizer's state, of
 * which there are as many as recipe_states() of the model's recipe says. */
enum vector {
	VECTOR_PARAMETERS,
	VECTOR_GRADIENT,
	VECTOR_STATE_0,
	VECTOR_STATE_1, /* in the order of enum optimizer's comment */
	VECTOR_COUNT,
	/* Of model_buffer_count() floats: stored and loaded, but neither lent
	 * nor reduced. A gradient updates them, an evaluation reads them. */
	VECTOR_BUFFERS = VECTOR_COUNT,
	VECTORS
};

/* No result depends on the decision, as before a dropout that drops it. */
#define DECISION_ANY UINT8_MAX

#define UPDATE_LINE 16 /* floats of a cache line */

/* COLD: the driver compiled kernels; WARM: it found all in its cache. */
enum kernels { KERNELS_UNKNOWN, KERNELS_COLD, KERNELS_WARM };

struct device_info {
	char name[128];
	char driver[160]; /* library or driver, with version and settings */
	char type[16];	  /* "CPU", "GPU", ... */
	int units;	  /* compute units; 1 for one thread */
	uint64_t memory;  /* bytes, 0 when not known */
	/* Of a device with a platform of its own, else empty and 0. */
	char platform[160];    /* name and version */
	int width;	       /* floats of its vectors */
	size_t group;	       /* most work-items of a group, ... */
	uint64_t group_memory; /* ... and the bytes that they share */
	int parts;	       /* sub-devices of as many units each, or 1 */
	char device_class[8];  /* of its kernels; empty: there are none */
	enum kernels kernels;  /* since it was opened */
	char unusable[256]; /* why this device cannot be used, or empty */
};

struct device_request {
	const char *choice; /* index, or part of name or type; NULL: any */
	int threads;	    /* cores of this process that compute at once */
	int cpus;	    /* CPUs this process is confined to */
	int checked; /* threads that have checked its library before; or 0 */
	/* Set by replica_open(): which of so many devices, or equal parts of
	 * one; up to 1 is a whole one. Each rank asks for its own. */
	int rank, size;
	const char *device_class; /* "cpu", "gpu"; NULL: as its type is */
};

struct program_options {
	int batch;	/* most samples of a gradient */
	int test_batch; /* most samples of an evaluation */
	int ahead; /* most gradients a program_scores(); 0: each is finished */
	unsigned long long seed; /* of the dropout masks */
	int dropout;		 /* 0: every dropout layer keeps everything */
	/* For the vectors of a program that others read; it lives longer than
	 * the program. NULL: none does, and the program owns its vectors. */
	struct allocator *memory;
	/* Without memory: rank and world size of ranks that have none in
	 * common, and bring each other a program's factors. 0: it leaves
	 * none. */
	int distributed_rank, distributed_size;
	int whole_gradients; /* it leaves no factors, wherever ranks are */
	enum algorithm algorithm;
	enum precision precision;
	int masks_only; /* of decisions, only dropout's are asked for */
	int infers; /* only evaluations are: no gradient, update, decisions */
};

/*
 * Told by a backend that can, while a gradient is computed, that the floats of
 * VECTOR_GRADIENT from .. program->reduced are complete; from only falls. They
 * are not written again before the gradient returns.
 */
struct gradient_watcher {
	void (*complete)(struct gradient_watcher *watcher, float *gradient,
			 size_t from);
};

struct backend; /* backends/contract/backend.h */
struct plan; /* backends/contract/plan.h */

/* First member of each backend's own device. */
struct device {
	const struct backend *backend;
};

/* First member of each backend's own program. */
struct program {
	struct device *device;
	const struct model *model;
	size_t parameters;
	size_t buffers; /* floats of VECTOR_BUFFERS; 0 without batch norm */
	/* Those of enum vector that there are, from the first: where nothing
	 * but evaluations is asked, a backend of the host has parameters
	 * alone. */
	int vectors;
	size_t length; /* of each vector in the program's own order */
	struct program_options options;
	/* Set by compile: all vectors but the gradient are one copy, for this
	 * program and those that the other ranks of options.memory compile at
	 * the same place in their order. */
	int shared;
	/* Set by compile: floats of the gradient, from the first, that ranks
	 * all-reduce. Where that is less than length, it is whole lines of
	 * UPDATE_LINE: of the floats behind it a gradient leaves this rank's
	 * sufficient factors (inputs of a layer and the gradient by its
	 * outputs), and an update multiplies those of all ranks. */
	size_t reduced;
	/* Of compile too, owned by the program: where reduced is less than
	 * length and the program is not shared, the factors of all ranks.
	 * A gradient leaves this rank's, and the caller brings those of the
	 * others before an update; else NULL. */
	float *factors; /* [options.distributed_size][factors_each] */
	size_t factors_each; /* floats, whole lines of UPDATE_LINE */
	/* Of compile too, owned by the program: the steps that a solver each
	 * computes, NULL where rows are computed one by one; bytes of what
	 * layers make of a batch and the gradient by it, where memory is
	 * planned by lifetimes, and if nothing shared memory. */
	const struct plan *plan;
	size_t activation_bytes, unshared_bytes;
	/* Of compile too, for backends with impose, owned by the program: by
	 * how much, relative to the largest entry of each layer's input, the
	 * worst imposed decision of the last gradient differs from the right
	 * one. */
	const double *regret; /* [layer] */
	/* Set by compile, owned by the program: enum rounds of each layer.
	 * NULL = unknown. */
	const unsigned char *rounds; /* [layer] */
	struct score score; /* of the last gradient, for those without finish */
	int resident_samples; /* of the training set, on the device */
	int has_lone_norm; /* batch norm of one value a channel and sample:
			    * one sample has no variance */
	long launches; /* kernels and transfers given to a device so far */
	struct profile_observer *observer; /* NULL: parts are not wanted */
	struct gradient_watcher *watcher; /* NULL: nobody sends buckets */
};

int device_open(const struct backend *backend,
		const struct device_request *request, struct device **device,
		struct error *err);
void device_close(struct device *device); /* NULL is fine */
void device_describe(struct device *device, struct device_info *info);
/*
 * A self-check before the work begins, for one thread alone none. All threads
 * of this process call it at once, each with its number and its own device.
 */
int device_check(struct device *device, int thread, int threads,
		 struct error *err);

/*
 * A precision that this backend lacks, or this machine, is ERROR_MISSING, and
 * so is a model that it has no kernels for; one that is no network at all, as
 * model_check() finds, is ERROR_USAGE, and so is batch norm over one value.
 */
int program_compile(struct device *device, const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err);
void program_free(struct program *program); /* NULL is fine */

/* State that the optimizer does not keep is not stored, and loaded as 0. */
int program_store(struct program *program, enum vector which,
		  const float *values, struct error *err);
int program_load(struct program *program, enum vector which, float *values,
		 struct error *err);
float *program_map(struct program *program, enum vector which,
		   struct error *err);
int program_unmap(struct program *program, enum vector which,
		  struct error *err);

int program_gradient(struct program *program, const struct batch *batch,
		     struct error *err);
int program_update_part(struct program *program, const struct update *update,
			size_t from, size_t to, struct error *err);
/* Of what is behind program->reduced, if there is something. */
int program_update_factored(struct program *program,
			    const struct update *update, struct error *err);
/* Of all parameters. */
int program_update(struct program *program, const struct update *update,
		   struct error *err);
/* Both, at once where the backend can. */
int program_train(struct program *program, const struct batch *batch,
		  const struct update *update, struct error *err);
int program_finish(struct program *program, struct score *score,
		   struct error *err);
/* Adds to score. */
int program_evaluate(struct program *program, const struct batch *batch,
		     struct score *score, struct error *err);

int program_decisions(struct program *program, int layer, uint8_t *values,
		      struct error *err);
int program_impose(struct program *program, int layer, const uint8_t *values,
		   struct error *err);
double program_regret(const struct program *program, int layer);
/* NULL: nothing is rounded. */
int program_round_factors(struct program *program, const unsigned char *rounds,
			  struct error *err);
/* The solver of this index, from 0, of all that the backend chose from, and the
 * number of steps that it computes; NULL behind the last, and where rows are
 * computed one by one. */
const char *program_solver(const struct program *program, int index,
			   int *steps);
/* One line a step, or a row, and one on memory where that is planned. */
void program_explain(const struct program *program, char *text, size_t size);

/* Reports each part that ends to observer from now on (NULL: to none).
 * ERROR_USAGE for a backend without a profile. */
int program_observe(struct program *program, struct profile_observer *observer,
		    struct error *err);
int program_profile(struct program *program, struct profile_part *parts);

#endif
