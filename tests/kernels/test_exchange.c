/*
 * How cores exchange vectors: slices, sums, and what becomes of the others when
 * one fails or dies on the way. A core's body runs in a thread, where a check
 * of cmocka must not fail: it fails as any core does.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "backends/contract/allocator.h"
#include "tests/kernels/transports.h"

#define ROOM 10240 /* floats of a core */

static void slices_are_whole_lines_and_all(void **state)
{
	(void)state;
	for (int size = 1; size <= GROUP_MAX_SIZE; size++)
		for (size_t count = 0; count < 3000; count += 1 + count / 7) {
			const size_t lines = (count + SLICE_LINE - 1) /
					     SLICE_LINE / (size_t)size;
			size_t at = 0;

			for (int r = 0; r < size; r++) {
				const struct slice slice =
					group_slice(r, size, count);

				assert_int_equal(slice.from, at);
				assert_true(slice.to >= at);
				assert_true(slice.to % SLICE_LINE == 0 ||
					    slice.to == count);
				/* Nobody has more than a line too much. */
				assert_true(slice.to - at <=
					    (lines + 1) * SLICE_LINE);
				at = slice.to;
			}
			assert_int_equal(at, count);
		}
}

/* From the end on, without a gap; whole lines, but for the vector's end. */
static void buckets_are_all_of_a_vector(void **state)
{
	static const size_t sizes[] = { 0, 1, 17, 100, 262144, 3000000 };

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t count = 0; count < 70000000;
		     count += 1 + count / 7) {
			const struct buckets buckets =
				buckets_of(count, sizes[s]);
			const int number = buckets_number(&buckets);
			size_t at = count;

			assert_in_range(number, 1,
					sizes[s] ? GROUP_MOST_BUCKETS : 1);
			for (int b = 0; b < number; b++) {
				const struct slice range =
					bucket_range(&buckets, b);

				assert_int_equal(range.to, at);
				assert_int_equal(range.from % SLICE_LINE, 0);
				assert_true(range.from < at || !count);
				at = range.from;
			}
			assert_int_equal(at, 0);
			if (sizes[s] >= 262144 && number > 1)
				assert_in_range(count -
					bucket_range(&buckets, 0).from,
					262144 - SLICE_LINE, 262144);
		}
}

/* Where all ranks see it; alone there is nobody to see it. */
static float *allocate(struct group *group, struct error *err)
{
	static float alone[ROOM];

	if (!group->memory)
		return alone;
	return group->memory->allocate(group->memory, ROOM * sizeof(float),
				       err);
}

/* Values of very different sizes: their sum depends on the order. */
static float value_of(int rank, size_t i, int round)
{
	const uint32_t mixed = (uint32_t)(i * 2654435761u) ^
			       (uint32_t)(rank * 40503 + round * 977);
	const float value = (float)(mixed >> 8) * 0x1p-24f - .5f;

	return value * (float)(1 << mixed % 13);
}

static float sum_of(int size, size_t i, int round)
{
	float sum = value_of(0, i, round);

	for (int r = 1; r < size; r++)
		sum += value_of(r, i, round);
	return sum;
}

static void fill(const struct group *group, float *values, size_t count,
		 int round)
{
	for (size_t i = 0; i < count; i++)
		values[i] = value_of(group->rank, i, round);
}

/* Whether a float is in the rank's slice of its bucket. */
static int is_own(const struct group *group, const struct buckets *buckets,
		  size_t i)
{
	struct slice own;
	int b = 0;

	while (i < bucket_range(buckets, b).from)
		b++;
	own = bucket_slice(buckets, b, group->rank, group->size);
	return i >= own.from && i < own.to;
}

/* All of them are sums, or the own slices are, and the rest is what the rank
 * had there. */
static int check(const struct group *group, const float *values,
		 const struct buckets *buckets, int all, int round,
		 struct error *err)
{
	const size_t count = buckets->count;

	for (size_t i = 0; i < count; i++) {
		const float right = all || is_own(group, buckets, i) ?
					    sum_of(group->size, i, round) :
					    value_of(group->rank, i, round);

		if (memcmp(&values[i], &right, sizeof(right)))
			return error_set(err, ERROR_FAILED,
					 "value %zu of %zu, size %d", i, count,
					 group->size);
	}
	return 0;
}

static int exchange(struct group *group, float *values,
		    const struct buckets *buckets, int round,
		    struct error *err)
{
	fill(group, values, buckets->count, round);
	if (group_offer_buckets(group, values, buckets, err) ||
	    group_reduce_scatter(group, err) ||
	    check(group, values, buckets, 0, round, err) ||
	    group_offer_buckets(group, values, buckets, err))
		return -1;
	return group_all_gather(group, err) ||
			       check(group, values, buckets, 1, round, err) ||
			       group_gather(group, NULL, 0, NULL, err) ?
		       -1 : 0;
}

/* Odd counts, some below a line per core, in one bucket and in several. Nothing
 * after them is touched, and an array inside an allocation works as well. */
static int exchange_much(struct group *group, void *context, struct error *err)
{
	static const size_t counts[] = { 0,   1,    3,	  7,	15,   16,   17,
					 100, 1023, 1025, 2492, 10007 };
	const int rounds = sizeof(counts) / sizeof(counts[0]);
	float *first = allocate(group, err);
	float *second = first ? allocate(group, err) : NULL;
	long summed = 0;

	(void)context;
	for (int round = 0; second && round < 4 * rounds; round++) {
		const size_t count = counts[round / 4];
		const struct buckets buckets =
			buckets_of(count, round / 2 % 2 * 330);
		float *values = round % 2 ? first + 48 : second;

		values[count] = 77;
		if (exchange(group, values, &buckets, round, err))
			return -1;
		summed += (long)(count * sizeof(*values));
		if (values[count] != 77)
			return error_set(err, ERROR_FAILED, "too long");
	}
	if (second && group->summed_bytes != summed)
		return error_set(err, ERROR_FAILED, "%ld bytes counted, not "
				 "%ld", group->summed_bytes, summed);
	return second ? 0 : -1;
}

static void sums_are_those_of_a_loop(void **state)
{
	struct error err;

	(void)state;
	for (int t = 0; t < 3; t++)
		for (int size = 1; size <= most_cores(names[t]); size++)
			if (launch(names[t], size, exchange_much, NULL, 0,
				   &err))
				fail_msg("%s: %s", names[t], err.message);
}

/* Zeroed, and a line's own from beginning to end. */
static int look_at_memory(struct group *group, void *context, struct error *err)
{
	(void)context;
	for (size_t bytes = 1; bytes < 100000; bytes *= 7) {
		const char *memory = group->memory->allocate(group->memory,
							     bytes, err);

		if (!memory)
			return -1;
		if ((size_t)memory % 64)
			return error_set(err, ERROR_FAILED, "not aligned");
		for (size_t i = 0; i < bytes; i++)
			if (memory[i])
				return error_set(err, ERROR_FAILED, "dirty");
		memset((char *)(size_t)memory, 1, bytes);
	}
	return 0;
}

static void memory_is_clean(void **state)
{
	struct error err;

	(void)state;
	for (int t = 1; t < 3; t++)
		if (launch(names[t], 3, look_at_memory, NULL, 0, &err))
			fail_msg("%s: %s", names[t], err.message);
}

static int offer_more(struct group *group, void *context, struct error *err)
{
	float *values = allocate(group, err);

	(void)context;
	return values ? group_offer(group, values, group->rank == 2 ? 17 : 16,
				    err) : -1;
}

static int offer_own(struct group *group, void *context, struct error *err)
{
	static float values[16];

	(void)context;
	return group_offer(group, values, 16, err);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct error err;

	(void)state;
	for (int t = 1; t < 3; t++) {
		assert_int_equal(launch(names[t], 4, offer_more, NULL, 0, &err),
				 -1);
		assert_string_equal(err.message, "core 0 of 4: core 2 passed "
				    "a different buffer than core 0");
	}
	assert_int_equal(launch("fork", 4, offer_own, NULL, 0, &err), -1);
	assert_non_null(strstr(err.message, "not in the cores' shared memory"));
}

/* When something happens to whom. */
enum stage { ALLOCATING, OFFERING, REDUCING, UPDATED, GATHERING, STAGES };

struct plot {
	int victim;
	enum stage stage;
	int dies; /* else it fails as it should */
};

/* Whether it has come: the victim fails, or is no more. */
static int is_hit(const struct group *group, const struct plot *plot,
		  enum stage stage, struct error *err)
{
	if (group->rank != plot->victim || stage != plot->stage)
		return 0;
	if (plot->dies)
		kill(getpid(), SIGKILL);
	return error_set(err, ERROR_MISSING, "out of luck");
}

/* Until then the sums are right, whatever the victim does meanwhile. */
static int exchange_until(struct group *group, void *context, struct error *err)
{
	const struct plot *plot = context;
	const size_t count = ROOM - 3;
	const struct buckets one = { .count = count };
	float *values;

	if (is_hit(group, plot, ALLOCATING, err))
		return -1;
	values = allocate(group, err);
	if (!values)
		return -1;
	fill(group, values, count, 5);
	if (is_hit(group, plot, OFFERING, err) ||
	    group_offer(group, values, count, err) ||
	    is_hit(group, plot, REDUCING, err) ||
	    group_reduce_scatter(group, err) ||
	    check(group, values, &one, 0, 5, err) ||
	    is_hit(group, plot, UPDATED, err) ||
	    group_offer(group, values, count, err) ||
	    is_hit(group, plot, GATHERING, err) ||
	    group_all_gather(group, err) ||
	    check(group, values, &one, 1, 5, err) ||
	    group_gather(group, NULL, 0, NULL, err))
		return -1;
	return error_set(err, ERROR_FAILED, "nothing has happened");
}

static void one_that_fails_releases_the_others(void **state)
{
	static const int cores[] = { 2, 3, 8 };
	struct error err;
	char text[64];

	(void)state;
	for (int i = 0; i < 2 * STAGES * 3; i++) {
		const int size = cores[i / STAGES % 3];
		struct plot plot = { i % size, (enum stage)(i % STAGES), 0 };

		snprintf(text, sizeof(text), "core %d of %d: out of luck",
			 plot.victim, size);
		assert_int_equal(launch(names[1 + i / STAGES / 3], size,
					exchange_until, &plot, sizeof(plot),
					&err), -1);
		assert_string_equal(err.message, text);
		assert_int_equal(err.kind, ERROR_MISSING);
	}
}

static void one_that_dies_releases_the_others(void **state)
{
	struct error err;

	(void)state;
	for (int i = 0; i < 2 * STAGES; i++) {
		struct plot plot = { i / STAGES * 3, (enum stage)(i % STAGES),
				     1 };

		assert_int_equal(launch("fork", 4, exchange_until, &plot,
					sizeof(plot), &err), -1);
		assert_non_null(strstr(err.message, plot.victim ?
				       "core 3 of 4: process" :
				       "core 0 of 4: process"));
		assert_non_null(strstr(err.message, "signal 9"));
	}
}

/* The first core says what has happened to it, and then does not end: another
 * process keeps its pipe open for longer than anybody's patience. */
static int fail_and_linger(struct group *group, void *context,
			   struct error *err)
{
	const struct timespec patience = { 1, 500000000 };

	(void)context;
	if (group->rank)
		return group_gather(group, NULL, 0, NULL, err);
	if (!fork()) {
		nanosleep(&patience, NULL);
		_exit(0);
	}
	return error_set(err, ERROR_MISSING, "out of luck");
}

static void who_lingers_has_failed_all_the_same(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(launch("fork", 4, fail_and_linger, NULL, 0, &err), -1);
	assert_string_equal(err.message, "core 0 of 4: out of luck");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_whole_lines_and_all),
		cmocka_unit_test(buckets_are_all_of_a_vector),
		cmocka_unit_test(sums_are_those_of_a_loop),
		cmocka_unit_test(memory_is_clean),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(one_that_fails_releases_the_others),
		cmocka_unit_test(one_that_dies_releases_the_others),
		cmocka_unit_test(who_lingers_has_failed_all_the_same),
	};

	return cmocka_run_group_tests_name("exchange", tests, NULL, NULL);
}
