#include "bench/verify/verify_infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/verify/verify_network.h"
#include "bench/verify/verify_passed.h"
#include "bench/verify/verify_ranks.h"
#include "models/fold_norms.h"

#define FEWEST 16 /* samples */
#define DRAWS 4 /* of parameters one float away, and ... */
#define FLIPS 2 /* ... one number of the precision away */
#define OF_MOVES 4 /* times the former, where a precision rounds */
/* And this part of the latter: chance rounds few of many values otherwise. */
#define FEW 32 /* over the root of the number of parameters, at most 1 */
#define MOST_HELD .05 /* beyond, a comparison would show nothing */

struct inference {
	struct verify_task task; /* of this one's copy of the network */
	struct verify_result *result;
	struct folded_model folded;
	int folds;
	struct share share; /* all samples, for the reference */
	struct batch batch;
	float *parameters, *buffers;		  /* of the network */
	float *own_parameters, *own_buffers;	  /* as it is passed forward */
	float *right, *moved;			  /* outputs */
	size_t outputs;				  /* of all samples */
	struct passing passing;
	struct passed *passed;
};

struct own_cores {
	struct verify_job job; /* first */
	const struct inference *all;
};

/* The reference, or what stands in for it. */
struct right_side {
	struct device *device;
	struct program *program;
};

int verify_infer_samples(const struct verify_task *task,
			 const struct verify_result *result)
{
	const int cores = result->own_cores ? result->target.cores :
			  task->backend->offloads ? 1 : 2;
	const int fewest = task->test_batch < FEWEST ? task->test_batch :
						       FEWEST;
	const int each = cores * task->measured_batch;

	return (fewest + each - 1) / each * each;
}

int verify_infer_passes(const struct verify_task *task)
{
	return verify_is_rounded(task) || model_has_batchnorm(task->model) ?
		       3 + DRAWS + FLIPS : 1;
}

static int open_right(struct right_side *side, const struct inference *all,
		      const struct model *model, enum precision precision,
		      const unsigned char *rounds, struct error *err)
{
	const struct verify_task *task = &all->task;
	const int samples = all->passing.samples;
	const struct device_request request = { .threads = 1,
						.cpus = VERIFY_MOST_CORES };
	const struct program_options options = {
		.batch = samples < FEWEST ? samples : FEWEST,
		.test_batch = samples,
		.algorithm = ALGORITHM_DENSE,
		.precision = precision,
	};

	return device_open(task->right, &request, &side->device, err) ||
			       program_compile(side->device, model, &options,
					       &side->program, err) ||
			       program_round_factors(side->program, rounds,
						     err) ?
		       -1 : 0;
}

static void close_right(struct right_side *side)
{
	program_free(side->program);
	device_close(side->device);
}

static int pass_right(const struct right_side *side,
		      const struct inference *all, const float *parameters,
		      const float *buffers, float *outputs,
		      struct score *score, struct error *err)
{
	struct batch batch = all->batch;

	batch.outputs = outputs;
	*score = (struct score){ 0 };
	return program_store(side->program, VECTOR_PARAMETERS, parameters,
			     err) ||
			       (side->program->buffers &&
				program_store(side->program, VECTOR_BUFFERS,
					      buffers, err)) ||
			       program_evaluate(side->program, &batch, score,
						err) ?
		       -1 : 0;
}

/* By how much the outputs as a whole are larger or smaller. */
static double scale_error(const float *tried, const float *right, size_t count)
{
	double both = 0, square = 0;

	for (size_t i = 0; i < count; i++) {
		both += (double)tried[i] * right[i];
		square += (double)right[i] * right[i];
	}
	return square > 0 ? fabs(both / square - 1) : 0;
}

/* Each parameter by three quarters of the distance of two numbers at least, so
 * that it is rounded to a neighbour. */
static void flip(const struct inference *all, float *parameters, int number)
{
	const size_t count = model_parameter_count(all->passing.model);
	const float part = all->task.precision == PRECISION_FP16 ? 0x1.8p-11f :
								   0x1.8p-8f;
	float *signs = parameters + count;

	memset(signs, 0, count * sizeof(*signs));
	verify_nudge(signs, count, number);
	for (size_t i = 0; i < count; i++)
		parameters[i] *= signs[i] > 0 ? 1 + part : 1 - part;
}

/* How far outputs move: each of them, and all in size. */
struct output_moves {
	double each, scale;
};

/* The most of so many draws of other parameters; room for twice as many. */
static int move(const struct inference *all, const struct right_side *side,
		int draws, int flips, float *parameters,
		struct output_moves *moves, struct error *err)
{
	const size_t count = model_parameter_count(all->passing.model);
	struct score ignored;

	*moves = (struct output_moves){ 0 };
	for (int i = 1; i <= draws; i++) {
		memcpy(parameters, all->own_parameters,
		       count * sizeof(*parameters));
		if (flips)
			flip(all, parameters, i);
		else
			verify_nudge(parameters, count, i);
		if (pass_right(side, all, parameters, all->own_buffers,
			       all->moved, &ignored, err))
			return -1;
		verify_worsen(&moves->each,
			      verify_error(all->moved, all->right,
					   all->outputs));
		verify_worsen(&moves->scale,
			      scale_error(all->moved, all->right,
					  all->outputs));
	}
	return 0;
}

static double held_to(const struct inference *all, double moved, double flipped)
{
	const double count =
		(double)model_parameter_count(all->passing.model);
	const double bound = all->task.bound;
	/* Where outputs themselves are stored, each flip is seen. */
	const double part = precision_rounds(all->task.precision) ?
				    1 : fmin(1, FEW / sqrt(count));

	if (!verify_is_rounded(&all->task))
		return fmax(bound, fmin(VERIFY_OF_MOVES * moved,
					VERIFY_MOST_HELD * bound));
	return fmax(bound, fmin(fmax(OF_MOVES * moved, part * flipped),
				MOST_HELD));
}

/* How far an output may be from the next number that is stored, over it. */
static double number_apart(const struct inference *all)
{
	return all->task.precision == PRECISION_FP16	     ? 0x1p-10 :
	       all->task.precision == PRECISION_BF16_STORAGE ? 0x1p-7 : 0;
}

/* What errors are held to, which may be more than the bound. */
static int explain(const struct inference *all, const struct right_side *side,
		   struct error *err)
{
	const size_t count = model_parameter_count(all->passing.model);
	struct verify_passes *passes = &all->result->passes;
	const int rounds = verify_is_rounded(&all->task);
	const int is_over = !(passes->outputs.error <= all->task.bound);
	float *parameters = malloc(2 * count * sizeof(*parameters));
	struct output_moves moved, flipped;
	int failed;

	if (!parameters)
		return error_memory(err, "the reference's neighbours");
	failed = move(all, side, rounds || is_over ? DRAWS : 0, 0, parameters,
		      &moved, err) ||
		 move(all, side, rounds ? FLIPS : 0, 1, parameters, &flipped,
		      err);
	free(parameters);
	/* Few outputs may all be the next number. */
	passes->outputs.bound = held_to(all, moved.each,
					fmax(flipped.each, number_apart(all)));
	passes->scale.bound = held_to(all, moved.scale,
				      fmax(flipped.scale, number_apart(all)));
	return failed ? -1 : 0;
}

/* Of one team; the worse error is kept. */
static void take_passed(const struct inference *all, const struct score *right)
{
	const struct passed *passed = all->passed;
	struct verify_passes *passes = &all->result->passes;

	verify_worsen(&passes->outputs.error,
		      verify_error(passed->outputs, all->right, all->outputs));
	verify_worsen(&passes->scale.error,
		      scale_error(passed->outputs, all->right, all->outputs));
	verify_worsen(&passes->loss, fabs(passed->score.loss - right->loss) /
					     fabs(right->loss));
	verify_worsen(&passes->correct,
		      passed->score.count != right->count ? NAN :
		      fabs((double)(passed->score.correct - right->correct)) /
			      (double)right->count);
}

/* The network before and after its norms are folded, both in double. */
static int compare_folded(struct inference *all, struct error *err)
{
	struct right_side before = { 0 }, after = { 0 };
	struct score ignored;
	int failed;

	if (!all->folds)
		return 0;
	failed = open_right(&before, all, all->task.model, PRECISION_FP64,
			    NULL, err) ||
		 open_right(&after, all, all->passing.model, PRECISION_FP64,
			    NULL, err) ||
		 pass_right(&before, all, all->parameters, all->buffers,
			    all->right, &ignored, err) ||
		 pass_right(&after, all, all->own_parameters, all->own_buffers,
			    all->moved, &ignored, err);
	close_right(&before);
	close_right(&after);
	if (!failed)
		all->result->passes.folded = verify_error(
			all->moved, all->right, all->outputs);
	return failed ? -1 : 0;
}

/* What cores by this transport pass forward, all samples, a batch on each. */
static int pass_by(struct inference *all, const char *transport, int cores,
		   struct error *err)
{
	return verify_check_signal(err, "before its forward passes") ||
	       passing_run(&all->passing, transport_find(transport), cores,
			   all->passed, err) ? -1 : 0;
}

static int pass_own(const struct verify_job *job,
		    const struct transport *transport, int cores,
		    struct error *err)
{
	const struct own_cores *own = (const struct own_cores *)job;

	return passing_run(&own->all->passing, transport, cores, job->made,
			   err);
}

static struct own_cores own_cores_of(const struct inference *all)
{
	return (struct own_cores){
		.job = { pass_own, all->passed, passed_size(all->outputs) },
		.all = all,
	};
}

static int pass_first(struct inference *all, struct error *err)
{
	const struct own_cores own = own_cores_of(all);

	return all->result->own_cores ?
		       verify_own_cores(&own.job, &all->result->target,
					all->task.options, err) :
		       pass_by(all, "self", 1, err);
}

static int compare(struct inference *all, struct error *err)
{
	const enum precision precision = verify_right_precision(&all->task);
	const struct passed *passed = all->passed;
	const int samples = all->passing.samples;
	struct right_side side = { 0 };
	struct score right;
	int failed;

	if (share_allocate(&all->share, &all->task, samples))
		return error_memory(err, "the samples to compare");
	verify_test_batch(&all->task, 0, samples, &all->share, &all->batch);
	failed = compare_folded(all, err) || pass_first(all, err) ||
		 open_right(&side, all, all->passing.model, precision,
			    passed->has_rounds ? passed->rounds : NULL, err) ||
		 pass_right(&side, all, all->own_parameters, all->own_buffers,
			    all->right, &right, err);
	if (!failed)
		take_passed(all, &right);
	all->result->most_cores = 1;
	if (!failed && !all->result->own_cores &&
	    !all->task.backend->offloads) {
		failed = pass_by(all, "threads", 2, err);
		if (!failed)
			take_passed(all, &right);
		all->result->most_cores = 2;
	}
	if (!failed)
		failed = explain(all, &side, err);
	close_right(&side);
	return failed ? -1 : 0;
}

static int draw(struct inference *all)
{
	const struct model *model = all->task.model;
	const struct model *own = all->passing.model;
	const long seed = all->task.options->seed;

	all->parameters = malloc(model_parameter_count(model) * sizeof(float));
	all->buffers = malloc((model_buffer_count(model) + 1) * sizeof(float));
	all->own_parameters = malloc(model_parameter_count(own) *
				     sizeof(float));
	all->own_buffers = malloc((model_buffer_count(own) + 1) *
				  sizeof(float));
	if (!all->parameters || !all->buffers || !all->own_parameters ||
	    !all->own_buffers)
		return -1;
	verify_draw_parameters(model, seed, all->parameters);
	verify_draw_statistics(model, seed, all->parameters, all->buffers);
	if (all->folds) {
		fold_norms_vectors(&all->folded, model, all->parameters,
				   all->buffers, all->own_parameters,
				   all->own_buffers);
		return 0;
	}
	memcpy(all->own_parameters, all->parameters,
	       model_parameter_count(model) * sizeof(float));
	memcpy(all->own_buffers, all->buffers,
	       model_buffer_count(model) * sizeof(float));
	return 0;
}

/* Of an algorithm that leaves nothing out, no norm is folded. */
static void fold(struct inference *all)
{
	const struct model *model = all->task.model;

	fold_norms(&all->folded, model);
	all->folds = all->task.algorithm == ALGORITHM_FAST &&
		     all->folded.model.layer_count != model->layer_count;
	all->passing.model = all->folds ? &all->folded.model : model;
}

static int prepare(struct inference *all, const struct verify_task *task,
		   struct verify_result *result, struct error *err)
{
	const int samples = verify_infer_samples(task, result);

	all->task = *task;
	all->result = result;
	fold(all);
	all->outputs = (size_t)samples * (size_t)model_classes(task->model);
	all->right = malloc(all->outputs * sizeof(float));
	all->moved = malloc(all->outputs * sizeof(float));
	all->passed = calloc(1, passed_size(all->outputs));
	if (draw(all) || !all->right || !all->moved || !all->passed)
		return error_memory(err, "the outputs to compare");
	all->passing.task = &all->task;
	all->passing.samples = samples;
	all->passing.parameters = all->own_parameters;
	all->passing.buffers = all->own_buffers;
	result->passes.samples = samples;
	result->passes.batch = task->measured_batch;
	result->passes.folded = VERIFY_NOT_MEASURED;
	return 0;
}

static void release(struct inference *all)
{
	share_release(&all->share);
	free(all->parameters);
	free(all->buffers);
	free(all->own_parameters);
	free(all->own_buffers);
	free(all->right);
	free(all->moved);
	free(all->passed);
}

int verify_infer(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct inference all = { .result = result };
	const int failed = prepare(&all, task, result, err) ||
			   compare(&all, err);

	release(&all);
	return failed ? -1 : 0;
}

int verify_be_infer(const struct verify_task *task,
		    struct verify_result *result, FILE *log, struct error *err)
{
	struct inference all = { .result = result };
	int failed = prepare(&all, task, result, err);

	if (!failed) {
		const struct own_cores own = own_cores_of(&all);

		failed = verify_be_core(&own.job, &result->target,
					task->options, log, err);
	}
	release(&all);
	return failed ? -1 : 0;
}
