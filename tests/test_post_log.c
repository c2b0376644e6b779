/* Invented reports of two cores, and the lines that posts have for such. */
#include "bench/run/post_log.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run/training.h"

#define CORES 2

static char *text;
static size_t size;
static FILE *out;
static struct dataset dataset = { .train = { .count = 80 } };
static struct training training;
static struct post_log log_;

static void begin(const char *model, int cores, int iterations)
{
	training = (struct training){ .model = *model_find(model),
				      .backend = backend_find("null"),
				      .dataset = &dataset,
				      .cores = cores,
				      .iterations = iterations,
				      .global_batch = 4 * cores };
	training.recipe = training.model.recipe;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	post_log_open(&log_, &training, out);
	post_log_begin(&log_);
}

/* An epoch from 10 on: iterations of 1 s, half a second apart; the losses of
 * core 0 are 1, 2, ..., those of core 1 ten times as large. */
static void epoch(int iterations)
{
	struct step_report reports[CORES] = {
		{ .score = { .count = 4 } }, { .score = { .count = 4 } }
	};
	const struct epoch_report ends[CORES] = {
		{ .elapsed_s = 90, .test_s = 30,
		  .test = { .loss = 5, .correct = 7, .count = 10 } },
		{ .elapsed_s = 91, .test_s = 30.5,
		  .test = { .loss = 6, .correct = 8, .count = 10 } },
	};

	post_log_begin_epoch(&log_, 10);
	for (int i = 0; i < iterations; i++) {
		for (int r = 0; r < CORES; r++) {
			reports[r].began_at = 10.5 + 1.5 * i;
			reports[r].ended_at = 11.5 + 1.5 * i;
			reports[r].score.loss = 4 * (i + 1) * (r ? 10 : 1);
		}
		post_log_step(&log_, reports);
	}
	post_log_epoch(&log_, ends);
}

/* Somewhere in the lines so far. */
static void has(const char *part)
{
	fflush(out);
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void end(void)
{
	fclose(out);
	free(text);
}

static void rates_are_smoothed(void **state)
{
	struct rate_tracker tracker;

	(void)state;
	rate_tracker_start(&tracker, 100);
	rate_tracker_add(&tracker, 128);
	assert_true(fabs(rate_tracker_rate(&tracker, 102) - 64) < 1e-9);
	assert_true(fabs(rate_tracker_global(&tracker, 102) - 64) < 1e-9);
	rate_tracker_add(&tracker, 128);
	rate_tracker_add(&tracker, 128);
	/* .6 * 256 + .4 * 64 */
	assert_true(fabs(rate_tracker_rate(&tracker, 103) - 179.2) < 1e-9);
	assert_true(fabs(rate_tracker_global(&tracker, 103) - 128) < 1e-9);
	/* Nothing since, and no time. */
	assert_true(fabs(rate_tracker_rate(&tracker, 103) - 71.68) < 1e-9);
	rate_tracker_start(&tracker, 200);
	assert_true(rate_tracker_rate(&tracker, 200) == 0);
	assert_true(rate_tracker_global(&tracker, 200) == 0);
}

static void lines_of_xla(void **state)
{
	(void)state;
	begin("xla-mnist", 2, 41);
	epoch(41);
	has("| Training Device=xla:1/0 Epoch=1 Step=0 Loss=1.00000 Rate=2.67 "
	    "GlobalRate=2.67 Time=");
	/* 80 samples in 30 s, after 4 in 1.5 s; of one core. */
	has("Step=20 Loss=21.00000 Rate=2.67 GlobalRate=2.67 Time=");
	has("Step=40 Loss=41.00000 ");
	/* Core 0's own, as its losses are; then that of all. */
	has("| Test Device=xla:1/0 Epoch=1 Accuracy=70.00 Time=");
	has("Epoch: 1, Mean Accuracy: 75.00%\n");
	epoch(1);
	has(" Epoch=2 Step=0 Loss=1.00000 Rate=2.67 GlobalRate=2.67 ");
	post_log_end(&log_, 180);
	has("Max Accuracy: 75.00%\n");
	end();
	begin("resnet50", 1, 201);
	epoch(201);
	has("Step=0 ");
	has("Step=200 Loss=201.00000 ");
	assert_null(strstr(text, "Step=20 "));
	end();
}

static void lines_of_003(void **state)
{
	(void)state;
	begin("resnet34", 2, 101);
	has("EPOCH 1/1\n");
	training.recipe.lr = 2e-4;
	training.recipe.epochs = 2;
	epoch(101);
	/* The second epoch's: half of the rate, by two cores. */
	has("EPOCH 2/2\n");
	has("- initialization | TPU cores = 2, lr = 0.000050\n");
	has("-- batch 100 | cur_loss = 101.000000, avg_loss = 51.000000\n");
	assert_null(strstr(text, "batch 0"));
	/* One that was asked for is not scaled: see bench/run/plan.c. */
	training.recipe.scale_lr = 0;
	training.recipe.lr = 4e-4;
	training.recipe.epochs = 3;
	epoch(101);
	has("- initialization | TPU cores = 2, lr = 0.000100\n");
	has("- elapsed time | train = 1.00 min, valid = 0.50 min\n"
	    "- average loss | train = 51.000000, valid = 0.500000\n");
	end();
}

static void lines_of_002(void **state)
{
	(void)state;
	begin("mnist", 2, 3);
	epoch(3);
	post_log_end(&log_, 99);
	has("Process 1 is using TPU:1\n");
	has("[Epoch 1] TPU:1 [Train] Avg. loss: 20.000, Total time: 60.500"
	    "(s/epoch), Avg. time: 1.000(s/iter)\n"
	    "[Epoch 1] TPU:1 [Test] Avg. loss: 0.6000, Accuracy: 8/10 "
	    "(80.00%)\n");
	has("TPU:1, Avg. time: 1.000(s/iter), std:0.000, Avg. time: 91.000"
	    "(s/epoch), std:0.000\nTrain time: 99.000s\n");
	end();
	begin("mnist", 1, 3);
	has("Start with null\n");
	epoch(3);
	post_log_end(&log_, 99);
	has("[Epoch #1] [Train] Total time: 60.000(s/epoch)\t Avg. time: "
	    "1.000(s/iter)\n[Epoch #1] [Test] Average loss: 0.5000, Accuracy: "
	    "7/10 (70.0%)\n"
	    "Train time: 99.000, Avg. time: 1.000(s/iter), std:0.000, Avg. "
	    "time: 90.000(s/epoch), std:0.000\n");
	end();
}

static void lines_of_000_and_001(void **state)
{
	(void)state;
	begin("alexnet", 2, 1);
	epoch(1);
	post_log_end(&log_, 99);
	has("Process 0 is using TPU:0\nProcess 1 is using TPU:1\n");
	has("Process 1 finished training. Train time was: 60.5\n"
	    "Process 1 finished evaluation. Evaluation time was: 30.5\n"
	    "Process 1 guessed 8 of 10 correctly for 80 % accuracy.\n");
	end();
	begin("alexnet", 1, 1);
	epoch(1);
	post_log_end(&log_, 99);
	has("Spent  60  seconds training for  1  epoch(s) on a single core.\n");
	has("Correctly guessed  70  % of the dataset\n");
	end();
	begin("ddp-toy", 2, 101);
	epoch(101);
	post_log_end(&log_, 99);
	has("epoch:  0\nepoch:  0\nepoch:  100\nepoch:  100\n"
	    "final loss =  tensor(101.0000)\n");
	end();
}

static void lines_of_examples(void **state)
{
	(void)state;
	begin("mnist-2019", 1, 20);
	epoch(20);
	has("Train Epoch: 1 [40/80 (50%)]\tLoss: 11.000000\n"
	    "\nTest set: Average loss: 0.5000, Accuracy: 7/10 (70%)\n\n");
	end();
}

static void others_have_none(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(post_log_check("tiny", &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_int_equal(post_log_check("alexnet", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_smoothed),
		cmocka_unit_test(lines_of_xla),
		cmocka_unit_test(lines_of_003),
		cmocka_unit_test(lines_of_002),
		cmocka_unit_test(lines_of_000_and_001),
		cmocka_unit_test(lines_of_examples),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests_name("post log", tests, NULL, NULL);
}
