/* Where data sets are looked for, and under which names. */
#include "bench/data/dataset_files.h"

#include <errno.h>

#include "tests/cmocka.h"
#include "tests/unit/idx_files.h"

static void names_are_spelled_in_four_ways(void **state)
{
	static const char *const names[] = {
		"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz",
		"t10k-images.idx3-ubyte", "t10k-images.idx3-ubyte.gz",
	};
	const char *dir = make_folder("names");
	char found[PATH_MAX];

	(void)state;
	assert_false(dataset_file_path(dir, DATASET_TEST_IMAGES, found,
				       sizeof(found)));
	for (int i = 3; i >= 0; i--) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.3800s/%s", dir, names[i]);
		write_file(path, "x", 1);
		assert_true(dataset_file_path(dir, DATASET_TEST_IMAGES, found,
					      sizeof(found)));
		assert_string_equal(found, path);
		unlink(path);

		/* A folder of that name is what some archives unpack to. */
		mkdir(path, 0755);
		assert_true(dataset_file_path(dir, DATASET_TEST_IMAGES, found,
					      sizeof(found)));
		assert_string_equal(found, path);
	}
	assert_false(dataset_file_path(dir, DATASET_TRAIN_IMAGES, found,
				       sizeof(found)));
	for (int i = 3; i >= 1; i -= 2) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.3800s/%s", dir, names[i]);
		rmdir(path);
		write_file(path, "x", 1);
		assert_true(dataset_file_path(dir, DATASET_TEST_IMAGES, found,
					      sizeof(found)));
		assert_string_equal(found, path);
	}
}

static void expect_place(const struct dataset_search *search, const char *name,
			 const char *dir)
{
	const struct dataset_known *known =
		name ? dataset_known_find(name) : NULL;
	struct error err = { .message = "" };
	struct dataset_place place;

	if (dataset_find(search, known, &place, &err))
		fail_msg("%s", err.message);
	assert_string_equal(place.dir, dir);
}

static void places_are_searched_in_order(void **state)
{
	char *variable = strdup(make_folder("v"));
	char *packages = strdup(make_folder("s"));
	struct dataset_search search = { .variable = variable,
					 .system = packages };
	struct dataset_place place;
	struct error err;

	(void)state;
	snprintf(search.cache, sizeof(search.cache), "%s", make_folder("c"));
	assert_int_equal(dataset_find(&search, NULL, &place, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, "bench data get mnist"));
	assert_non_null(strstr(err.message, "dataset-fashion-mnist"));
	assert_non_null(strstr(err.message, search.cache));

	make_set("s/fashion-mnist", 0);
	expect_place(&search, NULL, in_folder("s/fashion-mnist"));
	assert_int_equal(dataset_find(&search, dataset_known_find("mnist"),
				      &place, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	make_set("s/mnist", 0);
	expect_place(&search, NULL, in_folder("s/mnist"));
	expect_place(&search, "fashion-mnist", in_folder("s/fashion-mnist"));
	make_set("c/mnist", 0);
	expect_place(&search, "mnist", in_folder("c/mnist"));
	make_set("v/MNIST/raw", 0);
	expect_place(&search, "mnist", in_folder("v/MNIST/raw"));
	expect_place(&search, "fashion-mnist", in_folder("s/fashion-mnist"));
	make_set("v/mnist", 0);
	expect_place(&search, NULL, in_folder("v/mnist"));
	make_set("v", 0);
	expect_place(&search, NULL, in_folder("v"));

	unlink(in_folder("v/train-labels-idx1-ubyte"));
	assert_int_equal(dataset_find(&search, NULL, &place, &err), 0);
	assert_string_equal(place.dir, in_folder("v/mnist"));
	assert_string_equal(place.passed_over, in_folder("v"));
	free(variable);
	free(packages);
}

static void environment_says_where(void **state)
{
	struct dataset_search search;

	(void)state;
	setenv("BENCH_DATA_DIR", "/some/where", 1);
	setenv("XDG_CACHE_HOME", "/my/cache", 1);
	setenv("HOME", "/my/home", 1);
	dataset_search_init(&search, "/only");
	assert_string_equal(search.only, "/only");
	assert_string_equal(search.variable, "/some/where");
	assert_string_equal(search.cache, "/my/cache/bench");
	assert_string_equal(search.system, "/usr/share/datasets");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("BENCH_DATA_DIR", "", 1);
	dataset_search_init(&search, NULL);
	assert_null(search.variable);
	assert_string_equal(search.cache, "/my/home/.cache/bench");
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("BENCH_DATA_DIR");
	dataset_search_init(&search, NULL);
	assert_string_equal(search.cache, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_spelled_in_four_ways),
		cmocka_unit_test(places_are_searched_in_order),
		cmocka_unit_test(environment_says_where),
	};

	program_invocation_name = (char[]){ "bench" };
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
