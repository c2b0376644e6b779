/*
 * Transport of one MPI rank per core, started by mpirun on one host or several.
 *
 * MPI waits by polling, which takes the CPU from ranks that compute. Here a
 * waiting rank sleeps in between (wait_for), except in native sums.
 *
 * Each call that waits is one MPI_Allgather of a packet in which every rank
 * reports whether it has failed. A rank that fails makes one more, so that all
 * others notice, whatever they wait for. A failed call of MPI ends all ranks
 * (backends/mpi/check.h).
 *
 * Ranks on one host share memory, as in the other transports. On several hosts
 * each rank has its own copy of everything.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/contract/allocator.h"
#include "backends/mpi/check.h"
#include "backends/mpi/exchange.h"
#include "backends/mpi/windows.h"
#include "backends/parallel/meeting.h"
#include "backends/parallel/plugin.h"

#define HOST_ROOM 64
#define ASKS 50	       /* polls before the first sleep */
#define SLEEP_NS 50000 /* about doubled by the kernel */
/* seconds of waiting after a stop request until the roll call */
#define CALL_S .25
#define ANSWER_S 2     /* seconds for the answers */
#define ROLL 1	       /* tag of the answers */

struct packet {
	int failed;
	int begun; /* buckets of a sum: see exchange_abandon() */
	size_t bytes;
	char message[GROUP_MAX_MESSAGE];
};

struct mpi_core {
	struct group base; /* first: the body gets it */
	struct allocator allocator;
	struct windows windows;
	MPI_Comm ranks;
	int leaving; /* 1 = another rank has failed */
	int sees;    /* 1 = it reads the others' vectors; nothing is sent */
	int owes;    /* 1 = others wait for its part of the offered vector */
	float *offered;
	float *theirs[GROUP_MAX_SIZE]; /* ranks' vectors, in windows */
	struct exchange exchange; /* if ranks do not see each other's vectors */
	struct packet mine, all[GROUP_MAX_SIZE];
	char hosts[GROUP_MAX_SIZE][HOST_ROOM];
	int (*caught)(void); /* as in struct group_job */
	double caught_at;    /* time of the signal in this wait; 0 = none */
	int has_called;	     /* 1 = the roll was called in this wait */
};

/* The lowest rank that answers prints the missing ranks. */
static void print_roll(const struct mpi_core *core, const char *answers)
{
	char text[256] = "";
	int first = 0;

	while (!answers[first])
		first++;
	for (int r = 0; r < core->base.size; r++)
		if (!answers[r]) {
			const size_t length = strlen(text);

			snprintf(text + length, sizeof(text) - length,
				 "%s core %d on host %s", length ? "," : "", r,
				 core->hosts[r]);
		}
	if (first == core->base.rank && *text)
		fprintf(stderr, "bench: core %d: waits for%s\n", first, text);
}

/* Returns 1 if another rank's answer to the roll has arrived. */
static int is_there(const struct mpi_core *core, MPI_Status *status)
{
	int come = 0;

	mpi_must(MPI_Iprobe(MPI_ANY_SOURCE, ROLL, core->ranks, &come, status),
		 "MPI_Iprobe");
	return come;
}

/*
 * Roll call: this rank is to stop, and another one does not arrive; it may
 * hang. All waiting ranks report that they wait, and soon the missing ones are
 * known.
 */
static void call_roll(struct mpi_core *core, MPI_Request *waited_for)
{
	char answers[GROUP_MAX_SIZE] = { 0 }, nothing = 0;
	MPI_Request request;
	MPI_Status status;
	double end;
	int done = 0;

	answers[core->base.rank] = 1;
	for (int r = 0; r < core->base.size; r++)
		if (r != core->base.rank) {
			mpi_must(MPI_Isend(&nothing, 1, MPI_BYTE, r, ROLL,
					   core->ranks, &request), "MPI_Isend");
			mpi_must(MPI_Request_free(&request),
				 "MPI_Request_free");
		}
	end = MPI_Wtime() + ANSWER_S;
	while (MPI_Wtime() < end) {
		while (is_there(core, &status)) {
			mpi_must(MPI_Recv(&nothing, 1, MPI_BYTE,
					  status.MPI_SOURCE, ROLL, core->ranks,
					  MPI_STATUS_IGNORE), "MPI_Recv");
			answers[status.MPI_SOURCE] = 1;
		}
		/* The missing rank arrived, late. */
		mpi_must(MPI_Test(waited_for, &done, MPI_STATUS_IGNORE),
			 "MPI_Test");
		if (done)
			return;
		exchange_sleep(SLEEP_NS);
	}
	print_roll(core, answers);
}

static void grow_impatient(struct mpi_core *core, MPI_Request *waited_for)
{
	if (core->has_called || !core->caught || !core->caught())
		return;
	if (!core->caught_at)
		core->caught_at = MPI_Wtime();
	if (MPI_Wtime() - core->caught_at < CALL_S)
		return;
	core->has_called = 1;
	call_roll(core, waited_for);
}

static void wait_for(struct mpi_core *core, MPI_Request *request)
{
	int done = 0;

	for (long asked = 0; !done; asked++) {
		mpi_must(MPI_Test(request, &done, MPI_STATUS_IGNORE),
			 "MPI_Test");
		if (done || asked < ASKS)
			continue;
		grow_impatient(core, request);
		exchange_sleep(SLEEP_NS);
	}
	core->caught_at = 0;
	core->has_called = 0;
}

/* The fences make earlier writes to shared memory visible afterwards. */
static void exchange_packets(struct mpi_core *core)
{
	MPI_Request request;

	core->mine.begun = core->exchange.started;
	atomic_thread_fence(memory_order_seq_cst);
	mpi_must(MPI_Iallgather(&core->mine, sizeof(core->mine), MPI_BYTE,
				core->all, sizeof(core->mine), MPI_BYTE,
				core->ranks, &request), "MPI_Iallgather");
	wait_for(core, &request);
	atomic_thread_fence(memory_order_seq_cst);
	for (int r = 0; r < core->base.size; r++)
		core->leaving |= core->all[r].failed;
}

/* Ends this rank's requests after another rank has failed, so that others do
 * not wait for it. */
static int leave(struct mpi_core *core, struct error *err)
{
	int begun[GROUP_MAX_SIZE];

	for (int r = 0; r < core->base.size; r++)
		begun[r] = core->all[r].begun;
	exchange_abandon(&core->exchange, begun);
	core->owes = 0;
	return error_set(err, ERROR_FAILED, "another core failed");
}

static int mpi_gather(struct group *group, const void *mine, size_t bytes,
		      void *all, struct error *err)
{
	struct mpi_core *core = (struct mpi_core *)group;

	core->mine.failed = 0;
	core->mine.bytes = bytes;
	if (bytes)
		memcpy(core->mine.message, mine, bytes);
	exchange_packets(core);
	if (core->leaving)
		return leave(core, err);
	for (int r = 0; r < group->size; r++) {
		if (core->all[r].bytes != bytes)
			return error_set(err, ERROR_FAILED, "core %d sent %zu "
					 "bytes, and core %d %zu", r,
					 core->all[r].bytes, group->rank,
					 bytes);
		if (bytes)
			memcpy((char *)all + (size_t)r * bytes,
			       core->all[r].message, bytes);
	}
	return 0;
}

/* Allocates before others wait for this rank. */
static int make_room(struct mpi_core *core, struct error *err)
{
	return core->base.native_sums ?
		       0 : exchange_prepare(&core->exchange,
					    &core->base.offered, err);
}

static int mpi_begin_bucket(struct group *group, float *values,
			    const struct buckets *buckets, int bucket,
			    struct error *err)
{
	struct mpi_core *core = (struct mpi_core *)group;

	if (group->memory || group->native_sums)
		return 0;
	if (exchange_begin(&core->exchange, values, buckets, bucket, err))
		return -1;
	core->owes = core->exchange.is_running;
	return 0;
}

static int mpi_offer(struct group *group, float *values, struct error *err)
{
	struct mpi_core *core = (struct mpi_core *)group;
	struct mpi_offer {
		size_t count;
		int sees;
	} mine = { group->offered.count, 0 }, all[GROUP_MAX_SIZE];

	exchange_join(&core->exchange, &group->overlapped_s);
	if (!group->native_sums)
		mine.sees = windows_find(&core->windows, values, core->theirs);
	if ((!mine.sees && make_room(core, err)) ||
	    mpi_gather(group, &mine, sizeof(mine), all, err))
		return -1;
	core->sees = 1;
	for (int r = 0; r < group->size; r++) {
		core->sees &= all[r].sees;
		if (all[r].count != all[0].count)
			return error_set(err, ERROR_FAILED, "core %d passed a "
					 "different buffer than core 0", r);
	}
	core->offered = values;
	core->owes = !core->sees;
	return core->sees ? 0 : make_room(core, err);
}

/* A native sum: MPI waits in its own way and ignores signals. */
static void sum_natively(struct mpi_core *core)
{
	mpi_must(MPI_Allreduce(MPI_IN_PLACE, core->offered,
			       (int)core->base.offered.count, MPI_FLOAT,
			       MPI_SUM, core->ranks), "MPI_Allreduce");
}

/* Waits until a bucket has been received and sent. */
static void wait_for_bucket(struct mpi_core *core, int bucket)
{
	MPI_Request *requests = exchange_requests(&core->exchange, bucket);

	for (int i = 0; i < 2 * core->base.size; i++)
		wait_for(core, &requests[i]);
}

static int sum_in_order(struct mpi_core *core, struct error *err)
{
	const struct buckets *buckets = &core->base.offered;

	if (exchange_start_sum(&core->exchange, core->offered, buckets, err))
		return -1;
	for (int b = 0; b < buckets_number(buckets); b++) {
		wait_for_bucket(core, b);
		exchange_add(&core->exchange, b);
	}
	exchange_end(&core->exchange);
	return 0;
}

static int gather_slices(struct mpi_core *core, struct error *err)
{
	const struct buckets *buckets = &core->base.offered;

	if (exchange_start_gather(&core->exchange, core->offered, buckets, err))
		return -1;
	for (int b = 0; b < buckets_number(buckets); b++)
		wait_for_bucket(core, b);
	exchange_end(&core->exchange);
	return 0;
}

/*
 * Ranks that see each other's vectors share memory and have one bucket. Nobody
 * else touches this slice of this rank's vector, and only this rank touches it
 * in the others.
 */
static void sum_theirs(struct mpi_core *core)
{
	const struct group *group = &core->base;
	const struct slice own =
		bucket_slice(&group->offered, 0, group->rank, group->size);
	const float *vectors[GROUP_MAX_SIZE];

	for (int r = 0; r < group->size; r++)
		vectors[r] = core->theirs[r] + own.from;
	exchange_add_vectors(vectors, group->size, own.to - own.from,
			     core->offered + own.from);
}

static void copy_theirs(struct mpi_core *core)
{
	const struct group *group = &core->base;

	for (int i = 1; i < group->size; i++) {
		const int from = (group->rank + i) % group->size;
		const struct slice slice =
			bucket_slice(&group->offered, 0, from, group->size);

		memcpy(core->offered + slice.from,
		       core->theirs[from] + slice.from,
		       (slice.to - slice.from) * sizeof(float));
	}
}

static int mpi_reduce_scatter(struct group *group, struct error *err)
{
	struct mpi_core *core = (struct mpi_core *)group;
	int failed = 0;

	if (core->sees)
		sum_theirs(core);
	else if (group->native_sums)
		sum_natively(core);
	else
		failed = sum_in_order(core, err);
	core->owes = failed;
	return failed;
}

static int mpi_all_gather(struct group *group, struct error *err)
{
	struct mpi_core *core = (struct mpi_core *)group;

	if (core->sees) {
		copy_theirs(core);
		return 0;
	}
	core->owes = gather_slices(core, err);
	return core->owes;
}

/* A rank that fails before is noticed here, not in MPI's own wait. */
static void *add_window(struct mpi_core *core, size_t bytes, int owner,
			struct error *err)
{
	void *part;

	if (windows_prepare(&core->windows, err) ||
	    mpi_gather(&core->base, NULL, 0, NULL, err))
		return NULL;
	part = windows_add(&core->windows, bytes, owner);
	return mpi_gather(&core->base, NULL, 0, NULL, err) ? NULL : part;
}

static struct mpi_core *core_of(struct allocator *allocator)
{
	return (struct mpi_core *)((char *)allocator -
				   offsetof(struct mpi_core, allocator));
}

static void *mpi_allocate(struct allocator *allocator, size_t bytes,
			  struct error *err)
{
	return add_window(core_of(allocator), bytes, allocator->rank, err);
}

static void *mpi_share(struct allocator *allocator, size_t bytes,
		       struct error *err)
{
	return add_window(core_of(allocator), allocator->rank ? 0 : bytes, 0,
			  err);
}

/*
 * Exchanges the results of all ranks. Returns 0, or -1 with the message of the
 * lowest rank that failed by itself. If others wait for this rank's floats it
 * cannot reach them, and ends all ranks.
 */
static int settle(struct mpi_core *core, int result, struct error *err)
{
	struct ending mine = { .result = result }, *endings;
	struct meeting *meeting;
	double ignored_s = 0;
	int failed;

	/* Its thread may still call MPI. */
	exchange_join(&core->exchange, &ignored_s);
	if (result)
		mine.err = *err;
	if (result && !core->base.memory && err->kind != ERROR_STOPPED)
		error_set(&mine.err, err->kind, "host %s: %s",
			  core->hosts[core->base.rank], err->message);
	if (result && core->owes)
		mpi_end_all(err);
	meeting = calloc(1, sizeof(*meeting));
	endings = calloc((size_t)core->base.size, sizeof(*endings));
	if (!meeting || !endings) {
		error_memory(err, "how the cores ended");
		mpi_end_all(err);
	}
	meeting->size = core->base.size;
	core->mine.failed = result != 0;
	if (!core->leaving)
		exchange_packets(core);
	for (int r = 0; r < meeting->size; r++)
		atomic_init(&meeting->leaving[r], !core->all[r].failed);
	mpi_must(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, endings,
			       sizeof(mine), MPI_BYTE, core->ranks),
		 "MPI_Allgather");
	failed = meeting_blame(meeting, endings, err);
	free(meeting);
	free(endings);
	return failed;
}

/* Returns 1 if threads may call MPI, one at a time. */
static int has_threads(void)
{
	int level = MPI_THREAD_SINGLE;

	mpi_must(MPI_Query_thread(&level), "MPI_Query_thread");
	return level >= MPI_THREAD_SERIALIZED;
}

/* All ranks call it, to launch or to leave. */
static void begin(struct mpi_core *core, const struct transport *transport)
{
	char name[MPI_MAX_PROCESSOR_NAME], own[HOST_ROOM];
	int length = 0;

	core->base.transport = transport;
	core->ranks = MPI_COMM_WORLD;
	mpi_must(MPI_Comm_rank(core->ranks, &core->base.rank), "MPI_Comm_rank");
	mpi_must(MPI_Comm_size(core->ranks, &core->base.size), "MPI_Comm_size");
	mpi_must(MPI_Get_processor_name(name, &length),
		 "MPI_Get_processor_name");
	snprintf(own, sizeof(own), "%.*s", length, name);
	mpi_must(MPI_Allgather(own, sizeof(own), MPI_BYTE, core->hosts,
			       sizeof(own), MPI_BYTE, core->ranks),
		 "MPI_Allgather");
	core->allocator = (struct allocator){ core->base.rank, core->base.size,
					      1, mpi_allocate, mpi_share };
	core->exchange = (struct exchange){ .ranks = core->ranks,
					    .rank = core->base.rank,
					    .size = core->base.size,
					    .has_threads = has_threads() };
	core->windows = (struct windows){ .ranks = core->ranks,
					  .rank = core->base.rank,
					  .size = core->base.size };
	if (windows_one_host())
		core->base.memory = &core->allocator;
}

static int mpi_launch(const struct transport *transport, int size,
		      const struct group_job *job, struct error *err)
{
	struct mpi_core *core = calloc(1, sizeof(*core));
	int result;

	(void)size; /* mpi_join has checked it */
	if (!core) {
		error_memory(err, "a rank");
		mpi_end_all(err);
	}
	begin(core, transport);
	core->caught = job->caught;
	result = settle(core, job->body(&core->base, job->context, err), err);
	if (!result)
		windows_release(&core->windows);
	exchange_release(&core->exchange);
	free(core);
	return result;
}

/* Sets Open MPI's parameters unless mpirun or the environment has them. */
static int set_parameters(struct error *err)
{
	static const struct {
		const char *name, *value;
	} parameters[] = {
		/* Waiting ranks leave the CPU to others. */
		{ "OMPI_MCA_mpi_yield_when_idle", "1" },
		/*
		 * Sends large messages over TCP (MCA_BTL_FLAGS_SEND and
		 * _SEND_INPLACE) instead of putting them: puts in both
		 * directions left a third of the rate unused.
		 */
		{ "OMPI_MCA_btl_tcp_flags", "9" },
	};

	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
		if (setenv(parameters[i].name, parameters[i].value, 0))
			return error_memory(err, "a variable for MPI");
	return 0;
}

static void finalize(void)
{
	mpi_must(MPI_Finalize(), "MPI_Finalize");
}

static int mpi_join(int size, struct error *err)
{
	int ranks, level, code;

	if (set_parameters(err))
		return -1;
	code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
	/* No error text and no MPI_Abort() are available yet: mpirun ends the
	 * others. */
	if (code)
		return error_set(err, ERROR_FAILED, "MPI_Init_thread: error %d",
				 code);
	mpi_must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
		 "MPI_Comm_set_errhandler");
	mpi_must(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
	if (ranks == size && level >= MPI_THREAD_FUNNELED)
		return 0;
	finalize();
	return error_set(err, ERROR_USAGE, "%d ranks of MPI were started for "
			 "%d cores: mpirun -np %d", ranks, size, size);
}

static void mpi_leave(const struct error *failure)
{
	if (failure) {
		struct mpi_core *core = calloc(1, sizeof(*core));
		struct error err = *failure;

		if (!core)
			mpi_end_all(failure);
		begin(core, NULL);
		settle(core, -1, &err);
		free(core);
	}
	finalize();
}

static const struct transport mpi_transport = {
	.name = "mpi",
	.summary = "one rank of MPI per core, on one host or several",
	.max_size = GROUP_MAX_SIZE,
	.launch = mpi_launch,
	.join = mpi_join,
	.leave = mpi_leave,
	.gather = mpi_gather,
	.offer = mpi_offer,
	.begin_bucket = mpi_begin_bucket,
	.reduce_scatter = mpi_reduce_scatter,
	.all_gather = mpi_all_gather,
};

const struct plugin bench_plugin = {
	.version = PLUGIN_VERSION,
	.transport = &mpi_transport,
};
