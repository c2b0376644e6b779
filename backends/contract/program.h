/*
 * Devices, and the programs that they compile: the calls of the harness.
 *
 * A backend opens a device. A device compiles a model to a program with one
 * replica: parameters, gradient and optimizer state. Whoever opens a device
 * closes it; whoever compiles a program frees it, before its device. One thread
 * at a time may use a program.
 *
 * Vectors that cross this interface are flat, with the layout of
 * models/model.h, whatever a backend has inside. A program has its rank among
 * the replicas, their number, and the allocator of the memory that they share.
 * backends/parallel/replica.h does what replicas do together.
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
 * The samples of one core in one iteration, borrowed until program_finish().
 * Without images and labels (NULL) the samples are resident: of the training
 * set for a gradient, of the test set for an evaluation. Sample i is then the
 * order's entry at + place + stride * i.
 */
struct batch {
	const float *images;   /* [count][channel][row][column], normalised */
	const uint16_t *labels; /* [count], if the loss has classes */
	const float *targets;  /* [count][model_classes()], if it has none */
	int at;		       /* with resident data: place in the order */
	int count;	       /* at most the program's; 0 = an empty share */
	int global_count;      /* of all cores: divisor of the mean */
	/*
	 * Factor of the loss, a power of 2, by which the gradient is divided in
	 * the end, so that fp16 does not lose small values. 0 = 1, as for all
	 * other precisions.
	 */
	double loss_scale;
	uint32_t step;	       /* iterations before this one */
	/* sample i is place + stride * i of the global batch */
	int place, stride;
	/* Outputs of an evaluation, before any softmax:
	 * [count][model_classes()]; NULL = not needed. */
	float *outputs;
};

/* Sums, so that shares of unequal size add up. */
struct score {
	double loss;
	/*
	 * Right answers, of model_answers() per sample. With classes: the
	 * largest output is the label's. Else: an output is above 0 exactly if
	 * its target is above a half.
	 */
	long correct;
	long count;
};

/* The flat vectors of a replica. The last ones are the optimizer's state,
 * recipe_states() of them. */
enum vector {
	VECTOR_PARAMETERS,
	VECTOR_GRADIENT,
	VECTOR_STATE_0,
	VECTOR_STATE_1, /* in the order of enum optimizer's comment */
	VECTOR_COUNT,
	/* model_buffer_count() floats: stored and loaded, but neither mapped
	 * nor reduced. A gradient updates them, an evaluation reads them. */
	VECTOR_BUFFERS = VECTOR_COUNT,
	VECTORS
};

/* No result depends on the decision, for example before a dropout that drops
 * it. */
#define DECISION_ANY UINT8_MAX

#define UPDATE_LINE 16 /* floats of a cache line */

/*
 * COLD: the driver compiled kernels; WARM: it found all of them in its cache.
 */
enum kernels { KERNELS_UNKNOWN, KERNELS_COLD, KERNELS_WARM };

struct device_info {
	char name[128];
	char driver[160]; /* library or driver, with version and settings */
	char type[16];	  /* "CPU", "GPU", ... */
	int units;	  /* compute units; 1 for one thread */
	uint64_t memory;  /* bytes; 0 = unknown */
	/* For devices with a platform; else empty and 0. */
	char platform[160];    /* name and version */
	int width;	       /* floats of a vector */
	size_t group;	       /* most work-items of a group */
	uint64_t group_memory; /* bytes that a group's work-items share */
	int parts;	       /* sub-devices of equally many units, or 1 */
	char device_class[8];  /* of its kernels; empty = none */
	enum kernels kernels;  /* since the device was opened */
	/* reason why this device cannot be used, or empty */
	char unusable[256];
};

struct device_request {
	const char *choice; /* index, or part of name or type; NULL = any */
	int threads;	    /* cores of this process that compute at once */
	int cpus;	    /* CPUs to which this process is confined */
	/* threads that have checked the library before; 0 = none */
	int checked;
	/*
	 * Set by replica_open(): rank's device of size devices, or of size
	 * equal parts of one; size up to 1 = a whole device. Each rank requests
	 * its own.
	 */
	int rank, size;
	/* "cpu", "gpu"; NULL = by the device's type */
	const char *device_class;
};

struct program_options {
	int batch;	/* most samples of a gradient */
	int test_batch; /* most samples of an evaluation */
	/* most gradients per program_scores(); 0 = each is finished */
	int ahead;
	unsigned long long seed; /* of the dropout masks */
	int dropout;		 /* 0 = every dropout layer keeps everything */
	/* Allocates vectors that other ranks read; it must outlive the program.
	 * NULL = the program owns its vectors. */
	struct allocator *memory;
	/* Without memory: rank and number of ranks that share no memory and
	 * exchange a program's factors. 0 = no factors. */
	int distributed_rank, distributed_size;
	int whole_gradients; /* 1 = no factors, wherever the ranks are */
	enum algorithm algorithm;
	enum precision precision;
	int masks_only; /* 1 = only dropout's decisions are needed */
	int infers; /* 1 = only evaluations: no gradient, update, decisions */
};

/*
 * Called by backends that support it, while a gradient is computed: the floats
 * of VECTOR_GRADIENT from .. program->reduced - 1 are complete and stay
 * unchanged until the gradient returns. from only decreases.
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
	size_t buffers; /* floats of VECTOR_BUFFERS; 0 = no batch norm */
	/* Number of vectors, from the first of enum vector on; with
	 * options.infers, a backend on the host has only parameters. */
	int vectors;
	size_t length; /* of each vector in the program's own order */
	struct program_options options;
	/*
	 * Set by compile: 1 = all vectors but the gradient are one copy. The
	 * other ranks of options.memory share it with the program that they
	 * compile at the same position in their sequence.
	 */
	int shared;
	/*
	 * Set by compile: floats of the gradient, from the first, that ranks
	 * all-reduce. If it is less than length, it is whole lines of
	 * UPDATE_LINE. For the other floats, a gradient then leaves this rank's
	 * sufficient factors: inputs of a layer and gradients of its outputs.
	 * An update multiplies the factors of all ranks.
	 */
	size_t reduced;
	/*
	 * Factors of all ranks, set by compile, owned by the program; NULL if
	 * the program is shared or reduced is length. A gradient leaves this
	 * rank's; the caller brings the others before an update.
	 */
	float *factors; /* [options.distributed_size][factors_each] */
	size_t factors_each; /* floats, whole lines of UPDATE_LINE */
	/*
	 * Set by compile, owned by the program: the steps and their solvers,
	 * NULL if rows are computed one by one. Bytes of a batch's activations
	 * and gradients if memory is planned by lifetimes, and bytes without
	 * sharing memory.
	 */
	const struct plan *plan;
	size_t activation_bytes, unshared_bytes;
	/*
	 * Set by compile, owned by the program, for backends with impose. By
	 * layer: difference between the worst imposed decision of the last
	 * gradient and the right one, relative to the input's largest entry.
	 */
	const double *regret; /* [layer] */
	/* Set by compile, owned by the program: enum rounds of each layer.
	 * NULL = unknown. */
	const unsigned char *rounds; /* [layer] */
	struct score score; /* of the last gradient, without slot finish */
	int resident_samples; /* of the training set, on the device; 0 = none */
	/* 1 = batch norm with one value per channel and sample: one sample has
	 * no variance */
	int has_lone_norm;
	long launches; /* kernels and transfers given to a device so far */
	struct profile_observer *observer; /* NULL = parts are not observed */
	struct gradient_watcher *watcher; /* NULL = no buckets are sent */
};

int device_open(const struct backend *backend,
		const struct device_request *request, struct device **device,
		struct error *err);
void device_close(struct device *device); /* NULL is allowed */
void device_describe(struct device *device, struct device_info *info);
/*
 * Runs the library's self-check before the work begins; none for one thread.
 * All threads of this process call it at once, each with its number and its own
 * device.
 */
int device_check(struct device *device, int thread, int threads,
		 struct error *err);

/*
 * Compiles a model. Returns -1 with ERROR_MISSING if the backend or this
 * machine lacks the precision, or the backend has no kernels for the model.
 * Returns -1 with ERROR_USAGE if model_check() rejects the model, or batch norm
 * has a single value.
 */
int program_compile(struct device *device, const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err);
void program_free(struct program *program); /* NULL is allowed */

/* Copy a flat vector in or out. State that the optimizer does not keep is
 * ignored by store, and loaded as 0. */
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
/* Updates the parameters after program->reduced, if any. */
int program_update_factored(struct program *program,
			    const struct update *update, struct error *err);
/* Updates all parameters. */
int program_update(struct program *program, const struct update *update,
		   struct error *err);
/* Computes the gradient and updates, at once if the backend supports that. */
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
/* Rounds the factors of these layers' products from now on; NULL = none. */
int program_round_factors(struct program *program, const unsigned char *rounds,
			  struct error *err);
/*
 * Returns the name of the backend's solver number index, from 0, and sets
 * *steps to the number of steps that it computes. Returns NULL after the last,
 * or if rows are computed one by one.
 */
const char *program_solver(const struct program *program, int index,
			   int *steps);
/* Writes one line per step, or per row, and one on memory if it is planned. */
void program_explain(const struct program *program, char *text, size_t size);

/* Calls observer at the end of each part from now on; NULL = no observer.
 * Returns -1 with ERROR_USAGE if the backend has no profile. */
int program_observe(struct program *program, struct profile_observer *observer,
		    struct error *err);
int program_profile(struct program *program, struct profile_part *parts);

#endif
