/* The optimizers of each build of backend cpu, against plain loops in double.
 */
#include "tests/kernels/linear_run.h"

#include "backends/cpu/kernels/kernels.h"

/* Gradients of all sizes, zero among them, in vectors of all lengths. */
static void steps_are_right(const struct linear_kernels *kernels,
			    const struct update *update)
{
	const int states = update->optimizer != OPTIMIZER_SGD ? 2 :
			   update->momentum != 0;

	for (size_t count = 0; count < 70; count++) {
		struct array all[4];

		state = count + 1;
		for (int v = 0; v < 4; v++)
			all[v] = array_make(count, v ? 0 : -1, 1);
		for (size_t i = 0; i < count; i++) {
			const double size = pow(10, draw() * 30 - 20);
			const float g = (float)(i % 2 ? size : -size);

			all[GRADIENT].right[i] = all[GRADIENT].values[i] =
				i % 7 ? g : 0;
		}
		plain_update(update, all);
		kernels->optimize(update, count, all[0].values,
				  states > 0 ? all[1].values : NULL,
				  states > 1 ? all[2].values : NULL,
				  all[3].values);
		for (int v = 0; v < 3; v++)
			for (size_t i = 0; i < count; i++)
				assert_near(kernels->name, names[v], i,
					    all[v].values[i], all[v].right[i],
					    2e-6 * fabs(all[v].right[i]) +
						    (v ? 1e-29 : 2e-6));
		for (int v = 0; v < 4; v++)
			array_free(&all[v]);
	}
}

/* Zero gradients for ever: nothing becomes denormal, which is slow. */
static void averages_stay_normal(const struct linear_kernels *kernels,
				 const struct update *update)
{
	float vectors[4][20] = { { 0 } };

	vectors[GRADIENT][2] = 1;
	for (int step = 0; step < 10000; step++) {
		kernels->optimize(update, 20, vectors[0], vectors[1],
				  vectors[2], vectors[3]);
		vectors[GRADIENT][2] = 0;
	}
	for (int v = FIRST; v < GRADIENT; v++)
		for (int i = 0; i < 20; i++)
			assert_true((vectors[v][i] == 0 ||
				     fpclassify(vectors[v][i]) == FP_NORMAL) &&
				    vectors[v][i] < 1e-28f);
	for (int i = 0; i < 20; i++)
		assert_true((vectors[PARAMETERS][i] == 0) == (i != 2));
}

static void nan_stays(const struct linear_kernels *kernels,
		      const struct update *update)
{
	float vectors[4][20] = { { 0 } };

	vectors[GRADIENT][3] = vectors[GRADIENT][19] = NAN;
	kernels->optimize(update, 20, vectors[0], vectors[1], vectors[2],
			  vectors[3]);
	for (int v = 0; v < 3; v++)
		for (int i = 0; i < 20; i++)
			assert_int_equal(!!isnan(vectors[v][i]),
					 i == 3 || i == 19);
}

/* Checks the first `count` updates. */
static void each_build(void (*check)(const struct linear_kernels *kernels,
				     const struct update *update), int count)
{
	for (size_t b = 0; cpu_builds[b]; b++)
		for (int u = 0; u < count && cpu_builds[b]->supported(); u++)
			check(cpu_builds[b]->linear, &updates[u]);
}

static void gradients_of_all_sizes(void **unused)
{
	(void)unused;
	each_build(steps_are_right, UPDATES);
}

static void zero_gradients(void **unused)
{
	static const struct update momentum = {
		.optimizer = OPTIMIZER_SGD, .lr = .1, .momentum = .9,
	};

	(void)unused;
	each_build(averages_stay_normal, 2);
	for (size_t b = 0; cpu_builds[b]; b++)
		if (cpu_builds[b]->supported())
			averages_stay_normal(cpu_builds[b]->linear, &momentum);
}

static void gradients_of_nan(void **unused)
{
	(void)unused;
	each_build(nan_stays, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradients_of_all_sizes),
		cmocka_unit_test(zero_gradients),
		cmocka_unit_test(gradients_of_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
