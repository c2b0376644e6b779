#include "bench/verify/verify_task.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "bench/system/interrupt.h"
#include "models/random.h"

/* no overflow, so that there are gradients to compare */
#define FP16_LOSS_SCALE 256
#define NOTHING 1e-9 /* of the largest entry: 0 by construction */

int verify_check_slots(const struct backend *backend, struct error *err)
{
	const char *lacked = backend_lacks(backend, 1);

	return lacked ? error_set(err, ERROR_MISSING, "it lacks the slot '%s', "
				  "see backends/contract/backend.h",
				  lacked) : 0;
}

double verify_largest(const float *values, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(values[i]));
	return most;
}

double verify_distance(const float *a, const float *b, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		const double away = fabs((double)a[i] - b[i]);

		if (isnan(away))
			return NAN;
		most = fmax(most, away);
	}
	return most;
}

void verify_nudge(float *values, size_t count, int number)
{
	struct mt19937 generator;

	mt19937_seed(&generator, (unsigned long long)number);
	for (size_t i = 0; i < count; i++)
		values[i] = nextafterf(values[i], mt19937_next(&generator) % 2 ?
							  INFINITY :
							  -INFINITY);
}

double verify_error(const float *a, const float *b, size_t count)
{
	const double scale = verify_largest(b, count);
	const double most = verify_distance(a, b, count);

	return scale > 0 ? most / scale : most;
}

/* The only row that reads this one, or -1. */
static int reader_of(const struct model *model, int row)
{
	int reader = -1;

	for (int l = row + 1; l < model->layer_count; l++) {
		if (model->layers[l].kind == LAYER_ADD &&
		    model_other_source(model, l) == row)
			return -1;
		if (model_source(model, l) != row)
			continue;
		if (reader >= 0)
			return -1;
		reader = l;
	}
	return reader;
}

/* Returns 1 if a factor per channel in row has no effect but by eps. A batch
 * norm then follows, after rows that do not mix channels. */
static int is_normalised(const struct model *model, int row)
{
	while ((row = reader_of(model, row)) >= 0)
		switch (model->layers[row].kind) {
		case LAYER_BATCHNORM:
			return 1;
		case LAYER_RELU:
		case LAYER_MAXPOOL:
		case LAYER_AVGPOOL:
		case LAYER_DROPOUT:
		case LAYER_DROPOUT2D:
			break;
		default:
			return 0;
		}
	return 0;
}

double verify_scale(const struct verify_task *task, int t, const float *right)
{
	const struct tensor *tensor = &task->tensors[t];
	const size_t count = model_parameter_count(task->model);
	const double all = verify_largest(right, count);
	const double own =
		verify_largest(right + tensor->offset, tensor->count);
	const int is_weight = !t || task->tensors[t - 1].layer != tensor->layer;

	if (tensor->fan_in == 1 && is_weight &&
	    is_normalised(task->model, tensor->layer))
		return all;
	return own > NOTHING * all ? own : all;
}

int verify_tensor_errors(const struct verify_task *task, enum verify_kind kind,
			 const float *tried, const float *right,
			 double errors[MODEL_MAX_TENSORS])
{
	const int is_buffer = kind == VERIFY_STATISTICS;
	struct tensor buffers[MODEL_MAX_TENSORS];
	const int count = is_buffer ? model_buffers(task->model, buffers) :
				      task->tensor_count;
	const struct tensor *tensors = is_buffer ? buffers : task->tensors;

	for (int t = 0; t < count; t++) {
		const float *own = right + tensors[t].offset;
		const double most = verify_distance(tried + tensors[t].offset,
						    own, tensors[t].count);
		const double scale = is_buffer ?
			verify_largest(own, tensors[t].count) :
			verify_scale(task, t, right);

		errors[t] = scale > 0 ? most / scale : most;
	}
	return count;
}

void verify_worsen(double *worst, double error)
{
	if (isnan(error) || error > *worst)
		*worst = error;
}

void verify_hold(struct verify_held *worst, double error, double bound)
{
	if (isnan(worst->error))
		return;
	if (!worst->bound || !(error * worst->bound <= worst->error * bound))
		*worst = (struct verify_held){ error, bound };
}

int share_allocate(struct share *share, const struct verify_task *task,
		   int samples)
{
	const size_t count = (size_t)samples + 1;
	const size_t outputs = (size_t)model_classes(task->model);
	struct error no_memory;

	share->images = malloc(count * shape_size(task->model->input) *
			       sizeof(float));
	share->targets = malloc(count * outputs * sizeof(float));
	share->labels = malloc(count * sizeof(*share->labels));
	share->transform = transform_open(task->dataset, task->model,
					  &no_memory);
	return share->images && share->targets && share->labels &&
	       share->transform ? 0 : -1;
}

void share_release(struct share *share)
{
	free(share->images);
	free(share->targets);
	free(share->labels);
	transform_close(share->transform);
}

/* Number n of the share becomes one of these samples. */
static void copy_sample(const struct verify_task *task,
			const struct samples *samples, int at, int n,
			struct share *share)
{
	const size_t each = shape_size(task->model->input);
	const int outputs = model_classes(task->model);

	/* No sample is in a file. */
	transform_image(share->transform, samples, at, NULL,
			share->images + (size_t)n * each, NULL);
	dataset_target(task->dataset, samples, at, &share->labels[n],
		       share->targets + (size_t)n * (size_t)outputs);
	for (int k = 0; !task->dataset->has_vectors && k < outputs; k++)
		share->targets[n * outputs + k] =
			k == share->labels[n] ? .9f : .1f;
}

void verify_batch(const struct verify_task *task, const int *order, int step,
		  int rank, int size, struct share *share, struct batch *batch)
{
	const struct samples *train = &task->dataset->train;
	int n = 0;

	for (int p = rank; p < task->batch; p += size, n++)
		copy_sample(task, train,
			    order[(step * task->batch + p) % train->count], n,
			    share);
	*batch = (struct batch){ .images = share->images,
				 .labels = share->labels,
				 .targets = share->targets,
				 .count = n,
				 .global_count = task->batch,
				 .loss_scale = task->precision ==
						       PRECISION_FP16 ?
					       FP16_LOSS_SCALE : 0,
				 .step = (uint32_t)step,
				 .place = rank,
				 .stride = size };
}

void verify_test_batch(const struct verify_task *task, int first, int count,
		       struct share *share, struct batch *batch)
{
	const struct samples *test = &task->dataset->test;

	for (int n = 0; n < count; n++)
		copy_sample(task, test, (first + n) % test->count, n, share);
	*batch = (struct batch){ .images = share->images,
				 .labels = share->labels,
				 .targets = share->targets,
				 .count = count,
				 .global_count = count,
				 .stride = 1 };
}

int verify_tested(const struct verify_task *task)
{
	const int most = task->dataset->test.count;

	return task->test_batch < most ? task->test_batch : most;
}

double verify_loss_error(const struct score *tried, const struct score *right)
{
	return fabs(tried->loss - right->loss) / fabs(right->loss);
}

void verify_hold_answers(struct verify_held *worst,
			 const struct verify_task *task,
			 const struct score *tried, const struct score *right)
{
	const double samples = (double)right->count;

	verify_hold(worst, tried->count != right->count ? NAN :
		    fabs((double)(tried->correct - right->correct)) / samples,
		    fmax(task->bound, 1 / samples));
}

size_t verify_most_decisions(const struct model *model)
{
	size_t most = 1;

	for (int l = 0; l < model->layer_count; l++) {
		size_t count = layer_decisions(&model->layers[l],
					       model_layer_input(model, l));

		most = count > most ? count : most;
	}
	return most;
}

int verify_check_signal(struct error *err, const char *where, ...)
{
	char text[80];
	va_list list;

	interrupt_install(0);
	if (!interrupt_signal())
		return 0;
	va_start(list, where);
	vsnprintf(text, sizeof(text), where, list);
	va_end(list);
	return error_set(err, ERROR_STOPPED, "interrupted %s", text);
}

int verify_conclude(FILE *out, int wrong, int compared, const char *without)
{
	const int signal = interrupt_signal();

	fprintf(out, "verify: %s%s%s%s\n", wrong ? "FAILED" : signal ?
			"interrupted, " : "", wrong ? "" : !compared ?
			"nothing was compared" : signal ?
			"all right so far" : "all right",
		without[0] ? "; without: " : "", without);
	if (wrong)
		return 1;
	return signal ? 128 + signal : 0;
}
