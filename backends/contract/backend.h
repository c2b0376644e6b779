/*
 * The contract between the harness and those who compute.
 *
 * A backend (a constant table) opens a device; a device compiles a model to a
 * program, which holds one replica: parameters, gradient and optimizer state.
 * Whoever opened a device closes it, whoever compiled a program frees it, the
 * program before its device. A program is used by one thread at a time.
 *
 * Vectors that cross this border are flat and laid out as models/model.h says,
 * whatever a backend keeps inside. Nothing here reads a clock or draws a random
 * number that models/random.h does not define. Of other replicas a program
 * knows its rank, their number and the allocator that shares memory with them:
 * what they do together is in backends/parallel/replica.h.
 *
 * The functions below and in held.h are the only callers of the slots in struct
 * backend, and supply the default of each optional one.
 */
#ifndef BACKENDS_CONTRACT_BACKEND_H
#define BACKENDS_CONTRACT_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/allocator.h"
#include "backends/contract/error.h"
#include "backends/contract/held.h"
#include "backends/contract/peak.h"
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
	int at;		       /* of held samples; else undefined */
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

/* Nothing depends on it, behind a dropout that drops it, for one. */
#define DECISION_ANY UINT8_MAX

#define UPDATE_LINE 16 /* floats of a cache line, of which vectors are made */

/* Whether a driver has compiled kernels, or had kept all that were needed. */
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

/*
 * Dense does every multiplication that the layers' definitions have. Fast may
 * leave out what holds for any input: dropped planes, all but the winner of a
 * pooling window, what ReLU has made zero; and may use Winograd's algorithm.
 */
enum algorithm { ALGORITHM_FAST, ALGORITHM_DENSE, ALGORITHM_COUNT };

/*
 * With bf16 the factors of products may be rounded to bf16, where that is
 * faster. Sums, parameters and the optimizer's state stay fp32. With fp64 all
 * of it is double; vectors are rounded to floats where they cross this border.
 * fp16 and bf16-storage round what is stored: backends/host/storage.h.
 */
enum precision {
	PRECISION_FP32,
	PRECISION_BF16,
	PRECISION_FP64,
	PRECISION_FP16,
	PRECISION_BF16_STORAGE,
	PRECISION_COUNT
};

/* The numbers that a layer rounds with PRECISION_BF16; it rounds no others. */
enum rounds {
	ROUNDS_NOTHING,
	ROUNDS_FACTORS, /* the factors of its products: inputs, weights, and
			 * the gradient by outputs */
	ROUNDS_POINTS, /* in an evaluation: backends/host/points.h */
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
	int apart_rank, apart_size;
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

struct backend;
struct library;
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
	float *factors; /* [options.apart_size][factors_each] */
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
	int held; /* samples of the training set that it holds; 0: none */
	int has_lone_norm; /* batch norm of one value a channel and sample:
			    * one sample has no variance */
	long launches; /* kernels and transfers given to a device so far */
	struct profile_observer *observer; /* NULL: parts are not wanted */
	struct gradient_watcher *watcher; /* NULL: nobody sends buckets */
};

/* Of what this header says; another number for what is not compatible. */
#define BACKEND_VERSION 3

struct backend {
	int version; /* BACKEND_VERSION, as it was when this was written */
	const char *name;
	const char *summary;
	const char *unavailable; /* why this build cannot, or NULL */
	int offloads; /* devices compute, not the threads that call them */
	unsigned algorithms; /* those it has, 1u << ALGORITHM_FAST, ... */
	unsigned precisions; /* likewise, some only on some machines */
	int has_device_classes; /* see struct device_request */
	/* A gradient and an update at once cost less than one after the other:
	 * gradient takes an update. */
	int trains_at_once;
	int runs_ahead; /* gradients need not be finished: options.ahead */
	int shares; /* with options.memory, programs are shared */
	/* Others are compared with it: it computes in double, whatever the
	 * precision, and has impose. */
	int is_oracle;
	const struct library *library; /* that threads share below; or NULL */

	/* Devices that a process with so many CPUs could open, written to list;
	 * returns how many. Optional: one device, the machine's CPU. */
	int (*list)(int cpus, struct device_info *list, int most,
		    struct error *err);
	int (*open)(const struct device_request *request,
		    struct device **device, struct error *err);
	void (*close)(struct device *device);
	void (*describe)(struct device *device, struct device_info *info);

	/* Bytes that a program keeps for each sample of a gradient, about: what
	 * layers make, the gradient by it, and decisions; also scratch and what
	 * evaluations take, divided by options->batch; NAN: not known, for
	 * want of memory or of what the options ask for.
	 * Optional: decisions alone. */
	double (*sample_bytes)(const struct model *model,
			       const struct program_options *options);

	/* Allocates everything that a step will need. */
	int (*compile)(struct device *device, const struct model *model,
		       const struct program_options *options,
		       struct program **program, struct error *err);
	void (*free)(struct program *program);

	/* Copy a flat vector in or out, finished on return. A vector that is
	 * shared is stored by one program, while no other uses it; those map
	 * and unmap it afterwards, which says that what they have derived from
	 * it is out of date. */
	int (*store)(struct program *program, enum vector which,
		     const float *values, struct error *err);
	int (*load)(struct program *program, enum vector which, float *values,
		    struct error *err);

	/* Lend a vector to the host, length floats in the program's own order,
	 * once everything before is done; and take it back with what the host
	 * has written. Two programs of one backend and model agree on length
	 * and order. Of a vector that is shared all programs lend the same
	 * floats: while one host writes some, no other touches these. */
	float *(*map)(struct program *program, enum vector which,
		      struct error *err);
	int (*unmap)(struct program *program, enum vector which,
		     struct error *err);

	/* Forward, loss and backward: the sum over the batch of the gradients
	 * of the samples' losses, divided by batch->global_count; behind
	 * program->reduced the factors of that. With an update, which is NULL
	 * for backends that do not train at once, also a step of the optimizer
	 * for all parameters; the gradient is then undefined. */
	int (*gradient)(struct program *program, const struct batch *batch,
			const struct update *update, struct error *err);
	/*
	 * One step of the optimizer of from .. to, counted in the program's own
	 * order, with the gradient that is there. Both are whole lines, or the
	 * end. Nothing else changes; the bits are the same as those of all at
	 * once.
	 *
	 * From reduced to the end, where that is less than length: the sum of
	 * the gradients of all ranks, in rank order, and a step with it: of
	 * this rank's part of these floats where programs are shared, else of
	 * all. All ranks call it, also after an empty batch, once all have a
	 * gradient; until all have returned, none reads or stores shared
	 * parameters or begins another gradient. The bits are those of whole
	 * gradients, added up.
	 */
	int (*update)(struct program *program, const struct update *update,
		      size_t from, size_t to, struct error *err);
	/* Forward only, nothing dropped; complete on return. */
	int (*evaluate)(struct program *program, const struct batch *batch,
			struct score *score, struct error *err);
	/* Wait for all of the above, and write the scores of the last count
	 * gradients in order: at most those since the last time, of which
	 * the very last one may be asked for again. Batches that were brought
	 * are borrowed until then. Optional: gradients are done, and
	 * program->score is complete, when they return. */
	int (*finish)(struct program *program, struct score *scores, int count,
		      struct error *err);

	/* Copy a data set to where the program computes, finished on return:
	 * batches need not bring their samples from then on, those of the
	 * training set once there is an order. It is called once at most.
	 * ERROR_MISSING where there is not enough room, and nothing has
	 * changed. NULL lets go of it, if there is one, and does not fail.
	 * Optional, with order: batches bring their samples. */
	int (*hold)(struct program *program, const struct held_data *data,
		    struct error *err);
	/* Copy the order of the training set, count samples of it by index,
	 * behind earlier work; finished on return. The test set has none. */
	int (*order)(struct program *program, const int *order, int count,
		     struct error *err);

	/* What the last gradient decided at a layer, for each sample of its
	 * batch the layer_decisions() of models/model.h: ReLU 0 where the
	 * input is 0 or below, else 1 (a NaN passes, and so does the
	 * gradient by it), max pooling the winner's row * window + column,
	 * either DECISION_ANY where it cannot make a difference; dropout 1
	 * where kept. Optional: one that does not report them. */
	int (*decisions)(struct program *program, int layer, uint8_t *values,
			 struct error *err);
	/* Take these decisions at this layer from now on (NULL: own ones).
	 * Optional: one that cannot follow others. */
	int (*impose)(struct program *program, int layer,
		      const uint8_t *values, struct error *err);
	/* Round the factors of these layers' products, as program->rounds says
	 * of another's, from now on. Optional, with impose. */
	int (*round_factors)(struct program *program,
			     const unsigned char *rounds, struct error *err);
	/* The parts of an iteration, of which the program's observer hears
	 * when they end, with their work in the last one (asked before an
	 * evaluation): at most PROFILE_MOST_PARTS, returns how many.
	 * Optional: no profile. */
	int (*profile)(struct program *program, struct profile_part *parts);
	/* The loop of this index, from 0, that a core of this CPU can do; NULL
	 * behind the last. The first is the most of fp32. Optional: none. */
	const struct peak *(*peak)(int index);
};

/* A library that several backends use, of one copy for all threads. */
struct library {
	/* A variable, NAME=VALUE, that has to be set before the process starts
	 * for the library to serve it well; NULL: none is left to set. Asked
	 * again once it is set. */
	const char *(*variable)(void);
	/* Whether the library computes rightly when all threads of this process
	 * use it: called by all at once, each with its number. */
	int (*check)(int thread, int threads, struct error *err);
};

/* "fast", "dense" */
const char *algorithm_name(enum algorithm algorithm);

/*
 * The algorithm called name, which is one of these; for NULL the backend's own,
 * fast if it has that.
 */
enum algorithm backend_algorithm(const struct backend *backend,
				 const char *name);
/* ERROR_MISSING for one that it does not have. */
int backend_check_algorithm(const struct backend *backend, const char *name,
			    struct error *err);

/* "fp32", "bf16", "fp64", "fp16", "bf16-storage" */
const char *precision_name(enum precision precision);
/* The precision called name, which is one of these; fp32 for NULL. */
enum precision precision_find(const char *name);

/* Whether it rounds what is stored: backends/host/storage.h. */
int precision_rounds(enum precision precision);

/* The name of a slot that is not optional and that this backend lacks, or NULL;
 * with comparable, also of one that comparing with the reference needs. */
const char *backend_lacks(const struct backend *backend, int comparable);

const struct backend *backend_find(const char *name);
/* The reference: plain loops in double. */
const struct backend *backend_oracle(void);
/* A faster one that computes in double, where it is asked for that precision,
 * and has impose; NULL if there is none in this build. */
const struct backend *backend_in_double(void);
/* The same in float, which is no target: how far rounding alone leads. */
const struct backend *backend_single(void);
const char *backend_variable(const struct backend *backend);
/* Walks over all backends: the one after previous, the first for NULL. */
const struct backend *backend_next(const struct backend *previous);
int backend_list(const struct backend *backend, int cpus,
		 struct device_info *list, int most, struct error *err);

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

/* Bytes of the vectors of all cores' programs (is_common: the cores have memory
 * in common), and about as many as a program keeps of a batch. */
double backend_vector_bytes(const struct backend *backend,
			    const struct model *model,
			    const struct program_options *options, int cores,
			    int is_common);
double backend_batch_bytes(const struct backend *backend,
			   const struct model *model,
			   const struct program_options *options);

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
/* ERROR_USAGE likewise, before there is a program. */
int backend_check_profile(const struct backend *backend, struct error *err);
/* ERROR_MISSING, which says what else computes with it, for a precision that
 * backend lacks; before there is a program. */
int backend_check_precision(const struct backend *backend,
			    enum precision precision, struct error *err);
int program_profile(struct program *program, struct profile_part *parts);
const struct peak *backend_peak(const struct backend *backend, int index);
/* The best one of fp32, or NULL. */
const struct peak *backend_fp32_peak(const struct backend *backend);

/* For backends: what is known of a program before it is compiled. Length and
 * reduced are the parameters. */
void program_begin(struct program *program, struct device *device,
		   const struct model *model,
		   const struct program_options *options);

/* For backends: a part of theirs ends here. */
static inline void program_end_part(struct program *program, int part)
{
	if (program->observer)
		program->observer->ended(program->observer, part);
}

/*
 * A kernel is broken on purpose when the variable BENCH_TEST_BREAK names its
 * layer ("conv2"): its weight gradient then leaves out the last sample. It
 * exists so that tests can show that `bench verify` fails when it should.
 */
int backend_layer_is_broken(const struct layer *layer);

#endif
