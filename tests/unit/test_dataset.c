/* Data sets: what they are called, what is refused, what is generated. */
#include "bench/data/dataset.h"
#include "bench/options/option_table.h"
#include "bench/data/dataset_files.h"
#include "tests/unit/idx_files.h"
#include "tests/kernels/skipping.h"

#define FASHION "/usr/share/datasets/fashion-mnist"

static void expect_error(const struct dataset_request *request,
			 enum error_kind kind, const char *words)
{
	struct error err = { .message = "" };
	struct dataset dataset;

	assert_int_equal(dataset_load(&dataset, request, &err), -1);
	assert_int_equal(err.kind, kind);
	assert_null(dataset.train.images);
	if (!strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void other_content_is_called_after_its_hash(void **state)
{
	struct dataset_request request = { .name = "auto" };
	struct error err = { .message = "" };
	struct dataset dataset;
	uint8_t bytes[16 + 12 * 784];
	char sha256[HASH_SHA256_SIZE], name[32];

	(void)state;
	request.dir = make_set("other", 0);
	hash_sha256(bytes, make_images(bytes, 12), NULL, 0, sha256);
	snprintf(name, sizeof(name), "unknown-%.8s", sha256);
	request.is_scan = 1;
	if (dataset_load(&dataset, &request, &err))
		fail_msg("%s", err.message);
	assert_string_equal(dataset.name, name);
	assert_non_null(strstr(dataset.notice, name));
	assert_int_equal(dataset.train.count, 12);
	assert_int_equal(dataset.test.count, 5);
	assert_null(dataset.train.images);
	assert_null(dataset.test.labels);
	dataset_release(&dataset);
	request.is_scan = 0;
	if (dataset_load(&dataset, &request, &err))
		fail_msg("%s", err.message);
	assert_string_equal(dataset.name, name);
	assert_string_equal(dataset.train.sha256, sha256);
	assert_string_equal(dataset.source, request.dir);
	assert_non_null(strstr(dataset.notice, name));
	assert_int_equal(dataset.train.count, 12);
	assert_int_equal(dataset.test.count, 5);
	assert_memory_equal(dataset.train.images, bytes + 16, 12 * 784);
	assert_int_equal(dataset.train.labels[11], 1);
	assert_int_equal(dataset.test.labels[4], 4);
	assert_int_equal(dataset.classes, 10);
	assert_int_equal(shape_size(dataset.shape), 784);
	dataset_release(&dataset);
	assert_null(dataset.test.labels);
	dataset_release(&dataset);
}

static void torchvision_folders_are_looked_into(void **state)
{
	struct dataset_request request = { .name = "auto" };
	struct error err = { .message = "" };
	struct dataset dataset;
	const char *dir = in_folder("torch");

	(void)state;
	request.dir = dir;
	make_set("torch/FashionMNIST/raw", 0);
	assert_int_equal(dataset_load(&dataset, &request, &err), 0);
	assert_non_null(strstr(dataset.source, "torch/FashionMNIST/raw"));
	dataset_release(&dataset);
	make_set("torch/MNIST/raw", 0);
	assert_int_equal(dataset_load(&dataset, &request, &err), 0);
	assert_non_null(strstr(dataset.source, "torch/MNIST/raw"));
	dataset_release(&dataset);
	request.name = "fashion-mnist";
	assert_int_equal(dataset_load(&dataset, &request, &err), 0);
	assert_non_null(strstr(dataset.source, "torch/FashionMNIST/raw"));
	dataset_release(&dataset);
}

static void bad_sets_are_refused(void **state)
{
	struct dataset_request request = { .name = "mnist" };
	uint8_t bytes[64];
	size_t size;

	(void)state;
	request.dir = make_set("odd", 1);
	expect_error(&request, ERROR_INPUT,
		     "byte 4: a count of 11 expected as in ");
	expect_error(&request, ERROR_INPUT,
		     "train-labels-idx1-ubyte, found 12");

	request.dir = make_set("ten", 0);
	size = make_labels(bytes, 5);
	bytes[8 + 2] = 10;
	write_file(in_folder("ten/t10k-labels-idx1-ubyte"), bytes, size);
	expect_error(&request, ERROR_INPUT, "byte 10");
	write_file(in_folder("ten/t10k-labels-idx1-ubyte"), bytes, 9);
	expect_error(&request, ERROR_INPUT, "cut short");
}

/* As a model may, whose own it is. */
static void unknown_names_are_refused(void **state)
{
	struct dataset_request request = { .name = "digits" };

	(void)state;
	expect_error(&request, ERROR_USAGE, "unknown data set 'digits'; choose "
		     "among: auto, mnist, fashion-mnist, fashion-scenes, "
		     "folder, synthetic, fake");
	request.name = "fashion-scene";
	expect_error(&request, ERROR_USAGE, "did you mean 'fashion-scenes'?");
}

/* --data-dir is the only place, even when there is another. */
static void data_dir_has_no_fallback(void **state)
{
	struct dataset_request request = { .name = "auto" };

	(void)state;
	setenv("BENCH_DATA_DIR", make_set("fallback", 0), 1);
	request.dir = make_folder("empty");
	for (int file = 0; file < DATASET_FILES; file++)
		expect_error(&request, ERROR_MISSING,
			     dataset_file_name((enum dataset_file)file));
	request.dir = make_set("three", 0);
	unlink(in_folder("three/t10k-images-idx3-ubyte"));
	expect_error(&request, ERROR_MISSING,
		     "has no t10k-images-idx3-ubyte of");
	request.dir = in_folder("absent");
	expect_error(&request, ERROR_MISSING, "No such file or directory");
	unsetenv("BENCH_DATA_DIR");
}

static void requests_are_checked(void **state)
{
	struct dataset_request request = { .name = "cifar" };

	(void)state;
	expect_error(&request, ERROR_USAGE, "cifar");
	request.name = "synthetic";
	request.dir = folder;
	expect_error(&request, ERROR_USAGE, "--data-dir");
	request.dir = NULL;
	request.synthetic_test = -1;
	expect_error(&request, ERROR_USAGE, "-1");
}

static void contents_are_told_apart(void **state)
{
	char sha256[DATASET_FILES][HASH_SHA256_SIZE] = { "" };
	const struct dataset_known *mnist = dataset_known_find("mnist");
	const struct dataset_known *fashion =
		dataset_known_find("fashion-mnist");

	(void)state;
	assert_non_null(mnist);
	assert_non_null(fashion);
	assert_null(dataset_known_closest(sha256));
	for (int file = 0; file < DATASET_FILES; file++) {
		assert_int_equal(strlen(mnist->sha256[file]), 64);
		assert_string_not_equal(mnist->sha256[file],
					fashion->sha256[file]);
		memcpy(sha256[file], fashion->sha256[file], HASH_SHA256_SIZE);
	}
	assert_int_equal(dataset_known_matches(fashion, sha256), 4);
	memcpy(sha256[3], mnist->sha256[3], HASH_SHA256_SIZE);
	assert_ptr_equal(dataset_known_closest(sha256), fashion);
	assert_int_equal(dataset_known_matches(fashion, sha256), 3);
}

/* Debian's package, if it is installed, is known by its content. */
static void fashion_is_known_by_content(void **state)
{
	struct dataset_request request = { .name = "mnist", .dir = FASHION };
	struct error err = { .message = "" };
	struct dataset dataset;

	(void)state;
	if (dataset_load(&dataset, &request, &err))
		fail_msg("%s", err.message);
	assert_string_equal(dataset.name, "fashion-mnist");
	assert_non_null(strstr(dataset.notice, "mnist was asked for"));
	assert_int_equal(dataset.train.count, 60000);
	assert_int_equal(dataset.test.count, 10000);
	dataset_release(&dataset);
}

/* Its test labels replaced, it is not Fashion-MNIST any more. */
static void one_wrong_file_is_enough(void **state)
{
	static const char *const names[] = { "train-images-idx3-ubyte.gz",
					     "train-labels-idx1-ubyte.gz",
					     "t10k-images-idx3-ubyte.gz" };
	struct dataset_request request = { .name = "auto" };
	const char *dir = make_folder("mixed");
	static uint8_t bytes[8 + 10000];
	struct error err = { .message = "" };
	struct dataset dataset;

	(void)state;
	for (int i = 0; i < 3; i++) {
		char from[PATH_MAX], to[PATH_MAX];

		snprintf(from, sizeof(from), FASHION "/%s", names[i]);
		snprintf(to, sizeof(to), "%.3800s/%s", dir, names[i]);
		assert_int_equal(symlink(from, to), 0);
	}
	write_file(in_folder("mixed/t10k-labels-idx1-ubyte"), bytes,
		   make_labels(bytes, 10000));
	request.dir = dir;
	if (dataset_load(&dataset, &request, &err))
		fail_msg("%s", err.message);
	assert_string_equal(dataset.name, "unknown-c59f468a");
	assert_non_null(strstr(dataset.notice, "only 3 of its 4 files"));
	dataset_release(&dataset);
}

static void synthetic_is_the_same_for_ever(void **state)
{
	static const char sha256[] =
		"39943aa7e7bd77810f2ab19d7ee9a14d"
		"04622de0e0d12dea52c0ca66afa019a9";
	struct dataset_request request = { .name = "synthetic" };
	struct dataset all, few;
	struct error err;

	(void)state;
	assert_int_equal(dataset_load(&all, &request, &err), 0);
	assert_string_equal(all.name, "synthetic");
	assert_string_equal(all.notice, "");
	assert_string_equal(all.train.sha256, sha256);
	assert_int_equal(all.train.count, 60000);
	assert_int_equal(all.test.count, 10000);
	request.synthetic_train = 7;
	request.synthetic_test = 3;
	assert_int_equal(dataset_load(&few, &request, &err), 0);
	assert_int_equal(few.train.count, 7);
	assert_int_equal(few.test.count, 3);
	assert_memory_equal(few.train.images, all.train.images, 7 * 784);
	assert_memory_equal(few.test.labels, all.test.labels,
			    3 * sizeof(*all.test.labels));
	assert_memory_not_equal(few.test.images, all.train.images, 3 * 784);
	dataset_release(&few);
	dataset_release(&all);
}

/* The class whose mean is nearest to an image. */
static int nearest(double mean[10][784], const uint8_t *image)
{
	double least = INFINITY;
	int best = 0;

	for (int class = 0; class < 10; class++) {
		double distance = 0;

		for (int i = 0; i < 784; i++) {
			double by = mean[class][i] - image[i];

			distance += by * by;
		}
		if (distance < least) {
			least = distance;
			best = class;
		}
	}
	return best;
}

/* Even the plainest of classifiers gets most right; chance is 10 %. */
static void synthetic_can_be_learned(void **state)
{
	static double mean[10][784];
	struct dataset_request request = {
		.name = "synthetic",
		.synthetic_train = 4000,
		.synthetic_test = 500,
	};
	struct dataset dataset;
	struct error err;
	int counts[10] = { 0 };
	int right = 0;

	(void)state;
	assert_int_equal(dataset_load(&dataset, &request, &err), 0);
	for (int i = 0; i < dataset.train.count; i++) {
		int label = dataset.train.labels[i];

		assert_in_range(label, 0, 9);
		counts[label]++;
		for (int j = 0; j < 784; j++)
			mean[label][j] += dataset.train.images[784 * i + j];
	}
	for (int label = 0; label < 10; label++) {
		assert_in_range(counts[label], 300, 500);
		for (int j = 0; j < 784; j++)
			mean[label][j] /= counts[label];
	}
	for (int i = 0; i < dataset.test.count; i++)
		right += nearest(mean, dataset.test.images + 784 * i) ==
			 dataset.test.labels[i];
	assert_in_range(right, 350, 500);
	dataset_release(&dataset);
}

static void names_are_those_of_the_option(void **state)
{
	const struct option_row *row = option_find("dataset");
	int i;

	(void)state;
	for (i = 0; dataset_names[i].name; i++) {
		assert_in_range(i, 0, OPTION_MOST_CHOICES - 1);
		assert_string_equal(dataset_names[i].name, row->choices[i]);
		assert_true(strlen(dataset_names[i].summary) <= 62);
	}
	assert_true(i == OPTION_MOST_CHOICES || !row->choices[i]);
}

int main(void)
{
	const int have = !access(FASHION "/train-images-idx3-ubyte.gz", R_OK);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_option),
		cmocka_unit_test(unknown_names_are_refused),
		cmocka_unit_test(other_content_is_called_after_its_hash),
		cmocka_unit_test(torchvision_folders_are_looked_into),
		cmocka_unit_test(bad_sets_are_refused),
		cmocka_unit_test(data_dir_has_no_fallback),
		cmocka_unit_test(requests_are_checked),
		cmocka_unit_test(contents_are_told_apart),
		unit_test_if(have, fashion_is_known_by_content),
		unit_test_if(have, one_wrong_file_is_enough),
		cmocka_unit_test(synthetic_is_the_same_for_ever),
		cmocka_unit_test(synthetic_can_be_learned),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
