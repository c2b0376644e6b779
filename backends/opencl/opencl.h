/*
 * Private to the OpenCL backend.
 *
 * Compiling a model makes two passes over it, each a list of launches whose
 * arguments are set once: one for training, with gradient and masks, and one
 * for testing, in buffers of its own. Running a pass is walking its list.
 *
 * The replica's vectors are flat on the device too, so that they cross the
 * border as they are. Kernels whose vectors run over channels work on copies of
 * the weights that a pass makes when it starts; they belong to the pass, and
 * what a training step has decided can be worked out again until the next one.
 */
#ifndef BACKENDS_OPENCL_OPENCL_H
#define BACKENDS_OPENCL_OPENCL_H

#include <CL/cl.h>

#include "backends/contract/backend.h"
#include "backends/contract/plan.h"

/* Groups of samples whose weight gradients are summed side by side: enough to
 * occupy the device, and fixed, so that every device sums in one order. */
#define GROUPS 32

/* Samples that an evaluation has on the device at a time, at most, and bytes of
 * what steps make of them, about. */
#define TEST_SLICE 250
#define TEST_BYTES 268435456.

#define MEMORIES_OF_STEP 16
#define LAUNCHES_OF_STEP 8
#define MARKS 3

extern const struct backend opencl_backend;

struct device_class; /* class.h */

/* One entry of the list that `choice` indexes. */
struct candidate {
	cl_platform_id platform;
	cl_device_id device; /* NULL: a platform that has none, and why */
	char platform_name[128];
	cl_device_type type;
	struct device_info info;
};

struct opencl_device {
	struct device base;
	struct candidate chosen;
	int parts; /* ranks that share its memory; above 1 this is a
		      sub-device */
	long kept; /* compiled kernels when it was opened; -1: not known */
	const struct device_class *class;
	cl_context context;
	int width;     /* floats of a vector in the kernels */
	int registers; /* vectors that a tile of sums may take */
	const char *math_options;
};

/* Where things are in an activation, counted in floats. */
struct layout {
	int sample, channel, row, column;
};

/*
 * What a launch has to do. Multiply-adds, and floats that are read or written
 * at least, of each sample; and those of the parameters, whatever the batch is.
 */
struct work {
	int step; /* whose it is */
	double dense, done;
	double moved, moved_once;
	/* Whether what is done is of elements of the step's output that are
	 * neither dropped nor stopped; done is then that of all. */
	int sparse;
	/* The step done along by the same kernel: the one that it reads (-1)
	 * or that reads it (1); 0: none. */
	int beside;
};

/*
 * Parts of a profile: launches of the training pass by their place in it, as
 * many as a profile has room for, and what is around them. A launch that is
 * none of these has PART_NONE, 0.
 */
enum command {
	PART_NONE,
	PART_IMAGES,
	PART_LABELS,
	PART_GATHER,
	PART_SUMS,
	PART_UPDATE,
	PART_SCORE,
	PART_LAUNCHES,
	PARTS = PROFILE_MOST_PARTS
};

/*
 * A kernel with its arguments, and how many work-groups it takes, `items` in
 * each dimension, each of group_items in the first (0: 1). Of the dimension
 * whose items are 0 there is one for each `samples` samples of the batch, or
 * of whatever else launch_enqueue() is given a count of.
 */
struct launch {
	const char *name;
	int items[3];
	int group_items;
	int samples;
	int batch_arguments; /* the kernel's first ones: see launch.c */
	struct work work;
	int part; /* of a profile; PART_NONE: of none */
	int has_run;
	cl_kernel kernel;
};

/* What a step keeps on the device for one pass; unused ones are NULL. */
struct step_memory {
	struct layout in, out;
	cl_mem y;      /* after ReLU and pooling, before dropout */
	cl_mem output; /* what the next step reads; may be y itself */
	cl_mem gradient; /* by output */
	cl_mem codes;  /* winners, beside y; of a generic step what it decides,
			  in the contract's order */
	cl_mem routes; /* winners, beside output; may be codes itself, and are
			  in the gpu class ushorts, as gpu.cl says */
	cl_mem keep;   /* [sample][keep_sample] choices of the dropout */
	cl_mem packed, turned; /* copies of the weights of a convolution */
	cl_mem spread; /* images, channels last */
	cl_mem scattered; /* see conv_dense.h */
	cl_mem sums;   /* not yet summed over groups or chunks */
	cl_mem places, values; /* slopes of a linear layer that are not 0 */
};

struct pass {
	int most;	/* samples */
	int training;	/* with masks and backward */
	cl_mem images, labels; /* or vectors, see target_bytes() */
	cl_mem outcomes; /* [sample] { loss, correct } */
	cl_mem scores; /* [slots] sums of outcomes, of one batch each */
	float *host_scores;
	int slots, slot; /* the batch's that runs */
	struct step_memory steps[MODEL_MAX_LAYERS];
	struct launch gather; /* without a kernel while nothing is held */
	struct launch launches[MODEL_MAX_LAYERS * LAUNCHES_OF_STEP];
	int launch_count;
};

struct opencl_program {
	struct program base;
	struct graph graph;
	struct plan plan;
	cl_command_queue queue;
	cl_mem vectors[VECTOR_COUNT];
	cl_program common; /* kernels of step.cl, or of gpu_step.cl */
	cl_program sums;   /* kernels of gpu_sums.cl; NULL: of the cpu class */
	cl_program built[MODEL_MAX_LAYERS];  /* kernels of each step */
	struct pass train, test;
	struct launch update;
	struct launch reduce, reduce_update; /* of the gpu class */
	cl_mem parts, segments;		     /* what they sum up */
	cl_program generic;	/* kernels of generic.cl; NULL: no step has */
	cl_mem generic_parts;	/* of whichever step's gradient is made */
	cl_mem buffers;		/* VECTOR_BUFFERS, or NULL */
	cl_mem order; /* of the training set, if it is held */
	int own_memories; /* of memories, those that it was compiled with */
	cl_mem memories[2 * MODEL_MAX_LAYERS * MEMORIES_OF_STEP];
	int memory_count;
	float *mapped[VECTOR_COUNT]; /* while they are lent */
	cl_event events[PARTS]; /* of parts that nobody has been told of */
	int timed;      /* whether the queue takes times */
	int count;      /* samples of the last gradient */
	int trained;    /* whether an update was made with it at once */
	struct batch last; /* that one; its images may be gone */
	int unfinished; /* gradients whose scores have not been read */
	cl_event marks[MARKS]; /* behind some of them, if they are many */
};

/* status.c: names of codes. status_fail always returns -1. */
const char *status_name(cl_int status);
int status_fail(struct error *err, const char *call, cl_int status);
/* The same of a call that takes memory, at once or as some drivers do when that
 * is first used: sets err->memory if there was none left. */
int room_fail(struct error *err, cl_int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* device_list.c, device.c */
int opencl_list(int cpus, struct device_info *list, int most,
		struct error *err);
int opencl_open(const struct device_request *request, struct device **device,
		struct error *err);
void opencl_close(struct device *device);
void opencl_describe(struct device *device, struct device_info *info);

/* build.c: which of the kernels' files, after vector.cl, with options for the
 * compiler, a format and what it takes; so err cannot be last. */
enum source {
	SOURCE_CONV,
	SOURCE_WINOGRAD,
	SOURCE_LINEAR,
	SOURCE_STEP,
	SOURCE_GPU_CONV,
	SOURCE_GPU_LINEAR,
	SOURCE_GPU_STEP,
	SOURCE_GPU_SUMS,
	SOURCE_GENERIC
};
int source_build(const struct opencl_device *device, enum source source,
		 cl_program *built, struct error *err, const char *options, ...)
	__attribute__((format(printf, 5, 6)));

/* launch.c: the queue, to give it one kernel or transfer, which is counted. */
cl_command_queue queue_next(struct opencl_program *program);

/*
 * profile.c. Before a step, for an observer that may have come; where to note
 * the event of a command, NULL if nobody asks; and once all so far are done.
 */
int profile_start(struct opencl_program *program, struct error *err);
cl_event *profile_event(struct opencl_program *program, int part);
int profile_finish(struct opencl_program *program, struct error *err);
void profile_release(struct opencl_program *program);
int opencl_profile(struct program *program, struct profile_part *parts);

/* memory.c: buffers, zeroed, released with the program. */
int memory_make(struct opencl_program *program, size_t bytes, cl_mem *memory,
		struct error *err);
/* In the options' memory, if there is any, which others read while the buffer
 * is mapped. */
int memory_make_seen(struct opencl_program *program, size_t bytes,
		     cl_mem *memory, struct error *err);
int memory_clear(struct opencl_program *program, cl_mem memory, size_t bytes,
		 struct error *err);
/* Waits for what comes before. */
int memory_fetch(struct opencl_program *program, cl_mem memory, size_t bytes,
		 void *to, struct error *err);
/* All but the oldest kept of them. */
void memory_release(struct opencl_program *program, int kept);

/* Makes those that are wanted, of a pass: a lack of room names the batch. */
struct request {
	cl_mem *memory;
	int wanted;
	size_t bytes;
};
int memory_make_all(struct opencl_program *program,
		    const struct request *requests, size_t count,
		    struct error *err);

/* layout.c */
const struct opencl_device *
program_device(const struct opencl_program *program);
const struct step *step_at(const struct opencl_program *program, int index);
/* Vectors that so many floats take, the last of them perhaps not whole. */
int vector_count(const struct opencl_program *program, int floats);
/* Samples of a gradient, at least 1. */
int batch_most(const struct opencl_program *program);
int round_up(int n, int multiple);
int largest_divisor(int n, int most);
/* Parts that n things make of so many each, the last perhaps not whole. */
int parts_of(int n, int each);
const struct opencl_solver *solver_of(const struct opencl_program *program,
				      int index);
/* The step that a row belongs to. */
int step_of(const struct opencl_program *program, int row);
/* The step that makes what step index reads, or STEP_IMAGES; and the only one
 * that reads what it makes, or STEP_NONE. */
#define STEP_IMAGES (-1)
#define STEP_NONE (-1)
int step_source(const struct opencl_program *program, int index);
int step_reader(const struct opencl_program *program, int index);
/* Whether the gradient by its input is wanted. */
int step_wants_dx(const struct opencl_program *program, int index);
/* Of the input of step index: the images, or what its source makes. */
struct layout layout_input(const struct opencl_program *program, int index);
struct layout layout_output(const struct opencl_program *program, int index);
/* Channels last: what convolutions make, and read unless they are first. */
struct layout layout_channels_last(const struct opencl_program *program,
				   struct shape shape);

/* What is dropped at the end of a step; the values are those of vector.cl. */
enum dropping { DROP_NOTHING, DROP_ELEMENTS, DROP_PLANES };
enum dropping step_dropping(const struct opencl_program *program, int index);
/* What is kept grows by this: the bits of a float, whose text would depend on
 * the locale. */
unsigned step_growth_bits(const struct opencl_program *program, int index);
/* Bytes of a sample in keep: whole numbers of what dropout_choose makes. */
int step_keep_sample(const struct opencl_program *program, int index);
/* Multiply-adds of a sample, forward, and parameters of the main layer. */
double step_products(const struct opencl_program *program, int index);
double step_parameters(const struct opencl_program *program, int index);
double step_inputs(const struct opencl_program *program, int index);
double step_outputs(const struct opencl_program *program, int index);
/* What step index reads, and the gradient by it; NULL if nobody wants that. */
cl_mem step_input(const struct opencl_program *program,
		  const struct pass *pass, int index);
cl_mem step_dx(const struct opencl_program *program, const struct pass *pass,
	       int index);

/*
 * launch.c. The kernel's arguments are the batch's, then the memories, then
 * the words. launch_make fills what how leaves open.
 */
int launch_make(struct launch *launch, const struct launch *how,
		cl_program built, const cl_mem *memories, int memory_count,
		struct error *err);
int launch_words(struct launch *launch, int first, const cl_uint *words,
		 int count, struct error *err);
/* Appends to a pass. */
int pass_add(struct pass *pass, const struct launch *how, cl_program built,
	     const cl_mem *memories, int memory_count, struct error *err);
/* The first one is waited for. */
int launch_enqueue(struct opencl_program *program, struct launch *launch,
		   int count, struct error *err);
/* Uploads or gathers a batch of at least one sample and runs all launches on
 * it. */
int pass_run(struct opencl_program *program, struct pass *pass,
	     const struct batch *batch, struct error *err);
void launch_release(struct launch *launch);
void pass_release(struct pass *pass);

/* What solvers know besides the graph. */
struct opencl_options {
	struct program_options base; /* first: see struct solver */
	int width;		     /* floats of a vector in the kernels */
};

/*
 * How steps of one kind are computed; what is NULL is not needed. Memory is of
 * one pass; forward and backward append launches.
 */
struct opencl_solver {
	struct solver base; /* takes() gets an opencl_options' base */
	int channels_last;  /* it reads so what is not the images */
	int (*build)(struct opencl_program *program, int index,
		     struct error *err);
	int (*allocate)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	int (*forward)(struct opencl_program *program, struct pass *pass,
		       int index, struct error *err);
	int (*backward)(struct opencl_program *program, struct pass *pass,
			int index, struct error *err);
	/* Of one of its layers, behind a batch of at least one sample. */
	int (*decisions)(struct opencl_program *program, int index, int layer,
			 uint8_t *values, struct error *err);
};

extern const struct opencl_solver conv_solver, winograd_solver, linear_solver,
	loss_solver;

/*
 * chain.c: how many rows from first on the kernels made for chains compute
 * together, 0 if they cannot: a convolution with stride 1, a bias and nothing
 * around it, then a ReLU, a pooling whose windows neither overlap nor leave
 * gaps, and a dropout; or a linear layer, a ReLU and a dropout. They write the
 * gradient by what they read, and do not add to it.
 */
int chain_of_conv(const struct graph *graph, int first);
int chain_of_linear(const struct graph *graph, int first);
/* The rows of a step by their kinds. Layers are indices into the model's table,
 * or STEP_NO_LAYER; what is of a main layer that is not there is 0. */
#define STEP_NO_LAYER (-1)
struct chain {
	int main; /* the convolution or linear layer */
	int relu, pool, dropout;
	int window;	       /* of the convolution */
	int pool_window;       /* 1 without pooling */
	struct shape in, out;  /* of the whole step */
	struct shape main_out; /* of the main layer, before ReLU and pooling */
	size_t weight, bias;   /* offsets in the flat vector */
	int broken;	       /* see backend_layer_is_broken() */
};
struct chain chain_at(const struct opencl_program *program, int index);
/* The only row that reads row's output, or STEP_NO_LAYER. */
int chain_reader(const struct graph *graph, int row);

/*
 * conv.c: kernels of a step, and how to launch the one that goes forward, which
 * takes CONV_FORWARD_MEMORIES: input, packed, where y goes and the winners and,
 * by tiles, keep and packed of the step before. pooling 0 leaves out the
 * pooling.
 */
#define CONV_FORWARD_MEMORIES(by_tiles) ((by_tiles) ? 6 : 4)
int conv_build(struct opencl_program *program, int index, int pooling,
	       cl_program *built, struct error *err);
struct launch conv_how(const struct opencl_program *program, int index,
		       int pooling);
/* The sums of a step's groups, over all of them. */
struct launch conv_reduce_how(const struct opencl_program *program, int index);
int conv_add_reduce(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err);
size_t conv_sum_size(const struct opencl_program *program, int index);

/* winograd.c: whether a convolution is done by tiles, and how to launch its way
 * forward. */
int winograd_fits(const struct opencl_program *program, int index);
/* Whether it also does the step that it reads, both ways. */
int winograd_leads(const struct opencl_program *program, int index);
/* Whether the step that reads this one does it as well. */
int winograd_led(const struct opencl_program *program, int index);
cl_mem winograd_input(const struct opencl_program *program,
		      const struct pass *pass, int index);
/* What the compiler has to know as well; empty where it does not fit. */
#define WINOGRAD_OPTIONS 512
void winograd_options(const struct opencl_program *program, int index,
		      char *text, size_t size);
struct launch winograd_how(const struct opencl_program *program, int index);

/* linear.c */
int linear_has_loss(const struct opencl_program *program, int index);
/* Bytes that the lists of so many outputs take up for each sample. */
double linear_list_bytes(int outputs);

/* step.c: kernels that belong to no layer with parameters. */
int common_build(struct opencl_program *program, struct error *err);
int dropout_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);
/* All choices of a pass. */
int dropout_add(struct opencl_program *program, struct pass *pass,
		struct error *err);
/*
 * Appends the loss of the model, launched as `loss` says, to a pass. memories:
 * logits [most][sample], targets or labels, outcomes, and the slopes or NULL.
 */
int loss_add(struct opencl_program *program, struct pass *pass,
	     struct launch *loss, const cl_mem memories[4], int sample,
	     struct error *err);
int update_make(struct opencl_program *program, struct error *err);

/* The first arguments of the optimizer's kernel; returns how many, at most
 * UPDATE_SETTINGS. */
#define UPDATE_SETTINGS 7
int update_settings(const struct update *update, cl_float *settings);

/* Of a sample's target: a label, or a vector of floats. */
size_t target_bytes(const struct opencl_program *program);

/*
 * score.c: the last launch of a pass leaves the batch's score in its slot; the
 * first slots of them come to the host, waited for; and one is added to score.
 */
int score_make(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
int score_read(struct opencl_program *program, struct pass *pass, int slots,
	       struct error *err);
/* Makes the slot that of an empty batch. */
int slot_clear(struct opencl_program *program, const struct pass *pass,
	       struct error *err);
void slot_add(const struct pass *pass, int slot, struct score *score);

/* ahead.c. Before each gradient: its slot; and waits where the device is too
 * far behind. */
int ahead_begin(struct opencl_program *program, struct error *err);
void ahead_release(struct opencl_program *program);
int opencl_finish(struct program *program, struct score *scores, int count,
		  struct error *err);

/* held.c: the data set on the device. */
int opencl_hold(struct program *program, const struct held_data *data,
		struct error *err);
int opencl_order(struct program *program, const int *order, int count,
		 struct error *err);

/* program.c */
int opencl_compile(struct device *device, const struct model *model,
		   const struct program_options *options,
		   struct program **program, struct error *err);
void opencl_free(struct program *program);
double opencl_sample_bytes(const struct model *model,
			   const struct program_options *options);

/* opencl.c */
int opencl_gradient(struct program *program, const struct batch *batch,
		    const struct update *update, struct error *err);
int opencl_update(struct program *program, const struct update *update,
		  size_t from, size_t to, struct error *err);

/* decisions.c: 0 where an activation with this layout is 0 or below, else 1;
 * and those of the cpu class's chains. */
int decisions_of_signs(struct opencl_program *program, cl_mem memory,
		       struct layout layout, struct shape shape,
		       uint8_t *values, struct error *err);
int chain_decisions(struct opencl_program *program, int index, int layer,
		    uint8_t *values, struct error *err);

#endif
