#include "bench/run/post_log.h"

#include <math.h>
#include <string.h>

#include "bench/run/training.h"
#include "bench/system/clock.h"
#include "bench/system/number.h"

/* What is printed when; NULL: nothing. */
struct post_style {
	const char *models[3];
	int every; /* iterations between lines of progress */
	void (*begin)(const struct post_log *log);
	void (*step)(struct post_log *log);
	void (*epoch)(struct post_log *log);
	void (*end)(const struct post_log *log, double loop_s);
};

void rate_tracker_start(struct rate_tracker *tracker, double now)
{
	*tracker = (struct rate_tracker){ .began_at = now, .asked_at = now };
}

void rate_tracker_add(struct rate_tracker *tracker, long samples)
{
	tracker->samples += samples;
	tracker->fresh += samples;
}

double rate_tracker_rate(struct rate_tracker *tracker, double now)
{
	const double took = now - tracker->asked_at;
	const double rate = took > 0 ? (double)tracker->fresh / took : 0;

	tracker->rate = tracker->asked ? .6 * rate + .4 * tracker->rate : rate;
	tracker->asked = 1;
	tracker->asked_at = now;
	tracker->fresh = 0;
	return tracker->rate;
}

double rate_tracker_global(const struct rate_tracker *tracker, double now)
{
	const double took = now - tracker->began_at;

	return took > 0 ? (double)tracker->samples / took : 0;
}

static void moments_add(struct moments *moments, double value)
{
	moments->count++;
	moments->sum += value;
	moments->squares += value * value;
}

static double moments_mean(const struct moments *moments)
{
	return moments->count ? moments->sum / (double)moments->count : 0;
}

/* Of all of them, as numpy has it. */
static double moments_std(const struct moments *moments)
{
	const double mean = moments_mean(moments);
	const double square = moments->count ?
			moments->squares / (double)moments->count : 0;

	return sqrt(fmax(0, square - mean * mean));
}

static int core_count(const struct post_log *log)
{
	return log->training->cores;
}

/* The iteration as posts count it, from 0. */
static int step_of(const struct post_log *log)
{
	return log->iteration - 1;
}

static double percent(const struct score *score)
{
	return score->count ? 100. * (double)score->correct /
				      (double)score->count : 0;
}

static double mean_loss(const struct score *score)
{
	return score->count ? score->loss / (double)score->count : 0;
}

static struct score score_of_all(const struct post_log *log)
{
	struct score all = { 0 };

	for (int r = 0; r < core_count(log); r++) {
		all.loss += log->last[r].test.loss;
		all.correct += log->last[r].test.correct;
		all.count += log->last[r].test.count;
	}
	return all;
}

/* A float as Python prints one, about. */
struct float_text {
	char text[NUMBER_SIZE];
};

static struct float_text float_text(double value)
{
	struct float_text text;

	number_print(text.text, value);
	return text;
}

/* Post 000, in one way on one core and in another one on several. */

static void alexnet_begin(const struct post_log *log)
{
	for (int r = 0; core_count(log) > 1 && r < core_count(log); r++)
		fprintf(log->out, "Process %d is using TPU:%d\n", r, r);
}

static void alexnet_end_alone(const struct post_log *log)
{
	const struct post_core *core = &log->cores[0];

	fprintf(log->out, "Spent  %s  seconds training for  %d  epoch(s) on a "
		"single core.\n", float_text(core->train_s).text, log->epoch);
	if (!log->last[0].test.count)
		return;
	fprintf(log->out, "Correctly guessed  %s  %% of the dataset\n"
		"Evaluated in  %s  seconds\n",
		float_text(percent(&log->last[0].test)).text,
		float_text(core->test_s).text);
}

static void alexnet_end(const struct post_log *log, double loop_s)
{
	(void)loop_s;
	if (core_count(log) == 1) {
		alexnet_end_alone(log);
		return;
	}
	for (int r = 0; r < core_count(log); r++) {
		const struct post_core *core = &log->cores[r];
		const struct score *test = &log->last[r].test;

		fprintf(log->out, "Process %d finished training. Train time "
			"was: %s\n", r, float_text(core->train_s).text);
		if (!test->count)
			continue;
		fprintf(log->out, "Process %d finished evaluation. Evaluation "
			"time was: %s\n"
			"Process %d guessed %ld of %ld correctly for %s %% "
			"accuracy.\n", r, float_text(core->test_s).text,
			r, test->correct, test->count,
			float_text(percent(test)).text);
	}
}

/* Post 001. */

static void toy_step(struct post_log *log)
{
	for (int r = 0; r < core_count(log); r++)
		fprintf(log->out, "epoch:  %d\n", step_of(log));
}

/* Rank 0's own. */
static void toy_end(const struct post_log *log, double loop_s)
{
	(void)loop_s;
	fprintf(log->out, "final loss =  tensor(%.4f)\n", log->last_loss);
}

/* Post 002. */

static void mnist_begin(const struct post_log *log)
{
	if (core_count(log) == 1)
		fprintf(log->out, "Start with %s\n",
			log->training->backend->name);
	else
		alexnet_begin(log);
}

/* Its average of an epoch is the last iteration's time. */
static void mnist_epoch_alone(const struct post_log *log)
{
	const struct epoch_report *report = &log->last[0];
	const struct score *test = &report->test;

	fprintf(log->out, "[Epoch #%d] [Train] Total time: %.3f(s/epoch)\t "
		"Avg. time: %.3f(s/iter)\n", log->epoch,
		report->elapsed_s - report->test_s,
		log->cores[0].last_iter_s);
	if (test->count)
		fprintf(log->out, "[Epoch #%d] [Test] Average loss: %.4f, "
			"Accuracy: %ld/%ld (%.1f%%)\n", log->epoch,
			mean_loss(test), test->correct,
			test->count, percent(test));
}

static void mnist_epoch(struct post_log *log)
{
	if (core_count(log) == 1) {
		mnist_epoch_alone(log);
		return;
	}
	for (int r = 0; r < core_count(log); r++) {
		const struct epoch_report *report = &log->last[r];
		const struct post_core *core = &log->cores[r];
		const struct score *test = &report->test;

		fprintf(log->out, "[Epoch %d] TPU:%d [Train] Avg. loss: %.3f, "
			"Total time: %.3f(s/epoch), Avg. time: "
			"%.3f(s/iter)\n", log->epoch, r,
			moments_mean(&core->losses),
			report->elapsed_s - report->test_s,
			moments_mean(&core->epoch_iters));
		if (test->count)
			fprintf(log->out, "[Epoch %d] TPU:%d [Test] Avg. loss: "
				"%.4f, Accuracy: %ld/%ld (%.2f%%)\n",
				log->epoch, r, mean_loss(test),
				test->correct, test->count,
				percent(test));
	}
}

static void mnist_end(const struct post_log *log, double loop_s)
{
	const int several = core_count(log) > 1;

	for (int r = 0; r < core_count(log); r++) {
		const struct post_core *core = &log->cores[r];

		if (several)
			fprintf(log->out, "TPU:%d", r);
		else
			fprintf(log->out, "Train time: %.3f", loop_s);
		fprintf(log->out, ", Avg. time: %.3f(s/iter), std:%.3f, Avg. "
			"time: %.3f(s/epoch), std:%.3f\n",
			moments_mean(&core->iters), moments_std(&core->iters),
			moments_mean(&core->epochs),
			moments_std(&core->epochs));
	}
	if (several)
		fprintf(log->out, "Train time: %.3fs\n", loop_s);
}

/* PyTorch's examples. */

static void example_step(struct post_log *log)
{
	const int step = step_of(log);

	fprintf(log->out, "Train Epoch: %d [%ld/%d (%.0f%%)]\tLoss: %.6f\n",
		log->epoch, (long)step * log->training->global_batch,
		log->training->dataset->train.count,
		100. * step / log->training->iterations, log->last_loss);
}

static void example_epoch(struct post_log *log)
{
	const struct score all = score_of_all(log);

	if (all.count)
		fprintf(log->out, "\nTest set: Average loss: %.4f, Accuracy: "
			"%ld/%ld (%.0f%%)\n\n", mean_loss(&all),
			all.correct, all.count, percent(&all));
}

/* Post 003. */

#define DASHES "-------------------------------------------------------\n"

static void scans_announce(const struct post_log *log, int epoch)
{
	const struct training *training = log->training;
	const long iterations = training->iterations;
	const double lr = recipe_rate(&training->recipe,
				      (epoch - 1) * iterations, iterations);
	/* The post prints the rate of a core, before it scales it. */
	const int scaled_by = training->recipe.scale_lr ? core_count(log) : 1;

	fprintf(log->out, DASHES "EPOCH %d/%d\n" DASHES "- initialization | "
		"TPU cores = %d, lr = %.6f\n", epoch, training->recipe.epochs,
		core_count(log), lr / scaled_by);
}

static void scans_begin(const struct post_log *log)
{
	scans_announce(log, 1);
}

static void scans_step(struct post_log *log)
{
	if (step_of(log) > 0)
		fprintf(log->out, "-- batch %d | cur_loss = %.6f, avg_loss = "
			"%.6f\n", step_of(log), log->last_loss,
			log->loss_sum / (double)log->samples);
}

static void scans_epoch(struct post_log *log)
{
	const struct epoch_report *report = &log->last[0];

	fprintf(log->out, "- elapsed time | train = %.2f min, valid = %.2f "
		"min\n", (report->elapsed_s - report->test_s) / 60,
		report->test_s / 60);
	if (report->test.count)
		fprintf(log->out, "- average loss | train = %.6f, valid = "
			"%.6f\n", log->loss_sum / (double)log->samples,
			mean_loss(&report->test));
	fputs(DASHES, log->out);
	if (log->epoch < log->training->recipe.epochs)
		scans_announce(log, log->epoch + 1);
}

/* Post 004 and PyTorch/XLA's test, of which they are. */

/* The hour, in UTC as on the posts' machines. */
static struct float_text hour(void)
{
	struct float_text text;
	char stamp[24];

	clock_stamp(stamp, sizeof(stamp));
	snprintf(text.text, sizeof(text.text), "%.8s", stamp + 11);
	return text;
}

static void xla_step(struct post_log *log)
{
	const double now = log->ended_at;
	const double rate = rate_tracker_rate(&log->tracker, now);

	fprintf(log->out, "| Training Device=xla:1/0 Epoch=%d Step=%d "
		"Loss=%.5f Rate=%.2f GlobalRate=%.2f Time=%s\n", log->epoch,
		step_of(log), log->last_loss, rate,
		rate_tracker_global(&log->tracker, now), hour().text);
}

static void xla_epoch(struct post_log *log)
{
	const struct score all = score_of_all(log);

	if (!all.count)
		return;
	fprintf(log->out, "| Test Device=xla:1/0 Epoch=%d Accuracy=%.2f "
		"Time=%s\n", log->epoch, percent(&log->last[0].test),
		hour().text);
	log->best_pct = fmax(log->best_pct, percent(&all));
	fprintf(log->out, "Epoch: %d, Mean Accuracy: %.2f%%\n", log->epoch,
		percent(&all));
}

static void xla_end(const struct post_log *log, double loop_s)
{
	(void)loop_s;
	if (score_of_all(log).count)
		fprintf(log->out, "Max Accuracy: %.2f%%\n", log->best_pct);
}

static const struct post_style styles[] = {
	{ { "alexnet" }, 0, alexnet_begin, NULL, NULL, alexnet_end },
	{ { "ddp-toy" }, 100, NULL, toy_step, NULL, toy_end },
	{ { "mnist" }, 0, mnist_begin, NULL, mnist_epoch, mnist_end },
	{ { "mnist-example", "mnist-2019" }, 10, NULL, example_step,
	  example_epoch, NULL },
	{ { "resnet34" }, 100, scans_begin, scans_step, scans_epoch, NULL },
	{ { "resnet50" }, 200, NULL, xla_step, xla_epoch, xla_end },
	{ { "xla-mnist" }, 20, NULL, xla_step, xla_epoch, xla_end },
};

static const struct post_style *style_find(const char *model)
{
	const int count = sizeof(styles) / sizeof(styles[0]);

	for (int i = 0; i < count; i++)
		for (int m = 0; styles[i].models[m]; m++)
			if (!strcmp(styles[i].models[m], model))
				return &styles[i];
	return NULL;
}

int post_log_check(const char *model, struct error *err)
{
	return style_find(model) ? 0 :
		error_set(err, ERROR_USAGE, "--log post: no post has trained "
			  "model '%s', whose lines are not known; leave it out",
			  model);
}

void post_log_open(struct post_log *log, const struct training *training,
		   FILE *out)
{
	*log = (struct post_log){
		.training = training,
		.style = style_find(training->model.name),
		.out = out,
	};
}

void post_log_begin(struct post_log *log)
{
	if (log->style->begin)
		log->style->begin(log);
}

void post_log_begin_epoch(struct post_log *log, double now)
{
	log->epoch++;
	log->iteration = 0;
	log->loss_sum = 0;
	log->samples = 0;
	rate_tracker_start(&log->tracker, now);
	for (int r = 0; r < core_count(log); r++)
		log->cores[r].epoch_iters = log->cores[r].losses =
			(struct moments){ 0 };
}

void post_log_step(struct post_log *log, const struct step_report *reports)
{
	const struct score *own = &reports[0].score;
	const struct post_style *style = log->style;

	log->iteration++;
	log->last_loss = mean_loss(own);
	log->loss_sum += own->loss;
	log->samples += own->count;
	log->ended_at = reports[0].ended_at;
	rate_tracker_add(&log->tracker, own->count);
	for (int r = 0; r < core_count(log); r++) {
		struct post_core *core = &log->cores[r];

		core->last_iter_s = reports[r].ended_at - reports[r].began_at;
		moments_add(&core->iters, core->last_iter_s);
		moments_add(&core->epoch_iters, core->last_iter_s);
		moments_add(&core->losses, mean_loss(&reports[r].score));
	}
	if (reports[0].skipped)
		fprintf(log->out, "Gradient overflow.  Skipping step, loss "
			"scaler 0 reducing loss scale to %.1f\n",
			reports[0].loss_scale);
	if (style->step && step_of(log) % style->every == 0)
		style->step(log);
}

void post_log_epoch(struct post_log *log, const struct epoch_report *reports)
{
	for (int r = 0; r < core_count(log); r++) {
		struct post_core *core = &log->cores[r];

		log->last[r] = reports[r];
		core->train_s += reports[r].elapsed_s - reports[r].test_s;
		core->test_s = reports[r].test_s;
		moments_add(&core->epochs, reports[r].elapsed_s);
	}
	if (log->style->epoch)
		log->style->epoch(log);
}

void post_log_end(struct post_log *log, double loop_s)
{
	if (log->style->end)
		log->style->end(log, loop_s);
}
