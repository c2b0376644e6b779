/* What more cores would bring: limits that are known, and numbers by hand. */
#include "bench/report/scale.h"
#include "tests/unit/near.h"

#define MOST 12 /* 1 .. 2048 cores */
#define TIMES 200

static struct error err;

/* Twenty to thirty ms, most of them near the lower end. */
static void make_times(double times[TIMES])
{
	for (int i = 0; i < TIMES; i++)
		times[i] = .02 + .01 * pow(i * 37 % TIMES / (double)TIMES, 4);
}

/* Of runs with as many iterations each. */
static void predict(const double *seconds, size_t count, size_t runs,
		    long shared_cpus, unsigned long long seed,
		    struct scale_point points[MOST])
{
	size_t starts[8];
	const struct scale_times times = { seconds, starts, runs };

	for (size_t r = 0; r <= runs; r++)
		starts[r] = count / runs * r;
	for (int p = 0; p < MOST; p++)
		points[p].cores = 1L << p;
	if (scale_predict(&times, 128, shared_cpus, seed, points, MOST, &err))
		fail_msg("%s", err.message);
}

/* Without jitter and communication, n cores are n times one. */
static void nothing_in_the_way(void **state)
{
	double seconds[TIMES];
	struct scale_point points[MOST] = { { 0 } };

	(void)state;
	for (int i = 0; i < TIMES; i++)
		seconds[i] = .0213;
	predict(seconds, TIMES, 1, 0, 1, points);
	for (int p = 0; p < MOST; p++) {
		assert_true(points[p].efficiency.value == 1);
		assert_true(points[p].efficiency.low == 1);
		near(points[p].images_per_s.value, (double)points[p].cores *
							   128 / .0213);
		near(points[p].iter_s.value, .0213);
	}
}

/* The slowest of two draws from 1, 2, 3, 4 s: (1 + 3 * 2 + 5 * 3 + 7 * 4) / 16;
 * of very many 4 s. */
static void the_slowest_by_hand(void **state)
{
	const double seconds[] = { 3, 1, 4, 2 };
	struct scale_point points[MOST] = { { 0 } };

	(void)state;
	points[1].exposed_s = .5;
	predict(seconds, 4, 1, 0, 1, points);
	near(points[0].compute_s, 2.5);
	near(points[1].compute_s, 50. / 16);
	near(points[1].iter_s.value, 50. / 16 + .5);
	near(points[1].efficiency.value, 2.5 / (50. / 16 + .5));
	near(points[MOST - 1].compute_s, 4);
}

static void efficiency_is_bounded(void **state)
{
	double seconds[TIMES];
	struct scale_point points[MOST] = { { 0 } };

	(void)state;
	make_times(seconds);
	predict(seconds, TIMES, 4, 0, 1, points);
	for (int p = 0; p < MOST; p++) {
		const struct scale_value *value = &points[p].efficiency;

		assert_true(value->high <= 1 && value->low <= value->high);
		assert_true(value->low <= value->value &&
			    value->value <= value->high);
		assert_true(!p ||
			    value->value < points[p - 1].efficiency.value);
	}
	assert_true(points[0].efficiency.low == 1);
}

/* Eight on two CPUs take four times one's mean; two on two the slower one. */
static void cores_share_cpus(void **state)
{
	double seconds[TIMES], sum = 0;
	struct scale_point points[MOST] = { { 0 } }, alone[MOST] = { { 0 } };

	(void)state;
	make_times(seconds);
	for (int i = 0; i < TIMES; i++)
		sum += seconds[i];
	predict(seconds, TIMES, 1, 2, 1, points);
	predict(seconds, TIMES, 1, 0, 1, alone);
	near(points[3].compute_s, 4 * sum / TIMES);
	near(points[1].compute_s, alone[1].compute_s);
	near(points[3].efficiency.value, .25);
}

/* The same seed draws the same resamples, another one others. */
static void seeds_decide(void **state)
{
	double seconds[TIMES];
	struct scale_point points[3][MOST] = { { { 0 } } };

	(void)state;
	make_times(seconds);
	for (int i = 0; i < 3; i++) {
		for (int p = 0; p < MOST; p++) {
			points[i][p].exposed_s = .001;
			points[i][p].error = .1;
		}
		predict(seconds, TIMES, 4, 0, i == 2 ? 2 : 1, points[i]);
	}
	assert_memory_equal(points[0], points[1], sizeof(points[0]));
	assert_true(points[0][3].iter_s.low != points[2][3].iter_s.low);
	assert_true(points[0][3].iter_s.value == points[2][3].iter_s.value);
}

/* The mean of n independent times strays by their deviation over the root of
 * n; communication by its own error. */
static void intervals_are_as_wide_as_known(void **state)
{
	double seconds[TIMES], sum = 0, squares = 0, half;
	struct scale_point points[MOST] = { { 0 } };

	(void)state;
	make_times(seconds);
	for (int i = 0; i < TIMES; i++) {
		sum += seconds[i];
		squares += seconds[i] * seconds[i];
	}
	points[0].exposed_s = 1;
	points[0].error = .1;
	predict(seconds, TIMES, 1, 0, 1, points);
	half = 1.96 * .1;
	assert_true(fabs((points[0].communication_s.high - 1) / half - 1) <
		    .15);
	assert_true(fabs((1 - points[0].communication_s.low) / half - 1) < .15);
	half = 1.96 * sqrt((squares / TIMES - sum / TIMES * sum / TIMES) /
			   TIMES);
	points[0].exposed_s = 0;
	predict(seconds, TIMES, 1, 0, 1, points);
	assert_true(fabs((points[0].iter_s.high - sum / TIMES) / half - 1) <
		    .15);
}

/* Iterations of one run are alike: what differs between runs counts. The mean
 * of four draws of 1 .. 1.3 strays by .1118 / 2. */
static void runs_are_drawn(void **state)
{
	double seconds[TIMES], width;
	struct scale_point together[MOST] = { { 0 } }, apart[MOST] = { { 0 } };

	(void)state;
	for (int i = 0; i < TIMES; i++)
		seconds[i] = 1 + .1 * (i / (TIMES / 4));
	predict(seconds, TIMES, 1, 0, 1, together);
	predict(seconds, TIMES, 4, 0, 1, apart);
	width = apart[0].iter_s.high - apart[0].iter_s.low;
	assert_true(fabs(width / (2 * 1.96 * .1118 / 2) - 1) < .15);
	assert_true(width >
		    3 * (together[0].iter_s.high - together[0].iter_s.low));
}

static void set_row(struct network_row *row, long ranks, long bytes,
		    double median_s)
{
	row_clear(&network_rows, row);
	snprintf(row->transport, sizeof(row->transport), "threads");
	row->ranks = ranks;
	row->vector_bytes = bytes;
	row->median_s = median_s;
}

/* 10 us and 1e9 bytes/s for two ranks from 64 KiB on; smaller ones and another
 * transport are not asked. */
static void sweeps_are_read(void **state)
{
	struct network_row rows[6];
	struct scale_network network = { .is_measured = 1,
					 .node_cores = 1,
					 .sweep = rows,
					 .sweep_count = 6,
					 .sweep_name = "s.csv" };
	struct scale_point point = { .cores = 2 };

	(void)state;
	set_row(&rows[0], 2, 4096, 7e-5);
	for (int i = 1; i < 4; i++)
		set_row(&rows[i], 2, 65536L << 2 * i,
			1e-5 + 65536e-9 * (1L << 2 * i));
	set_row(&rows[4], 4, 65536, 1);
	set_row(&rows[5], 2, 2000000, 1);
	snprintf(rows[5].transport, sizeof(rows[5].transport), "fork");
	assert_int_equal(scale_communication(&network, 2e6, &point, &err), 0);
	near(point.exposed_s, 1e-5 + 2e-3);
	assert_true(point.error < 1e-9);
	/* Too few sizes. */
	point.cores = 4;
	assert_int_equal(scale_communication(&network, 2e6, &point, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "s.csv"));
	assert_non_null(strstr(err.message, "cpu-4@threads"));
	/* In a node as measured, and between nodes by the formula. */
	network.is_measured = 0;
	network.node_cores = 2;
	network.topology = NETWORK_RING;
	network.link = (struct network_link){ 1e-6, 2e9 };
	point.cores = 8;
	assert_int_equal(scale_communication(&network, 2e6, &point, &err), 0);
	near(point.exposed_s, 1e-5 + 2e-3 + 6e-6 + 1.5e-3);
}

/* What a line is off is known of its own part alone. */
static void formulas_are_exact(void **state)
{
	struct network_row rows[3];
	struct scale_network network = { .topology = NETWORK_RING,
					 .link = { 0, 1e9 },
					 .node_cores = 2,
					 .sweep = rows,
					 .sweep_count = 3,
					 .sweep_name = "s.csv" };
	struct scale_point two = { .cores = 2 }, four = { .cores = 4 };

	(void)state;
	for (int i = 0; i < 3; i++)
		set_row(&rows[i], 2, 65536L << 2 * i,
			(i == 1 ? 1.3 : 1) * 65536e-9 * (1L << 2 * i));
	assert_int_equal(scale_communication(&network, 1e6, &two, &err), 0);
	assert_int_equal(scale_communication(&network, 1e6, &four, &err), 0);
	assert_true(two.error > .1 && two.error < .3);
	near(four.exposed_s, two.exposed_s + 1e-3);
	near(four.error * four.exposed_s, two.error * two.exposed_s);
}

static void nodes_are_filled(void **state)
{
	struct scale_network network = { .topology = NETWORK_RING,
					 .link = { 1e-6, 1e9 },
					 .node_cores = 4 };
	struct scale_point point = { .cores = 4 };

	(void)state;
	assert_int_equal(scale_communication(&network, 1e6, &point, &err), 0);
	assert_true(point.exposed_s == 0 && point.error == 0);
	point.cores = 8;
	assert_int_equal(scale_communication(&network, 1e6, &point, &err), 0);
	near(point.exposed_s, 2e-6 + 1e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_in_the_way),
		cmocka_unit_test(the_slowest_by_hand),
		cmocka_unit_test(efficiency_is_bounded),
		cmocka_unit_test(cores_share_cpus),
		cmocka_unit_test(seeds_decide),
		cmocka_unit_test(intervals_are_as_wide_as_known),
		cmocka_unit_test(runs_are_drawn),
		cmocka_unit_test(sweeps_are_read),
		cmocka_unit_test(formulas_are_exact),
		cmocka_unit_test(nodes_are_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
