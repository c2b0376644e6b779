/*
 * What backends share whose programs are floats in this process's memory:
 * vectors, decisions, optimizers and losses.
 */
#ifndef BACKENDS_HOST_HOST_H
#define BACKENDS_HOST_HOST_H

#include "backends/contract/backend.h"
#include "backends/contract/graph.h"
#include "backends/contract/plan.h"
#include "models/random.h"

/* First member of such a backend's own program. */
struct host_program {
	struct program base;
	struct graph graph;
	struct plan plan; /* empty where rows are computed one by one */
	float *vectors[VECTOR_COUNT]; /* of base.length floats, or NULL */
	float *buffers; /* of base.buffers floats */
	/* Of each layer, [options.batch][layer_decisions()]; NULL if none. */
	uint8_t *decisions[MODEL_MAX_LAYERS];
	int masks_only;	 /* decisions has dropout's alone, or none */
	int batch_count; /* samples of the last gradient */
};

/*
 * Allocates size bytes, zeroed and aligned to a cache line; NULL if there are
 * none left. Freed with free().
 */
void *host_allocate(size_t size);

#define HOST_HUGE_PAGE ((size_t)2 << 20) /* bytes; of x86-64 */

/*
 * Asks for huge pages where size bytes of memory that has not been touched yet
 * hold some, and does without where the system has none: a replica's vectors
 * and activations have more pages than the CPU remembers translations of.
 */
void host_prefer_huge_pages(void *memory, size_t size);

/* Plans only; nothing to release yet. */
int host_plan(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      const struct solver *const *solvers, int count,
	      struct error *err);

/* Vectors of length floats, and decisions; on failure nothing is left. Before,
 * a backend may set masks_only, and base.shared, of vectors in
 * options.memory. */
int host_allocate_all(struct host_program *program, size_t length,
		      struct error *err);

/* All but a plan, for those that compute row by row and keep vectors as
 * models/model.h lays them out. */
int host_init(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      struct error *err);
void host_release(struct host_program *program);

/* Decides what the dropout layers keep of this batch; choose has the choices of
 * dropout_choices(). */
void host_choose(struct host_program *program, const struct batch *batch,
		 dropout_chooser *choose);

/* Decisions of sample i at a layer. */
uint8_t *host_decisions_at(const struct host_program *program, int layer,
			   int i);

/* A device of backend that has no state of its own; closed by host_close. */
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

/* The loss of sample i of a batch, of so many outputs, added to score. dx,
 * unless NULL, becomes the gradient of loss / batch->global_count by them. */
void host_loss(enum loss loss, const float *x, int outputs,
	       const struct batch *batch, int i, struct score *score,
	       float *dx);
void host_loss_double(enum loss loss, const double *x, int outputs,
		      const struct batch *batch, int i, struct score *score,
		      double *dx);

/* The optimizer's step of count parameters; state that it does not keep may be
 * NULL. In double, PyTorch's arithmetic but for the order of products. */
void host_optimize(const struct update *update, size_t count, float *p,
		   const float *g, float *state_0, float *state_1);
void host_optimize_double(const struct update *update, size_t count, double *p,
			  const double *g, double *state_0, double *state_1);
/* That of from .. to of these, [VECTOR_COUNT], NULL where one is not kept; a
 * precision that rounds vectors rounds the gradient before, which may be a sum,
 * and all of them behind. */
void host_update_vectors(const struct update *update, enum precision precision,
			 float *const *vectors, size_t from, size_t to);
void host_update_vectors_double(const struct update *update,
				enum precision precision,
				double *const *vectors, size_t from,
				size_t to);

#endif
