/* A results folder: its rows are on the disk, whatever happens. */
#include "bench/record/campaign.h"

#include "bench/report/export.h"
#include "tests/unit/campaigns.h"
#include "tests/unit/faults.h"

static void campaign_keeps_its_rows(void **state)
{
	static struct made made;
	const char *dir = in_folder("campaign/deep"), *paths[] = { dir };
	struct campaign campaign, loaded;
	char run_id[CAMPAIGN_RUN_ID];
	struct error err;
	size_t i;

	(void)state;
	create(&campaign, dir, "a, \"label\"");
	assert_int_equal(strncmp(campaign.id, "20260131T235959Z-a-label-", 25),
			 0);
	made_run(&made, "r1", "cpu-1", 1, .1);
	append(&campaign, &made);
	made_run(&made, "r2", "cpu-8", 8, .2);
	append(&campaign, &made);
	assert_int_equal(campaign_finish(&campaign, 0, &err), 0);
	assert_int_equal(entries(dir), 5);
	assert_non_null(strstr(read_whole(beside(dir, "tables.md")),
			       "| 8 cores (s) |"));
	assert_non_null(strstr(read_whole(beside(dir, "summary.csv")),
			       ",cpu-8,8,loop_s,s,1,"));
	assert_int_equal(campaign_load(&loaded, paths, 1, 0, NULL, &err), 0);
	assert_int_equal(loaded.run_count, 2);
	assert_string_equal(loaded.runs[1].label, "a, \"label\"");
	assert_string_equal(loaded.runs[1].campaign_id, campaign.id);
	/* In memory both have the targets' rows, in the file are all. */
	assert_int_equal(loaded.observation_count, campaign.observation_count);
	for (i = 0; i < campaign.observation_count; i++)
		assert_true(campaign.observations[i].core == CELL_NO_INT &&
			    loaded.observations[i].core == CELL_NO_INT);
	assert_non_null(strstr(read_whole(beside(dir, "observations.csv")),
			       "bench/1,r2,cpu-8,8,7,step,"));
	campaign_release(&loaded);
	/* A second campaign in the folder gets another name. */
	create(&loaded, dir, "a, \"label\"");
	assert_string_not_equal(loaded.id, campaign.id);
	assert_int_equal(loaded.run_count, 2);
	/* Its runs are numbered on from the two in the folder. */
	campaign_name_run(&loaded, run_id);
	assert_string_equal(strrchr(run_id, '-'), "-003");
	campaign_name_run(&loaded, run_id);
	assert_string_equal(strrchr(run_id, '-'), "-004");
	campaign_release(&loaded);
	campaign_release(&campaign);
}

static void full_disk_keeps_the_rows(void **state)
{
	static struct made made;
	const char *dir = in_folder("full");
	struct campaign campaign;
	struct error err;
	char before[4096];

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	append(&campaign, &made);
	assert_int_equal(campaign_finish(&campaign, 0, &err), 0);
	snprintf(before, sizeof(before), "%s",
		 read_whole(beside(dir, "runs.csv")));
	made_run(&made, "r2", "cpu-8", 8, .1);
	inject(WRITE, 0, ENOSPC);
	add_all(&campaign, &made);
	assert_refused(campaign_save(&campaign, &err), &err,
		       "observations.csv", ENOSPC);
	assert_refused(campaign_end_run(&campaign, &made.run, &err), &err,
		       "observations.csv", ENOSPC);
	assert_refused(campaign_finish(&campaign, 0, &err), &err,
		       "summary.csv", ENOSPC);
	inject(NONE, 0, 0);
	assert_string_equal(read_whole(beside(dir, "runs.csv")), before);
	assert_non_null(strstr(read_whole(beside(dir, "summary.csv")),
			       ",cpu-1,1,loop_s,"));
	/* The tables still can be printed with both. */
	assert_int_equal(campaign.run_count, 2);
	assert_int_equal(entries(dir), 5);
	campaign_release(&campaign);
}

static int lines(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* A disk that was full for a while: each row is there once. */
static void rows_wait_for_the_disk(void **state)
{
	static struct made made;
	const char *dir = in_folder("waits");
	struct campaign campaign;
	struct error err;

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	inject(WRITE, 1, ENOSPC);
	most = 100;
	add_all(&campaign, &made);
	assert_int_equal(campaign_save(&campaign, &err), -1);
	most = SIZE_MAX;
	inject(NONE, 0, 0);
	assert_int_equal(lines(read_whole(beside(dir, "observations.csv"))), 1);
	add_all(&campaign, &made);
	append(&campaign, &made);
	assert_int_equal(lines(read_whole(beside(dir, "observations.csv"))),
			 1 + 3 * (int)made.count);
	assert_non_null(strstr(read_whole(beside(dir, "runs.csv")), ",ok,"));
	campaign_release(&campaign);
}

/* Another process has the file: nobody waits for it while a child runs. What
 * was modelled goes into its own meanwhile. */
static void rows_wait_for_others(void **state)
{
	static struct made made, modelled;
	const char *dir = in_folder("busy");
	struct campaign campaign;
	struct error err;
	int fd;

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	fd = open(beside(dir, "observations.csv"), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	add_all(&campaign, &made);
	modelled = made;
	for (size_t i = 0; i < modelled.count; i++)
		snprintf(modelled.rows[i].clock,
			 sizeof(modelled.rows[i].clock), "model");
	add_all(&campaign, &modelled);
	assert_int_equal(campaign_save(&campaign, &err), 0);
	assert_int_equal(lines(read_whole(beside(dir, "modelled.csv"))),
			 1 + (int)made.count);
	assert_int_equal(lines(read_whole(beside(dir, "observations.csv"))), 1);
	assert_true(campaign_has_unsaved(&campaign));
	assert_int_equal(close(fd), 0);
	append(&campaign, &made);
	assert_int_equal(lines(read_whole(beside(dir, "observations.csv"))),
			 1 + 2 * (int)made.count);
	assert_false(campaign_has_unsaved(&campaign));
	campaign_release(&campaign);
}

/* A file that has less than the tables says so. */
static void rows_that_are_lost(void **state)
{
	static struct made made;
	const char *dir = in_folder("lost");
	struct campaign campaign;
	struct error err;

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	add_all(&campaign, &made);
	inject(FDATASYNC, 0, EIO);
	assert_refused(campaign_end_run(&campaign, &made.run, &err), &err,
		       "observations.csv", EIO);
	inject(NONE, 0, 0);
	assert_string_equal(campaign.runs[0].status, "ok");
	assert_non_null(strstr(read_whole(beside(dir, "runs.csv")),
			       ",partial,"));
	/* The next run has nothing to do with it. */
	made_run(&made, "r2", "cpu-1", 1, .1);
	append(&campaign, &made);
	assert_non_null(strstr(read_whole(beside(dir, "runs.csv")), ",ok,"));
	campaign_release(&campaign);
}

/* Of address sanitizers: as without them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* The run is in the file nevertheless, and the next one starts afresh. */
static void a_run_without_memory(void **state)
{
	static struct made made;
	const char *dir = in_folder("memory");
	struct campaign campaign;
	struct error err;

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	add_all(&campaign, &made);
	campaign.lost = 1;
	campaign.run_count = campaign.run_room = PTRDIFF_MAX / sizeof(made.run);
	assert_int_equal(campaign_end_run(&campaign, &made.run, &err), -1);
	assert_true(err.memory);
	campaign.run_count = campaign.run_room = 0;
	assert_false(campaign.lost);
	assert_false(campaign_has_unsaved(&campaign));
	assert_int_equal(lines(read_whole(beside(dir, "observations.csv"))),
			 1 + (int)made.count);
	assert_non_null(strstr(read_whole(beside(dir, "runs.csv")),
			       ",r1,"));
	campaign_release(&campaign);
}

static void a_folder_of_a_killed_one(void **state)
{
	static struct made made;
	const char *dir = in_folder("torn");
	struct campaign campaign;
	const char *path;
	FILE *file;

	(void)state;
	create(&campaign, dir, NULL);
	made_run(&made, "r1", "cpu-1", 1, .1);
	append(&campaign, &made);
	campaign_release(&campaign);
	path = beside(dir, "observations.csv");
	file = fopen(path, "a");
	assert_non_null(file);
	fputs("bench/1,r2,cpu-1,1,,step,1,1,0,0.1234", file);
	assert_int_equal(fclose(file), 0);
	write_file(beside(dir, "runs.csv"), "schema,run", 10);
	create(&campaign, dir, NULL);
	assert_non_null(strstr(campaign.notice, path));
	assert_non_null(strstr(campaign.notice, " 37 bytes"));
	assert_non_null(strstr(campaign.notice, beside(dir, "runs.csv")));
	assert_non_null(strstr(campaign.notice, " 10 bytes"));
	assert_int_equal(lines(read_whole(path)), 1 + (int)made.count);
	assert_int_equal(campaign.observation_count, made.count);
	campaign_release(&campaign);
}

/* What cannot be used is not changed either. */
static void torn_lines_of_bad_folders(void **state)
{
	const char *dir = own_folder("refused");
	const struct campaign_request request = { dir, "x",
						  "2026-01-31T23:59:59Z" };
	struct campaign campaign;
	struct error err;
	char torn[1024];

	(void)state;
	create(&campaign, dir, NULL);
	campaign_release(&campaign);
	snprintf(torn, sizeof(torn), "%sbench/1,r",
		 read_whole(beside(dir, "observations.csv")));
	write_file(beside(dir, "observations.csv"), torn, strlen(torn));
	write_file(beside(dir, "runs.csv"), "what,is\nthis,?\n", 15);
	assert_int_equal(campaign_create(&campaign, &request, &err), -1);
	assert_string_equal(read_whole(beside(dir, "observations.csv")), torn);
	assert_string_equal(campaign.notice, "");
	campaign_release(&campaign);
}

static void bad_folders(void **state)
{
	const struct campaign_request request = { in_folder("bad"), "x",
						  "2026-01-31T23:59:59Z" };
	const char *again[] = { in_folder("campaign/deep"),
				in_folder("campaign/deep") };
	struct campaign campaign;
	struct error err;

	(void)state;
	assert_int_equal(mkdir(in_folder("bad"), 0755), 0);
	write_file(in_folder("bad/runs.csv"), "what,is\nthis,?\n", 15);
	assert_int_equal(campaign_create(&campaign, &request, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "bad/runs.csv:1:"));
	campaign_release(&campaign);
	assert_int_equal(campaign_load(&campaign, again, 2, 0, NULL, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "read before"));
	campaign_release(&campaign);
}

static void negative_times(void **state)
{
	static const char text[] =
		"schema,run_id,target,core,phase,epoch,iter,is_warmup,"
		"elapsed_s,status\n"
		"bench/1,r,cpu-1,,loop,,,0,1,ok\n"
		"bench/1,r,cpu-1,,loop,,,0,-1e-9,ok\n";
	const char *path = in_folder("negative.csv");
	struct campaign campaign;
	struct error err;

	(void)state;
	write_file(path, text, strlen(text));
	assert_int_equal(campaign_load(&campaign, &path, 1, 0, NULL, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "negative.csv:3: elapsed_s"));
	campaign_release(&campaign);
}

/* Without --out, in the folder that we are in. */
static void campaigns_of_one_second(void **state)
{
	struct campaign first, second;

	(void)state;
	assert_int_equal(chdir(folder), 0);
	create(&first, NULL, "same = ../time");
	create(&second, NULL, "same = ../time");
	assert_string_equal(first.dir,
			    "results/20260131T235959Z-same-..-time");
	assert_string_equal(second.dir,
			    "results/20260131T235959Z-same-..-time-2");
	/* Campaigns of two hosts differ, too, if their folders are merged. */
	assert_int_equal(strncmp(first.id, "20260131T235959Z-same-..-time-",
				 30), 0);
	assert_int_equal(strlen(first.id), 38);
	assert_int_equal(strlen(second.id), 38);
	assert_string_not_equal(first.id, second.id);
	campaign_release(&first);
	campaign_release(&second);
	create(&first, NULL, "");
	assert_string_equal(first.dir, "results/20260131T235959Z");
	campaign_release(&first);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(campaign_keeps_its_rows),
		cmocka_unit_test(full_disk_keeps_the_rows),
		cmocka_unit_test(rows_wait_for_the_disk),
		cmocka_unit_test(rows_wait_for_others),
		cmocka_unit_test(rows_that_are_lost),
		cmocka_unit_test(a_run_without_memory),
		cmocka_unit_test(a_folder_of_a_killed_one),
		cmocka_unit_test(torn_lines_of_bad_folders),
		cmocka_unit_test(bad_folders),
		cmocka_unit_test(negative_times),
		cmocka_unit_test(campaigns_of_one_second),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
