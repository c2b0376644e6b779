#include "bench/verify/verify.h"

#include <math.h>
#include <string.h>

#include "bench/data/dataset.h"
#include "bench/system/terminal.h"
#include "bench/training/plan_run.h"
#include "bench/training/target_options.h"
#include "bench/verify/verify_parts.h"

#define MOST_BACKENDS 8
#define BATCH 16 /* the reference takes a while */
#define STEPS 50

#define MIN_COLUMN 10 /* characters: an error and a mark */

/* How an error is printed, and a mark behind it. */
#define PLAIN " %9.1e%c"
#define RED " \033[31m%9.1e%c\033[0m"

/*
 * fp32 is held to what its rounding explains. Factors of bf16 have 8 bits; with
 * 64 samples (fc1's tiles want 32) the largest errors over 20 steps of mnist
 * and mnist-example, seeds 1 to 9, were 6.5e-3 of gradients, 3.4e-3 of
 * decisions and 7.0e-3 of parameters, those of fc1: Adadelta's first steps go
 * by the sign of a slope, nearly, which rounding may turn where it is small.
 * Of 16 samples these were up to 2e-1, hence the bound for batches below ours.
 */
static const struct {
	int batch; /* unless one is asked for */
	double any, updated, updated_by_few;
} rules_of[PRECISION_COUNT] = {
	[PRECISION_FP32] = { BATCH, 1e-5, 1e-5, 1e-5 },
	[PRECISION_BF16] = { 64, 2e-2, 2e-2, 5e-1 },
};

struct verification {
	const struct options *options;
	FILE *out;
	int color;
	struct verify_task task;
	struct verify_result results[MOST_BACKENDS];
	int count;
	int wrong;
};

static int is_wrong(double error, double bound)
{
	return !(error <= bound);
}

int verify_compares(const struct backend *backend)
{
	return backend->decisions && !backend->impose;
}

/* Once a backend's devices are open, no process can be made that opens one. */
static int refuse_second(const struct verification *v,
			 const struct target *target, struct error *err)
{
	for (int b = 0; b < v->count; b++)
		if (v->results[b].target.backend == target->backend)
			return error_set(err, ERROR_USAGE,
					 "'%s' beside '%s': one device of a "
					 "backend at a time can be verified; "
					 "give each a command", target->name,
					 v->results[b].target.name);
	return 0;
}

/* text: BACKEND or BACKEND:DEVICE. */
static int add_backend(struct verification *v, const char *text,
		       struct error *err)
{
	const int length = (int)strcspn(text, ":");
	const struct backend *backend, *other = NULL;
	struct target target;
	char name[48], names[128] = "";

	snprintf(name, sizeof(name), "%.*s", length, text);
	backend = backend_find(name);
	while ((other = backend_next(other)))
		if (verify_compares(other))
			error_list(names, sizeof(names), other->name);
	if (!backend || !verify_compares(backend))
		return error_set(err, ERROR_USAGE,
				 "'%.40s' is no backend that can be compared "
				 "with the reference; choose among: %s", text,
				 names);
	if (target_parse(&target, text, err) || refuse_second(v, &target, err))
		return -1;
	if (v->count == MOST_BACKENDS)
		return error_set(err, ERROR_USAGE, "too many backends");
	/* Of how many cores is not asked. */
	snprintf(target.name, sizeof(target.name), "%s", text);
	v->results[v->count++].target = target;
	return 0;
}

static int choose_backends(struct verification *v, struct error *err)
{
	const struct options *options = v->options;
	const struct backend *backend = NULL;

	for (int i = 0; i < options->argument_count; i++)
		if (add_backend(v, options->arguments[i], err))
			return -1;
	while (!options->argument_count && (backend = backend_next(backend)))
		if (verify_compares(backend) &&
		    add_backend(v, backend->name, err))
			return -1;
	return 0;
}

/* --device-class is for those that have classes. */
static int check_options(struct verification *v, FILE *log, struct error *err)
{
	struct target targets[MOST_BACKENDS];

	for (int b = 0; b < v->count; b++)
		targets[b] = v->results[b].target;
	return target_options_check(v->options, targets, v->count,
				    v->options->quiet ? NULL : log, err);
}

static int compare(struct verification *v, struct verify_result *result,
		   struct error *err)
{
	const struct target *target = &result->target;
	struct error why;

	v->task.backend = target->backend;
	v->task.device = target->device[0] ? target->device : NULL;
	v->task.algorithm = backend_algorithm(target->backend,
					      v->options->algorithm);
	if (!backend_check_algorithm(target->backend, v->options->algorithm,
				     &why) &&
	    !verify_cores(&v->task, result, &why) &&
	    !verify_lockstep(&v->task, result, &why))
		return 0;
	if (why.kind != ERROR_MISSING || v->options->argument_count) {
		*err = why;
		return -1;
	}
	snprintf(result->skipped, sizeof(result->skipped), "%s", why.message);
	return 0;
}

/* Of a backend's column. */
static int column_width(const struct verify_result *result)
{
	const int width = (int)strlen(result->target.name);

	return width > MIN_COLUMN ? width : MIN_COLUMN;
}

static void print_heading(const struct verification *v, const char *text)
{
	fprintf(v->out, "\n%s\n%-16s", text, "");
	for (int b = 0; b < v->count; b++)
		if (!v->results[b].skipped[0])
			fprintf(v->out, " %*s", column_width(&v->results[b]),
				v->results[b].target.name);
	fputc('\n', v->out);
}

/* A row of errors; member is the place of the first in a result. */
static void print_row(struct verification *v, const char *name, size_t member,
		      double bound)
{
	fprintf(v->out, "%-16s", name);
	for (int b = 0; b < v->count; b++) {
		const char *result = (const char *)&v->results[b];
		double error;
		int wrong;

		if (v->results[b].skipped[0])
			continue;
		memcpy(&error, result + member, sizeof(error));
		wrong = is_wrong(error, bound);
		fprintf(v->out, "%*s",
			column_width(&v->results[b]) - MIN_COLUMN, "");
		if (error == VERIFY_NOT_MEASURED) {
			fprintf(v->out, " %9s ", "-");
			continue;
		}
		fprintf(v->out, wrong && v->color ? RED : PLAIN, error,
			wrong ? '!' : ' ');
	}
	fputc('\n', v->out);
}

static void print_errors(struct verification *v)
{
	const struct model *model = v->task.model;
	const double bound = v->task.bound;

	print_heading(v, "Gradients: largest error over the tensor's largest "
			 "entry");
	for (int t = 0; t < v->task.tensor_count; t++)
		print_row(v, v->task.tensors[t].name,
			  offsetof(struct verify_result, gradients) +
				  (size_t)t * sizeof(double),
			  bound);
	print_heading(v, "Parameters after each update, likewise");
	for (int t = 0; t < v->task.tensor_count; t++)
		print_row(v, v->task.tensors[t].name,
			  offsetof(struct verify_result, parameters) +
				  (size_t)t * sizeof(double),
			  v->task.update_bound);
	print_heading(v, "Losses; winners and signs chosen wrongly, by value");
	print_row(v, "loss", offsetof(struct verify_result, loss), bound);
	for (int l = 0; l < model->layer_count; l++) {
		char name[24];

		if (model->layers[l].kind != LAYER_RELU &&
		    model->layers[l].kind != LAYER_MAXPOOL)
			continue;
		snprintf(name, sizeof(name), "%d %s", l,
			 model->layers[l].kind == LAYER_RELU ? "relu" :
							       "maxpool");
		print_row(v, name, offsetof(struct verify_result, regrets) +
					   (size_t)l * sizeof(double),
			  bound);
	}
	print_heading(v, "Parameters of 2 and 3 cores against those of one");
	print_row(v, "all", offsetof(struct verify_result, cores), bound);
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

static void judge(struct verification *v, const struct verify_result *result)
{
	const char *name = result->target.name;
	const double bound = v->task.bound;
	char what[64];

	for (int t = 0; t < v->task.tensor_count; t++) {
		snprintf(what, sizeof(what), "the gradient of %s",
			 v->task.tensors[t].name);
		name_wrong(v, name, what, result->gradients[t], bound);
		name_wrong(v, name, v->task.tensors[t].name,
			   result->parameters[t], v->task.update_bound);
	}
	for (int l = 0; l < v->task.model->layer_count; l++) {
		snprintf(what, sizeof(what), "a decision of layer %d", l);
		name_wrong(v, name, what, result->regrets[l], bound);
	}
	name_wrong(v, name, "the loss", result->loss, bound);
	name_wrong(v, name, "the sum over cores", result->cores, bound);
	if (result->masks_wrong || result->replicas_differ) {
		fprintf(v->out, "WRONG: %s: %ld dropout decisions, replicas "
			"%s\n", name, result->masks_wrong,
			result->replicas_differ ? "differ" : "equal");
		v->wrong = 1;
	}
}

static const char *const equal_on[] = {
	[1] = "1 core",
	[2] = "1 and 2 cores by threads and fork; replicas equal",
	[3] = "1, 2 and 3 cores by threads and fork; replicas equal",
};

static void report(struct verification *v)
{
	const struct verify_task *task = &v->task;

	fprintf(v->out,
		"%s on %s: %d steps of %d samples in lockstep with the "
		"reference (double),\nlearning rate %g, seed %ld. Bound: "
		"%.0e", task->model->name, task->dataset->name, task->steps,
		task->batch, task->lr, v->options->seed, task->bound);
	if (task->update_bound != task->bound)
		fprintf(v->out, "; of parameters: %.0e", task->update_bound);
	fputs(".\n", v->out);
	print_errors(v);
	fputc('\n', v->out);
	for (int b = 0; b < v->count; b++) {
		const struct verify_result *result = &v->results[b];

		if (result->skipped[0]) {
			fprintf(v->out, "%s skipped: %s\n",
				result->target.name, result->skipped);
			continue;
		}
		judge(v, result);
		if (!result->masks_wrong && !result->replicas_differ)
			fprintf(v->out, "%s: masks equal on %s\n",
				result->target.name,
				equal_on[result->most_cores]);
	}
	fputs(v->wrong ? "verify: FAILED\n" : "verify: all right\n", v->out);
}

static int prepare(struct verification *v, struct dataset *dataset,
		   struct error *err)
{
	const struct options *options = v->options;
	struct options rules = *options;
	struct training training;
	struct target target;

	/* The rules for model, rate and data set are those of a run; which
	 * algorithm is for each backend to say. */
	rules.algorithm = NULL;
	if (target_parse(&target, "reference-1", err) ||
	    plan_run(&training, &target, &rules, err) ||
	    plan_dataset(dataset, options, err))
		return -1;
	training.dataset = dataset;
	if (plan_iterations(&training, options, err))
		return -1;
	v->task.model = training.model;
	v->task.dataset = dataset;
	v->task.options = options;
	v->task.precision = training.precision;
	v->task.lr = training.recipe.lr;
	v->task.batch = options->batch == OPTION_UNSET ?
				rules_of[training.precision].batch :
				(int)options->batch;
	v->task.bound = rules_of[training.precision].any;
	v->task.update_bound =
		v->task.batch < rules_of[training.precision].batch ?
			rules_of[training.precision].updated_by_few :
			rules_of[training.precision].updated;
	v->task.steps = options->steps == OPTION_UNSET ? STEPS :
							 (int)options->steps;
	v->task.tensor_count = model_tensors(training.model, v->task.tensors);
	return 0;
}

int verify_command(const struct options *options, FILE *out, FILE *log,
		   struct error *err)
{
	struct verification v = {
		.options = options,
		.out = out,
		.color = terminal_uses_color(options->color, out),
	};
	struct dataset dataset = { 0 };
	int failed = choose_backends(&v, err) || check_options(&v, log, err) ||
		     prepare(&v, &dataset, err);

	if (!failed && dataset.notice[0] && !options->quiet)
		fprintf(log, "note: %s\n", dataset.notice);
	for (int b = 0; !failed && b < v.count; b++)
		failed = compare(&v, &v.results[b], err);
	if (!failed)
		report(&v);
	dataset_release(&dataset);
	return failed ? -1 : v.wrong;
}
