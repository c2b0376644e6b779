/*
 * The cpu backend's own types. Its vectors are laid out as the kernels want
 * them (see kernels.h); layout.c knows where each flat parameter lives.
 */
#ifndef BACKENDS_CPU_CPU_H
#define BACKENDS_CPU_CPU_H

#include "backends/cpu/kernels.h"
#include "backends/cpu/linear.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/stem.h"
#include "backends/host.h"

/* The stem of a program that has one: its first step. */
struct cpu_stem {
	const struct step *step; /* NULL: no layers are fused so */
	const struct stem_kernels *kernels;
	struct stem_shape shape;
	int group; /* samples of a call */
	size_t first, first_bias; /* in the vectors */
	size_t weight, bias;	  /* likewise, of the second convolution */
	int *places; /* of each pixel of a pooled plane */
	float *points; /* transformed weights */
	struct stem_weights weights;
	size_t signs_size;
	uint8_t *signs; /* [groups of the batch][signs_size] */
	float *sums; /* of slopes by the second one's weights */
	float *lane_sums; /* slopes by the first convolution, lane by lane */
	float *scratch;
};

/* A step bound to memory. Arrays over the batch hold batch samples. */
struct cpu_step {
	const struct step *step;
	struct conv_shape conv;
	int gathered;	     /* few input channels: patches are gathered */
	size_t weight, bias; /* in the vectors */
	size_t in_size, out_size; /* floats of a sample, padding included */
	float *out;		  /* [batch][out_size] */
	int out_is_lent;	  /* by cpu_joint_in() */
	float *out_slopes;	  /* [batch][out_size]: of the loss by out */
	uint8_t *winners;	  /* [batch][out_size], with pooling */
	float *forward_weights;	  /* [window][window][channel][out_stride] */
	struct linear_shape linear;
	float *unpooled, *turned, *no_bias; /* of the dense backward pass */
};

/*
 * What several cores have in common to make the slopes by the weights of the
 * first linear layer together, and with them their update: each core for some
 * blocks of its inputs, over the samples of all. Of each core it has the
 * layer's inputs, and what its kernels leave of the slopes by its outputs.
 */
struct cpu_joint {
	int rank, size;
	size_t each;  /* bytes of a core's part */
	char *all;    /* [size][each]; NULL: a core does it alone */
	size_t keep, slopes, in; /* places in a part, behind its header */
	struct linear_part *parts; /* [size] */
	void *scratch;
	size_t updated; /* floats of each vector, in the last update */
};

/* What a pass back leaves of the slopes by the weights of linear layers. */
enum cpu_leaves {
	CPU_LEAVES_GRADIENT, /* the slopes */
	CPU_LEAVES_UPDATE,   /* nothing: the layers have made their update */
	CPU_LEAVES_PARTS     /* of the first layer, what cores make them of */
};

struct cpu_program {
	struct host_program host;
	const struct cpu_kernels *kernels;
	struct cpu_step steps[PLAN_MAX_STEPS];
	struct cpu_stem stem;
	int conv_count;	   /* steps that are convolutions: the first ones */
	int first_linear;  /* step; those before it make planes */
	uint32_t *where;   /* place in the vectors of each flat parameter */
	float *patches;	   /* one gathered sample */
	float *rows;	   /* unpooled rows of a window */
	float *ones;	   /* [batch] */
	void *scratch;	   /* of the linear kernels */
	int weights_moved; /* forward_weights are older than the parameters */
	size_t updated;	   /* floats of each vector, in the last update */
	enum cpu_leaves leaves; /* of the last gradient */
	size_t conv_length; /* floats of the vectors before linear layers' */
	struct cpu_joint joint;
};

/* Shapes, strides and places from the plan; length is that of a vector. */
void cpu_lay_out(struct cpu_program *program, size_t *length);

/* Whether no convolution follows a linear layer. */
int cpu_convs_come_first(const struct cpu_program *program);

/*
 * All arrays of a program that is laid out, vectors aside. On failure, to be
 * released as well.
 */
int cpu_allocate_arrays(struct cpu_program *program);
void cpu_release_arrays(struct cpu_program *program);

/* Allocates where and fills it. */
int cpu_map_parameters(struct cpu_program *program);

/* Fills forward_weights from the parameters, if those have changed. */
void cpu_refresh_weights(struct cpu_program *program);

const struct cpu_kernels *cpu_choose_kernels(struct error *err);
/* Whether these kernels have the precision that is asked for. */
int cpu_check_precision(const struct cpu_kernels *kernels,
			const struct program_options *options,
			struct error *err);
/* Slot of struct backend; BENCH_ISA does not matter here. */
const struct peak *cpu_peak(int index);

/* A convolution's backward pass with every multiplication: see dense.c. */
int cpu_dense_allocate(struct cpu_step *bound);
void cpu_dense_release(struct cpu_step *bound);
void cpu_dense_refresh(const struct cpu_step *bound, const float *weights);
/* One sample; in_slopes is written, unless NULL. */
void cpu_dense_backward(const struct cpu_program *program,
			struct cpu_step *bound, const float *in,
			const float *slopes, const uint8_t *winners,
			float *in_slopes);

/* Whether a step's dropout drops anything, and whole planes at a time. */
int cpu_drops(const struct cpu_program *program, const struct step *step);
int cpu_drops_planes(const struct cpu_program *program,
		     const struct step *step);
double cpu_drop_probability(const struct cpu_program *program,
			    const struct step *step);
/* What is kept grows by it. */
float cpu_drop_scale(const struct cpu_program *program,
		     const struct step *step);

/* Whether the first layers of the model are a stem of whole tiles. */
int cpu_stem_fits(const struct model *model);
/* All but the places in the vectors. */
void cpu_stem_lay_out(struct cpu_stem *stem, const struct step *step,
		      const struct stem_kernels *kernels,
		      enum precision precision);
/* For batches of at most batch samples. On failure, to be released. */
int cpu_stem_allocate(struct cpu_stem *stem, int batch);
void cpu_stem_release(struct cpu_stem *stem);
/* where[] of the flat parameters of the stem. */
void cpu_stem_map(const struct cpu_stem *stem, uint32_t *where);
/* After a change of the parameters, which stay where they are. */
void cpu_stem_refresh(struct cpu_stem *stem, const float *parameters);

/* Samples first .. first + count of batch, into places 0 .. count. */
void cpu_forward(struct cpu_program *program, const struct batch *batch,
		 int first, int count, int training);

/*
 * After cpu_forward of the whole batch and the slopes of the logits. With an
 * update, linear layers make it at once, unless they are dense.
 */
void cpu_backward(struct cpu_program *program, const struct batch *batch,
		  const struct update *update);

/* Forward and backward. The update is that of CPU_LEAVES_UPDATE, else NULL. */
void cpu_differentiate(struct cpu_program *program, const struct batch *batch,
		       enum cpu_leaves leaves, const struct update *update);

/* Linear step s; the part of both passes that is its own. */
void cpu_linear_lay_out(struct cpu_program *program, int s);
void cpu_linear_forward(struct cpu_program *program, int s, const float *in,
			int count, int training);
void cpu_linear_backward(struct cpu_program *program, int s, const float *in,
			 int count, const struct update *update);

/* Whether cores make the first linear layer's update together. */
int cpu_can_join(const struct cpu_program *program);
/* Every core calls it at once. On failure, to be released. */
int cpu_joint_allocate(struct cpu_program *program, struct error *err);
void cpu_joint_release(struct cpu_program *program);
/* Where the layer's inputs go, [batch][in_size]; NULL: nobody else reads
 * them. */
float *cpu_joint_in(const struct cpu_program *program);
/* The layer's own backward pass, but for what cores make together. */
void cpu_joint_backward(struct cpu_program *program,
			const struct linear_batch *batch,
			const struct linear_slopes *slopes);
/* Parameters and their state: [weights, bias] of a step in each vector. */
struct linear_state cpu_linear_state(const struct cpu_program *program, int s);
/* Slots of struct backend. */
int cpu_gradient_joint(struct program *program, const struct batch *batch,
		       struct error *err);
int cpu_update_joint(struct program *program, const struct update *update,
		     struct error *err);

/* [outputs] of a sample in training: 0, a dropped plane; NULL: none is. */
const uint8_t *cpu_stem_keep(const struct cpu_program *program, int sample);

/* The part of both that is the stem's. */
void cpu_stem_forward(struct cpu_program *program, const struct batch *batch,
		      int first, int count, int training);
void cpu_stem_backward(struct cpu_program *program, const struct batch *batch);

/* Slot of struct backend: decisions in the order of the contract. */
int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err);

#endif
