/* The cpu backend's kernels of single elements, where what they write is what
 * they read: the same bits as elsewhere. */
#include "backends/cpu/kernels/kernels.h"

#include "tests/kernels/subject.h"

#define ROWS 7
#define CHANNELS 83 /* whole vectors, and some */
#define COUNT (ROWS * CHANNELS)
#define MOST_BUILDS 8

static float a[COUNT], b[COUNT], apart[COUNT], own[COUNT];

static void draw(void)
{
	struct mt19937 generator;

	mt19937_seed(&generator, 3);
	for (int i = 0; i < COUNT; i++) {
		a[i] = mt19937_uniform(&generator, -1, 1);
		b[i] = mt19937_uniform(&generator, -1, 1);
	}
	memcpy(own, a, sizeof(own));
}

static void assert_same(void)
{
	assert_memory_equal(own, apart, sizeof(own));
}

static void elements(void **state)
{
	const struct elementwise_kernels *planes =
		((const struct cpu_kernels *)*state)->elementwise;

	draw();
	planes->relu(COUNT, a, apart);
	planes->relu(COUNT, own, own);
	assert_same();
	draw();
	planes->relu_backward(COUNT, b, a, 0, apart);
	planes->relu_backward(COUNT, b, own, 0, own);
	assert_same();
	draw();
	planes->add(COUNT, a, b, apart);
	planes->add(COUNT, own, b, own);
	assert_same();
	draw();
	planes->add(COUNT, b, own, own);
	assert_same();
	draw();
	planes->add(COUNT, a, a, apart);
	planes->add_to(COUNT, own, own);
	assert_same();
}

static void norms(void **state)
{
	const struct cpu_kernels *kernels = *state;
	const struct norm_rows rows = { ROWS, CHANNELS, CHANNELS };
	const struct norm_map map = { b, a, a };

	draw();
	kernels->elementwise->norm_backward(&rows, &map, b, 0, a, b, a, 0,
					    apart);
	kernels->elementwise->norm_backward(&rows, &map, b, 0, own, b, a, 0,
					    own);
	assert_same();
}

int main(void)
{
	struct CMUnitTest tests[2 * MOST_BUILDS];
	size_t count = 0;

	for (size_t i = 0; cpu_builds[i]; i++) {
		const int runs = cpu_builds[i]->supported();

		assert_true(i < MOST_BUILDS);
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[i]->name,
			.test_func = test_if(runs, elements),
			.initial_state = (void *)cpu_builds[i],
		};
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[i]->name,
			.test_func = test_if(runs, norms),
			.initial_state = (void *)cpu_builds[i],
		};
	}
	return _cmocka_run_group_tests("in place", tests, count, NULL, NULL);
}
