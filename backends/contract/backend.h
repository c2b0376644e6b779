/*
 * A backend as a constant table: capabilities and slots, which are functions.
 *
 * Nothing here reads a clock. Random numbers come from models/random.h only.
 * The functions below, in program.h and in resident.h are the only callers of
 * the slots, and supply the default of each optional slot. Slots that return
 * int return 0, or -1 with *err set, unless stated otherwise.
 */
#ifndef BACKENDS_CONTRACT_BACKEND_H
#define BACKENDS_CONTRACT_BACKEND_H

#include "backends/contract/resident.h"
#include "backends/contract/peak.h"
#include "backends/contract/program.h"

struct library;

/* Version of this header; incompatible changes increment it. */
#define BACKEND_VERSION 4

struct backend {
	int version; /* BACKEND_VERSION when the backend was compiled */
	const char *name;
	const char *summary;
	/* reason why this build cannot run it, or NULL */
	const char *unavailable;
	/* 1 = devices compute, and not the threads that call them */
	int offloads;
	unsigned algorithms; /* set of 1u << ALGORITHM_FAST, ... */
	/* set of 1u << PRECISION_FP32, ...; a machine may lack some */
	unsigned precisions;
	/* 1 = supports struct device_request's device_class */
	int has_device_classes;
	/* 1 = gradient takes an update, since both in one cost less than one
	 * after the other. */
	int trains_at_once;
	int runs_ahead; /* 1 = gradients may be unfinished: options.ahead */
	int shares; /* 1 = with options.memory, programs share vectors */
	/* 1 = other backends are compared with it: it computes in double,
	 * whatever the precision, and has impose. */
	int is_reference;
	/* library that its threads share, or NULL */
	const struct library *library;

	/*
	 * (optional: one device, the machine's CPU) Writes devices that a
	 * process on this many CPUs can open to list, up to most. Returns their
	 * number, or -1.
	 */
	int (*list)(int cpus, struct device_info *list, int most,
		    struct error *err);
	int (*open)(const struct device_request *request,
		    struct device **device, struct error *err);
	void (*close)(struct device *device);
	void (*describe)(struct device *device, struct device_info *info);

	/*
	 * (optional: decisions only) Returns about the bytes that a program
	 * keeps per sample of a gradient: outputs of layers, their gradients
	 * and decisions. Includes scratch and evaluations, divided by
	 * options->batch. NAN = unknown, without memory or if options are not
	 * supported.
	 */
	double (*sample_bytes)(const struct model *model,
			       const struct program_options *options);

	/* Allocates everything that a step needs. */
	int (*compile)(struct device *device, const struct model *model,
		       const struct program_options *options,
		       struct program **program, struct error *err);
	void (*free)(struct program *program);

	/*
	 * store copies a flat vector in, load out; both finish before they
	 * return. A shared vector is stored by one program, while no other uses
	 * it. The other programs map and unmap it afterwards, to update what
	 * they derive from it.
	 */
	int (*store)(struct program *program, enum vector which,
		     const float *values, struct error *err);
	int (*load)(struct program *program, enum vector which, float *values,
		    struct error *err);

	/*
	 * map lends a vector to the host, length floats in the program's own
	 * order, after all earlier work. unmap takes it back with the host's
	 * changes. Programs of one backend and model agree on length and order.
	 * All programs lend the same floats of a shared vector: while one host
	 * writes some, no other may touch these.
	 */
	float *(*map)(struct program *program, enum vector which,
		      struct error *err);
	int (*unmap)(struct program *program, enum vector which,
		     struct error *err);

	/*
	 * Runs forward, loss and backward. The gradient is the sum over the
	 * batch of the samples' gradients, divided by batch->global_count;
	 * after program->reduced it is factors of that. update is NULL unless
	 * trains_at_once; with an update, also makes the optimizer's step for
	 * all parameters, and leaves the gradient undefined.
	 */
	int (*gradient)(struct program *program, const struct batch *batch,
			const struct update *update, struct error *err);
	/*
	 * Makes the optimizer's step of parameters from .. to - 1, in the
	 * program's own order, with the current gradient. Both are whole lines,
	 * or the end. Nothing else changes, and the bits do not depend on the
	 * division.
	 *
	 * If reduced is less than length, a call from reduced to the end sums
	 * the gradients of all ranks, in rank order. It makes the step with the
	 * sum. It covers this rank's part if programs are shared, else all. All
	 * ranks call it, even after an empty batch, once all have a gradient.
	 * Until all have returned, none may read or store shared parameters or
	 * begin another gradient. Adding up whole gradients would give equal
	 * bits.
	 */
	int (*update)(struct program *program, const struct update *update,
		      size_t from, size_t to, struct error *err);
	/*
	 * Runs forward without dropout and adds to score; complete on return.
	 */
	int (*evaluate)(struct program *program, const struct batch *batch,
			struct score *score, struct error *err);
	/*
	 * (optional: gradients and program->score are complete on return) Waits
	 * for all earlier work and writes the scores of the last count
	 * gradients in order. count is at most the number since the last call;
	 * the very last score may be requested again. Until then the program
	 * borrows the batches' samples.
	 */
	int (*finish)(struct program *program, struct score *scores, int count,
		      struct error *err);

	/*
	 * (optional, with order: batches have their samples) Copies a data set
	 * to the device, finished on return. Batches then need no samples;
	 * batches of the training set need order before. Called at most once.
	 * Returns -1 with ERROR_MISSING and changes nothing if there is not
	 * enough memory. With NULL it releases the data set, if any, and does
	 * not fail.
	 */
	int (*upload_data)(struct program *program,
			   const struct resident_data *data, struct error *err);
	/*
	 * (optional, with upload_data) Copies the order of the training set,
	 * count indices of its samples, after earlier work; finished on return.
	 * The test set has no order.
	 */
	int (*order)(struct program *program, const int *order, int count,
		     struct error *err);

	/*
	 * (optional: decisions are not reported) Writes the last gradient's
	 * decisions at a layer, layer_decisions() per sample. ReLU: 0 if the
	 * input is 0 or below, else 1 (a NaN passes, and so does its gradient).
	 * Max pooling: the winner's row * window + column. Either: DECISION_ANY
	 * if it makes no difference. Dropout: 1 if kept.
	 */
	int (*decisions)(struct program *program, int layer, uint8_t *values,
			 struct error *err);
	/* (optional: cannot follow decisions) Imposes these decisions at this
	 * layer from now on; NULL = its own. */
	int (*impose)(struct program *program, int layer,
		      const uint8_t *values, struct error *err);
	/* (optional, with impose) Rounds the factors of these layers' products
	 * from now on, as another program's rounds say. */
	int (*round_factors)(struct program *program,
			     const unsigned char *rounds, struct error *err);
	/*
	 * (optional: no profile) Fills the parts of an iteration with their
	 * work in the last one; call before an evaluation. Returns their
	 * number, at most PROFILE_MOST_PARTS. The program's observer is called
	 * when a part ends.
	 */
	int (*profile)(struct program *program, struct profile_part *parts);
	/*
	 * (optional: none) Returns peak loop number index, from 0, that a core
	 * of this CPU can run; NULL after the last. The first one is the
	 * fastest of fp32.
	 */
	const struct peak *(*peak)(int index);
};

/* A library that several backends use, one copy for all threads. */
struct library {
	/*
	 * Returns a variable, NAME=VALUE, that must be set before the process
	 * starts for best results; NULL = none. Called again after it is set.
	 */
	const char *(*variable)(void);
	/* Checks the library's results while all threads of this process use
	 * it: all call it at once, each with its number. */
	int (*check)(int thread, int threads, struct error *err);
};

/* Returns the algorithm called name, which must exist; for NULL the backend's
 * default, fast if supported. */
enum algorithm backend_algorithm(const struct backend *backend,
				 const char *name);
/* Returns 0, or -1 with ERROR_MISSING if the backend lacks the algorithm. */
int backend_check_algorithm(const struct backend *backend, const char *name,
			    struct error *err);

/* Returns the name of a required slot that the backend lacks, or NULL;
 * comparable: also of slots that a comparison with the reference requires. */
const char *backend_lacks(const struct backend *backend, int comparable);

const struct backend *backend_find(const char *name);
/* Returns the reference: plain loops in double. */
const struct backend *backend_reference(void);
/* Returns a faster backend that computes in double at that precision and has
 * impose; NULL if this build has none. */
const struct backend *backend_in_double(void);
/* Returns the reference in float, no target: the effect of rounding alone. */
const struct backend *backend_single(void);
const char *backend_variable(const struct backend *backend);
/* Returns the backend after previous, the first for NULL. */
const struct backend *backend_next(const struct backend *previous);
int backend_list(const struct backend *backend, int cpus,
		 struct device_info *list, int most, struct error *err);

/* Return the bytes of the vectors of all cores' programs (is_common: cores
 * share memory), and about the bytes that a program keeps for a batch. */
double backend_vector_bytes(const struct backend *backend,
			    const struct model *model,
			    const struct program_options *options, int cores,
			    int is_common);
double backend_batch_bytes(const struct backend *backend,
			   const struct model *model,
			   const struct program_options *options);

/* Returns 0, or -1 with ERROR_USAGE if the backend has no profile; needs no
 * program. */
int backend_check_profile(const struct backend *backend, struct error *err);
/* Returns 0, or -1 with ERROR_MISSING, naming other backends, if the backend
 * lacks the precision; needs no program. */
int backend_check_precision(const struct backend *backend,
			    enum precision precision, struct error *err);
const struct peak *backend_peak(const struct backend *backend, int index);
/* Returns the best peak loop of fp32, or NULL. */
const struct peak *backend_fp32_peak(const struct backend *backend);

/* For backends: initialises the members that are known before compilation.
 * length and reduced become the number of parameters. */
void program_begin(struct program *program, struct device *device,
		   const struct model *model,
		   const struct program_options *options);

/* For backends: reports the end of a part. */
static inline void program_end_part(struct program *program, int part)
{
	if (program->observer)
		program->observer->ended(program->observer, part);
}

/* Returns 1 if BENCH_TEST_BREAK names the layer ("conv2"): its weight gradient
 * must then omit the last sample. Tests use it to see `bench verify` fail. */
int backend_layer_is_broken(const struct layer *layer);

#endif
