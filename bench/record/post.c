#include "bench/record/post.h"

#include <string.h>

#include "bench/record/run.h"

DEFINE_ROWS(post_rows, struct post_figure, POST_COLUMNS);

/* s/iter and s/epoch of 8 cores are means of each core's mean and deviation.
 * The accuracy is over the test shares of all cores. */
const struct post_figure post_figures[] = {
	{ "bench/1", "example", "cpu-8", "8 TPU cores", 32.868, .019, .043,
	  2.362, 1.287, 1, 590, 1024, 98.33 },
	{ "bench/1", "example", "cpu-1", "1 TPU core", 81.551, .011, .033,
	  8.155, 1.796, 0, 4690, 128, 99.18 },
	{ "bench/1", "example", "opencl", "GPU", 54.401, .006, .004, 5.440,
	  .074, 0, 4690, 128, 99.16 },
	{ "bench/1", "Colab", "cpu-8", "8 TPU cores", 158.917, .132, .151,
	  14.9, .516, 1, 590, 1024, 98.28 },
	{ "bench/1", "Colab", "cpu-1", "1 TPU core", 127.238, .014, .031,
	  12.724, 1.629, 0, 4690, 128, 99.25 },
	{ "bench/1", "Colab", "opencl", "GPU", 131.210, .011, .005, 13.121,
	  .168, 0, 4690, 128, 99.14 },
};

const int post_figure_count = sizeof(post_figures) / sizeof(post_figures[0]);

int post_compares_iter(const struct run *run)
{
	return !strcmp(run->model, "mnist");
}

int post_compares_epoch(const struct run *run)
{
	return post_compares_iter(run) && !run_is_cut(run) &&
	       run->train_samples == 60000;
}

int post_compares_loop(const struct run *run)
{
	return post_compares_epoch(run) && run->epochs == 10;
}

int post_data_differs(const struct run *run)
{
	return !strncmp(run->model, "mnist", 5) && run->dataset[0] &&
	       strcmp(run->dataset, "mnist") != 0;
}

const char *const post_notes[] = {
	"post 002 is history, not a race. It measured 8 TPU cores, 1 TPU core "
	"and a GPU of Google Colab in 2020, one run each. They are in the "
	"columns of 8 cores, 1 core and OpenCL.",
	"Its timers did not wait for the devices; only 8 cores fetched the "
	"loss. Its means and deviations include compiling. s/iter excludes the "
	"loader, s/epoch includes loader and test.",
	"Its 32.868 s and 158.917 s of 8 cores include start-up; the loops "
	"alone took 10 x s/epoch: 23.6 s and 149.0 s. The other four are the "
	"loop only. Accuracies are from its notebooks, not from the post.",
	NULL
};

/* Images per epoch: about as many as for post 000's eight cores, in the 1002
 * iterations of post 003, and with PyTorch/XLA's --fake_data. Post 004 gives
 * minutes per epoch of ImageNet's 1,281,167 images, about 20 and later 11. */
static const struct post_network networks[] = {
	{ .post = "post 000", .model = "alexnet", .image_size = 224,
	  .images = 60000, .unit = "s", .unit_s = 1,
	  .trainings = {
		{ "1 TPU core", 8, { 200, 250 }, { 240, 300 }, 0 },
		{ "8 TPU cores", 256, { 1997, 1997 }, { 30, 30 }, 1 } },
	  .speedup = "its speed-up of 8 to 10 comes from cores and batch "
		"together: 8 images on one core, 32 on each of eight",
	  .notes = { "its times exclude the test, which took about 10 s on 8 "
		"cores; it gives no accuracy" } },
	{ .post = "post 003", .model = "resnet34", .image_size = 128,
	  .images = 1026048, .unit = "min", .unit_s = 60,
	  .trainings = {
		{ "8 TPU cores", 1024, { 136, 136 }, { 125.82, 125.82 }, 0 } },
	  .notes = { "its cores waited for their loader; its tests took "
		"another 26.05 min",
		"it trained on other data (scans of lungs), from pretrained "
		"parameters: its losses do not compare with these" } },
	{ .post = "post 004", .model = "resnet50", .image_size = 224,
	  .images = 1200000, .unit = "h", .unit_s = 3600,
	  .trainings = {
		{ "1st epoch", 1024, { 1068, 1068 }, { .312, .312 }, 1 },
		{ "later epochs", 1024, { 1941, 1941 }, { .172, .172 }, 1 } },
	  .notes = { "its epochs, on 8 TPU cores, are of ImageNet: about 20 "
		"min, and then 11",
		"loss and accuracy on fake data say nothing about learning" },
	  .batch = 32,
	  .inferences = { /* its text calls the 95th percentile the 90th */
		{ "Tesla K80", { 213.52, 214.34, NAN, 214.56 } },
		{ "1/8 TPU v2-8", { 53.25, 54.11, NAN, 61.81 } } },
	  .inference_note = "post 004 is history, not a race: its timers did "
		"not wait for the devices, and its 1/8 TPU is one of eight "
		"cores" },
};

const struct post_network *post_network_of(const struct run *run)
{
	const int count = sizeof(networks) / sizeof(networks[0]);

	for (int i = 0; i < count; i++)
		if (!strcmp(networks[i].model, run->model) &&
		    (run->image_size == CELL_NO_INT ||
		     run->image_size == networks[i].image_size))
			return &networks[i];
	return NULL;
}
