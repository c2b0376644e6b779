#include "bench/verify/verify_report.h"

#include <math.h>
#include <string.h>

#define MIN_COLUMN 10 /* characters: an error and a mark */
#define MIN_NAMES 16

#define EXPLAINED \
	"~ over the bound, and explained by rounding: less than %d times as " \
	"far as the\nreference itself moves when each parameter becomes the " \
	"float above or below it,\nand at most %d times the bound.\n"

/* How an error is printed, and a mark behind it. */
#define PLAIN " %9.1e%c"
#define RED " \033[31m%9.1e%c\033[0m"

static int is_wrong(double error, double bound)
{
	return !(error <= bound);
}

int verify_is_compared(const struct verify_result *result)
{
	return !result->why.message[0];
}

int verify_is_skipped(const struct verification *v,
		      const struct verify_result *result)
{
	return result->why.kind == ERROR_MISSING && !v->options->argument_count;
}

/* Of a backend's column. */
static int column_width(const struct verify_result *result)
{
	const int width = (int)strlen(result->target.name);

	return width > MIN_COLUMN ? width : MIN_COLUMN;
}

/* Of the column of names. */
static int names_width(const struct verification *v)
{
	int width = MIN_NAMES;

	for (int t = 0; t < v->task.tensor_count; t++) {
		const int length = (int)strlen(v->task.tensors[t].name);

		width = length > width ? length : width;
	}
	return width;
}

static void print_heading(const struct verification *v, const char *text)
{
	fprintf(v->out, "\n%s\n%-*s", text, names_width(v), "");
	for (int b = 0; b < v->count; b++)
		if (verify_is_compared(&v->results[b]))
			fprintf(v->out, " %*s", column_width(&v->results[b]),
				v->results[b].target.name);
	fputc('\n', v->out);
}

static void print_cell(struct verification *v,
		       const struct verify_result *result, double error,
		       double bound, double held_to)
{
	const int wrong = is_wrong(error, held_to);
	const char mark = wrong ? '!' : error > bound ? '~' : ' ';

	v->explained |= mark == '~';
	fprintf(v->out, "%*s", column_width(result) - MIN_COLUMN, "");
	if (error == VERIFY_NOT_MEASURED)
		fprintf(v->out, " %9s ", "-");
	else
		fprintf(v->out, wrong && v->color ? RED : PLAIN, error, mark);
}

/* A row of errors; member is the place of the first in a result. */
static void print_row(struct verification *v, const char *name, size_t member,
		      double bound)
{
	fprintf(v->out, "%-*s", names_width(v), name);
	for (int b = 0; b < v->count; b++) {
		const struct verify_result *result = &v->results[b];
		double error;

		memcpy(&error, (const char *)result + member, sizeof(error));
		if (verify_is_compared(result))
			print_cell(v, result, error, bound, bound);
	}
	fputc('\n', v->out);
}

/* The worse of all passes, of count members of struct verify_errors. */
static struct verify_held worst_of(const struct verify_result *result,
				   size_t member, int count)
{
	struct verify_held worst = { 0 };

	for (int p = 0; p < VERIFY_PASSES; p++)
		for (int i = 0; i < count; i++) {
			struct verify_held held;

			memcpy(&held, (const char *)&result->errors[p] +
					      member + (size_t)i * sizeof(held),
			       sizeof(held));
			if (held.bound > 0)
				verify_hold(&worst, held.error, held.bound);
		}
	return worst;
}

static void print_held(struct verification *v, const char *name, size_t member,
		       int count, double bound)
{
	fprintf(v->out, "%-*s", names_width(v), name);
	for (int b = 0; b < v->count; b++) {
		const struct verify_held worst =
			worst_of(&v->results[b], member, count);

		if (verify_is_compared(&v->results[b]))
			print_cell(v, &v->results[b], worst.error, bound,
				   worst.bound);
	}
	fputc('\n', v->out);
}

/* Rounding may decide between two answers that are as likely, in one sample. */
static double answers_bound(const struct verification *v)
{
	return fmax(v->task.bound, 1. / verify_tested(&v->task));
}

static void print_errors(struct verification *v)
{
	const struct model *model = v->task.model;
	const double bound = v->task.bound;

	print_heading(v, "Gradients: largest error over the tensor's largest "
			 "entry");
	for (int t = 0; t < v->task.tensor_count; t++)
		print_held(v, v->task.tensors[t].name,
			   offsetof(struct verify_errors, gradients[t]), 1,
			   v->task.gradient_bound);
	print_heading(v, "Parameters after each update, likewise");
	for (int t = 0; t < v->task.tensor_count; t++)
		print_held(v, v->task.tensors[t].name,
			   offsetof(struct verify_errors, parameters[t]), 1,
			   v->task.update_bound);
	print_heading(v, "Losses; winners and signs chosen wrongly, by value");
	print_held(v, "loss", offsetof(struct verify_errors, loss), 1,
		   bound);
	if (model_has_batchnorm(model))
		print_held(v, "running stats.",
			   offsetof(struct verify_errors, buffers),
			   MODEL_MAX_TENSORS, bound);
	print_row(v, "test outputs",
		  offsetof(struct verify_result, test_outputs), bound);
	print_row(v, "test loss", offsetof(struct verify_result, test_loss),
		  bound);
	print_row(v, "test answers",
		  offsetof(struct verify_result, test_correct),
		  answers_bound(v));
	for (int l = 0; l < model->layer_count; l++) {
		char name[24];

		if (model->layers[l].kind != LAYER_RELU &&
		    model->layers[l].kind != LAYER_MAXPOOL)
			continue;
		snprintf(name, sizeof(name), "%d %s", l,
			 layer_kind_name(model->layers[l].kind));
		print_held(v, name, offsetof(struct verify_errors, regrets[l]),
			   1, bound);
	}
	print_heading(v, model_has_batchnorm(model) ?
			      "Parameters of several cores against those of "
			      "one in turn" :
			      "Parameters of several cores against those of "
			      "one");
	print_row(v, "all", offsetof(struct verify_result, cores),
		  v->task.cores_bound);
}

/* A row of what is held to its own bound; member as in print_row(). */
static void print_row_held(struct verification *v, const char *name,
			   size_t member)
{
	fprintf(v->out, "%-*s", names_width(v), name);
	for (int b = 0; b < v->count; b++) {
		const struct verify_result *result = &v->results[b];
		struct verify_held held;

		memcpy(&held, (const char *)result + member, sizeof(held));
		if (verify_is_compared(result))
			print_cell(v, result, held.error,
				   verify_is_rounded(&v->task) ? held.bound :
							v->task.bound,
				   held.bound);
	}
	fputc('\n', v->out);
}

static double passes_bound(const struct verification *v,
			   const struct verify_result *result)
{
	return fmax(v->task.bound, 1. / result->passes.samples);
}

static void print_passes(struct verification *v)
{
	print_heading(v, "Outputs: largest error of a sample, over the largest "
			 "output");
	print_row_held(v, "each",
		       offsetof(struct verify_result, passes.outputs));
	print_row_held(v, "all, by size",
		       offsetof(struct verify_result, passes.scale));
	print_row(v, "by folding norms",
		  offsetof(struct verify_result, passes.folded),
		  v->task.bound);
}

static void name_wrong(struct verification *v, const char *backend,
		       const char *what, double error, double bound)
{
	if (!is_wrong(error, bound))
		return;
	fprintf(v->out, "WRONG: %s: %s is off by %.1e, more than %.0e\n",
		backend, what, error, bound);
	v->wrong = 1;
}

static void name_held(struct verification *v, const char *backend,
		      const char *what, const struct verify_held *held)
{
	name_wrong(v, backend, what, held->error, held->bound);
}

static void judge_pass(struct verification *v, const char *name,
		       const struct verify_errors *errors, int batch)
{
	struct tensor buffers[MODEL_MAX_TENSORS];
	const int buffer_count = model_buffers(v->task.model, buffers);
	char what[96];

	for (int t = 0; t < v->task.tensor_count; t++) {
		const char *tensor = v->task.tensors[t].name;

		snprintf(what, sizeof(what), "the gradient of %s (%d samples)",
			 tensor, batch);
		name_held(v, name, what, &errors->gradients[t]);
		snprintf(what, sizeof(what), "%s (%d samples)", tensor, batch);
		name_held(v, name, what, &errors->parameters[t]);
	}
	for (int l = 0; l < v->task.model->layer_count; l++) {
		snprintf(what, sizeof(what),
			 "a decision of layer %d (%d samples)", l, batch);
		name_held(v, name, what, &errors->regrets[l]);
	}
	for (int t = 0; t < buffer_count; t++) {
		snprintf(what, sizeof(what), "%s (%d samples)",
			 buffers[t].name, batch);
		name_held(v, name, what, &errors->buffers[t]);
	}
	snprintf(what, sizeof(what), "the loss (%d samples)", batch);
	name_held(v, name, what, &errors->loss);
}

static void judge_passes(struct verification *v,
			 const struct verify_result *result)
{
	const struct verify_passes *passes = &result->passes;
	const char *name = result->target.name;

	/* The bounds come last: a signal may have come before them. */
	if (passes->outputs.bound > 0) {
		name_held(v, name, "an output of a sample", &passes->outputs);
		name_held(v, name, "the size of all outputs", &passes->scale);
		/* A sum of what the outputs make; of these one alone is off by
		 * more. */
		name_wrong(v, name, "the loss", passes->loss,
			   passes->outputs.bound);
	}
	name_wrong(v, name, "the number of right answers", passes->correct,
		   passes_bound(v, result));
	name_wrong(v, name, "an output, by folding norms,", passes->folded,
		   v->task.bound);
}

static void judge(struct verification *v, const struct verify_result *result)
{
	const char *name = result->target.name;
	const double bound = v->task.bound;

	if (v->options->infer) {
		judge_passes(v, result);
		return;
	}
	judge_pass(v, name, &result->errors[VERIFY_LOCKSTEP], v->task.batch);
	judge_pass(v, name, &result->errors[VERIFY_MEASURED],
		   v->task.measured_batch);
	name_wrong(v, name, "an output of the test", result->test_outputs,
		   bound);
	name_wrong(v, name, "the test loss", result->test_loss, bound);
	name_wrong(v, name, "the number of right test answers",
		   result->test_correct, answers_bound(v));
	name_wrong(v, name, "the sum over cores", result->cores,
		   v->task.cores_bound);
	if (result->masks_wrong || result->replicas_differ) {
		fprintf(v->out, "WRONG: %s: %ld dropout decisions, replicas "
			"%s\n", name, result->masks_wrong,
			result->replicas_differ ? "differ" : "equal");
		v->wrong = 1;
	}
}

/* What the cores were compared on. */
static void print_passed(FILE *out, const struct verify_result *result)
{
	const struct target *target = &result->target;
	const struct verify_passes *passes = &result->passes;

	fprintf(out, "%s: %d samples, %d a pass, on ", target->name,
		passes->samples, passes->batch);
	if (result->own_cores)
		fprintf(out, "%d core%s by %s\n", target->cores,
			target->cores == 1 ? "" : "s",
			target_transport(target));
	else
		fprintf(out, "%s\n", result->most_cores == 1 ? "1 core" :
			"1 and 2 cores by threads");
}

static void print_equal(FILE *out, const struct verify_result *result)
{
	static const char *const cores[] = {
		[1] = "1 core",
		[2] = "1 and 2 cores by threads and fork; replicas equal",
		[3] = "1, 2 and 3 cores by threads and fork; replicas equal",
	};
	const struct target *target = &result->target;

	if (!result->own_cores)
		fprintf(out, "%s: masks equal on %s\n", target->name,
			cores[result->most_cores]);
	else
		fprintf(out, "%s: masks equal on %d core%s by %s; replicas "
			"equal\n", target->name, target->cores,
			target->cores == 1 ? "" : "s",
			target_transport(target));
}

void verify_announce(const struct verification *v)
{
	const struct verify_task *task = &v->task;

	if (v->options->infer) {
		fprintf(v->out, "%s on %s, in %s: forward passes beside the "
			"reference (double); seed %ld.\nBound, of the largest "
			"output: %.0e%s.\n", task->model->name,
			task->dataset->name, precision_name(task->precision),
			v->options->seed, task->bound,
			verify_is_rounded(task) ? ", or what rounding each "
			"parameter\nto a neighbour makes" : "");
		fflush(v->out);
		return;
	}
	fprintf(v->out,
		"%s on %s: %d steps of %d samples in lockstep with the "
		"reference (double),\none of %d, and a test of %d; learning "
		"rate %g, seed %ld.\nBound, of each tensor's largest entry: "
		"%.0e", task->model->name, task->dataset->name, task->steps,
		task->batch, task->measured_batch, verify_tested(task),
		task->lr, v->options->seed, task->bound);
	if (task->gradient_bound != task->bound)
		fprintf(v->out, "; of gradients: %.0e", task->gradient_bound);
	if (task->update_bound != task->bound)
		fprintf(v->out, "; of parameters: %.0e", task->update_bound);
	fputs(".\n", v->out);
	fflush(v->out); /* what comes now takes a while */
}

static void print_stand_ins(const struct verification *v)
{
	for (int b = 0; b < v->count; b++)
		if (verify_is_compared(&v->results[b]) &&
		    !v->results[b].right->is_oracle)
			fprintf(v->out, "%s: %s in double stands in for the "
				"reference, which would take minutes.\n",
				v->results[b].target.name,
				v->results[b].right->name);
}

static void report_backend(struct verification *v,
			   const struct verify_result *result)
{
	const char *name = result->target.name;

	if (!verify_is_compared(result))
		fprintf(v->out, "%s %s: %s\n", name,
			verify_is_skipped(v, result) ? "skipped" :
						       "not verified",
			result->why.message);
	/* What was wrong before a signal came stays wrong. */
	if (verify_is_compared(result) || result->why.kind == ERROR_STOPPED)
		judge(v, result);
	if (verify_is_compared(result) && v->options->infer)
		print_passed(v->out, result);
	else if (verify_is_compared(result) && !result->masks_wrong &&
	    !result->replicas_differ)
		print_equal(v->out, result);
}

int verify_report(struct verification *v)
{
	char without[256] = "";

	if (v->compared) {
		print_stand_ins(v);
		if (v->options->infer)
			print_passes(v);
		else
			print_errors(v);
		if (v->explained)
			fprintf(v->out, EXPLAINED, VERIFY_OF_MOVES,
				VERIFY_MOST_HELD);
		fputc('\n', v->out);
	}
	for (int b = 0; b < v->count; b++)
		report_backend(v, &v->results[b]);
	for (int b = 0; b < v->count; b++)
		if (!verify_is_compared(&v->results[b]))
			error_list(without, sizeof(without),
				   v->results[b].target.name);
	return verify_conclude(v->out, v->wrong, v->compared, without);
}
