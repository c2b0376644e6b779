/* The tables as text: cells, best, units, blocks, notes. */
#include "bench/report/table.h"

#include <errno.h>

#include "bench/system/text.h"
#include "tests/unit/tables.h"

static const char *tables(int with_post, enum table_format format)
{
	const struct table_options options = { .format = format,
					       .with_post = with_post };

	return shown(&options);
}

static void cells(void **state)
{
	const char *text;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .2);
	made_run(&made, "r3", "opencl", 1, 1);
	made.count = 0;
	made_into(&campaign, &made, 1);
	made_status(&campaign, "skipped", "no device|<b>");
	text = tables(0, TABLE_GITHUB);
	has(text, "| measured | 19.000 | 22.000 | - |\n");
	has(text, "| 1 core (ms/iter) | 8 cores (ms/iter) | OpenCL (ms/iter) "
		  "|\n");
	has(text, "| 250.000 (+- 111.803) | 500.000 (+- 223.607) | - |\n");
	has(text, "| 6.000 (+- 0.816) | 7.000 (+- 0.816) | - |\n");
	has(text, "| images/s | 20.0 | 106.7 | - |\n");
	has(text, "| status | ok | ok | skipped |\n");
	has(text, "| start-up (s) | 0.250 | 0.250 | - |\n");
	/* One run each has no interval, and 12 iterations no hundredth. */
	lacks(text, "| **");
	has(text, "| p99 (ms/iter) | - | - | - |\n");
	has(text, "- p99: - if a run has fewer than 100 iterations");
	has(text, "skipped: no device\\|&lt;b>");
	has(text, "warm-up: 2 steps a run, excluded");
	lacks(text, "nan");
	lacks(text, "inf");
	/* The post's numbers are shown with comparable runs only. */
	lacks(tables(1, TABLE_POST), "post 002, example");
	for (int i = 0; i < 3; i++) {
		struct run *run = &campaign.runs[i];

		snprintf(run->model, sizeof(run->model), "mnist");
		run->epochs = 10;
		run->train_samples = 60000;
	}
	text = tables(1, TABLE_POST);
	has(text, "| Campaign | 8 cores (s) | 1 core (s) | OpenCL (s) |\n"
		  "| :---: | :---: | :---: | :---: |\n"
		  "| measured | 22.000 | 19.000 | - |\n"
		  "| post 002, example | 32.868 | 81.551 | 54.401 "
		  "|\n");
	has(text, "| $0.500(\\pm 0.224)$ | $0.250(\\pm 0.112)$"
		  " | - |\n");
	has(text, "| post 002, Colab | $0.132(\\pm 0.151)$ | $0.014(\\pm "
		  "0.031)$ | $0.011(\\pm 0.005)$ |\n");
	campaign_release(&campaign);
}

/* A deviation larger than the mean says nothing; quartiles do. */
static void skewed_cells(void **state)
{
	const char *text;

	(void)state;
	made_run(&made, "r1", "cpu-1", 1, .1);
	made.rows[3].elapsed_s = 50; /* the first timed step */
	made_into(&campaign, &made, 1);
	text = tables(0, TABLE_PLAIN);
	has(text, "300.000 [200.000, 400.000]");
	has(text, "median [q1, q3] where the deviation is larger");
	campaign_release(&campaign);
}

/* The fastest was cut short: it is shown, but is not the best. */
static void partial_cells(void **state)
{
	const char *text;

	(void)state;
	add("r1", "cpu-1", 1, .2);
	add("r2", "cpu-8", 8, .3);
	add("r3", "cpu-4", 4, .1);
	made_status(&campaign, "partial", "interrupted");
	text = tables(0, TABLE_GITHUB);
	has(text, "| measured | 22.000 | 25.000 | - |\n");
	has(text, "| 500.000 (+- 223.607) | 750.000 (+- 335.410) | 250.000 "
		  "(+- 111.803) |\n");
	has(text, "cpu-4: partial: interrupted; its numbers are from what was "
		  "finished");
	campaign_release(&campaign);
}

static int widest(const char *text)
{
	int width, most = 0;
	char line[1024];
	size_t length;

	for (; *text; text += length + 1) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		width = text_width(line);
		most = width > most ? width : most;
	}
	return most;
}

/* More columns than a terminal has room for go below each other. */
static void blocks(void **state)
{
	static const char *const targets[] = {
		"cpu-1", "cpu-2", "cpu-3", "cpu-4", "cpu-5", "cpu-6", "cpu-7",
		"cpu-8@fork", "opencl:a device of a very long name"
	};
	char run_id[8];
	const char *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(run_id, sizeof(run_id), "r%zu", i);
		add(run_id, targets[i], (long)i + 1, .1 + (double)i);
		snprintf(campaign.runs[i].label, 64, "a label that is much "
			 "too long for a table");
		snprintf(campaign.runs[i].reason, 200, "%0150d", 0);
	}
	text = tables(1, TABLE_PLAIN);
	assert_true(widest(text) <= 80);
	has(text, "a label that is much t..");
	has(text, "8@fork");
	campaign_release(&campaign);
}

/* A CPU is never called anything else. */
static void devices(void **state)
{
	struct run *run = &made.run;
	const char *text;

	(void)state;
	made_run(&made, "r1", "opencl", 1, .1);
	snprintf(run->device_name, 128, "pthread-skylake-avx512");
	snprintf(run->device_type, 16, "CPU");
	snprintf(run->device_driver, 160, "OpenCL 3.0 PoCL 3.1, driver 3.1");
	run->cpus = 2;
	made_into(&campaign, &made, 1);
	text = tables(0, TABLE_GITHUB);
	has(text, "| OpenCL: PoCL, 2 CPUs (s) |");
	has(text, "opencl: pthread-skylake-avx512 (type CPU, driver OpenCL 3.0 "
		  "PoCL 3.1, driver 3.1)");
	campaign.runs[0].cpus = 1;
	snprintf(campaign.runs[0].device_class, 8, "gpu");
	text = tables(0, TABLE_GITHUB);
	has(text, "| OpenCL: PoCL, 1 CPU (s) |");
	has(text, "PoCL 3.1, driver 3.1, class gpu)");
	campaign.runs[0].cpus = 2;
	campaign.runs[0].device_units = 1;
	text = tables(0, TABLE_GITHUB);
	has(text, "| OpenCL: PoCL, 1 CPU (s) |");
	has(text, "(type CPU, 1 unit, driver");
	campaign.runs[0].device_units = 8;
	text = tables(0, TABLE_GITHUB);
	has(text, "| OpenCL: PoCL, 8 units on 2 CPUs (s) |");
	has(text, "(type CPU, 8 units, driver");
	campaign.runs[0].cpus = CELL_NO_INT;
	has(tables(0, TABLE_GITHUB), "| OpenCL: PoCL, 8 CPUs (s) |");
	campaign.runs[0].device_units = CELL_NO_INT;
	has(tables(0, TABLE_GITHUB), "| OpenCL: PoCL, a CPU (s) |");
	snprintf(campaign.runs[0].device_name, 128, "NVIDIA H200");
	snprintf(campaign.runs[0].device_type, 16, "GPU");
	snprintf(campaign.runs[0].device_driver, 160, "NVIDIA 535");
	has(tables(0, TABLE_GITHUB), "| OpenCL: NVIDIA H200 (s) |");
	campaign_release(&campaign);
}

/* Parts of a CPU are no GPUs, and their units are no cores. */
static void several_devices(void **state)
{
	struct run *run;
	const char *text;

	(void)state;
	campaign = (struct campaign){ 0 };
	add("r1", "cpu-1", 1, 1);
	add("r2", "opencl", 1, .5);
	add("r3", "opencl-2", 2, .25);
	for (int r = 1; r < 3; r++) {
		run = &campaign.runs[r];
		snprintf(run->device_name, 128, "pthread-skylake-avx512");
		snprintf(run->device_type, 16, "CPU");
		snprintf(run->device_driver, 160, "OpenCL 3.0 PoCL 3.1%s",
			 r == 2 ? ", one of 2 sub-devices" : "");
		run->cpus = 2;
	}
	text = tables(1, TABLE_GITHUB);
	has(text, "| OpenCL: PoCL, 2 CPUs (s) |");
	has(text, "| opencl-2: PoCL, 2 CPUs, 2 sub-devices (s) |");
	has(text, "| efficiency | 1.00 | - | - |");
	/* 160/7 over 20/3. */
	has(text, "- opencl-2: 2 sub-devices, 3.43 times the images/s of "
		  "opencl\n");
	snprintf(run->device_name, 128, "NVIDIA H200");
	snprintf(run->device_type, 16, "GPU");
	snprintf(run->device_driver, 160, "NVIDIA 535");
	text = tables(1, TABLE_GITHUB);
	has(text, "| opencl-2: NVIDIA H200, 2 devices (s) |");
	assert_null(strstr(text, " times the images/s"));
	campaign_release(&campaign);
}

/* What a run covers is added up under the first table. */
static void parts(void **state)
{
	struct run *run = &made.run;
	const char *text;

	(void)state;
	made_run(&made, "r1", "cpu-1", 1, .1);
	run->setup_s = 1;
	run->loader_s = 2;
	run->iterations_s = 30;
	run->test_s = 4;
	run->unaccounted_s = .125;
	run->total_s = 37.125;
	run->warmup_s = .5;
	snprintf(run->model, 32, "mnist");
	snprintf(run->dataset, 32, "fashion-mnist");
	snprintf(run->cpu_model, 80, "Some CPU");
	run->seed = 7;
	run->logical_cpus = 2;
	made_into(&campaign, &made, 1);
	text = tables(0, TABLE_GITHUB);
	has(text, "- 1 core: start-up 1.000 + loader 2.000 + iterations "
		  "30.000 + test 4.000 + unaccounted 0.125 = total 37.125 s, "
		  "plus warm-up 0.500 s\n");
	has(text, "model mnist, data set fashion-mnist, seed 7; Some CPU, 2 "
		  "logical CPUs; started 2026-01-31T23:59:59Z");
	has(text, "n=1: ");
	campaign_release(&campaign);
}

/* Who reads the tables was not there. */
static void who_ran_beside(void **state)
{
	const char *text;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-1", 1, .1);
	add("r3", "cpu-8", 8, .2);
	add("r4", "cpu-8", 8, .2);
	for (int i = 0; i < 3; i++) {
		campaign.runs[i].loop_s = 10;
		campaign.runs[i].foreign_pct = 1;
		campaign.runs[i].logical_cpus = 2;
	}
	lacks(tables(0, TABLE_GITHUB), "others used");
	campaign.runs[1].foreign_pct = 40;
	campaign.runs[1].steal_pct = 5;
	campaign.runs[2].foreign_pct = 0;
	campaign.runs[2].throttled_s = 1;
	text = tables(0, TABLE_GITHUB);
	has(text, "disturbed: cpu-1 (1 of 2 runs; others used 0.90 of 2 CPUs), "
		  "cpu-8 (1 of 2 runs; its CPU quota stopped it for 10 % of "
		  "the time): times inflated\n");
	/* One that stood still lacks CPUs though nobody else had them; cores
	 * with a CPU for each may wait for each other. */
	campaign.runs[1].foreign_pct = campaign.runs[1].steal_pct = 0;
	campaign.runs[2].throttled_s = 0;
	for (int i = 1; i < 3; i++) {
		campaign.runs[i].loop_cpu_s = 5;
		campaign.runs[i].cpus = campaign.runs[i].cores;
	}
	has(tables(0, TABLE_GITHUB), "disturbed: cpu-1 (1 of 2 runs; it lacked "
				     "0.50 of 1 CPU): times inflated\n");
	campaign_release(&campaign);
}

/* Each warning is there when it applies, and not else; -q has none. */
static void first_screen(void **state)
{
	static const char *const warnings[] = {
		"- disturbed: cpu-1 (others used 0.50 of 2 CPUs): times",
		"- cut short: cpu-1 40 of 469 iterations; s/epoch (~) is "
		"extrapolated\n",
		"- the data set is synthetic, not MNIST\n",
		"- cpu-1: a cold start, which compiled its kernels\n",
		"- cpu-1: s/iter is the epoch's mean (--sync epoch)\n",
		"- INJECTED: every core did 5 % more work",
		"- cpu-8: error: it broke\n",
	};
	const char *text;
	struct run *run;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .2);
	run = campaign.runs;
	text = first(0);
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
		lacks(text, warnings[i]);
	has(text, "\nIn images/s (one run each), cpu-8 is 5.33 times as fast "
		  "as cpu-1");
	has(text, "- more: bench table here --details\n"
		  "- pictures: bench plot here\n");
	lacks(text, "slowest");
	run->logical_cpus = 2;
	run->loop_s = 10;
	run->foreign_pct = 25;
	run->steps = 40;
	run->train_samples = 60000;
	run->global_batch = 128;
	snprintf(run->model, sizeof(run->model), "mnist");
	snprintf(run->dataset, sizeof(run->dataset), "synthetic");
	snprintf(run->kernels, sizeof(run->kernels), "cold");
	snprintf(run->sync, sizeof(run->sync), "epoch");
	run->inject_pct = 5;
	made_status(&campaign, "error", "it broke");
	text = first(0);
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
		has(text, warnings[i]);
	has(text, "mnist on synthetic");
	has(text, " cut to 40 iterations; n=1, +- between iterations\n");
	has(text, "  s/whole ");
	text = first(1);
	lacks(text, "\n- ");
	lacks(text, "In images/s");
	has(text, "\ncpu-8");
	has(text, " failed ");
	campaign_release(&campaign);
}

/* Both tables of accuracies say of how many images they are. */
static void tested_on_a_part(void **state)
{
	static const char says[] =
		"- accuracy covers the first test images only: cpu-1 64 of "
		"256\n";
	struct run *run;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	run = campaign.runs;
	run->test_samples = 256;
	run->test_batch = 64;
	lacks(tables(0, TABLE_GITHUB), says);
	run->test_steps = 1;
	has(tables(0, TABLE_GITHUB), says);
	has(first(0), says);
	campaign_release(&campaign);
}

/* A table of training has neither rows nor columns of forward passes; a run
 * without columns about its work is like the others of its campaign. */
static void forward_passes_apart(void **state)
{
	const char *text;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	for (int i = 0; i < 2; i++) {
		add(i ? "r3" : "r2", i ? "opencl" : "cpu-8", 8, .2);
		snprintf(campaign.runs[1 + i].campaign_id, 48, "forward");
	}
	made_status(&campaign, "error", "it crashed");
	snprintf(campaign.runs[0].model, 32, "mnist");
	snprintf(campaign.runs[1].model, 32, "mnist");
	campaign.runs[1].passes = 12;
	text = tables(0, TABLE_GITHUB);
	has(text, "12 forward passes");
	has(text, "- forward, opencl: error: it crashed\n");
	has(text, "|\n\n- first: the very first pass");
	has(text, "\n- forward: n=1");
	has(text, "\n\n**Training loop");
	text = strstr(text, "Training loop");
	has(text, "| measured | 19.000 |\n");
	lacks(text, "forward");
	lacks(text, "8 cores");
	lacks(text, "opencl");
	campaign_release(&campaign);
}

/* Post 004's numbers stand next to forward passes of as many images. */
static void forward_passes_published(void **state)
{
	static const char row[] =
		"| post: Tesla K80 | 32 | - | 213.52 | 214.34 | - | 214.56 | "
		"149.9 | 7.49 | - | - |\n";
	static const char note[] = "- post 004 is history, not a race";
	struct run *run;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	run = campaign.runs;
	run->passes = 12;
	run->batch = 32;
	snprintf(run->model, sizeof(run->model), "resnet50");
	has(tables(0, TABLE_GITHUB), row);
	has(tables(0, TABLE_GITHUB), "post: 1/8 TPU v2-8 | 32 | ");
	has(tables(0, TABLE_GITHUB), note);
	lacks(first(1), note);
	run->batch = 16;
	lacks(tables(0, TABLE_GITHUB), "post");
	run->batch = 32;
	run->image_size = 64;
	lacks(tables(0, TABLE_GITHUB), "post");
	snprintf(run->model, sizeof(run->model), "alexnet");
	lacks(tables(0, TABLE_GITHUB), "post");
	campaign_release(&campaign);
}

static void expect_work(long batch, const char *differs)
{
	const char *text;

	campaign.runs[0].global_batch = 10;
	campaign.runs[1].global_batch = batch;
	text = tables(0, TABLE_GITHUB);
	if (differs)
		has(text, differs);
	else
		lacks(text, "between columns");
	campaign_release(&campaign);
}

/* A note on the work appears only where it applies. */
static void work_of_columns(void **state)
{
	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .2);
	expect_work(10, NULL);
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .2);
	expect_work(80, "- global batches differ between columns, so compare");
	add("r1", "cpu-1", 1, .1);
	made_run(&made, "r2", "cpu-8", 8, .2);
	made.count -= 14; /* an iteration and more */
	made_into(&campaign, &made, 1);
	expect_work(10, "- updates differ between columns");
	add("r1", "cpu-1", 1, .1);
	made_run(&made, "r2", "cpu-8", 8, .2);
	made.count -= 14; /* an iteration and more */
	made_into(&campaign, &made, 1);
	expect_work(80, "- global batches and updates differ between");
}

static void formats_have_names(void **state)
{
	enum table_format format = TABLE_PLAIN;

	(void)state;
	assert_int_equal(table_format_find("github", &format), 0);
	assert_int_equal(format, TABLE_GITHUB);
	assert_int_equal(table_format_find("post", &format), 0);
	assert_int_equal(format, TABLE_POST);
	assert_int_equal(table_format_find("html", &format), -1);
}

/* One core with the batch of each of eight; a post has figures of both. */
static void posts(void **state)
{
	const char *text;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .2);
	for (int i = 0; i < 2; i++) {
		struct run *run = &campaign.runs[i];

		snprintf(run->model, sizeof(run->model), "alexnet");
		run->batch = 10;
		run->global_batch = 10 * run->cores;
		run->image_size = 224;
		run->epochs = 3;
		run->train_samples = 40;
	}
	text = first(0);
	has(text, "Training on 60000 images, here and in post 000\n");
	has(text, "cpu-1                  10        20.0      3000      "
		  "12 steps\n");
	has(text, "post: 1 TPU core        8     200-250   240-300");
	has(text, "post: 8 TPU cores     256  about 1997  about 30");
	has(text, "post 000 is history, not a race");
	has(text, "by images/s at equal batch, here: cpu-8 5.33 times");
	has(tables(0, TABLE_GITHUB), "cpu-8 5.33 times (one run each)\n");
	lacks(first(1), "post");
	has(tables(0, TABLE_GITHUB), "| post: 1 TPU core | 8 | 200-250 | ");
	has(tables(0, TABLE_POST), "| post: 1 TPU core | 8 | 200-250 | ");
	campaign.runs[1].batch = 9;
	lacks(first(0), "equal batch");
	campaign.runs[0].train_samples = 60000;
	has(first(0), "3000             -\n");
	campaign.runs[0].image_size = 64;
	lacks(first(0), "post");
	campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells),
		cmocka_unit_test(skewed_cells),
		cmocka_unit_test(partial_cells),
		cmocka_unit_test(blocks),
		cmocka_unit_test(devices),
		cmocka_unit_test(several_devices),
		cmocka_unit_test(parts),
		cmocka_unit_test(who_ran_beside),
		cmocka_unit_test(first_screen),
		cmocka_unit_test(posts),
		cmocka_unit_test(tested_on_a_part),
		cmocka_unit_test(forward_passes_apart),
		cmocka_unit_test(forward_passes_published),
		cmocka_unit_test(work_of_columns),
		cmocka_unit_test(formats_have_names),
	};

	program_invocation_name = (char[]){ "bench" };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
