/* Shared by backends whose programs are floats in this process's memory:
 * vectors, decisions, optimizers and losses. */
#ifndef BACKENDS_HOST_HOST_H
#define BACKENDS_HOST_HOST_H

#include "backends/contract/backend.h"
#include "backends/contract/graph.h"
#include "backends/contract/plan.h"
#include "models/random.h"

/* First member of such a backend's program. */
struct host_program {
	struct program base;
	struct graph graph;
	struct plan plan; /* empty if rows are computed one by one */
	float *vectors[VECTOR_COUNT]; /* base.length floats each, or NULL */
	float *buffers; /* base.buffers floats */
	/* By layer, [options.batch][layer_decisions()]; NULL = none. */
	uint8_t *decisions[MODEL_MAX_LAYERS];
	int masks_only;	 /* 1 = decisions has only dropout's, or none */
	int batch_count; /* samples of the last gradient */
};

/* Returns size bytes, zeroed and aligned to a cache line, to release with
 * free(); NULL without memory. */
void *host_allocate(size_t size);

#define HOST_HUGE_PAGE ((size_t)2 << 20) /* bytes; of x86-64 */

/*
 * Requests huge pages for size bytes of memory that is still untouched; does
 * nothing if the system has none. A replica's vectors and activations have more
 * pages than the CPU's TLB holds.
 */
void host_prefer_huge_pages(void *memory, size_t size);

/* Plans a program without allocating. Returns 0, or -1 with err. */
int host_plan(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      const struct solver *const *solvers, int count,
	      struct error *err);

/*
 * Allocates vectors of length floats, and decisions; releases all on failure.
 * Before the call a backend may set masks_only, and base.shared for vectors in
 * options.memory. Returns 0, or -1 with err.
 */
int host_allocate_all(struct host_program *program, size_t length,
		      struct error *err);

/* Prepares a program without a plan, for backends that compute row by row and
 * lay vectors out as models/model.h does. Returns 0, or -1 with err. */
int host_init(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      struct error *err);
void host_release(struct host_program *program);

/* Chooses the values that dropout keeps of this batch; choose makes the choices
 * of dropout_choices(). */
void host_choose(struct host_program *program, const struct batch *batch,
		 dropout_chooser *choose);

/* Returns the decisions of sample i at a layer. */
uint8_t *host_decisions_at(const struct host_program *program, int layer,
			   int i);

/* Opens a device of backend without state of its own; host_close() closes it.
 * Returns 0, or -1 with err. */
int host_open(const struct backend *backend, struct device **device,
	      struct error *err);

/* Slots of struct backend. */
void host_close(struct device *device);
void host_describe_cpu(struct device_info *info);
int host_store(struct program *program, enum vector which, const float *values,
	       struct error *err);
int host_load(struct program *program, enum vector which, float *values,
	      struct error *err);
float *host_map(struct program *program, enum vector which, struct error *err);
int host_unmap(struct program *program, enum vector which, struct error *err);
int host_update(struct program *program, const struct update *update,
		size_t from, size_t to, struct error *err);
int host_decisions(struct program *program, int layer, uint8_t *values,
		   struct error *err);

/*
 * Adds the loss of sample i of a batch to score; x has the sample's outputs.
 * dx, unless NULL, becomes the gradient of loss / batch->global_count. Formulas
 * are in models/model.h.
 */
void host_loss(enum loss loss, const float *x, int outputs,
	       const struct batch *batch, int i, struct score *score,
	       float *dx);
void host_loss_double(enum loss loss, const double *x, int outputs,
		      const struct batch *batch, int i, struct score *score,
		      double *dx);

/*
 * Makes the optimizer's step of count parameters; state that it does not keep
 * may be NULL. In double, it is PyTorch's arithmetic except for the order of
 * products.
 */
void host_optimize(const struct update *update, size_t count, float *p,
		   const float *g, float *state_0, float *state_1);
void host_optimize_double(const struct update *update, size_t count, double *p,
			  const double *g, double *state_0, double *state_1);
/*
 * Makes the step of parameters from .. to - 1. vectors has [VECTOR_COUNT], NULL
 * if not kept. A precision that rounds vectors rounds the gradient before,
 * since it may be a sum, and all vectors after.
 */
void host_update_vectors(const struct update *update, enum precision precision,
			 float *const *vectors, size_t from, size_t to);
void host_update_vectors_double(const struct update *update,
				enum precision precision,
				double *const *vectors, size_t from,
				size_t to);

#endif
