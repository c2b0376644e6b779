#include "bench/verify/verify_report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MIN_COLUMN 10 /* characters: an error and a mark */
#define MIN_NAMES 16

#define EXPLAINED \
	"~ over the bound, and explained by rounding: less than %d times as " \
	"far as the\nreference itself moves when each parameter becomes the " \
	"float above or below it,\nand at most %d times the bound.\n"

/* format of an error, and of a mark after it */
#define PLAIN " %9.1e%c"
#define RED " \033[31m%9.1e%c\033[0m"

/* A bound of 0 means not measured. */
static int is_wrong(const struct verify_held *held)
{
	return held->bound > 0 && !(held->error <= held->bound);
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

/* Returns the width of a backend's column. */
static int column_width(const struct verify_result *result)
{
	const int width = (int)strlen(result->target.name);

	return width > MIN_COLUMN ? width : MIN_COLUMN;
}

/* Returns the width of the column of names. */
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

/* bound: the usual one. */
static void print_cell(struct verification *v,
		       const struct verify_result *result,
		       const struct verify_held *held, double bound)
{
	const int wrong = is_wrong(held);
	const char mark = wrong ? '!' : held->error > bound ? '~' : ' ';

	v->explained |= mark == '~';
	fprintf(v->out, "%*s", column_width(result) - MIN_COLUMN, "");
	if (held->error == VERIFY_NOT_MEASURED)
		fprintf(v->out, " %9s ", "-");
	else
		fprintf(v->out, wrong && v->color ? RED : PLAIN, held->error,
			mark);
}

/* A row of the worst of some errors. */
struct verify_row {
	size_t member; /* the first struct verify_held of a result */
	int passes;    /* number of passes with the member */
	int width;     /* values per pass, one after the other */
};

#define OF_RESULT(member)                                                      \
	(struct verify_row){ offsetof(struct verify_result, member), 1, 1 }
#define OF_STEPS(member, width)                                                \
	(struct verify_row){ offsetof(struct verify_result, errors[0].member), \
			     VERIFY_PASSES, width }

static struct verify_held worst_of(const struct verify_result *result,
				   const struct verify_row *row)
{
	const char *first = (const char *)result + row->member;
	struct verify_held worst = { 0 }, held;

	for (int p = 0; p < row->passes; p++)
		for (int i = 0; i < row->width; i++) {
			memcpy(&held, first +
				      (size_t)p * sizeof(struct verify_errors) +
				      (size_t)i * sizeof(held), sizeof(held));
			if (held.bound > 0)
				verify_hold(&worst, held.error, held.bound);
		}
	return worst;
}

static void print_row(struct verification *v, const char *name,
		      struct verify_row row, double bound)
{
	fprintf(v->out, "%-*s", names_width(v), name);
	for (int b = 0; b < v->count; b++) {
		const struct verify_result *result = &v->results[b];
		const struct verify_held worst = worst_of(result, &row);

		if (verify_is_compared(result))
			print_cell(v, result, &worst, bound);
	}
	fputc('\n', v->out);
}

static void print_tensors(struct verification *v, const char *heading,
			  enum verify_kind kind)
{
	print_heading(v, heading);
	for (int t = 0; t < v->task.tensor_count; t++)
		print_row(v, v->task.tensors[t].name,
			  OF_STEPS(tensors[kind][t], 1), v->task.bounds[kind]);
}

static void print_errors(struct verification *v)
{
	const struct model *model = v->task.model;
	const double bound = v->task.bound;

	print_tensors(v, "Gradients: largest error over the tensor's largest "
			 "entry", VERIFY_GRADIENTS);
	print_tensors(v, "Parameters after each update: the same error",
		      VERIFY_PARAMETERS);
	print_heading(v, "Losses; winners and signs chosen wrongly, by value");
	print_row(v, "loss", OF_STEPS(loss, 1), bound);
	if (model_has_batchnorm(model))
		print_row(v, "running stats.",
			  OF_STEPS(tensors[VERIFY_STATISTICS],
				   MODEL_MAX_TENSORS), bound);
	print_row(v, "test outputs", OF_RESULT(test_outputs), bound);
	print_row(v, "test loss", OF_RESULT(test_loss), bound);
	print_row(v, "test answers", OF_RESULT(test_correct), INFINITY);
	for (int l = 0; l < model->layer_count; l++) {
		char name[24];

		if (model->layers[l].kind != LAYER_RELU &&
		    model->layers[l].kind != LAYER_MAXPOOL)
			continue;
		snprintf(name, sizeof(name), "%d %s", l,
			 layer_kind_name(model->layers[l].kind));
		print_row(v, name, OF_STEPS(regrets[l], 1), bound);
	}
	print_heading(v, model_has_batchnorm(model) ?
			      "Parameters of several cores against one core in "
			      "turn" :
			      "Parameters of several cores against one core");
	print_row(v, "all", OF_RESULT(cores), v->task.cores_bound);
}

static void print_passes(struct verification *v)
{
	const double bound = verify_is_rounded(&v->task) ? INFINITY :
							   v->task.bound;

	print_heading(v, "Outputs: largest error of a sample, over the largest "
			 "output");
	print_row(v, "each", OF_RESULT(passes.outputs), bound);
	print_row(v, "all, by size", OF_RESULT(passes.scale), bound);
	print_row(v, "by folding norms", OF_RESULT(passes.folded), bound);
}

/* Names an error that is beyond its bound. */
__attribute__((format(printf, 4, 5)))
static void judge(struct verification *v, const struct verify_result *result,
		  const struct verify_held *held, const char *what, ...)
{
	va_list list;

	if (!is_wrong(held))
		return;
	fprintf(v->out, "WRONG: %s: ", result->target.name);
	va_start(list, what);
	vfprintf(v->out, what, list);
	va_end(list);
	fprintf(v->out, " is off by %.1e, more than %.0e\n", held->error,
		held->bound);
	v->wrong = 1;
}

static void judge_steps(struct verification *v,
			const struct verify_result *result,
			const struct verify_errors *errors, int batch)
{
	struct tensor buffers[MODEL_MAX_TENSORS];
	const int buffer_count = model_buffers(v->task.model, buffers);

	for (int t = 0; t < v->task.tensor_count; t++) {
		const char *name = v->task.tensors[t].name;

		judge(v, result, &errors->tensors[VERIFY_GRADIENTS][t],
		      "the gradient of %s (%d samples)", name, batch);
		judge(v, result, &errors->tensors[VERIFY_PARAMETERS][t],
		      "%s (%d samples)", name, batch);
	}
	for (int l = 0; l < v->task.model->layer_count; l++)
		judge(v, result, &errors->regrets[l],
		      "a decision of layer %d (%d samples)", l, batch);
	for (int t = 0; t < buffer_count; t++)
		judge(v, result, &errors->tensors[VERIFY_STATISTICS][t],
		      "%s (%d samples)", buffers[t].name, batch);
	judge(v, result, &errors->loss, "the loss (%d samples)", batch);
}

static void judge_all(struct verification *v,
		      const struct verify_result *result)
{
	const struct verify_passes *passes = &result->passes;

	/* Comparisons that were not asked for have a bound of 0. */
	judge(v, result, &passes->outputs, "an output of a sample");
	judge(v, result, &passes->scale, "the size of all outputs");
	judge(v, result, &passes->loss, "the loss");
	judge(v, result, &passes->correct, "the number of right answers");
	judge(v, result, &passes->folded, "an output, by folding norms,");
	judge_steps(v, result, &result->errors[VERIFY_LOCKSTEP],
		    v->task.batch);
	judge_steps(v, result, &result->errors[VERIFY_MEASURED],
		    v->task.measured_batch);
	judge(v, result, &result->test_outputs, "an output of the test");
	judge(v, result, &result->test_loss, "the test loss");
	judge(v, result, &result->test_correct,
	      "the number of right test answers");
	judge(v, result, &result->cores, "the sum over cores");
	if (result->masks_wrong || result->replicas_differ) {
		fprintf(v->out, "WRONG: %s: %ld dropout decisions, replicas "
			"%s\n", result->target.name, result->masks_wrong,
			result->replicas_differ ? "differ" : "equal");
		v->wrong = 1;
	}
}

/* Prints the samples and cores of the comparison. */
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
		fprintf(v->out, "%s on %s, in %s: forward passes next to the "
			"reference (double); seed %ld.\nBound, of the largest "
			"output: %.0e%s.\n", task->model->name,
			task->dataset->name, precision_name(task->precision),
			v->options->seed, task->bound,
			verify_is_rounded(task) ? ", or the effect of rounding "
			"each\nparameter to a neighbour" : "");
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
	if (task->bounds[VERIFY_GRADIENTS] != task->bound)
		fprintf(v->out, "; of gradients: %.0e",
			task->bounds[VERIFY_GRADIENTS]);
	if (task->bounds[VERIFY_PARAMETERS] != task->bound)
		fprintf(v->out, "; of parameters: %.0e",
			task->bounds[VERIFY_PARAMETERS]);
	fputs(".\n", v->out);
	fflush(v->out); /* what comes now takes a while */
}

static void print_stand_ins(const struct verification *v)
{
	for (int b = 0; b < v->count; b++)
		if (verify_is_compared(&v->results[b]) &&
		    !v->results[b].right->is_reference)
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
	/* Errors found before a signal stay errors. */
	if (verify_is_compared(result) || result->why.kind == ERROR_STOPPED)
		judge_all(v, result);
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
