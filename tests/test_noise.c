/* What a machine strays by, from pairs whose noise is known. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/gate/floor.h"
#include "models/random.h"

#define MOST 200

static struct error err;

static double floor_of(const double *logs, size_t count, uint32_t seed)
{
	double ratio;

	if (floor_estimate(&ratio, logs, count, seed, &err))
		fail_msg("%s", err.message);
	return log(ratio);
}

/* Twelve uniform numbers make a normal one. */
static void draw_normal(double *logs, size_t count, double sd)
{
	struct mt19937 generator;

	mt19937_seed(&generator, 1);
	for (size_t i = 0; i < count; i++) {
		logs[i] = -6;
		for (int j = 0; j < 12; j++)
			logs[i] += (double)mt19937_uniform(&generator, 0, 1);
		logs[i] *= sd;
	}
}

/* Hodges and Lehmann's estimate has a variance pi / 3 times the mean's. */
static void normal_noise(void **state)
{
	double logs[MOST], expected;

	(void)state;
	draw_normal(logs, MOST, .02);
	expected = 1.96 * .02 * sqrt(acos(-1) / 3 / 20);
	assert_true(fabs(floor_of(logs, MOST, 1) / expected - 1) < .15);
}

static void scale(void **state)
{
	double logs[MOST], threefold[MOST];

	(void)state;
	draw_normal(logs, 40, .01);
	for (int i = 0; i < 40; i++)
		threefold[i] = 3 * logs[i];
	assert_true(fabs(floor_of(threefold, 40, 7) -
			 3 * floor_of(logs, 40, 7)) < 1e-12);
}

/* Whatever one arm was called, a constant difference is noise here. */
static void signs(void **state)
{
	double logs[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		logs[i] = .1;
	/* 14 or 6 of 20 up: half of it; 15 of them are rarer than 1 in 20. */
	assert_true(fabs(floor_of(logs, 40, 1) - .05) < 1e-12);
}

/* A quarter of the pairs is noisy: scattered, they are outliers; in a row,
 * whole checks are noisy. */
static void spells(void **state)
{
	enum { NOISY = MOST / 4 };
	double noise[NOISY], scattered[MOST] = { 0 }, together[MOST] = { 0 };

	(void)state;
	draw_normal(noise, NOISY, .1);
	for (int i = 0; i < NOISY; i++)
		scattered[4 * i] = together[i] = noise[i];
	assert_true(floor_of(scattered, MOST, 1) == 0);
	assert_true(floor_of(together, MOST, 1) > .01);
}

/* Eight pairs of twenty are outliers. Of those at the two ends of sixty a check
 * has more only because they are neighbours, too. */
static void circle(void **state)
{
	double noise[16], logs[60] = { 0 };

	(void)state;
	draw_normal(noise, 16, .1);
	for (int i = 0; i < 16; i++)
		logs[(52 + i) % 60] = noise[i];
	assert_true(floor_of(logs, 60, 1) > .001);
}

static void few(void **state)
{
	const double logs[] = { .1, -.1, .1 };

	(void)state;
	assert_int_equal(floor_check_pairs(3), 3);
	assert_int_equal(floor_check_pairs(20), 20);
	assert_int_equal(floor_check_pairs(40), 20);
	assert_true(fabs(floor_of(logs, 1, 1) - .1) < 1e-12);
	assert_true(fabs(floor_of(logs, 3, 1) - .1) < 1e-12);
	assert_int_equal(floor_estimate(&(double){ 0 }, (double[]){ NAN }, 1, 1,
				     &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_noise), cmocka_unit_test(scale),
		cmocka_unit_test(signs),	cmocka_unit_test(spells),
		cmocka_unit_test(circle),	cmocka_unit_test(few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
