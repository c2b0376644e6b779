#include "bench/options/option_table.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/dataset_names.h"
#include "bench/record/run.h"

#define AT(member) .offset = offsetof(struct options, member)
#define BIT(verb) (1u << (verb))

/* The values that an option may have. */
#define RANGE(from, to) .least = (from), .most = (to)
/* As many bytes as the run's column has room for. */
#define BYTES_OF(column) RANGE(1, sizeof(((struct run *)NULL)->column) - 1)
#define ONE_OF(...) .choices = { __VA_ARGS__ }
#define ITS_NAME(name, summary) name,

enum {
	RUN = BIT(VERB_RUN),
	INFER = BIT(VERB_INFER),
	MEASURE = BIT(VERB_MEASURE),
	TABLE = BIT(VERB_TABLE),
	PLOT = BIT(VERB_PLOT),
	COMPARE = BIT(VERB_COMPARE),
	SCALE = BIT(VERB_SCALE),
	VERIFY = BIT(VERB_VERIFY),
	DATA = BIT(VERB_DATA),
	HELP = BIT(VERB_HELP),
	ENV = BIT(VERB_ENV),
	CHECK = BIT(VERB_CHECK),
	RUNS = RUN | INFER,
	TIMED = RUN | MEASURE,
	STEPS = TIMED | CHECK, /* what an iteration is */
	TRAINS = STEPS | VERIFY,
	ITERATES = STEPS | INFER,
	COMPUTES = TRAINS | INFER,
	REPORTS = RUNS | CHECK | TABLE,
	EVERY = BIT(VERB_COUNT) - 1
};

const struct verb_row verb_rows[VERB_COUNT] = {
	[VERB_RUN] = { "run", "[TARGET ...]",
		       "train on targets and compare them" },
	[VERB_INFER] = { "infer", "[TARGET ...]",
			 "time forward passes: percentiles" },
	[VERB_MEASURE] = { "measure", "TARGET",
			   "train on one target, print CSV rows" },
	[VERB_TABLE] = { "table", "DIR|FILE ...",
			 "show the tables of saved rows" },
	[VERB_PLOT] = { "plot", "DIR",
			"draw pictures and a report" },
	[VERB_CHECK] = { "check", "[TARGET ...]",
			 "measure whether B is slower, for CI" },
	[VERB_COMPARE] = { "compare", "DIR|FILE DIR|FILE",
			   "compare two campaigns, no verdict" },
	[VERB_SCALE] = { "scale", "DIR",
			 "predict what more cores would bring" },
	[VERB_VERIFY] = { "verify", "[BACKEND[:DEVICE]|TARGET ...]",
			  "compare backends with the reference" },
	[VERB_DEVICES] = { "devices", "", "list what can be timed here" },
	[VERB_ENV] = { "env", "[TARGET ...]",
		       "describe the machine and this build" },
	[VERB_DATA] = { "data", "get|check|list [SET]",
			"get and check data sets" },
	[VERB_COMPLETE] = { "complete", "[WORD ...]",
			    "print what a shell may offer next" },
	[VERB_HELP] = { "help", "[VERB]",
			"help for a verb; man page, completions" },
};

enum {
	TRAINING,
	DATA_SET,
	DEVICES,
	MEASURING,
	COMPARING,
	INSIDE,
	OUTPUT,
	GENERAL
};

const char *const option_groups[OPTION_GROUPS] = {
	[TRAINING] = "Training",
	[DATA_SET] = "Data set",
	[DEVICES] = "Backends and devices",
	[MEASURING] = "Measuring",
	[COMPARING] = "Comparing",
	[INSIDE] = "A closer look",
	[OUTPUT] = "Output",
	[GENERAL] = "General",
};

const char *option_heading(int group, enum verb verb)
{
	return group == TRAINING && verb == VERB_INFER ? "Network" :
							 option_groups[group];
}

const struct option_row option_rows[] = {
	{ .name = "model", .letter = 'm', .group = TRAINING,
	  .kind = OPTION_TEXT, AT(model), .verbs = COMPUTES,
	  .argument = "MODEL",
	  .help = "the network to train (mnist)" },
	{ .name = "image-size", .group = TRAINING, .kind = OPTION_INT,
	  AT(image_size), .verbs = COMPUTES, .argument = "N", RANGE(1, 4096),
	  .help = "resize the images to NxN (the model's)" },
	{ .name = "dataset", .letter = 'd', .group = DATA_SET,
	  .kind = OPTION_CHOICE, AT(dataset), .verbs = COMPUTES,
	  .argument = "NAME", ONE_OF(DATASET_NAMES(ITS_NAME)),
	  .help = "the images (auto: the model's; of MNIST's models MNIST, "
	  "else Fashion-MNIST)" },
	{ .name = "data-dir", .group = DATA_SET, .kind = OPTION_TEXT,
	  AT(data_dir), .verbs = COMPUTES | DATA, .reads = EVERY,
	  .argument = "DIR",
	  .help = "look for the files of the data set in this folder only" },
	{ .name = "targets-csv", .group = DATA_SET, .kind = OPTION_TEXT,
	  AT(targets_csv), .verbs = ITERATES, .reads = EVERY,
	  .argument = "FILE",
	  .help = "labels of the images of --dataset folder: a column path, a "
	  "column group, and one of 0 and 1 for each label" },
	{ .name = "mirror", .group = DATA_SET, .kind = OPTION_TEXT, AT(mirror),
	  .verbs = DATA, .argument = "URL",
	  .help = "download from here instead of the public mirrors" },
	{ .name = "epochs", .letter = 'e', .group = TRAINING,
	  .kind = OPTION_INT, AT(epochs), .verbs = TIMED, .argument = "N",
	  RANGE(1, 100000),
	  .help = "passes over the training set (the model's)" },
	{ .name = "steps", .letter = 's', .group = TRAINING, .kind = OPTION_INT,
	  AT(steps), .verbs = TRAINS, .argument = "N", RANGE(1, 1e9),
	  .help = "stop each epoch after N iterations" },
	{ .name = "batch", .letter = 'b', .group = TRAINING, .kind = OPTION_INT,
	  AT(batch), .verbs = COMPUTES, .argument = "N", RANGE(1, 65536),
	  .help = "samples per core and iteration (the model's)" },
	{ .name = "global-batch", .group = TRAINING, .kind = OPTION_INT,
	  AT(global_batch), .verbs = STEPS, .argument = "N", RANGE(1, 65536),
	  .help = "samples of all cores together: strong scaling" },
	{ .name = "test-batch", .group = TRAINING, .kind = OPTION_INT,
	  AT(test_batch), .verbs = TIMED | VERIFY, .argument = "N",
	  RANGE(1, 65536),
	  .help = "samples of all cores in a test step (the model's, or "
	  "1000)" },
	{ .name = "test-steps", .group = TRAINING, .kind = OPTION_INT,
	  AT(test_steps), .verbs = TIMED, .argument = "N", RANGE(1, 1e9),
	  .help = "stop each test after N steps" },
	{ .name = "test", .group = TRAINING, .kind = OPTION_ON_OFF, AT(test),
	  .verbs = TIMED, .argument = "on|off",
	  .help = "run the test set after each epoch (on)" },
	{ .name = "count", .group = MEASURING, .kind = OPTION_INT, AT(count),
	  .verbs = MEASURE | INFER, .argument = "N", RANGE(1, 1e9),
	  .help = "forward passes that are timed (256)" },
	{ .name = "infer", .group = MEASURING, .kind = OPTION_FLAG, AT(infer),
	  .verbs = MEASURE | CHECK | VERIFY,
	  .help = "time forward passes instead of training, as bench infer "
	  "does" },
	{ .name = "target-accuracy", .group = TRAINING, .kind = OPTION_REAL,
	  AT(target_accuracy), .verbs = TIMED, .argument = "PCT", RANGE(1, 100),
	  .help = "stop after the first test that reaches PCT %, and report "
	  "the time it took; a global batch of 128" },
	{ .name = "seed", .group = TRAINING, .kind = OPTION_INT, AT(seed),
	  .verbs = COMPUTES | SCALE, .argument = "N", RANGE(0, SEED_MOST),
	  .help = "seed of parameters, sample order and dropout (1)" },
	{ .name = "weights", .group = TRAINING, .kind = OPTION_TEXT,
	  AT(weights), .verbs = TIMED | INFER, .reads = EVERY,
	  .argument = "FILE",
	  .help = "begin with the parameters and running statistics of FILE "
	  "(safetensors), instead of with seeded ones" },
	{ .name = "lr", .group = TRAINING, .kind = OPTION_REAL, AT(lr),
	  .verbs = TRAINS, .argument = "RATE", RANGE(0, 1e38),
	  .help = "the learning rate of the first epoch (the model's)" },
	{ .name = "dropout", .group = TRAINING, .kind = OPTION_ON_OFF,
	  AT(dropout), .verbs = TRAINS, .argument = "on|off",
	  .help = "apply the dropout layers (on)" },
	{ .name = "random", .group = TRAINING, .kind = OPTION_INT, AT(random),
	  .verbs = VERIFY, .argument = "N", RANGE(1, 1e9),
	  .help = "verify a step of N random networks on one to three cores, "
	  "instead of a model; --seed draws the first one" },
	{ .name = "algorithm", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(algorithm), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("fast", "dense"),
	  .help = "how much is multiplied; dense: all that the layers define, "
	  "in inference batch norms not folded into what is before them "
	  "(fast)" },
	{ .name = "precision", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(precision), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("fp32", "bf16", "fp64", "fp16", "bf16-storage"),
	  .help = "number format; bf16: rounds factors of products where that "
	  "is faster, or those of all convolutions if it is nowhere; fp64: "
	  "all in double; fp16: mixed precision with a scaled loss; "
	  "bf16-storage: of all that is stored (fp32)" },
	{ .name = "resident", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(resident), .verbs = ITERATES, .argument = "WHEN",
	  ONE_OF("auto", "no"),
	  .help = "keep the data set on the device; auto: where it fits "
	  "(auto)" },
	{ .name = "device-class", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(device_class), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("cpu", "gpu"),
	  .help = "the kernels for an OpenCL device: written for CPUs or for "
	  "GPUs (by its type)" },
	{ .name = "sync", .group = DEVICES, .kind = OPTION_CHOICE, AT(sync),
	  .verbs = TIMED, .argument = "WHEN", ONE_OF("step", "epoch"),
	  .help = "wait for a device after each step, or let it run ahead "
	  "within an epoch, so that s/iter is the epoch's mean (step)" },
	{ .name = "allreduce", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(allreduce), .verbs = TIMED, .argument = "HOW",
	  ONE_OF("ordered", "whole", "native"),
	  .help = "how @mpi sums gradients: in the order of ranks; likewise, "
	  "but never of the sufficient factors of a layer; or as its library "
	  "does, in whatever order (ordered)" },
	{ .name = "bucket-mb", .group = DEVICES, .kind = OPTION_INT,
	  AT(bucket_mb), .verbs = TIMED, .argument = "N", RANGE(0, 1024),
	  .help = "MiB of a gradient that cores of @mpi on several hosts send "
	  "at a time, on cpu in fp32 while they compute the rest; 0: all of it "
	  "(25)" },
	{ .name = "hosts", .group = DEVICES, .kind = OPTION_TEXT, AT(hosts),
	  .verbs = RUNS | ENV, .argument = "LIST",
	  .help = "where the cores of @mpi are, such as a:4,b:4; the first is "
	  "this host (all of them here)" },
	{ .name = "plugin", .group = DEVICES, .kind = OPTION_TEXT, AT(plugin),
	  .verbs = RUNS | MEASURE | ENV | VERIFY | CHECK, .reads = EVERY,
	  .argument = "FILE",
	  .help = "FILE is NAME.so, a transport for targets such as "
	  "cpu-2@NAME" },
	{ .name = "cpus", .group = DEVICES, .kind = OPTION_TEXT, AT(cpus),
	  .verbs = ITERATES | ENV, .argument = "LIST",
	  .help = "use only these CPUs, such as 0,2-3 (all that are allowed; N "
	  "cores take N: large cores first, one thread of each)" },
	{ .name = "reshuffle", .group = TRAINING, .kind = OPTION_ON_OFF,
	  AT(reshuffle), .verbs = STEPS, .argument = "on|off",
	  .help = "a new sample order each epoch (on; the post's eight cores: "
	  "off)" },
	{ .name = "pad", .group = TRAINING, .kind = OPTION_ON_OFF, AT(pad),
	  .verbs = STEPS, .argument = "on|off",
	  .help = "give every core as many samples an epoch and test, some of "
	  "them twice, as PyTorch's DistributedSampler does (off)" },
	{ .name = "warmup", .letter = 'w', .group = MEASURING,
	  .kind = OPTION_INT, AT(warmup), .verbs = ITERATES, .argument = "N",
	  RANGE(0, 100000),
	  .help = "steps on generated data before timing starts (10)" },
	{ .name = "include-warmup", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(include_warmup), .verbs = RUNS | TABLE | COMPARE,
	  .help = "count warm-up steps in s/iter, as the post did" },
	{ .name = "synthetic-train", .group = DATA_SET, .kind = OPTION_INT,
	  AT(synthetic_train), .verbs = COMPUTES, .argument = "N",
	  RANGE(1, 1e6),
	  .help = "training samples of the synthetic data set (60000)" },
	{ .name = "synthetic-test", .group = DATA_SET, .kind = OPTION_INT,
	  AT(synthetic_test), .verbs = COMPUTES, .argument = "N", RANGE(1, 1e6),
	  .help = "test samples of the synthetic data set (10000)" },
	{ .name = "repeat", .letter = 'r', .group = MEASURING,
	  .kind = OPTION_INT, AT(repeat), .verbs = RUNS, .argument = "N",
	  RANGE(1, 10000),
	  .help = "fresh processes per target; each adds 100000 to the seed "
	  "(1)" },
	{ .name = "quick", .group = TRAINING, .kind = OPTION_FLAG, AT(quick),
	  .verbs = RUNS,
	  .help = "one or two minutes: 1 epoch of at most 40 steps; of large "
	  "networks fewer, smaller ones, and part of the test" },
	{ .name = "timeout", .group = MEASURING, .kind = OPTION_TIME,
	  AT(timeout), .verbs = RUNS | CHECK | PLOT, .argument = "TIME",
	  RANGE(1, 1e9),
	  .help = "stop a run after TIME: seconds, or such as 90s, 5m, 2h" },
	{ .name = "out", .letter = 'o', .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(out), .verbs = RUNS | CHECK | PLOT, .writes = EVERY,
	  .argument = "DIR",
	  .help = "the campaign's folder; results are added to those in it "
	  "(results/<UTC time>-<label>)" },
	{ .name = "label", .letter = 'n', .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(label), .verbs = RUNS | CHECK, .argument = "TEXT",
	  BYTES_OF(label),
	  .help = "name of this campaign in tables and folder" },
	{ .name = "export-csv", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_csv), .verbs = REPORTS | COMPARE | SCALE | ENV,
	  .writes = EVERY, .argument = "FILE",
	  .help = "one row per target with the numbers of all tables (-: "
	  "standard output)" },
	{ .name = "export-json", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_json), .verbs = REPORTS, .writes = EVERY,
	  .argument = "FILE",
	  .help = "all rows except single intervals, as one JSON document" },
	{ .name = "export-markdown", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_markdown), .verbs = REPORTS, .writes = EVERY,
	  .argument = "FILE",
	  .help = "the tables in Markdown, for a web page" },
	{ .name = "format", .letter = 'f', .group = OUTPUT,
	  .kind = OPTION_CHOICE, AT(format), .verbs = REPORTS | COMPARE | SCALE,
	  .argument = "NAME", ONE_OF("plain", "github", "post"),
	  .help = "format of the tables" },
	{ .name = "details", .group = OUTPUT, .kind = OPTION_FLAG, AT(details),
	  .verbs = RUNS | TABLE,
	  .help = "all four tables, with their terms explained, instead of "
	  "one" },
	{ .name = "with-post", .group = OUTPUT, .kind = OPTION_FLAG,
	  AT(with_post), .verbs = RUNS | TABLE,
	  .help = "add the post's figures as rows of all four tables" },
	{ .name = "cores", .group = OUTPUT, .kind = OPTION_FLAG, AT(cores),
	  .verbs = TABLE,
	  .help = "one line per core instead: where its time went" },
	{ .name = "columns", .group = OUTPUT, .kind = OPTION_FLAG, AT(columns),
	  .verbs = TABLE,
	  .help = "explain the columns of the files instead" },
	{ .name = "straggler", .group = MEASURING, .kind = OPTION_TEXT,
	  AT(straggler), .verbs = TIMED, .argument = "RANK:MS",
	  .help = "delay one core by MS ms in each iteration, to see the "
	  "others wait" },
	{ .name = "inject", .group = MEASURING, .kind = OPTION_TEXT, AT(inject),
	  .verbs = TIMED | CHECK, .argument = "PCT",
	  .help = "make every core do PCT % more work in each iteration, to "
	  "see whether it is detected; with FROM-TO each process draws its "
	  "own" },
	{ .name = "trace", .group = INSIDE, .kind = OPTION_TEXT, AT(trace),
	  .verbs = TIMED | INFER, .writes = EVERY, .argument = "FILE",
	  .help = "a timeline of all cores for a trace viewer (Perfetto)" },
	{ .name = "profile", .group = INSIDE, .kind = OPTION_TEXT, AT(profile),
	  .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "time of each part of an iteration: CSV to FILE, a table on "
	  "standard error" },
	{ .name = "peak", .group = MEASURING, .kind = OPTION_FLAG, AT(peak),
	  .verbs = ENV,
	  .help = "measure the peak rates of one core" },
	{ .name = "network", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(network), .verbs = ENV,
	  .help = "measure the all-reduce of the TARGETs (of 2, 4 and 8 cores, "
	  "by each transport): latency and rate" },
	{ .name = "topology", .group = COMPARING, .kind = OPTION_CHOICE,
	  AT(topology), .verbs = SCALE, .argument = "NAME",
	  ONE_OF("ring", "torus", "tree", "measured"),
	  .help = "the network between nodes (torus); measured: ranks as "
	  "--sweep has them" },
	{ .name = "latency", .group = COMPARING, .kind = OPTION_REAL,
	  AT(latency), .verbs = SCALE, .argument = "US", RANGE(0, 1e9),
	  .help = "microseconds of a message between nodes (1)" },
	{ .name = "bandwidth", .group = COMPARING, .kind = OPTION_REAL,
	  AT(bandwidth), .verbs = SCALE, .argument = "GBS", RANGE(1e-9, 1e9),
	  .help = "GB/s that a node sends, over all its links (332, as a chip "
	  "of a TPU v3 pod)" },
	{ .name = "node-cores", .group = COMPARING, .kind = OPTION_INT,
	  AT(node_cores), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "cores of a node (2)" },
	{ .name = "shared-cpus", .group = COMPARING, .kind = OPTION_INT,
	  AT(shared_cpus), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "all cores share N CPUs (each has its own)" },
	{ .name = "most-cores", .group = COMPARING, .kind = OPTION_INT,
	  AT(most_cores), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "predict for 1, 2, 4 ... up to N cores (2048); with "
	  "--topology measured, for those that --sweep has" },
	{ .name = "sweep", .group = COMPARING, .kind = OPTION_TEXT, AT(sweep),
	  .verbs = SCALE, .reads = EVERY, .argument = "FILE",
	  .help = "what a sum costs within a node, as bench env has measured "
	  "it (--network)" },
	{ .name = "base", .group = COMPARING, .kind = OPTION_TEXT, AT(base),
	  .verbs = CHECK, .reads = EVERY, .argument = "PROGRAM",
	  .help = "A: the bench to compare with (this one)" },
	{ .name = "head", .group = COMPARING, .kind = OPTION_TEXT, AT(head),
	  .verbs = CHECK, .reads = EVERY, .argument = "PROGRAM",
	  .help = "B: the bench that may be slower (this one)" },
	{ .name = "base-ref", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(base_ref), .verbs = CHECK, .argument = "REVISION",
	  .help = "build A from this git revision, and cache it in "
	  "build/base" },
	{ .name = "base-cmd", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(base_cmd), .verbs = CHECK, .argument = "COMMAND",
	  .help = "A is any command, timed by its rows if it prints any, else "
	  "as a whole" },
	{ .name = "head-cmd", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(head_cmd), .verbs = CHECK, .argument = "COMMAND",
	  .help = "B likewise" },
	{ .name = "base-env", .group = COMPARING, .kind = OPTION_LIST,
	  AT(base_env), .verbs = CHECK, .argument = "VARIABLE=VALUE",
	  .help = "set for A only; may be repeated" },
	{ .name = "head-env", .group = COMPARING, .kind = OPTION_LIST,
	  AT(head_env), .verbs = CHECK, .argument = "VARIABLE=VALUE",
	  .help = "set for B only; may be repeated" },
	{ .name = "blocks", .group = MEASURING, .kind = OPTION_INT, AT(blocks),
	  .verbs = CHECK, .argument = "N", RANGE(6, 100),
	  .help = "pairs of processes per target, and as many again to "
	  "confirm; fewer than 12 give no verdict (20)" },
	{ .name = "extend", .group = MEASURING, .kind = OPTION_FLAG, AT(extend),
	  .verbs = CHECK,
	  .help = "as many blocks again where results are too noisy; both "
	  "looks use half the level (0.0125), so that chance flags no more "
	  "than without" },
	{ .name = "control", .group = MEASURING, .kind = OPTION_ON_OFF,
	  AT(control), .verbs = CHECK, .argument = "on|off",
	  .help = "a third process in each block, A again, which must not "
	  "differ (off)" },
	{ .name = "order-seed", .group = MEASURING, .kind = OPTION_INT,
	  AT(order_seed), .verbs = CHECK, .argument = "N",
	  RANGE(0, 4294967295.),
	  .help = "seed of the order in the blocks (from the clock)" },
	{ .name = "on-inconclusive", .group = COMPARING, .kind = OPTION_CHOICE,
	  AT(on_inconclusive), .verbs = CHECK, .argument = "WHAT",
	  ONE_OF("fail", "pass"),
	  .help = "exit with 3 (fail) or 0 (pass) if there is no verdict" },
	{ .name = "fail-above", .group = COMPARING, .kind = OPTION_REAL,
	  AT(fail_above), .verbs = COMPARE, .argument = "PCT", RANGE(0, 1000),
	  .help = "exit with 3 if a time, start-up aside, is surely more than "
	  "PCT % longer in the second, or if a target has no interval" },
	{ .name = "dump-masks", .group = INSIDE, .kind = OPTION_TEXT,
	  AT(dump_masks), .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "raw dropout decisions of every step, 1 byte each" },
	{ .name = "save-weights", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(save_weights), .verbs = MEASURE, .writes = EVERY,
	  .argument = "FILE",
	  .help = "final parameters and running statistics, as PyTorch's "
	  "state_dict (safetensors), but not of a run that is interrupted; "
	  "FILE:best: those of the epoch whose test loss is lowest, also of "
	  "such a run" },
	{ .name = "save-parameters", .group = INSIDE, .kind = OPTION_TEXT,
	  AT(save_parameters), .verbs = MEASURE, .writes = EVERY,
	  .argument = "FILE",
	  .help = "final parameters alone, raw float32 in state_dict order; "
	  "deprecated" },
	{ .name = "team", .group = INSIDE, .kind = OPTION_TEXT, AT(team),
	  .verbs = VERIFY, .writes = EVERY, .argument = "FILE",
	  .help = "what mpirun starts for each core of a TARGET, by bench "
	  "verify: the cores train, and the first writes to FILE what they "
	  "made" },
	{ .name = "run-file", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(run_file), .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "write the run's row of runs.csv to FILE" },
	{ .name = "run-id", .group = OUTPUT, .kind = OPTION_TEXT, AT(run_id),
	  .verbs = MEASURE, .argument = "TEXT", BYTES_OF(run_id),
	  .help = "name of this run in the rows" },
	{ .name = "campaign-id", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(campaign_id), .verbs = MEASURE, .argument = "TEXT",
	  BYTES_OF(campaign_id),
	  .help = "name of the campaign that it belongs to" },
	{ .name = "dry-run", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(dry_run), .verbs = RUNS | CHECK | VERIFY,
	  .help = "print what would be measured and how long it would take" },
	{ .name = "list", .letter = 'l', .group = GENERAL, .kind = OPTION_FLAG,
	  AT(list), .verbs = RUN,
	  .help = "list models, data sets, backends and transports" },
	{ .name = "progress", .group = OUTPUT, .kind = OPTION_CHOICE,
	  AT(progress), .verbs = ITERATES, .argument = "WHEN",
	  ONE_OF("auto", "always", "never"),
	  .help = "show progress on standard error" },
	{ .name = "color", .group = OUTPUT, .kind = OPTION_CHOICE, AT(color),
	  .verbs = REPORTS | VERIFY, .argument = "WHEN",
	  ONE_OF("auto", "always", "never"),
	  .help = "highlight the best, and what is wrong" },
	{ .name = "quiet", .letter = 'q', .group = OUTPUT, .kind = OPTION_FLAG,
	  AT(quiet), .verbs = COMPUTES | TABLE | PLOT | SCALE,
	  .help = "no progress and no notes, only the table" },
	{ .name = "verbose", .letter = 'v', .group = OUTPUT,
	  .kind = OPTION_FLAG, AT(verbose), .verbs = ITERATES,
	  .help = "print the device, the fused steps and who declined them" },
	{ .name = "generate", .group = GENERAL, .kind = OPTION_CHOICE,
	  AT(generate), .verbs = HELP, .argument = "WHAT",
	  ONE_OF("man", "bash", "zsh", "fish"),
	  .help = "the man page, or the completions of a shell" },
	{ .name = "help", .letter = 'h', .group = GENERAL, .kind = OPTION_FLAG,
	  AT(help), .verbs = EVERY,
	  .help = "print this help" },
	{ .name = "version", .letter = 'V', .group = GENERAL,
	  .kind = OPTION_FLAG, AT(version), .verbs = EVERY,
	  .help = "print version, compiler and libraries" },
};

const struct option_words option_words[] = {
	{ "steps", VERB_VERIFY, "stop after N iterations in total (50)" },
	{ "batch", VERB_VERIFY, "samples of the last step, as in a run (the "
	  "model's); the most in lockstep steps" },
	{ "test-batch", VERB_VERIFY, "samples of a test (1000)" },
	{ "dry-run", VERB_VERIFY, "open the devices and print what they are; "
	  "compare nothing" },
	{ "infer", VERB_VERIFY, "verify forward passes as bench infer times "
	  "them: the outputs of each sample" },
	{ "model", VERB_INFER, "the network that is timed (mnist)" },
	{ "seed", VERB_INFER, "seed of the parameters, and of "
	  "images that are drawn (1)" },
	{ "batch", VERB_INFER, "samples per core and forward pass (32)" },
	{ "warmup", VERB_INFER, "forward passes of generated data before "
	  "timing starts; the first is also told apart (1)" },
	{ "quick", VERB_INFER, "a minute or two: at most 40 forward passes; "
	  "of large networks fewer, smaller ones" },
	{ "timeout", VERB_PLOT,
	  "stop drawing a picture after TIME, such as 90s or 5m (30)" },
	{ "out", VERB_PLOT, "the folder of the pictures (DIR of the rows)" },
	{ "export-csv", VERB_CHECK, "one row per target with its verdict (-: "
	  "standard output)" },
	{ "export-csv", VERB_COMPARE, "one row per target and metric (-: "
	  "standard output)" },
	{ "export-csv", VERB_ENV, "one row per peak, or per "
	  "transport, number of ranks and size (-: standard output)" },
	{ "export-json", VERB_CHECK, "the verdicts, as one document" },
	{ "inject", VERB_CHECK, "make every core of B do PCT % more work in "
	  "each iteration, to see whether it is detected; with FROM-TO each "
	  "process draws its own" },
	{ "format", VERB_COMPARE, "format of the tables; not post" },
	{ "format", VERB_SCALE, "format of the tables; not post" },
	{ "seed", VERB_SCALE, "seed of the resamples behind intervals (1)" },
	{ "export-csv", VERB_SCALE, "one row per number of cores (DIR/"
	  "scale.csv; -: standard output)" },
	{ NULL, VERB_COUNT, NULL },
};

const int option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

_Static_assert(sizeof(option_rows) / sizeof(option_rows[0]) <=
		       OPTION_MOST_ROWS, "options.h: OPTION_MOST_ROWS");

int verb_knows(enum verb verb, const struct option_row *row)
{
	return verb == VERB_COUNT ? row->verbs == EVERY :
				    row->verbs >> verb & 1;
}

const struct option_row *option_find(const char *name)
{
	const struct option_row *row = option_rows;

	while (strcmp(row->name, name))
		row++;
	return row;
}

int option_is_given(const struct options *options,
		    const struct option_row *row)
{
	return options->given[row - option_rows];
}

void option_print(const struct options *options, const struct option_row *row,
		  char *text, size_t size)
{
	const void *field = (const char *)options + row->offset;
	const char *value = NULL;

	text[0] = '\0';
	switch (row->kind) {
	case OPTION_FLAG:
	case OPTION_LIST: /* several */
		return;
	case OPTION_ON_OFF:
		if (*(const int *)field == OPTION_UNSET)
			return;
		value = *(const int *)field ? "on" : "off";
		break;
	case OPTION_INT:
	case OPTION_TIME:
		if (*(const long *)field != OPTION_UNSET)
			snprintf(text, size, "%ld", *(const long *)field);
		return;
	case OPTION_REAL:
		if (*(const double *)field >= 0)
			snprintf(text, size, "%.17g", *(const double *)field);
		return;
	default:
		value = *(const char *const *)field;
	}
	if (value)
		snprintf(text, size, "%s", value);
}

void option_reset(struct options *options, const struct option_row *row)
{
	const size_t size = row->kind == OPTION_FLAG ||
					    row->kind == OPTION_ON_OFF ?
				    sizeof(int) :
			    row->kind == OPTION_REAL ? sizeof(double) :
			    row->kind == OPTION_INT ||
					    row->kind == OPTION_TIME ?
				    sizeof(long) : sizeof(const char *);

	memcpy((char *)options + row->offset,
	       (const char *)&options_defaults + row->offset, size);
}
