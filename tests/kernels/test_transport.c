/*
 * How cores meet. A core's body runs in a thread, where a check of cmocka must
 * not fail: it fails as any core does, and its message comes home.
 */
#include "tests/kernels/transports.h"

#include <stdatomic.h>
#include <unistd.h>

static void transports_are_listed(void **state)
{
	const struct transport *transport = NULL;

	(void)state;
	for (int t = 0; t < TRANSPORTS; t++) {
		transport = transport_next(transport);
		assert_ptr_equal(transport, find(names[t]));
		assert_int_equal(transport->one_process,
				 strcmp(names[t], "fork") != 0);
	}
	assert_null(transport_next(transport));
	assert_null(transport_find("pigeons"));
}

struct roll {
	atomic_int calls, ranks;
	int size;
};

static int sign_in(struct group *group, void *context, struct error *err)
{
	struct roll *roll = context;

	if (group->size != roll->size || group->rank < 0 ||
	    group->rank >= group->size)
		return error_set(err, ERROR_FAILED, "rank %d of %d",
				 group->rank, group->size);
	atomic_fetch_add(&roll->calls, 1);
	atomic_fetch_or(&roll->ranks, 1 << group->rank);
	return 0;
}

static void every_core_runs_once(void **state)
{
	struct error err;

	(void)state;
	for (int t = 0; t < TRANSPORTS; t++)
		for (int size = 1; size <= most_cores(names[t]); size++) {
			struct roll roll = { .size = size };

			if (launch(names[t], size, sign_in, &roll, sizeof(roll),
				   &err))
				fail_msg("%s", err.message);
			assert_int_equal(roll.calls, size);
			assert_int_equal(roll.ranks, (1 << size) - 1);
		}
}

static void sizes_have_bounds(void **state)
{
	struct roll roll = { 0 };
	struct error err;

	(void)state;
	for (int t = 0; t < TRANSPORTS; t++) {
		const struct transport *transport = find(names[t]);
		const int wrong[] = { 0, -1, transport->max_size + 1 };

		for (int i = 0; i < 3; i++) {
			assert_int_equal(launch(names[t], wrong[i], sign_in,
						&roll, sizeof(roll), &err),
					 -1);
			assert_int_equal(err.kind, ERROR_USAGE);
			assert_non_null(strstr(err.message, names[t]));
		}
	}
	assert_int_equal(roll.calls, 0);
	assert_int_equal(find("self")->max_size, 1);
	assert_int_equal(find("threads")->max_size, GROUP_MAX_SIZE);
	assert_int_equal(find("fork")->max_size, GROUP_MAX_SIZE);
}

static void what_a_build_lacks_is_missing(void **state)
{
	struct transport lacking = *find("self");
	struct roll roll = { .size = 1 };
	const struct group_job job = { sign_in, &roll, sizeof(roll), NULL };
	struct error err;

	(void)state;
	lacking.unavailable = "built without it";
	assert_int_equal(group_launch(&lacking, 1, &job, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, "built without it"));
	assert_int_equal(roll.calls, 0);
}

/* Messages of all lengths, one after the other, each unlike any other. */
static int gather_much(struct group *group, void *context, struct error *err)
{
	uint8_t mine[GROUP_MAX_MESSAGE], all[MOST * GROUP_MAX_MESSAGE + 1];

	(void)context;
	for (int round = 0; round < 300; round++) {
		const size_t bytes = (size_t)round % (GROUP_MAX_MESSAGE + 1);

		memset(mine, 16 * (round % 13) + group->rank, sizeof(mine));
		memset(all, 255, sizeof(all));
		if (group_gather(group, mine, bytes, all, err))
			return -1;
		for (size_t i = 0; i < (size_t)group->size * bytes; i++)
			if (all[i] != 16 * (round % 13) + (int)(i / bytes))
				return error_set(err, ERROR_FAILED,
						 "byte %zu of round %d", i,
						 round);
		if (all[(size_t)group->size * bytes] != 255)
			return error_set(err, ERROR_FAILED, "too long");
	}
	return 0;
}

static void messages_come_in_rank_order(void **state)
{
	struct error err;

	(void)state;
	for (int t = 0; t < TRANSPORTS; t++)
		for (int size = 1; size <= most_cores(names[t]); size++)
			if (launch(names[t], size, gather_much, NULL, 0, &err))
				fail_msg("%s", err.message);
}

/* Who fails at once, while the others wait. */
struct plot {
	int failing, second; /* ranks; -1: nobody */
};

static int fail_or_wait(struct group *group, void *context, struct error *err)
{
	const struct plot *plot = context;

	if (group->rank == plot->failing || group->rank == plot->second)
		return error_set(err, ERROR_MISSING, "rank %d is out of luck",
				 group->rank);
	for (;;)
		if (group_gather(group, NULL, 0, NULL, err))
			return -1;
}

/* Transports whose cores wait for each other. */
static const char *const meeting_names[] = { "threads", "fork" };

static void one_that_fails_releases_the_others(void **state)
{
	struct error err;

	(void)state;
	for (int size = 2; size <= MOST; size++)
		for (int rank = 0; rank < 2 * size; rank++) {
			struct plot plot = { rank / 2, -1 };
			char text[64];

			snprintf(text, sizeof(text),
				 "core %d of %d: rank %d is out of luck",
				 plot.failing, size, plot.failing);
			assert_int_equal(launch(meeting_names[rank % 2], size,
						fail_or_wait, &plot,
						sizeof(plot), &err), -1);
			assert_int_equal(err.kind, ERROR_MISSING);
			assert_string_equal(err.message, text);
		}
}

static void of_several_the_lowest_is_heard(void **state)
{
	struct plot plot = { 4, 2 };
	struct error err;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(launch(meeting_names[i % 2], 6, fail_or_wait,
					&plot, sizeof(plot), &err), -1);
		assert_string_equal(err.message,
				    "core 2 of 6: rank 2 is out of luck");
	}
}

static void alone_one_fails_in_its_own_words(void **state)
{
	struct plot plot = { 0, -1 };
	struct error err;

	(void)state;
	assert_int_equal(launch("self", 1, fail_or_wait, &plot, sizeof(plot),
				&err), -1);
	assert_string_equal(err.message, "rank 0 is out of luck");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transports_are_listed),
		cmocka_unit_test(every_core_runs_once),
		cmocka_unit_test(sizes_have_bounds),
		cmocka_unit_test(what_a_build_lacks_is_missing),
		cmocka_unit_test(messages_come_in_rank_order),
		cmocka_unit_test(one_that_fails_releases_the_others),
		cmocka_unit_test(of_several_the_lowest_is_heard),
		cmocka_unit_test(alone_one_fails_in_its_own_words),
	};

	return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
