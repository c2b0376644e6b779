#include "bench/launch/allreduce_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/contract/allocator.h"
#include "bench/launch/launcher_log.h"
#include "bench/plan/ranks.h"
#include "bench/record/csv.h"
#include "bench/record/machine.h"
#include "bench/record/run.h"
#include "bench/statistics/stats.h"
#include "bench/system/clock.h"
#include "bench/system/cpus.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"

#define SMALLEST 4096 /* bytes */
#define STEP 2	      /* from a size to the next */
#define WARMUP 2
#define LEAST_RUNS 5
#define MOST_RUNS 51
#define SCRATCH (32u << 20) /* bytes that push others out of a cache */
#define SECONDS .2 /* for each size, if that is enough for the least */
#define LIMIT_S 600 /* for all sizes of a world size */

/* Shared by all ranks and filled by the first one. */
struct sweep {
	struct sweep_size {
		size_t bytes;
		int count;
		double times[MOST_RUNS];
	} sizes[ALLREDUCE_SIZES];
};

/* Memory of one rank. */
struct memory {
	float *values; /* the vector: zeros stay zeros in every sum */
	char *scratch;
};

/* Sets the slowest rank's time in all ranks. Fills the caches first, as an
 * iteration does, which works on more than a vector between two sums. */
static int time_once(struct group *group, const struct memory *memory,
		     size_t count, double *slowest_s, struct error *err)
{
	double own_s, all_s[GROUP_MAX_SIZE];

	memset(memory->scratch, group->rank, SCRATCH);
	if (group_wait(group, err))
		return -1;
	own_s = clock_now();
	if (group_offer(group, memory->values, count, err) ||
	    group_reduce_scatter(group, err) ||
	    group_offer(group, memory->values, count, err) ||
	    group_all_gather(group, err))
		return -1;
	own_s = clock_now() - own_s;
	if (group_gather(group, &own_s, sizeof(own_s), all_s, err))
		return -1;
	*slowest_s = 0;
	for (int r = 0; r < group->size; r++)
		if (all_s[r] > *slowest_s)
			*slowest_s = all_s[r];
	return 0;
}

/* All ranks have the same times and therefore stop together. */
static int time_size(struct group *group, const struct memory *memory,
		     struct sweep_size *size, struct error *err)
{
	const size_t floats = size->bytes / sizeof(*memory->values);
	double times[MOST_RUNS], sum_s = 0, once_s;
	int count = 0;

	for (int i = 0; i < WARMUP; i++)
		if (time_once(group, memory, floats, &once_s, err))
			return -1;
	while (count < MOST_RUNS && (count < LEAST_RUNS || sum_s < SECONDS)) {
		if (time_once(group, memory, floats, &once_s, err))
			return -1;
		times[count++] = once_s;
		sum_s += once_s;
	}
	if (group->rank == 0) {
		memcpy(size->times, times, sizeof(times));
		size->count = count;
	}
	return 0;
}

static int time_sizes(struct group *group, const struct memory *memory,
		      struct sweep *sweep, struct error *err)
{
	for (int s = 0; s < ALLREDUCE_SIZES; s++)
		if (time_size(group, memory, &sweep->sizes[s], err))
			return -1;
	return 0;
}

/* The body of a rank. */
static int sweep_body(struct group *group, void *context, struct error *err)
{
	struct sweep *sweep = context;
	const size_t most = sweep->sizes[ALLREDUCE_SIZES - 1].bytes;
	char *own = malloc(SCRATCH + most);
	struct memory memory = { (float *)(own + SCRATCH), own };
	int failed;

	if (!own)
		return error_memory(err, "the vector of a rank");
	memset(own, 0, SCRATCH + most); /* untouched pages would all be one */
	if (group->memory)
		memory.values = group->memory->allocate(group->memory, most,
							err);
	failed = memory.values ? time_sizes(group, &memory, sweep, err) : -1;
	free(own);
	return failed;
}

/* Machine and build, the same in all rows. */
static void describe(struct network_row *row, const struct target *target,
		     const char *hosts, int cpus)
{
	struct run run;

	row_clear(&run_rows, &run);
	machine_describe(&run);
	row_clear(&network_rows, row);
	row_describe(&network_rows, row, &run_rows, &run);
	memcpy(row->schema, network_rows.schema,
	       strlen(network_rows.schema) + 1);
	clock_stamp(row->started_utc, sizeof(row->started_utc));
	snprintf(row->transport, sizeof(row->transport), "%s",
		 target_transport(target));
	snprintf(row->hosts, sizeof(row->hosts), "%s", hosts ? hosts : "");
	row->ranks = target->cores;
	row->cpus = cpus;
}

static void fill_rows(struct sweep *sweep, const struct network_row *start,
		      struct network_row *rows)
{
	for (int s = 0; s < ALLREDUCE_SIZES; s++) {
		struct sweep_size *size = &sweep->sizes[s];
		const struct stats stats = stats_compute(
			size->times, (size_t)size->count);

		rows[s] = *start;
		rows[s].vector_bytes = (long)size->bytes;
		rows[s].repetitions = size->count;
		rows[s].median_s = stats.median;
		rows[s].q1_s = stats.q1;
		rows[s].q3_s = stats.q3;
	}
}

static int launch(const struct target *target, struct sweep *sweep,
		  struct error *err)
{
	const struct group_job job = { .body = sweep_body,
				       .context = sweep,
				       .context_size = sizeof(*sweep),
				       .caught = interrupt_signal };
	size_t bytes = SMALLEST;

	for (int s = 0; s < ALLREDUCE_SIZES; s++, bytes *= STEP)
		sweep->sizes[s].bytes = bytes;
	return group_launch(target->transport, target->cores, &job, err);
}

/* If all ranks have the error, only the first one prints it; otherwise the rank
 * that failed. */
static void say_once(const struct target *target, int joined, struct error *err)
{
	const struct error cause = *err;
	const int rank = ranks_own(target);

	if (rank && joined)
		err->message[0] = '\0';
	else if (rank)
		error_set(err, cause.kind, "core %d: %.1000s", rank,
			  cause.message);
}

int allreduce_bench_measure(struct target *target, const char *hosts,
			    struct network_row *rows, struct error *err)
{
	struct sweep *sweep = calloc(1, sizeof(*sweep));
	struct network_row start;
	char list[256];
	int cpus, failed, joined;

	if (!sweep)
		return error_memory(err, "the times of a sweep");
	cpus = cpus_confine(target->cores, list, sizeof(list), err);
	failed = cpus < 0 || target_load(target, err) ||
		 (target->transport->join &&
		  target->transport->join(target->cores, err));
	joined = !failed;
	if (joined) {
		describe(&start, target, hosts, cpus);
		failed = launch(target, sweep, err);
		if (!failed)
			fill_rows(sweep, &start, rows);
		if (target->transport->leave)
			target->transport->leave(NULL);
	}
	if (failed)
		say_once(target, joined, err);
	free(sweep);
	return failed ? -1 : 0;
}

/* Reads the rows, which only the first process prints. */
static int read_rows(int descriptor, const struct target *target,
		     struct network_row *rows, struct error *err)
{
	char path[32];
	size_t count;
	void *found;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	if (csv_read(path, &network_rows, &found, &count, err))
		return -1;
	if (count == ALLREDUCE_SIZES)
		memcpy(rows, found, ALLREDUCE_SIZES * sizeof(*rows));
	free(found);
	return count == ALLREDUCE_SIZES ? 0 :
		error_set(err, ERROR_FAILED, "%s: the sweep printed %zu rows "
			  "instead of %d", target->name, count,
			  ALLREDUCE_SIZES);
}

/* Parses the processes' standard error; lines that report no failure are passed
 * on. */
static void read_log(int descriptor, struct launcher_log *log)
{
	char bytes[4096];
	ssize_t count;
	off_t at = 0;

	while ((count = pread(descriptor, bytes, sizeof(bytes), at)) > 0) {
		launcher_log_feed(log, bytes, (size_t)count, STDERR_FILENO);
		at += count;
	}
	launcher_log_end(log, STDERR_FILENO);
}

static int run_processes(const struct target *target, const char *hosts,
			 int printed, int said, struct error *err)
{
	struct launcher_log log = { .hosts = hosts, .cores = target->cores };
	const struct process_setting setting = { .stdout_fd = printed,
						 .stderr_fd = said };
	char number[16], self[PATH_MAX];
	const char *const own[] = { self, "env", "--network",
				    "--export-csv=-", target->name,
				    hosts ? "--hosts" : NULL, hosts, NULL };
	const ssize_t length = readlink("/proc/self/exe", self,
					sizeof(self) - 1);
	const char **words = ranks_command(target, hosts, own, number, err);
	struct process_status status;
	int failed;

	if (!words)
		return -1;
	self[length > 0 ? length : 0] = '\0';
	failed = process_run(words, &setting, LIMIT_S, &status, err);
	free(words);
	read_log(said, &log);
	if (failed || (!status.code && !log.lost[0]))
		return failed;
	if (log.lost[0] || log.said[0])
		return error_set(err, ERROR_FAILED, "%s: %s", target->name,
				 log.lost[0] ? log.lost : log.said);
	return error_set(err, ERROR_FAILED, "%s: its processes failed (%s %d)",
			 target->name, status.signal ? "signal" : "exit code",
			 status.signal ? status.signal : status.code);
}

int allreduce_bench_start(const struct target *target, const char *hosts,
			  struct network_row *rows, struct error *err)
{
	const int printed = memfd_create("bench-sweep", MFD_CLOEXEC);
	const int said = memfd_create("bench-sweep", MFD_CLOEXEC);
	int failed;

	if (printed < 0 || said < 0)
		failed = error_set(err, ERROR_FAILED, "no memory for rows: %s",
				   strerror(errno));
	else
		failed = run_processes(target, hosts, printed, said, err) ||
			 read_rows(printed, target, rows, err);
	if (printed >= 0)
		close(printed);
	if (said >= 0)
		close(said);
	return failed ? -1 : 0;
}
