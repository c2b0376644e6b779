/*
 * Forward passes as bench infer times them: programs that only evaluate, with
 * folded batch norms, compared with the reference.
 *
 * Outputs are compared sample by sample. In fp32 their bound is the task's, or
 * 8 times the distance that the reference moves by rounding, as for gradients.
 *
 * If a precision rounds, the reference rounds the same values. A value near the
 * middle between two numbers may be rounded the other way, and all values after
 * it differ. Errors may be 4 times the distance that the reference moves when
 * each parameter becomes the float above or below it. In a small network few
 * values are affected. The reference also moves when each parameter becomes a
 * neighbour in the precision; the bound may then be a part of that distance.
 * The size of all outputs, in which chance averages out, has a bound too: a
 * kernel that always rounds down makes them smaller.
 */
#include "bench/verify/verify_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/verify/verify_network.h"
#include "bench/verify/verify_side.h"
#include "models/fold_norms.h"

#define FEWEST 16 /* samples */
#define DRAWS 4 /* of parameters one float away, and ... */
#define FLIPS 2 /* ... one number of the precision away */
#define OF_MOVES 4 /* times the former, where a precision rounds */
/* And this part of the latter: chance rounds few of many values otherwise. */
#define FEW 32 /* over the root of the number of parameters, at most 1 */
#define MOST_HELD .05 /* beyond, a comparison would show nothing */

/* The outputs of all cores, in one piece. */
struct passed {
	struct score score;
	int has_rounds;
	unsigned char rounds[MODEL_MAX_LAYERS]; /* as in struct program */
	float outputs[]; /* [samples][model_classes()] */
};

/* The first samples of the test set, measured_batch of them a core at a time;
 * each core reads its own. */
struct inference {
	struct verify_task task; /* of the network as it is passed forward */
	const struct model *model; /* before its norms were folded */
	struct verify_result *result;
	struct folded_model folded;
	struct share share; /* all samples, for the reference */
	struct batch batch;
	float *parameters, *buffers;	     /* of the network */
	float *own_parameters, *own_buffers; /* as it is passed forward */
	float *right, *moved;		     /* outputs */
	int samples;
	size_t outputs; /* of all samples */
	struct passed *passed;
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

/* A core. */
struct passer {
	const struct inference *all;
	const struct verify_core *core;
	struct side side;
	struct share share; /* of a batch */
	float *outputs;	    /* outputs of a batch */
	size_t floats;	    /* number of outputs */
};

static int open_passer(struct passer *passer, struct error *err)
{
	const struct inference *all = passer->all;
	const struct verify_task *task = &all->task;
	const int batch = task->measured_batch;
	/* As in bench infer. */
	struct program_options options =
		side_options(task, batch < 2 ? 2 : batch, batch);

	options.dropout = 1;
	options.masks_only = 1;
	options.infers = 1;
	passer->floats = (size_t)batch * (size_t)model_classes(task->model);
	passer->outputs = calloc(passer->floats, sizeof(float));
	if (share_allocate(&passer->share, task, batch) || !passer->outputs)
		return error_memory(err, "a core's batch");
	return side_open(&passer->side, task, task->backend, &options,
			 passer->core, err) ||
			       replica_begin(passer->core->group,
					     passer->side.program,
					     all->own_parameters,
					     all->own_buffers, err) ?
		       -1 : 0;
}

/* The outputs of all cores, one after the other. */
static int gather_outputs(struct passer *passer, float *to, struct error *err)
{
	enum { EACH = GROUP_MAX_MESSAGE / sizeof(float) };
	struct group *group = passer->core->group;
	const size_t floats = passer->floats;
	float all[GROUP_MAX_SIZE * EACH];

	for (size_t at = 0; at < floats; at += EACH) {
		const size_t count = floats - at < EACH ? floats - at : EACH;

		if (group_gather(group, passer->outputs + at,
				 count * sizeof(float), all, err))
			return -1;
		for (int r = 0; !group->rank && r < group->size; r++)
			memcpy(to + (size_t)r * floats + at,
			       all + (size_t)r * count,
			       count * sizeof(float));
	}
	return 0;
}

/* Passes this core's samples forward, from first on. */
static int pass_batch(struct passer *passer, int first, struct score *score,
		      struct error *err)
{
	const struct verify_task *task = &passer->all->task;
	const int count = task->measured_batch;
	struct passed *passed = passer->core->made;
	struct batch batch;

	verify_test_batch(task, first + passer->core->group->rank * count,
			  count, &passer->share, &batch);
	batch.outputs = passer->outputs;
	/* NAN marks outputs that are not written. */
	memset(passer->outputs, 0xff, passer->floats * sizeof(float));
	return program_evaluate(passer->side.program, &batch, score, err) ||
			       gather_outputs(passer, passed->outputs +
				       (size_t)(first / count) *
				       passer->floats, err) ?
		       -1 : 0;
}

static int pass_all(struct passer *passer, struct error *err)
{
	const struct inference *inference = passer->all;
	const struct program *program = passer->side.program;
	struct group *group = passer->core->group;
	struct passed *passed = passer->core->made;
	struct score own = { 0 }, all[GROUP_MAX_SIZE];

	for (int first = 0; first < inference->samples;
	     first += inference->task.measured_batch * group->size)
		if (pass_batch(passer, first, &own, err))
			return -1;
	if (group_gather(group, &own, sizeof(own), all, err))
		return -1;
	if (group->rank)
		return 0;
	for (int r = 0; r < group->size; r++) {
		passed->score.loss += all[r].loss;
		passed->score.correct += all[r].correct;
		passed->score.count += all[r].count;
	}
	passed->has_rounds = program->rounds != NULL;
	if (passed->has_rounds)
		memcpy(passed->rounds, program->rounds,
		       sizeof(passed->rounds));
	return 0;
}

static int passer_body(const struct verify_core *core, struct error *err)
{
	struct passer passer = { .all = core->context, .core = core };
	const int failed = open_passer(&passer, err) ||
			   pass_all(&passer, err);

	side_close(&passer.side);
	share_release(&passer.share);
	free(passer.outputs);
	return failed ? -1 : 0;
}

static size_t passed_size(const struct inference *all)
{
	return sizeof(struct passed) + all->outputs * sizeof(float);
}

static struct verify_job job_of(const struct inference *all)
{
	return (struct verify_job){ passer_body, all, all->passed,
				    passed_size(all) };
}

/* The reference, or what stands in for it. */
static int open_right(struct side *side, const struct inference *all,
		      const struct model *model, enum precision precision,
		      const unsigned char *rounds, struct error *err)
{
	struct verify_task task = all->task;
	struct program_options options = side_options(
		&task, all->samples < FEWEST ? all->samples : FEWEST,
		all->samples);

	task.model = model;
	options.algorithm = ALGORITHM_DENSE;
	options.precision = precision;
	return side_open(side, &task, task.right, &options, NULL, err) ||
			       program_round_factors(side->program, rounds,
						     err) ?
		       -1 : 0;
}

static int pass_right(const struct side *side,
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

/* Returns the relative difference in size of all outputs. */
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
	const size_t count = model_parameter_count(all->task.model);
	const float part = all->task.precision == PRECISION_FP16 ? 0x1.8p-11f :
								   0x1.8p-8f;
	float *signs = parameters + count;

	memset(signs, 0, count * sizeof(*signs));
	verify_nudge(signs, count, number);
	for (size_t i = 0; i < count; i++)
		parameters[i] *= signs[i] > 0 ? 1 + part : 1 - part;
}

/* Moves of the outputs: of each, and of their size. */
struct output_moves {
	double each, scale;
};

/* Takes the largest move over these draws of parameters. parameters has room
 * for two sets. */
static int move(const struct inference *all, const struct side *side,
		int draws, int flips, float *parameters,
		struct output_moves *moves, struct error *err)
{
	const size_t count = model_parameter_count(all->task.model);
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
		(double)model_parameter_count(all->task.model);
	const double bound = all->task.bound;
	/* If outputs are stored in the precision, each flip is visible. */
	const double part = precision_rounds(all->task.precision) ?
				    1 : fmin(1, FEW / sqrt(count));

	if (!verify_is_rounded(&all->task))
		return fmax(bound, fmin(VERIFY_OF_MOVES * moved,
					VERIFY_MOST_HELD * bound));
	return fmax(bound, fmin(fmax(OF_MOVES * moved, part * flipped),
				MOST_HELD));
}

/* Returns the largest relative distance from an output to the next stored
 * number. */
static double number_apart(const struct inference *all)
{
	return all->task.precision == PRECISION_FP16	     ? 0x1p-10 :
	       all->task.precision == PRECISION_BF16_STORAGE ? 0x1p-7 : 0;
}

/* Raises the bounds to the errors that rounding explains. */
static int explain(const struct inference *all, const struct side *side,
		   struct error *err)
{
	const size_t count = model_parameter_count(all->task.model);
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
	/* A sum of what the outputs make; of these one alone is off by more. */
	passes->loss.bound = passes->outputs.bound;
	return failed ? -1 : 0;
}

/* Compares the outputs of one team; keeps the worse error. */
static void take_passed(const struct inference *all, const struct score *right)
{
	const struct passed *passed = all->passed;
	struct verify_passes *passes = &all->result->passes;

	verify_worsen(&passes->outputs.error,
		      verify_error(passed->outputs, all->right, all->outputs));
	verify_worsen(&passes->scale.error,
		      scale_error(passed->outputs, all->right, all->outputs));
	verify_worsen(&passes->loss.error,
		      verify_loss_error(&passed->score, right));
	verify_hold_answers(&passes->correct, &all->task, &passed->score,
			    right);
}

/* The network before and after its norms are folded, both in double. */
static int compare_folded(struct inference *all, struct error *err)
{
	struct side before = { 0 }, after = { 0 };
	struct score ignored;
	int failed;

	if (all->model == all->task.model)
		return 0;
	failed = open_right(&before, all, all->model, PRECISION_FP64, NULL,
			    err) ||
		 open_right(&after, all, all->task.model, PRECISION_FP64,
			    NULL, err) ||
		 pass_right(&before, all, all->parameters, all->buffers,
			    all->right, &ignored, err) ||
		 pass_right(&after, all, all->own_parameters, all->own_buffers,
			    all->moved, &ignored, err);
	side_close(&before);
	side_close(&after);
	if (!failed)
		all->result->passes.folded.error = verify_error(
			all->moved, all->right, all->outputs);
	return failed ? -1 : 0;
}

/* Passes all samples forward on these cores, one batch per core. */
static int pass_by(struct inference *all, const char *transport, int cores,
		   struct error *err)
{
	const struct verify_job job = job_of(all);

	return verify_check_signal(err, "before its forward passes") ||
	       verify_launch(&job, transport_find(transport), cores, err) ?
		       -1 : 0;
}

static int pass_first(struct inference *all, struct error *err)
{
	const struct verify_job job = job_of(all);

	return all->result->own_cores ?
		       verify_launch_own(&job, &all->result->target,
					 all->task.options, err) :
		       pass_by(all, "self", 1, err);
}

static int compare(struct inference *all, struct error *err)
{
	const enum precision precision = verify_right_precision(&all->task);
	const struct passed *passed = all->passed;
	struct side side = { 0 };
	struct score right;
	int failed;

	if (share_allocate(&all->share, &all->task, all->samples))
		return error_memory(err, "the samples to compare");
	verify_test_batch(&all->task, 0, all->samples, &all->share,
			  &all->batch);
	failed = compare_folded(all, err) || pass_first(all, err) ||
		 open_right(&side, all, all->task.model, precision,
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
	side_close(&side);
	return failed ? -1 : 0;
}

static float *floats(size_t count)
{
	return malloc((count + 1) * sizeof(float));
}

/* If the algorithm skips nothing, no norm is folded. */
static int draw(struct inference *all)
{
	const struct model *model = all->model;
	const struct model *folded = &all->folded.model;
	const long seed = all->task.options->seed;

	all->own_parameters = all->parameters =
		floats(model_parameter_count(model));
	all->own_buffers = all->buffers = floats(model_buffer_count(model));
	if (!all->parameters || !all->buffers)
		return -1;
	verify_draw_parameters(model, seed, all->parameters);
	verify_draw_statistics(model, seed, all->parameters, all->buffers);
	fold_norms(&all->folded, model);
	if (all->task.algorithm != ALGORITHM_FAST ||
	    folded->layer_count == model->layer_count)
		return 0;
	all->task.model = folded;
	all->own_parameters = floats(model_parameter_count(folded));
	all->own_buffers = floats(model_buffer_count(folded));
	if (!all->own_parameters || !all->own_buffers)
		return -1;
	fold_norms_vectors(&all->folded, model, all->parameters, all->buffers,
			   all->own_parameters, all->own_buffers);
	return 0;
}

static int prepare(struct inference *all, struct error *err)
{
	struct verify_passes *passes = &all->result->passes;

	all->samples = verify_infer_samples(&all->task, all->result);
	all->outputs = (size_t)all->samples * (size_t)model_classes(all->model);
	all->right = floats(all->outputs);
	all->moved = floats(all->outputs);
	all->passed = calloc(1, passed_size(all));
	if (draw(all) || !all->right || !all->moved || !all->passed)
		return error_memory(err, "the outputs to compare");
	passes->samples = all->samples;
	passes->batch = all->task.measured_batch;
	passes->folded = (struct verify_held){ VERIFY_NOT_MEASURED,
					       all->task.bound };
	return 0;
}

static void release(struct inference *all)
{
	share_release(&all->share);
	if (all->own_parameters != all->parameters)
		free(all->own_parameters);
	if (all->own_buffers != all->buffers)
		free(all->own_buffers);
	free(all->parameters);
	free(all->buffers);
	free(all->right);
	free(all->moved);
	free(all->passed);
}

int verify_infer(const struct verify_task *task, struct verify_result *result,
		 struct error *err)
{
	struct inference all = { .task = *task, .model = task->model,
				 .result = result };
	int failed = prepare(&all, err);

	if (!failed && task->options->team) {
		const struct verify_job job = job_of(&all);

		failed = verify_be_core(&job, &result->target, task->options,
					task->log, err);
	} else if (!failed) {
		failed = compare(&all, err);
	}
	release(&all);
	return failed ? -1 : 0;
}
