#include "bench/train/rank_hosts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/machine.h"
#include "bench/system/hash.h"
#include "bench/system/text.h"

/* Properties that decide the result and must be equal on all hosts. */
enum part {
	TRAIN_IMAGES,
	TRAIN_LABELS,
	TEST_IMAGES,
	TEST_LABELS,
	WEIGHTS,
	PARAMETERS,
	STATISTICS,
	OPTIONS,
	PARTS
};

static const char *const part_names[PARTS] = {
	[TRAIN_IMAGES] = "training images",
	[TRAIN_LABELS] = "training labels",
	[TEST_IMAGES] = "test images",
	[TEST_LABELS] = "test labels",
	[WEIGHTS] = "weights",
	[PARAMETERS] = "initial parameters",
	[STATISTICS] = "initial running statistics",
	[OPTIONS] = "options",
};

struct rank_host {
	char name[64], version[40];
	char parts[PARTS][17]; /* digits of a hash; empty = none */
	int cpus;
};

static void set_part(struct rank_host *host, enum part part, const char *hash)
{
	snprintf(host->parts[part], sizeof(host->parts[part]), "%.16s", hash);
}

static void set_hash(struct rank_host *host, enum part part, uint64_t hash)
{
	snprintf(host->parts[part], sizeof(host->parts[part]), "%016" PRIx64,
		 hash);
}

static void set_data(struct rank_host *host, const struct training *training)
{
	const struct dataset *dataset = training->dataset;

	/* The hash of a folder covers both sets, with their labels. */
	set_part(host, TRAIN_IMAGES, dataset->train.sha256);
	set_part(host, TRAIN_LABELS, dataset->train.labels_sha256);
	set_part(host, TEST_IMAGES, dataset->test.sha256);
	set_part(host, TEST_LABELS, dataset->test.labels_sha256);
	if (training->weights)
		set_part(host, WEIGHTS, training->weights->sha256);
}

/* Options that decide the result or the order of messages; before the start all
 * but the seed, whose parameters are compared then. */
static void set_options(struct rank_host *host,
			const struct training *training,
			unsigned long long seed)
{
	const struct recipe *recipe = &training->recipe;
	const double numbers[] = {
		recipe->epochs, recipe->optimizer, recipe->lr, recipe->scale_lr,
		recipe->rho, recipe->eps, recipe->beta1, recipe->beta2,
		recipe->momentum, recipe->weight_decay, recipe->lr_warmup,
		recipe->lr_step, recipe->lr_gamma, training->iterations,
		training->global_samples, training->test_batch,
		training->test_steps, training->drop_last, training->pad,
		training->warmup, training->dropout, training->reshuffle,
		training->algorithm, training->precision, training->infers,
		training->folds, training->model.input.channels,
		training->model.input.height, training->model.input.width,
		training->native_sums, training->whole_gradients,
		(double)training->bucket_floats, training->save_best,
		training->target_accuracy_pct, (double)seed,
	};
	char text[sizeof(numbers) / sizeof(*numbers) * 25 + 200];

	snprintf(text, sizeof(text), "%s %s", training->model.name,
		 training->backend->name);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		text_append(text, sizeof(text), " %a", numbers[i]);
	set_hash(host, OPTIONS, hash_bytes64(text, strlen(text)));
}

static struct rank_host own_host(const struct core *core)
{
	struct rank_host host = { .cpus = core->outcome->process.cpus };

	gethostname(host.name, sizeof(host.name) - 1);
	snprintf(host.version, sizeof(host.version), "%s (%.24s)",
		 machine_version(), machine_commit());
	return host;
}

static int check_version(const struct rank_host *first,
			 const struct rank_host *other,
			 int rank, struct error *err)
{
	if (!strcmp(first->version, other->version))
		return 0;
	return error_set(err, ERROR_MISSING, "core %d on host %s is bench %s, "
			 "and core 0 on host %s bench %s: install the same on "
			 "both", rank, other->name, other->version, first->name,
			 first->version);
}

/* Lists the ranks whose part differs from rank 0's: "core 2 on host b". */
static void list_others(const struct rank_host *all, int size, enum part part,
			char *text, size_t room)
{
	int end;

	text[0] = '\0';
	for (int r = 0; r < size; r = end) {
		end = r + 1;
		if (!strcmp(all[r].parts[part], all[0].parts[part]))
			continue;
		while (end < size && !strcmp(all[end].name, all[r].name) &&
		       strcmp(all[end].parts[part], all[0].parts[part]))
			end++;
		text_append(text, room, "%s%s %d", text[0] ? ", " : "",
			    end - r > 1 ? "cores" : "core", r);
		if (end - r > 1)
			text_append(text, room, " to %d", end - 1);
		text_append(text, room, " on host %s", all[r].name);
	}
}

/* rank is the first one with another part than rank 0. */
static int refuse_parts(const struct rank_host *all, int size, int rank,
			struct error *err)
{
	char others[400], names[200] = "";
	enum part first = PARTS;
	int is_options;

	for (enum part part = 0; part < PARTS; part++) {
		if (!strcmp(all[rank].parts[part], all[0].parts[part]))
			continue;
		if (first == PARTS)
			first = part;
		text_append(names, sizeof(names), "%s%s", names[0] ? ", " : "",
			    part_names[part]);
	}
	/* Other options make other parameters: they are the cause. */
	is_options = strcmp(all[rank].parts[OPTIONS], all[0].parts[OPTIONS]);
	list_others(all, size, is_options ? OPTIONS : first, others,
		    sizeof(others));
	return error_set(err, is_options ? ERROR_USAGE : ERROR_INPUT,
			 "%s: %s differ from core 0 on host %s (%.12s..., "
			 "%.12s...): %s", others, names,
			 all[0].name, all[rank].parts[first],
			 all[0].parts[first], is_options ?
				 "start all cores with the same --seed, --lr, "
				 "--batch, --image-size and so on" :
			 first >= PARAMETERS ?
				 "--weights FILE gives all cores the same" :
				 "copy the files from there");
}

/* All cores meet; all has room for each of them. */
static int gather(struct core *core, const struct rank_host *mine,
		  struct rank_host *all, struct error *err)
{
	const int size = core->group->size;

	if (group_gather(core->group, mine, sizeof(*mine), all, err))
		return -1;
	for (int r = 0; r < size; r++)
		if (check_version(&all[0], &all[r], r, err))
			return -1;
	for (int r = 0; r < size; r++)
		if (memcmp(all[0].parts, all[r].parts, sizeof(all[r].parts)))
			return refuse_parts(all, size, r, err);
	return 0;
}

/* Sets the hosts as in --hosts, and the CPUs of all. */
static void describe(const struct rank_host *hosts, int size, struct run *run)
{
	run->hosts[0] = '\0';
	run->cpus = 0;
	for (int r = 0; r < size; r++) {
		int count = 0, before = 0;

		for (int other = 0; other < size; other++) {
			const int same = !strcmp(hosts[other].name,
						 hosts[r].name);

			count += same;
			before += same && other < r;
		}
		if (before)
			continue;
		run->cpus += hosts[r].cpus;
		text_append(run->hosts, sizeof(run->hosts), "%s%s:%d",
			    r ? "," : "", hosts[r].name, count);
	}
}

int rank_hosts_compare(struct core *core, struct error *err)
{
	struct rank_host mine = own_host(core), all[GROUP_MAX_SIZE];
	const int size = core->group->size;

	set_data(&mine, core->training);
	set_options(&mine, core->training, 0);
	if (gather(core, &mine, all, err))
		return -1;
	for (int r = 0; r < size; r++)
		core->is_near[r] = !strcmp(all[r].name, mine.name);
	if (core->group->rank == 0)
		describe(all, size, &core->outcome->run);
	return 0;
}

int rank_hosts_compare_start(struct core *core, struct error *err)
{
	struct rank_host mine = own_host(core), all[GROUP_MAX_SIZE];
	const struct program *program = core->program;
	uint64_t hash;

	/* One copy that all cores share cannot differ. */
	if (!program->shared) {
		if (core_hash(core, VECTOR_PARAMETERS, program->parameters,
			      &hash, err))
			return -1;
		set_hash(&mine, PARAMETERS, hash);
	}
	if (program->buffers) {
		if (core_hash(core, VECTOR_BUFFERS, program->buffers, &hash,
			      err))
			return -1;
		set_hash(&mine, STATISTICS, hash);
	}
	set_options(&mine, core->training, core->training->seed);
	return gather(core, &mine, all, err);
}
