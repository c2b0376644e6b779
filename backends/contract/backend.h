/*
 * A backend: a constant table of functions and facts.
 *
 * Nothing here reads a clock or draws a random number that models/random.h does
 * not define. Only the functions below, in program.h and resident.h call the
 * slots of struct backend; they supply the default of each optional slot.
 * Slots that return int return 0, or -1 with *err set, unless they say so.
 */
#ifndef BACKENDS_CONTRACT_BACKEND_H
#define BACKENDS_CONTRACT_BACKEND_H

#include "backends/contract/resident.h"
#include "backends/contract/peak.h"
#include "backends/contract/program.h"

struct library;

/* Of what this header says; another number for what is not compatible. */
#define BACKEND_VERSION 4

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
	int is_reference;
	const struct library *library; /* that threads share below; or NULL */

	/* (optional: one device, the machine's CPU) Devices that a process with
	 * so many CPUs could open, written to list; returns how many. */
	int (*list)(int cpus, struct device_info *list, int most,
		    struct error *err);
	int (*open)(const struct device_request *request,
		    struct device **device, struct error *err);
	void (*close)(struct device *device);
	void (*describe)(struct device *device, struct device_info *info);

	/* (optional: decisions alone) Bytes that a program keeps for each
	 * sample of a gradient, about: what layers make, the gradient by it,
	 * and decisions; also scratch and what evaluations take, divided by
	 * options->batch; NAN: not known, for want of memory or of what the
	 * options ask for. */
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
	/* (optional: gradients are done, and program->score is complete, when
	 * they return) Wait for all of the above, and write the scores of the
	 * last count gradients in order: at most those since the last time, of
	 * which the very last one may be asked for again. Batches that were
	 * brought are borrowed until then. */
	int (*finish)(struct program *program, struct score *scores, int count,
		      struct error *err);

	/* (optional, with order: batches bring their samples)
	 * Copy a data set to where the program computes, finished on return:
	 * batches need not bring their samples from then on, those of the
	 * training set once there is an order. It is called once at most.
	 * ERROR_MISSING where there is not enough room, and nothing has
	 * changed. NULL releases it, if there is one, and does not fail. */
	int (*upload_data)(struct program *program,
			   const struct resident_data *data, struct error *err);
	/* (optional, with upload_data) Copy the order of the training set,
	 * count samples of it by index, after earlier work; finished on return.
	 * The test set has none. */
	int (*order)(struct program *program, const int *order, int count,
		     struct error *err);

	/* (optional: decisions are not reported)
	 * What the last gradient decided at a layer, for each sample of its
	 * batch the layer_decisions() of models/model.h: ReLU 0 where the
	 * input is 0 or below, else 1 (a NaN passes, and so does the
	 * gradient by it), max pooling the winner's row * window + column,
	 * either DECISION_ANY where it cannot make a difference; dropout 1
	 * where kept. */
	int (*decisions)(struct program *program, int layer, uint8_t *values,
			 struct error *err);
	/* (optional: it cannot follow others' decisions) Take these decisions
	 * at this layer from now on; NULL: its own ones. */
	int (*impose)(struct program *program, int layer,
		      const uint8_t *values, struct error *err);
	/* (optional, with impose) Round the factors of these layers' products,
	 * as program->rounds says of another's, from now on. */
	int (*round_factors)(struct program *program,
			     const unsigned char *rounds, struct error *err);
	/* (optional: no profile) The parts of an iteration, of which the
	 * program's observer hears when they end, with their work in the last
	 * one (asked before an evaluation): at most PROFILE_MOST_PARTS, returns
	 * how many. */
	int (*profile)(struct program *program, struct profile_part *parts);
	/* (optional: none) The loop of this index, from 0, that a core of this
	 * CPU can do; NULL after the last. The first is the most of fp32. */
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

/*
 * The algorithm called name, which is one of these; for NULL the backend's own,
 * fast if it has that.
 */
enum algorithm backend_algorithm(const struct backend *backend,
				 const char *name);
/* ERROR_MISSING for one that it does not have. */
int backend_check_algorithm(const struct backend *backend, const char *name,
			    struct error *err);

/* The name of a slot that is not optional and that this backend lacks, or NULL;
 * with comparable, also of one that comparing with the reference needs. */
const char *backend_lacks(const struct backend *backend, int comparable);

const struct backend *backend_find(const char *name);
/* The reference: plain loops in double. */
const struct backend *backend_reference(void);
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

/* Bytes of the vectors of all cores' programs (is_common: the cores have memory
 * in common), and about as many as a program keeps of a batch. */
double backend_vector_bytes(const struct backend *backend,
			    const struct model *model,
			    const struct program_options *options, int cores,
			    int is_common);
double backend_batch_bytes(const struct backend *backend,
			   const struct model *model,
			   const struct program_options *options);

/* ERROR_USAGE for a backend without a profile, before there is a program. */
int backend_check_profile(const struct backend *backend, struct error *err);
/* ERROR_MISSING, which says what else computes with it, for a precision that
 * backend lacks; before there is a program. */
int backend_check_precision(const struct backend *backend,
			    enum precision precision, struct error *err);
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
