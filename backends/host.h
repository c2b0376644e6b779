/*
 * What backends share whose programs are floats in this process's memory:
 * vectors, decisions, the optimizer, and the small layers that are loops over
 * one sample. Planes are [channel][row][column].
 */
#ifndef BACKENDS_HOST_H
#define BACKENDS_HOST_H

#include "backends/backend.h"
#include "backends/graph.h"
#include "backends/plan.h"
#include "models/random.h"

/* First member of such a backend's own program. */
struct host_program {
	struct program base;
	struct graph graph;
	struct plan plan; /* empty where rows are computed one by one */
	float *vectors[VECTOR_COUNT]; /* of base.length floats */
	/* Of each layer, [options.batch][layer_decisions()]; NULL if none. */
	uint8_t *decisions[MODEL_MAX_LAYERS];
	int batch_count; /* samples of the last gradient */
};

/*
 * Allocates size bytes, zeroed and aligned to a cache line; NULL if there are
 * none left. Freed with free().
 */
void *host_allocate(size_t size);

/* Plans only; nothing to release yet. */
int host_plan(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      const struct fusion *fusions, int fusion_count,
	      struct error *err);

/* Vectors of length floats, and decisions; on failure nothing is left. Before,
 * a backend may set base.shared, of vectors in options.memory. */
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
void host_explain(struct program *program, char *text, size_t size);

/* Layers of one sample. */

/* columns[channel][row][column of the window][pixel of the output] */
void host_im2col(const float *in, struct shape shape, int window,
		 float *columns);
/* Adds columns back to the pixels that they came from. */
void host_col2im(const float *columns, struct shape shape, int window,
		 float *in);

/* In place; passes[i] is 0 where the input was 0 or below, else 1. */
void host_relu(float *values, size_t count, uint8_t *passes);
void host_relu_backward(float *slopes, size_t count, const uint8_t *passes);

/* Windows do not overlap; the first of equal maxima wins, and a NaN any. */
void host_maxpool(const float *in, struct shape in_shape, int window,
		  float *out, uint8_t *winners);
void host_maxpool_backward(const float *out_slopes, struct shape in_shape,
			   int window, const uint8_t *winners,
			   float *in_slopes);

/*
 * In place, forward and backward alike: what is kept grows by 1 / (1 - drop).
 * Each choice stands for span elements.
 */
void host_dropout(float *values, size_t choices, size_t span,
		  const uint8_t *keep, double drop);

/*
 * Log-softmax and negative log-likelihood of one sample, added to score. With
 * slopes, those of loss / divisor by the logits.
 */
void host_loss(const float *logits, int classes, int label, int divisor,
	       struct score *score, float *slopes);

#endif
