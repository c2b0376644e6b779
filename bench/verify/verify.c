#include "bench/verify/verify.h"

#include <math.h>
#include <string.h>

#include "bench/data/dataset.h"
#include "bench/options/option_table.h"
#include "bench/plan/plan.h"
#include "bench/plan/ranks.h"
#include "bench/plan/target.h"
#include "bench/system/process.h"
#include "bench/system/suggest.h"
#include "bench/system/terminal.h"
#include "bench/verify/verify_parts.h"
#include "bench/verify/verify_report.h"

#define MOST_WORK 5e10 /* multiplications of plain loops */
#define EXPLAINED 3 /* gradients of the reference for one that rounding has to
		       explain */
/* Far above rounding of a gradient: the first steps then go by the gradient,
 * not by its sign, which entries near 0 have by chance. */
#define ADAM_EPS .1
#define BATCH 16 /* in lockstep: the reference takes a while */
#define STEPS 50
#define NORMALISED 1e-4 /* the bound of gradients with batch norm, and of
			    * what cores have learnt with them */

/*
 * Bounds per precision.
 *
 * fp32: rounding explains no larger errors.
 *
 * bf16 has 8 bits per factor. In mnist and mnist-example (64 samples, 20 steps,
 * seeds 1 to 9), errors reached 6.5e-3 of gradients, 3.4e-3 of decisions and
 * 7.0e-3 of parameters. (fc1's tiles need 32 samples.) All were in fc1.
 * Adadelta's first steps nearly follow the sign of a gradient, which rounding
 * may flip if the gradient is small. With 16 samples errors of parameters
 * reached 2e-1, hence updated_by_few for smaller batches. If a backend names
 * the layers whose factors it rounds, the reference rounds them too. Without
 * that, resnet34 at 64x64 differed by 9e-3 of a gradient. Linear layers that
 * round forward only are not among them; alexnet's differed by 2.3e-3.
 *
 * fp16 and bf16-storage round stored values, and so does their reference. In
 * mnist, xla-mnist, mnist-2019, alexnet and ddp-toy, gradients differed by at
 * most one number's distance to the next: 1.1e-3 in fp16, 5.4e-3 in bf16.
 * Parameters differed by at most 8.5e-3. Each core rounds the gradient of its
 * share: 1.0e-2 for alexnet in fp16. The norms of resnet34 at 64x64 amplify
 * differences to 1.1e-2.
 *
 * fp64 is compared in floats: a step starts from doubles, which the reference
 * gets as floats.
 */
static const struct {
	int batch; /* in lockstep, at most */
	double any, normed, updated, updated_by_few, by_cores;
} rules_of[PRECISION_COUNT] = {
	[PRECISION_FP32] = { BATCH, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5 },
	[PRECISION_BF16] = { 64, 2e-2, 2e-2, 2e-2, 5e-1, 2e-2 },
	[PRECISION_FP64] = { BATCH, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6 },
	[PRECISION_FP16] = { 64, 3e-3, 2e-2, 3e-3, 3e-3, 2e-2 },
	[PRECISION_BF16_STORAGE] = { 64, 2e-2, 2e-2, 2e-2, 2e-2, 2e-2 },
};

int verify_compares(const struct backend *backend)
{
	return !backend->is_reference && !backend_lacks(backend, 1);
}

/* Once a backend's devices are open, no forked process can open one. */
static int refuse_second(const struct verification *v,
			 const struct target *target, struct error *err)
{
	for (int b = 0; b < v->count; b++)
		if (v->results[b].target.backend == target->backend)
			return error_set(err, ERROR_USAGE,
					 "'%s' and '%s': only one device of a "
					 "backend can be verified at a time; "
					 "use a command for each", target->name,
					 v->results[b].target.name);
	return 0;
}

/* text: BACKEND[:DEVICE], or a target, whose own cores are compared. */
static int add_backend(struct verification *v, const char *text,
		       struct error *err)
{
	const int length = (int)strcspn(text, "-@:");
	const int own_cores = text[length] == '-' || text[length] == '@';
	const struct backend *backend, *other = NULL;
	struct verify_result *result;
	struct target target;
	char name[48];
	struct suggestion suggestion = { .typed = name };

	snprintf(name, sizeof(name), "%.*s", length, text);
	backend = backend_find(name);
	while ((other = backend_next(other)))
		if (verify_compares(other))
			suggest_add(&suggestion, other->name);
	if (!backend || backend->is_reference)
		return error_set(err, ERROR_USAGE,
				 "'%.40s' is not a backend that can be "
				 "compared with the reference; %s", text,
				 suggest_text(&suggestion));
	if (target_parse(&target, text, err) || refuse_second(v, &target, err))
		return -1;
	if (v->count == VERIFY_MOST_BACKENDS)
		return error_set(err, ERROR_USAGE, "too many backends");
	if (!own_cores)
		snprintf(target.name, sizeof(target.name), "%s", text);
	result = &v->results[v->count++];
	result->target = target;
	result->own_cores = own_cores;
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
		if (!backend->is_reference &&
		    add_backend(v, backend->name, err))
			return -1;
	return 0;
}

static void list_targets(const struct verification *v, struct target *targets)
{
	for (int b = 0; b < v->count; b++)
		targets[b] = v->results[b].target;
}

/* Fails with ERROR_USAGE if --device-class is given and no target has
 * classes. */
static int check_options(struct verification *v, FILE *log, struct error *err)
{
	struct target targets[VERIFY_MOST_BACKENDS];

	list_targets(v, targets);
	return target_options_check(v->options, targets, v->count,
				    v->options->quiet ? NULL : log, err);
}

static int compare_all(const struct verify_task *task,
		       struct verify_result *result, struct error *err)
{
	const struct backend *backend = task->backend;

	if (verify_check_slots(backend, err) ||
	    backend_check_algorithm(backend, task->options->algorithm, err) ||
	    verify_check_signal(err, "before it began"))
		return -1;
	if (task->options->infer)
		return verify_infer(task, result, err);
	return verify_cores(task, result, err) ||
			       verify_steps(task, result, err) ?
		       -1 : 0;
}

/* Multiplications of the reference. */
static double work_of(const struct verify_task *task,
		      const struct verify_result *result)
{
	const struct model_work work = model_work(task->model);
	const double gradients = ((double)task->steps * task->batch +
				  task->measured_batch) *
		(model_has_batchnorm(task->model) ? EXPLAINED : 1);

	if (task->options->infer)
		return verify_infer_passes(task) * work.forward *
		       verify_infer_samples(task, result);
	return gradients * (work.forward + work.backward_data +
			    work.backward_weights) +
	       verify_tested(task) * work.forward;
}

/* Plain loops, unless they would take minutes: then a backend that is itself
 * compared with them, in double. */
static const struct backend *choose_right(const struct verify_task *task,
					  const struct verify_result *result)
{
	const struct backend *faster = backend_in_double();

	return faster && faster != task->backend &&
			       work_of(task, result) > MOST_WORK ?
		       faster : backend_reference();
}

static void set_target(struct verification *v, struct verify_result *result)
{
	const struct target *target = &result->target;

	v->task.backend = target->backend;
	v->task.right = result->right = choose_right(&v->task, result);
	v->task.device = target->device[0] ? target->device : NULL;
	v->task.algorithm = backend_algorithm(target->backend,
					      v->options->algorithm);
}

/* One that cannot be compared is no reason to leave out the others. */
static void compare(struct verification *v, struct verify_result *result)
{
	set_target(v, result);
	if (!compare_all(&v->task, result, &result->why)) {
		result->why.message[0] = '\0';
		v->compared++;
	}
}

/* Fails if a target failed for a reason that does not excuse it, or if none was
 * compared. */
static int find_error(const struct verification *v, struct error *err)
{
	const struct verify_result *first = NULL;

	for (int b = 0; b < v->count; b++) {
		const struct verify_result *result = &v->results[b];

		if (verify_is_compared(result) ||
		    (v->compared && verify_is_skipped(v, result)))
			continue;
		if (!first || (verify_is_skipped(v, first) &&
			       !verify_is_skipped(v, result)))
			first = result;
	}
	if (!first)
		return 0;
	return error_set(err, first->why.kind, "%s: %.900s",
			 first->target.name, first->why.message);
}

static void set_rules(struct verify_task *task, const struct options *options)
{
	const int usual = rules_of[task->precision].batch;
	const int is_few = task->measured_batch < usual;

	task->batch = is_few ? task->measured_batch : usual;
	task->steps = options->steps == OPTION_UNSET ? STEPS :
						       (int)options->steps;
	task->bound = model_has_batchnorm(task->model) ?
			      rules_of[task->precision].normed :
			      rules_of[task->precision].any;
	task->bounds[VERIFY_STATISTICS] = task->bounds[VERIFY_GRADIENTS] =
		task->bound;
	task->bounds[VERIFY_PARAMETERS] =
		is_few ? rules_of[task->precision].updated_by_few :
			 rules_of[task->precision].updated;
	/* The gradient by what is normalised is a difference that cancels; a
	 * bias that begins as 0 is its first gradient then. */
	if (model_has_batchnorm(task->model)) {
		task->bounds[VERIFY_GRADIENTS] = fmax(task->bound, NORMALISED);
		task->bounds[VERIFY_PARAMETERS] =
			fmax(task->bounds[VERIFY_PARAMETERS],
			     task->bounds[VERIFY_GRADIENTS]);
	}
	task->cores_bound = fmax(task->bounds[VERIFY_GRADIENTS],
				 rules_of[task->precision].by_cores);
	/* If values are rounded, the reference rounds them too. */
	if (options->infer)
		task->bound = rules_of[task->precision == PRECISION_FP64 ?
					       PRECISION_FP64 :
					       PRECISION_FP32].any;
}

/* Labels that a smaller network has no class for become some of its own; which
 * ones does not matter. */
static void fit_labels(struct dataset *dataset, int classes)
{
	struct samples *const sets[] = { &dataset->train, &dataset->test };

	if (dataset->has_vectors || dataset->classes <= classes)
		return;
	for (int s = 0; s < 2; s++)
		for (int i = 0; sets[s]->labels && i < sets[s]->count; i++)
			sets[s]->labels[i] %= (uint16_t)classes;
	dataset->classes = classes;
}

static int prepare(struct verification *v, struct dataset *dataset,
		   struct error *err)
{
	const struct options *options = v->options;
	struct options rules = *options;
	struct training training;
	struct target target;

	/* Model, rate and data set are resolved as for a run; each backend has
	 * its own algorithm. */
	rules.algorithm = NULL;
	if (target_parse(&target, "reference-1", err) ||
	    plan_run(&training, &target, &rules, err) ||
	    plan_dataset(dataset, options, 0, err))
		return -1;
	fit_labels(dataset, model_classes(&training.model));
	training.dataset = dataset;
	if (plan_iterations(&training, options, err))
		return -1;
	v->model = training.model;
	if (v->model.recipe.optimizer == OPTIMIZER_ADAM)
		v->model.recipe.eps = fmax(v->model.recipe.eps, ADAM_EPS);
	v->task.model = &v->model;
	v->task.dataset = dataset;
	v->task.options = options;
	v->task.precision = training.precision;
	v->task.lr = training.recipe.lr;
	v->task.measured_batch = training.samples_per_core;
	v->task.test_batch = training.test_batch ? training.test_batch :
						   training.samples_per_core;
	set_rules(&v->task, options);
	v->task.tensor_count = model_tensors(&v->model, v->task.tensors);
	return 0;
}

/* Everything about a random network is drawn. */
static int refuse_settings(const struct options *options, struct error *err)
{
	static const char *const drawn[] = {
		"model", "dataset", "data-dir", "batch", "global-batch",
		"steps", "epochs", "lr", "dropout", "precision", "infer",
		"synthetic-train", "synthetic-test", "test-batch", "image-size",
	};

	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		const struct option_row *row = option_find(drawn[i]);

		if (row && option_is_given(options, row))
			return error_set(err, ERROR_USAGE, "--%s and --random "
					 "exclude each other: a random network "
					 "has its own", drawn[i]);
	}
	return 0;
}

/* One that was not asked for by name may be missing. */
static int open_devices(struct verification *v, struct error *err)
{
	for (int b = 0; b < v->count; b++) {
		struct target *target = &v->results[b].target;
		const struct device_request request = {
			.choice = target->device[0] ? target->device : NULL,
			.threads = 1,
			.cpus = VERIFY_MOST_CORES,
			.device_class = v->options->device_class,
		};
		struct device_info info;
		struct device *device;

		if (target_load(target, err) ||
		    device_open(target->backend, &request, &device, err)) {
			if (v->options->argument_count)
				return -1;
			fprintf(v->out, "%s: %s\n", target->name, err->message);
			continue;
		}
		device_describe(device, &info);
		fprintf(v->out, "%s: %s%s%s\n", target->name, info.name,
			info.driver[0] ? ", " : "", info.driver);
		device_close(device);
	}
	return 0;
}

static int verify_drawn(struct verification *v, FILE *log, struct error *err)
{
	struct target targets[VERIFY_MOST_BACKENDS];

	list_targets(v, targets);
	return verify_random(v->options, targets, v->count, v->out, log, err);
}

/* This process is a core of the one target, which others have started. */
static int be_core(struct verification *v, FILE *log, struct error *err)
{
	const struct options *options = v->options;
	struct verify_result *result = &v->results[0];
	struct dataset dataset = { 0 };
	int failed;

	if (v->count != 1 || !result->own_cores)
		return error_set(err, ERROR_USAGE, "--team needs one target "
				 "with a number of cores, such as cpu-2@mpi; "
				 "bench adds --team itself: leave it out");
	if (ranks_check_started(&result->target, err))
		return -1;
	process_end_with_parent();
	failed = prepare(v, &dataset, err);
	if (!failed) {
		set_target(v, result);
		v->task.log = log;
		failed = options->infer ?
				 verify_infer(&v->task, result, err) :
				 verify_cores(&v->task, result, err);
	}
	dataset_release(&dataset);
	return failed;
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
	int failed = choose_backends(&v, err) || check_options(&v, log, err);
	int code = 0;

	if (!failed && options->team)
		return be_core(&v, log, err);
	if (!failed && options->dry_run)
		return open_devices(&v, err);
	if (!failed && options->random != OPTION_UNSET)
		return refuse_settings(options, err) ? -1 :
						       verify_drawn(&v, log,
								    err);
	failed = failed || prepare(&v, &dataset, err);
	if (!failed && dataset.notice[0] && !options->quiet)
		fprintf(log, "note: %s\n", dataset.notice);
	if (!failed)
		verify_announce(&v);
	for (int b = 0; !failed && b < v.count; b++)
		compare(&v, &v.results[b]);
	if (!failed)
		code = verify_report(&v);
	dataset_release(&dataset);
	return failed ? -1 : code ? code : find_error(&v, err);
}
