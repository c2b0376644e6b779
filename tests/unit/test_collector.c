/* What a user is shown of a run is in the file. */
#include "bench/launch/collector.h"

#include "tests/unit/faults.h"

static char *shown, *said;
static size_t shown_size, said_size;

/* Epochs up to one, and the step after it that ends it. */
static void hear_epochs(struct collector *collector, const struct made *made,
			long first, long last)
{
	const struct row_sink sink = collector_sink(collector);
	struct error err;

	for (size_t i = 0; i < made->count; i++)
		if (made->rows[i].epoch >= first && made->rows[i].epoch <= last)
			assert_int_equal(sink.row(&made->rows[i], sink.context,
						  &err), 0);
	fflush(collector->log);
	fflush(collector->progress.out);
}

static void begin(struct collector *collector, struct campaign *campaign,
		  const char *dir)
{
	const struct campaign_request request = { dir, NULL,
						  "2026-01-31T23:59:59Z" };
	struct error err;

	assert_int_equal(campaign_create(campaign, &request, &err), 0);
	*collector = (struct collector){ .campaign = campaign };
	progress_start(&collector->progress, "never", 0, "cpu-1", 3, 4, NULL);
	collector->log = open_memstream(&said, &said_size);
	collector->progress.out = open_memstream(&shown, &shown_size);
	assert_non_null(collector->log);
	assert_non_null(collector->progress.out);
	collector->progress.epochs = 3;
	collector->progress.iterations = 4;
	collector->progress.target = "cpu-1";
}

static void finish(struct collector *collector, struct campaign *campaign)
{
	fclose(collector->log);
	fclose(collector->progress.out);
	free(said);
	free(shown);
	campaign_release(campaign);
}

static void epochs_are_saved_first(void **state)
{
	static struct made made;
	struct collector collector;
	struct campaign campaign;

	(void)state;
	made_run(&made, "r1", "cpu-1", 1, .1);
	begin(&collector, &campaign, in_folder("saved"));
	hear_epochs(&collector, &made, 0, 1);
	assert_null(strstr(shown, "epoch 1/3  test"));
	inject(WRITE, 0, ENOSPC);
	hear_epochs(&collector, &made, 2, 2);
	assert_non_null(strstr(said, "tried again"));
	assert_null(strstr(shown, "epoch 1/3  test"));
	/* Now there is room, and the next look is late enough. */
	inject(NONE, 0, 0);
	collector.saved_at -= 10;
	collector_sink(&collector).pause(&collector);
	hear_epochs(&collector, &made, 3, 3);
	assert_non_null(strstr(shown, "epoch 2/3  test"));
	finish(&collector, &campaign);
}

/* Nothing is promised that will not be done. */
static void rows_that_got_stuck(void **state)
{
	static struct made made;
	struct collector collector;
	struct campaign campaign;

	(void)state;
	made_run(&made, "r1", "cpu-1", 1, .1);
	begin(&collector, &campaign, in_folder("stuck"));
	inject(CLOSE, 0, EIO);
	hear_epochs(&collector, &made, 1, 2);
	inject(NONE, 0, 0);
	assert_non_null(strstr(said, "in the tables only"));
	assert_null(strstr(said, "tried again"));
	assert_null(strstr(shown, "epoch 1/3  test"));
	finish(&collector, &campaign);
}

/* Adds iterations, one per second, of `samples` each. */
static void do_iterations(struct progress *progress, int first, int last,
			  long samples)
{
	struct observation row;

	row_clear(&observation_rows, &row);
	snprintf(row.phase, sizeof(row.phase), "step");
	snprintf(row.status, sizeof(row.status), "ok");
	row.epoch = 1;
	row.samples = samples;
	row.loss = 2;
	for (row.iter = first; row.iter <= last; row.iter++)
		progress_row(progress, 1000. + (double)row.iter, &row);
	progress_draw(progress, 1000. + last);
	fflush(progress->out);
}

static void plain_lines_have_two_rates(void **state)
{
	struct progress progress = { .target = "cpu-1", .epochs = 1,
				     .iterations = 1000 };
	char *text = NULL;
	size_t size = 0;

	(void)state;
	progress.out = open_memstream(&text, &size);
	assert_non_null(progress.out);
	do_iterations(&progress, 1, 31, 100);
	assert_non_null(strstr(text, "  100 img/s  "));
	do_iterations(&progress, 32, 61, 300);
	assert_non_null(strstr(text, "  300 img/s, mean 200  "));
	assert_int_equal(fclose(progress.out), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epochs_are_saved_first),
		cmocka_unit_test(rows_that_got_stuck),
		cmocka_unit_test(plain_lines_have_two_rates),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
