#include "bench/plan/plan.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/data/loader.h"
#include "bench/options/option_table.h"
#include "bench/plan/ranks.h"
#include "bench/record/time_to_accuracy.h"
#include "bench/system/suggest.h"

#define BUCKET_MB 25 /* for ranks of MPI; the default of
			DistributedDataParallel */
#define INFER_BATCH 32 /* per core, as in post 004's code */
#define INFER_COUNT 256
#define TEST_BATCH 1000 /* samples of all cores, unless the model has its own */

#define BEST "best" /* suffix of --save-weights FILE:best */

static const struct model *find_model(const char *name, struct error *err)
{
	struct suggestion suggestion = { .typed = name };
	const struct model *model = model_find(name), *each = NULL;

	if (model)
		return model;
	while ((each = model_next(each)))
		suggest_add(&suggestion, each->name);
	error_set(err, ERROR_USAGE, "--model: unknown model '%.60s'; %s", name,
		  suggest_text(&suggestion));
	return NULL;
}

/* The model, for images of the size that was asked for. */
static int plan_model(struct model *model, const struct options *options,
		      struct error *err)
{
	const struct model *found = find_model(options->model, err);
	char wrong[256];

	if (!found)
		return -1;
	*model = *found;
	if (options->image_size != OPTION_UNSET) {
		model->input.height = (int)options->image_size;
		model->input.width = (int)options->image_size;
	}
	if (!model_check(model, wrong, sizeof(wrong)))
		return 0;
	return options->image_size == OPTION_UNSET ?
		       error_set(err, ERROR_USAGE, "%s", wrong) :
		       error_set(err, ERROR_USAGE, "--image-size %ld: %s",
				 options->image_size, wrong);
}

/* Returns the model's recipe, changed by the options. */
static struct recipe plan_recipe(const struct model *model, int cores,
				 const struct options *options)
{
	struct recipe recipe = model->recipe;

	if (cores > 1 && recipe.batch_of_several)
		recipe.batch = recipe.batch_of_several;
	if (options->batch != OPTION_UNSET)
		recipe.batch = (int)options->batch;
	if (options->epochs != OPTION_UNSET)
		recipe.epochs = (int)options->epochs;
	if (options->lr >= 0) {
		recipe.lr = options->lr;
		recipe.scale_lr = 0; /* it is the rate of all cores */
	}
	return recipe;
}

/* Returns the samples of all cores in a test step; 0 = no tests. */
static int plan_test_batch(const struct training *training,
			   const struct target *target,
			   const struct options *options)
{
	const int own = training->recipe.test_batch;

	if (!options->test || training->recipe.no_test || training->infers)
		return 0;
	if (options->test_batch != OPTION_UNSET)
		return (int)options->test_batch;
	return own ? own * target->cores : TEST_BATCH;
}

/* Plans forward passes. */
static int plan_inference(struct training *training,
			  const struct options *options, struct error *err)
{
	const struct {
		const char *name;
		int given;
	} others[] = {
		{ "epochs", options->epochs != OPTION_UNSET },
		/* In a comparison, --steps counts the passes of each
		 * process. */
		{ "steps", options->steps != OPTION_UNSET &&
				   (options->verb == VERB_MEASURE ||
				    options->verb == VERB_VERIFY) },
		{ "lr", options->lr >= 0 },
		{ "test-batch", options->test_batch != OPTION_UNSET },
		{ "test-steps", options->test_steps != OPTION_UNSET },
		{ "target-accuracy", options->target_accuracy >= 0 },
		{ "dump-masks", options->dump_masks != NULL },
		{ "profile", options->profile != NULL },
		{ "pad", options->pad == 1 },
		{ "sync epoch", options->sync &&
			!strcmp(options->sync, "epoch") },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return error_set(err, ERROR_USAGE, "--%s applies to "
					 "training, which --infer skips: leave "
					 "out one of the two%s",
					 others[i].name,
					 strcmp(others[i].name, "steps") ||
						 options->verb == VERB_VERIFY ?
					 "" :
					 "; --count N sets the number of "
					 "forward passes");
	training->infers = 1;
	training->recipe.epochs = 1;
	training->recipe.steps = 0;
	training->recipe.scale_lr = 0;
	if (options->batch == OPTION_UNSET)
		training->recipe.batch = INFER_BATCH;
	return 0;
}

/* A model may have nothing to test. */
static int check_tests(const struct training *training,
		       const struct options *options, struct error *err)
{
	if (!training->recipe.no_test ||
	    (options->test_batch == OPTION_UNSET &&
	     options->test_steps == OPTION_UNSET &&
	     options->target_accuracy < 0))
		return 0;
	return error_set(err, ERROR_USAGE, "model '%s' has no test: leave out "
			 "--test-batch, --test-steps and --target-accuracy",
			 training->model.name);
}

void plan_batch(struct training *training, int global_samples)
{
	training->global_samples = global_samples;
	training->samples_per_core = replica_share(0, training->cores,
						   global_samples);
}

/* Copies the options that need a known recipe. */
static void plan_options(struct training *training,
			 const struct target *target,
			 const struct options *options)
{
	plan_batch(training, options->global_batch != OPTION_UNSET ?
				     (int)options->global_batch :
				     training->recipe.batch * target->cores);
	training->test_batch = plan_test_batch(training, target, options);
	if (options->test_steps != OPTION_UNSET)
		training->test_steps = (int)options->test_steps;
	training->drop_last = training->recipe.drop_last_of_several &&
			      target->cores > 1;
	training->warmup = (int)options->warmup;
	if (training->infers &&
	    !option_is_given(options, option_find("warmup")))
		training->warmup = 1;
	training->seed = (unsigned long long)options->seed;
	training->dropout = options->dropout;
	training->algorithm = backend_algorithm(target->backend,
						options->algorithm);
	training->precision = precision_find(options->precision);
	training->resident = !options->resident ||
			     strcmp(options->resident, "no");
	training->reshuffle = options->reshuffle;
	training->pad = options->pad == 1;
	if (options->target_accuracy >= 0)
		training->target_accuracy_pct = options->target_accuracy;
	training->reads_weights = options->weights != NULL;
	training->dump_masks = options->dump_masks;
	training->save_parameters = options->save_parameters;
	training->trace = options->trace;
	training->profile = options->profile;
}

static int refuse_step_options(const struct options *options, struct error *err)
{
	const struct {
		const char *name, *value;
	} others[] = {
		{ "profile", options->profile },
		{ "trace", options->trace },
		{ "straggler", options->straggler },
		{ "inject", options->inject },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].value)
			return error_set(err, ERROR_USAGE,
					 "--%s needs single iterations, which "
					 "--sync epoch does not time: leave "
					 "out one of the two",
					 others[i].name);
	return 0;
}

/* Resolves --sync. */
static int plan_sync(struct training *training, const struct options *options,
		     struct error *err)
{
	training->ahead = options->sync && !strcmp(options->sync, "epoch");
	if (!training->ahead)
		return 0;
	if (!training->resident)
		return error_set(err, ERROR_USAGE,
				 "--sync epoch needs the data set on the "
				 "device: leave out --resident no");
	if (training->precision == PRECISION_FP16)
		return error_set(err, ERROR_USAGE,
				 "--precision fp16 checks each gradient before "
				 "its step: leave out --sync epoch");
	return refuse_step_options(options, err);
}

size_t plan_saved_length(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && !strchr(colon, '/') ? (size_t)(colon - text) :
					      strlen(text);
}

/* Refuses any suffix but FILE:best, so that a misspelt one does not create a
 * file. */
static int plan_saving(struct training *training, const struct options *options,
		       struct error *err)
{
	const char *path = options->save_weights;
	const int length = path ? (int)plan_saved_length(path) : 0;

	if (!path)
		return 0;
	training->save_best = path[length] == ':';
	if (training->save_best && (!length || strcmp(path + length + 1, BEST)))
		return error_set(err, ERROR_USAGE, "--save-weights %.500s: "
				 "only '" BEST "' may follow a colon, as in "
				 "FILE:" BEST " (the epoch with the lowest "
				 "test loss); choose a name without a colon",
				 path);
	snprintf(training->save_weights, sizeof(training->save_weights), "%.*s",
		 length, path);
	if (!training->save_best || training->test_batch)
		return 0;
	return error_set(err, ERROR_USAGE, "--save-weights FILE:" BEST " needs "
			 "a test after each epoch, to find the best: leave out "
			 ":" BEST);
}

/* Saved weights are of the network without folding. */
static int may_fold(const struct training *training)
{
	return training->infers && training->algorithm == ALGORITHM_FAST &&
	       !training->save_weights[0] && !training->save_parameters;
}

/* Plans how gradients are summed. */
static int plan_sums(struct training *training, const struct target *target,
		     const struct options *options, struct error *err)
{
	const char *how = options->allreduce ? options->allreduce : "ordered";
	const long asked = options->bucket_mb;

	training->native_sums = !strcmp(how, "native");
	training->whole_gradients = !strcmp(how, "whole");
	if (training->native_sums && asked != OPTION_UNSET)
		return error_set(err, ERROR_USAGE, "--allreduce native sums "
				 "the whole gradient at the end: leave out "
				 "--bucket-mb");
	if (target_sums_natively(target) && !training->native_sums)
		training->bucket_floats =
			(size_t)(asked == OPTION_UNSET ? BUCKET_MB : asked) *
			(1024 * 1024 / sizeof(float));
	return 0;
}

int plan_run(struct training *training, const struct target *target,
	     const struct options *given, struct error *err)
{
	struct options own = *given;
	const struct options *options = &own;
	char wrong[128];

	target_options_trim(&own, target);
	*training = (struct training){ .target_accuracy_pct = CELL_NO_REAL };
	if (plan_model(&training->model, options, err))
		return -1;
	training->recipe = plan_recipe(&training->model, target->cores,
				       options);
	if (options->infer || options->verb == VERB_INFER ?
		    plan_inference(training, options, err) :
		    options->count != OPTION_UNSET &&
			    error_set(err, ERROR_USAGE, "--count applies to "
				      "forward passes: add --infer"))
		return -1;
	if (check_tests(training, options, err))
		return -1;
	if (training->recipe.scale_lr)
		training->recipe.lr *= target->cores;
	if (recipe_check(&training->recipe, wrong, sizeof(wrong)))
		return error_set(err, ERROR_USAGE, "model '%s': %s",
				 training->model.name, wrong);
	training->cores = target->cores;
	training->cores_here = ranks_here(target, options->hosts);
	training->copies = ranks_are_launched(target) ? training->cores_here :
							1;
	training->backend = target->backend;
	training->device = target->device[0] ? target->device : NULL;
	training->device_class = options->device_class;
	/* A plug-in's own value is known once it is open. */
	training->one_process = target->transport->one_process;
	plan_options(training, target, options);
	if ((training->profile &&
	     backend_check_profile(target->backend, err)) ||
	    plan_sync(training, options, err) ||
	    plan_sums(training, target, options, err) ||
	    plan_saving(training, options, err) ||
	    (options->weights &&
	     weights_check(options->weights, &training->model,
			   training->weights_prefix, err)))
		return -1;
	training->folds = may_fold(training);
	return slowdown_plan(&training->slowdown, target, options, err);
}

/* Images in files may have 1 or 3 channels. */
static int check_folder(const struct model *model,
			const struct options *options, struct error *err)
{
	const int in = model->input.channels;

	if (options->verb == VERB_VERIFY)
		return error_set(err, ERROR_USAGE, "--dataset folder: bench "
				 "verify needs images in memory: use --dataset "
				 "synthetic, or leave out --dataset and "
				 "--data-dir");
	if (in == 1 || in == 3)
		return 0;
	return error_set(err, ERROR_USAGE, "model '%s' expects images of %d "
			 "channels, but files have 1 or 3", model->name, in);
}

/* The message says where the user can change the classes. */
static int refuse_classes(const struct model *model,
			  const struct dataset *dataset,
			  const struct options *options, const char *loss,
			  struct error *err)
{
	const struct folder *folder = dataset->folder;
	char where[600] = "";

	if (folder && dataset->has_vectors)
		snprintf(where, sizeof(where), ", the columns of labels in "
			 "%.500s", options->targets_csv);
	else if (folder)
		snprintf(where, sizeof(where), ", the folders in %.500s/train",
			 folder->dir);
	return error_set(err, ERROR_USAGE, "model '%s', %s: has %d classes, "
			 "but data set '%s' has %d%s", model->name, loss,
			 model_classes(model), dataset->name, dataset->classes,
			 where);
}

/* Images and labels are the model's. */
static int check_data(const struct model *model, const struct dataset *dataset,
		      const struct options *options, struct error *err)
{
	/* To verify, vectors are made of labels. */
	const int needs_vectors = !model_has_classes(model) &&
				  options->verb != VERB_VERIFY;
	const int in = model->input.channels, found = dataset->shape.channels;
	char loss[80];

	if (dataset->is_fake)
		return options->verb != VERB_VERIFY ? 0 :
			error_set(err, ERROR_USAGE, "--dataset fake: zeros "
				  "verify nothing; name another data set");
	if (dataset->folder && check_folder(model, options, err))
		return -1;
	if (!dataset->folder && found != 1 && found != in)
		return error_set(err, ERROR_USAGE, "model '%s' expects images "
				 "of %d channel%s, but data set '%s' has %d",
				 model->name, in, in == 1 ? "" : "s",
				 dataset->name, found);
	layer_describe(model, model->layer_count - 1, loss, sizeof(loss));
	if (needs_vectors && !dataset->has_vectors)
		return error_set(err, ERROR_USAGE, "model '%s', %s: needs "
				 "targets that are vectors of %d values, but "
				 "data set '%s' has classes%s", model->name,
				 loss, model_classes(model), dataset->name,
				 dataset->folder ? "; --targets-csv FILE gives "
				 "several labels per image" : "");
	if (model_has_classes(model) && dataset->has_vectors)
		return error_set(err, ERROR_USAGE, "model '%s', %s: needs "
				 "one of %d classes as a target, but data set "
				 "'%s' has vectors", model->name, loss,
				 model_classes(model), dataset->name);
	if (dataset->has_vectors ?
		    dataset->classes != model_classes(model) :
		    dataset->classes > model_classes(model))
		return refuse_classes(model, dataset, options, loss, err);
	return 0;
}

/* --target-accuracy sets a global batch size itself. */
static int is_batch_asked(const struct options *options)
{
	return options->batch != OPTION_UNSET ||
	       (options->global_batch != OPTION_UNSET &&
		(options->target_accuracy < 0 ||
		 options->global_batch != CLOSED_GLOBAL_BATCH));
}

/* A model's own batch size may exceed the data set; a given one may not. */
static int refuse_batch(const struct training *training,
			const struct options *options, struct error *err)
{
	const struct dataset *dataset = training->dataset;
	char cores[64] = "";

	if (options->global_batch != OPTION_UNSET)
		return error_set(err, ERROR_USAGE,
				 "--global-batch %ld: data set '%s' has %d "
				 "training images; choose a smaller batch",
				 options->global_batch, dataset->name,
				 dataset->train.count);
	if (training->cores > 1)
		snprintf(cores, sizeof(cores), " on each of %d cores, %d "
			 "together", training->cores,
			 training->global_samples);
	return error_set(err, ERROR_USAGE, "--batch %ld%s: data set '%s' has "
			 "%d training images; choose a smaller batch",
			 options->batch, cores, dataset->name,
			 dataset->train.count);
}

static int samples_of(const struct training *training,
		      const struct samples *samples)
{
	return loader_samples(samples->count, training->cores, training->pad);
}

/* Only a file of targets may have rows of one kind alone. */
static int refuse_none(const struct training *training,
		       const struct options *options, int is_test,
		       struct error *err)
{
	const char *wanted = is_test ? "val/ (or test/)" : "train/";

	return error_set(err, ERROR_USAGE, "data set '%s' has no image to %s: "
			 "no path in %.500s begins with %s; add rows of such "
			 "images%s", training->dataset->name,
			 is_test ? "test" : "train on",
			 options->targets_csv ? options->targets_csv : "it",
			 wanted, is_test && !training->infers ?
			 ", or give --test off" : "");
}

/* Checks that there are samples for training, tests or forward passes. */
static int check_samples(const struct training *training,
			 const struct options *options, struct error *err)
{
	const struct dataset *dataset = training->dataset;
	const int least = training->drop_last ? training->global_samples : 1;
	const int least_test = !training->test_batch && !training->infers ? 0 :
			       training->drop_last && !training->infers ?
			       training->test_batch : 1;

	if (!dataset->train.count && !training->infers)
		return refuse_none(training, options, 0, err);
	if (!dataset->test.count && least_test)
		return refuse_none(training, options, 1, err);
	if (samples_of(training, &dataset->train) < least && !training->infers)
		return error_set(err, ERROR_USAGE, "data set '%s' has %d "
				 "training images, but an iteration takes %d; "
				 "choose a smaller batch, or fewer cores",
				 dataset->name, dataset->train.count, least);
	if (samples_of(training, &dataset->test) < least_test)
		return error_set(err, ERROR_USAGE, "data set '%s' has %d test "
				 "images, but a step takes %d; choose a "
				 "smaller --test-batch", dataset->name,
				 dataset->test.count, least_test);
	return 0;
}

int plan_iterations(struct training *training, const struct options *options,
		    struct error *err)
{
	const struct dataset *dataset = training->dataset;
	long most = options->steps;

	if (check_data(&training->model, dataset, options, err) ||
	    check_samples(training, options, err))
		return -1;
	if (training->drop_last && training->test_batch &&
	    samples_of(training, &dataset->test) % training->test_batch) {
		const int whole = samples_of(training, &dataset->test) /
				  training->test_batch;

		if (!training->test_steps || training->test_steps > whole)
			training->test_steps = whole;
	}
	if (training->infers) {
		training->iterations = options->count == OPTION_UNSET ?
				INFER_COUNT : (int)options->count;
		return 0;
	}
	if (is_batch_asked(options) &&
	    training->global_samples > dataset->train.count)
		return refuse_batch(training, options, err);
	training->iterations =
		(samples_of(training, &dataset->train) +
		 (training->drop_last ? 0 : training->global_samples - 1)) /
		training->global_samples;
	/* A batch that comes again has no last one. */
	if (!dataset->is_fake || !training->recipe.steps)
		training->epoch_iterations = training->iterations;
	if (most == OPTION_UNSET)
		most = training->recipe.steps ? training->recipe.steps :
						LONG_MAX;
	if (most < training->iterations || !training->epoch_iterations)
		training->iterations = (int)most;
	return plan_check_norms(training, err);
}

/* --synthetic-train and --synthetic-test apply to data set synthetic only. A
 * parent passes on their defaults. */
static int check_counts(const char *dataset, const struct options *options,
			struct error *err)
{
	const struct {
		const char *name;
		long count, usual;
	} counts[] = {
		{ "synthetic-train", options->synthetic_train,
		  options_defaults.synthetic_train },
		{ "synthetic-test", options->synthetic_test,
		  options_defaults.synthetic_test },
	};

	if (!strcmp(dataset, "synthetic"))
		return 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].count != counts[i].usual)
			return error_set(err, ERROR_USAGE, "--%s %ld has no "
					 "effect on data set '%s': name "
					 "--dataset synthetic, or leave it out",
					 counts[i].name, counts[i].count,
					 dataset);
	return 0;
}

int plan_dataset(struct dataset *dataset, const struct options *options,
		 int is_scan, struct error *err)
{
	const struct model *model = model_find(options->model);
	const char *own = model ? model->dataset : NULL;
	const struct dataset_request request = {
		/* Zeros verify nothing. */
		.name = own && !strcmp(options->dataset, "auto") &&
				!(options->verb == VERB_VERIFY &&
				  !strcmp(own, "fake")) ?
				own : options->dataset,
		.dir = options->data_dir,
		.targets = options->targets_csv,
		.synthetic_train = (int)options->synthetic_train,
		.synthetic_test = (int)options->synthetic_test,
		.is_scan = is_scan,
	};

	return check_counts(request.name, options, err) ||
			       dataset_load(dataset, &request, err) ?
		       -1 : 0;
}
