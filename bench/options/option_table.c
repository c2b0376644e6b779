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
			 "print percentiles of forward passes" },
	[VERB_MEASURE] = { "measure", "TARGET",
			   "train on one target and print rows" },
	[VERB_TABLE] = { "table", "DIR|FILE ...",
			 "print the tables of saved rows" },
	[VERB_PLOT] = { "plot", "DIR",
			"draw pictures and a report" },
	[VERB_CHECK] = { "check", "[TARGET ...]",
			 "test whether head is slower than base" },
	[VERB_COMPARE] = { "compare", "DIR|FILE DIR|FILE",
			   "compare two campaigns, no verdict" },
	[VERB_SCALE] = { "scale", "DIR",
			 "predict the speed of more cores" },
	[VERB_VERIFY] = { "verify", "[BACKEND[:DEVICE]|TARGET ...]",
			  "compare backends with the reference" },
	[VERB_DEVICES] = { "devices", "",
			   "list the devices that can be timed" },
	[VERB_ENV] = { "env", "[TARGET ...]",
		       "describe the machine and this build" },
	[VERB_DATA] = { "data", "get|check|list [SET]",
			"download, check and list data sets" },
	[VERB_COMPLETE] = { "complete", "[WORD ...]",
			    "print completions for a shell" },
	[VERB_HELP] = { "help", "[VERB]",
			"print help, man page or completions" },
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
	  .help = "choose the network to train (mnist)" },
	{ .name = "image-size", .group = TRAINING, .kind = OPTION_INT,
	  AT(image_size), .verbs = COMPUTES, .argument = "N", RANGE(1, 4096),
	  .help = "resize the images to NxN (the model's)" },
	{ .name = "dataset", .letter = 'd', .group = DATA_SET,
	  .kind = OPTION_CHOICE, AT(dataset), .verbs = COMPUTES,
	  .argument = "NAME", ONE_OF(DATASET_NAMES(ITS_NAME)),
	  .help = "choose the images to train on (auto)" },
	{ .name = "data-dir", .group = DATA_SET, .kind = OPTION_TEXT,
	  AT(data_dir), .verbs = COMPUTES | DATA, .reads = EVERY,
	  .argument = "DIR",
	  .help = "search only DIR for the data set (usual folders)",
	  .details = "See Data sets." },
	{ .name = "targets-csv", .group = DATA_SET, .kind = OPTION_TEXT,
	  AT(targets_csv), .verbs = ITERATES, .reads = EVERY,
	  .argument = "FILE",
	  .help = "read image labels from FILE (class folders)",
	  .details = "FILE belongs to --dataset folder. See Data sets." },
	{ .name = "mirror", .group = DATA_SET, .kind = OPTION_TEXT, AT(mirror),
	  .verbs = DATA, .argument = "URL",
	  .help = "download from URL (the public mirrors)" },
	{ .name = "epochs", .letter = 'e', .group = TRAINING,
	  .kind = OPTION_INT, AT(epochs), .verbs = TIMED, .argument = "N",
	  RANGE(1, 100000),
	  .help = "pass over the training set N times (the model's)" },
	{ .name = "steps", .letter = 's', .group = TRAINING, .kind = OPTION_INT,
	  AT(steps), .verbs = TRAINS, .argument = "N", RANGE(1, 1e9),
	  .help = "stop each epoch after N iterations (no limit)" },
	{ .name = "batch", .letter = 'b', .group = TRAINING, .kind = OPTION_INT,
	  AT(batch), .verbs = COMPUTES, .argument = "N", RANGE(1, 65536),
	  .help = "set the batch size per core (the model's)",
	  .details = "A batch size is a number of samples. With verify, the "
	  "other steps have at most N samples." },
	{ .name = "global-batch", .group = TRAINING, .kind = OPTION_INT,
	  AT(global_batch), .verbs = STEPS, .argument = "N", RANGE(1, 65536),
	  .help = "set the total batch size (--batch x cores)",
	  .details = "This is strong scaling: the batch is the same for any "
	  "number of cores." },
	{ .name = "test-batch", .group = TRAINING, .kind = OPTION_INT,
	  AT(test_batch), .verbs = TIMED | VERIFY, .argument = "N",
	  RANGE(1, 65536),
	  .help = "set the test's batch size (the model's)",
	  .details = "It counts the samples of all cores. A model without a "
	  "test batch of its own has 1000." },
	{ .name = "test-steps", .group = TRAINING, .kind = OPTION_INT,
	  AT(test_steps), .verbs = TIMED, .argument = "N", RANGE(1, 1e9),
	  .help = "stop each test after N steps (no limit)" },
	{ .name = "test", .group = TRAINING, .kind = OPTION_ON_OFF, AT(test),
	  .verbs = TIMED, .argument = "on|off",
	  .help = "run the test set after each epoch (on)" },
	{ .name = "count", .group = MEASURING, .kind = OPTION_INT, AT(count),
	  .verbs = MEASURE | INFER, .argument = "N", RANGE(1, 1e9),
	  .help = "time N forward passes (256)" },
	{ .name = "infer", .group = MEASURING, .kind = OPTION_FLAG, AT(infer),
	  .verbs = MEASURE | CHECK | VERIFY,
	  .help = "time forward passes instead of training" },
	{ .name = "target-accuracy", .group = TRAINING, .kind = OPTION_REAL,
	  AT(target_accuracy), .verbs = TIMED, .argument = "PCT", RANGE(1, 100),
	  .help = "stop at the first test that reaches PCT % (off)",
	  .details = "See TIME TO AN ACCURACY." },
	{ .name = "seed", .group = TRAINING, .kind = OPTION_INT, AT(seed),
	  .verbs = COMPUTES | SCALE, .argument = "N", RANGE(0, SEED_MOST),
	  .help = "set the seed of all random numbers (1)",
	  .details = "These are parameters, sample order and dropout." },
	{ .name = "weights", .group = TRAINING, .kind = OPTION_TEXT,
	  AT(weights), .verbs = TIMED | INFER, .reads = EVERY,
	  .argument = "FILE",
	  .help = "begin with the weights in FILE (seeded ones)",
	  .details = "FILE is in the safetensors format. See Weights." },
	{ .name = "lr", .group = TRAINING, .kind = OPTION_REAL, AT(lr),
	  .verbs = TRAINS, .argument = "RATE", RANGE(0, 1e38),
	  .help = "set the initial learning rate (the model's)" },
	{ .name = "dropout", .group = TRAINING, .kind = OPTION_ON_OFF,
	  AT(dropout), .verbs = TRAINS, .argument = "on|off",
	  .help = "apply the dropout layers (on)" },
	{ .name = "random", .group = TRAINING, .kind = OPTION_INT, AT(random),
	  .verbs = VERIFY, .argument = "N", RANGE(1, 1e9),
	  .help = "verify N random networks instead of a model (off)",
	  .details = "Each network makes one step on one to three cores. "
	  "--seed draws the first network." },
	{ .name = "algorithm", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(algorithm), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("fast", "dense"),
	  .help = "choose which products to compute (fast)",
	  .details = "fast skips products that cannot change the result, and "
	  "uses Winograd's algorithm. dense computes every product that the "
	  "layers define, on cpu and opencl. In inference, dense does not "
	  "fold batch norms into the layers before them." },
	{ .name = "precision", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(precision), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("fp32", "bf16", "fp64", "fp16", "bf16-storage"),
	  .help = "choose the number format (fp32)",
	  .details = "See Precision." },
	{ .name = "resident", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(resident), .verbs = ITERATES, .argument = "WHEN",
	  ONE_OF("auto", "no"),
	  .help = "keep the data set on the device, if it fits (auto)" },
	{ .name = "device-class", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(device_class), .verbs = COMPUTES, .argument = "WHICH",
	  ONE_OF("cpu", "gpu"),
	  .help = "choose the kernels of an OpenCL device (its type)" },
	{ .name = "sync", .group = DEVICES, .kind = OPTION_CHOICE, AT(sync),
	  .verbs = TIMED, .argument = "WHEN", ONE_OF("step", "epoch"),
	  .help = "wait for the device after each step or epoch (step)" },
	{ .name = "allreduce", .group = DEVICES, .kind = OPTION_CHOICE,
	  AT(allreduce), .verbs = TIMED, .argument = "HOW",
	  ONE_OF("ordered", "whole", "native"),
	  .help = "choose how @mpi sums gradients (ordered)",
	  .details = "ordered sums in the order of ranks. whole also sums "
	  "in this order, but sends the gradient of each layer instead of its "
	  "sufficient factors. native leaves the order to the MPI library." },
	{ .name = "bucket-mb", .group = DEVICES, .kind = OPTION_INT,
	  AT(bucket_mb), .verbs = TIMED, .argument = "N", RANGE(0, 1024),
	  .help = "send gradients in parts of N MiB (25)",
	  .details = "This applies to cores of @mpi on several hosts. On cpu "
	  "in fp32, parts are sent while the rest is computed. 0 sends the "
	  "whole gradient at the end." },
	{ .name = "hosts", .group = DEVICES, .kind = OPTION_TEXT, AT(hosts),
	  .verbs = RUNS | ENV, .argument = "LIST",
	  .help = "place the cores of @mpi on hosts (this host)",
	  .details = "LIST has NAME or NAME:CORES per host, as in a:4,b:4. "
	  "The first host is this one." },
	{ .name = "plugin", .group = DEVICES, .kind = OPTION_TEXT, AT(plugin),
	  .verbs = RUNS | MEASURE | ENV | VERIFY | CHECK, .reads = EVERY,
	  .argument = "FILE",
	  .help = "load a transport from NAME.so (plug-in folders)",
	  .details = "Its targets are called cpu-2@NAME." },
	{ .name = "cpus", .group = DEVICES, .kind = OPTION_TEXT, AT(cpus),
	  .verbs = ITERATES | ENV, .argument = "LIST",
	  .help = "use only these CPUs, such as 0,2-3 (all allowed)",
	  .details = "N cores take N CPUs of the list: large cores first, one "
	  "thread of each." },
	{ .name = "reshuffle", .group = TRAINING, .kind = OPTION_ON_OFF,
	  AT(reshuffle), .verbs = STEPS, .argument = "on|off",
	  .help = "draw a new sample order for each epoch (on)",
	  .details = "The post's eight cores kept one order: off." },
	{ .name = "pad", .group = TRAINING, .kind = OPTION_ON_OFF, AT(pad),
	  .verbs = STEPS, .argument = "on|off",
	  .help = "repeat samples to fill all cores equally (off)",
	  .details = "This applies to epochs and tests. PyTorch's "
	  "DistributedSampler also repeats samples." },
	{ .name = "warmup", .letter = 'w', .group = MEASURING,
	  .kind = OPTION_INT, AT(warmup), .verbs = ITERATES, .argument = "N",
	  RANGE(0, 100000),
	  .help = "make N warm-up steps before timing (10)",
	  .details = "Their data is generated." },
	{ .name = "include-warmup", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(include_warmup), .verbs = RUNS | TABLE | COMPARE,
	  .help = "count warm-up steps in s/iter, as the post did" },
	{ .name = "synthetic-train", .group = DATA_SET, .kind = OPTION_INT,
	  AT(synthetic_train), .verbs = COMPUTES, .argument = "N",
	  RANGE(1, 1e6),
	  .help = "generate N training samples (60000)",
	  .details = "This applies to --dataset synthetic." },
	{ .name = "synthetic-test", .group = DATA_SET, .kind = OPTION_INT,
	  AT(synthetic_test), .verbs = COMPUTES, .argument = "N", RANGE(1, 1e6),
	  .help = "generate N test samples (10000)",
	  .details = "This applies to --dataset synthetic." },
	{ .name = "repeat", .letter = 'r', .group = MEASURING,
	  .kind = OPTION_INT, AT(repeat), .verbs = RUNS, .argument = "N",
	  RANGE(1, 10000),
	  .help = "measure each target in N fresh processes (1)",
	  .details = "Each repetition adds 100000 to the seed." },
	{ .name = "quick", .group = TRAINING, .kind = OPTION_FLAG, AT(quick),
	  .verbs = RUNS,
	  .help = "train for a minute or two, at most 40 steps",
	  .details = "It makes one epoch. For a large network, it makes fewer "
	  "steps with smaller batches, and cuts the test." },
	{ .name = "timeout", .group = MEASURING, .kind = OPTION_TIME,
	  AT(timeout), .verbs = RUNS | CHECK | PLOT, .argument = "TIME",
	  RANGE(1, 1e9),
	  .help = "stop a run after TIME, such as 90s (no limit)",
	  .details = "TIME is a number of seconds, or a number followed by s, "
	  "m or h." },
	{ .name = "out", .letter = 'o', .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(out), .verbs = RUNS | CHECK | PLOT, .writes = EVERY,
	  .argument = "DIR",
	  .help = "save to DIR (results/<UTC time>-<label>)",
	  .details = "Results are added to the results in DIR." },
	{ .name = "label", .letter = 'n', .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(label), .verbs = RUNS | CHECK, .argument = "TEXT",
	  BYTES_OF(label),
	  .help = "label this campaign in tables and in its folder" },
	{ .name = "export-csv", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_csv), .verbs = REPORTS | COMPARE | SCALE | ENV,
	  .writes = EVERY, .argument = "FILE",
	  .help = "write one CSV row per target to FILE",
	  .details = "A row has the numbers of all tables. - is standard "
	  "output." },
	{ .name = "export-json", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_json), .verbs = REPORTS, .writes = EVERY,
	  .argument = "FILE",
	  .help = "write all rows except single intervals as JSON" },
	{ .name = "export-markdown", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(export_markdown), .verbs = REPORTS, .writes = EVERY,
	  .argument = "FILE",
	  .help = "write the tables to FILE, as Markdown" },
	{ .name = "format", .letter = 'f', .group = OUTPUT,
	  .kind = OPTION_CHOICE, AT(format), .verbs = REPORTS | COMPARE | SCALE,
	  .argument = "NAME", ONE_OF("plain", "github", "post"),
	  .help = "print the tables in this format (plain)" },
	{ .name = "details", .group = OUTPUT, .kind = OPTION_FLAG, AT(details),
	  .verbs = RUNS | TABLE,
	  .help = "print all four tables and explain their terms" },
	{ .name = "with-post", .group = OUTPUT, .kind = OPTION_FLAG,
	  AT(with_post), .verbs = RUNS | TABLE,
	  .help = "add the post's figures to all four tables" },
	{ .name = "cores", .group = OUTPUT, .kind = OPTION_FLAG, AT(cores),
	  .verbs = TABLE,
	  .help = "print where the time of each core went instead" },
	{ .name = "columns", .group = OUTPUT, .kind = OPTION_FLAG, AT(columns),
	  .verbs = TABLE,
	  .help = "explain the columns of the files instead" },
	{ .name = "straggler", .group = MEASURING, .kind = OPTION_TEXT,
	  AT(straggler), .verbs = TIMED, .argument = "RANK:MS",
	  .help = "delay core RANK by MS ms in each iteration",
	  .details = "See Slow on purpose." },
	{ .name = "inject", .group = MEASURING, .kind = OPTION_TEXT, AT(inject),
	  .verbs = TIMED | CHECK, .argument = "PCT",
	  .help = "add PCT % of work to each core's iterations",
	  .details = "See Slow on purpose. With a range as PCT, such as "
	  "0-80%, each process draws its own share." },
	{ .name = "trace", .group = INSIDE, .kind = OPTION_TEXT, AT(trace),
	  .verbs = TIMED | INFER, .writes = EVERY, .argument = "FILE",
	  .help = "write a timeline to FILE, for Perfetto",
	  .details = "The timeline has all cores." },
	{ .name = "profile", .group = INSIDE, .kind = OPTION_TEXT, AT(profile),
	  .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "print the time of each part of an iteration",
	  .details = "FILE gets the same numbers as CSV. See Where an "
	  "iteration goes." },
	{ .name = "peak", .group = MEASURING, .kind = OPTION_FLAG, AT(peak),
	  .verbs = ENV,
	  .help = "measure the peak rates of one core" },
	{ .name = "network", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(network), .verbs = ENV,
	  .help = "measure the all-reduce of the targets",
	  .details = "Without targets, each transport is measured with 2, 4 "
	  "and 8 cores." },
	{ .name = "topology", .group = COMPARING, .kind = OPTION_CHOICE,
	  AT(topology), .verbs = SCALE, .argument = "NAME",
	  ONE_OF("ring", "torus", "tree", "measured"),
	  .help = "choose the network between nodes (torus)",
	  .details = "measured takes the cost of communication from --sweep." },
	{ .name = "latency", .group = COMPARING, .kind = OPTION_REAL,
	  AT(latency), .verbs = SCALE, .argument = "US", RANGE(0, 1e9),
	  .help = "set the microseconds of a message (1)" },
	{ .name = "bandwidth", .group = COMPARING, .kind = OPTION_REAL,
	  AT(bandwidth), .verbs = SCALE, .argument = "GBS", RANGE(1e-9, 1e9),
	  .help = "set the rate of a node's links, in GB/s (332)",
	  .details = "It is the rate of all links together. The default is "
	  "the rate of a chip of a TPU v3 pod." },
	{ .name = "node-cores", .group = COMPARING, .kind = OPTION_INT,
	  AT(node_cores), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "put N cores into each node (2)" },
	{ .name = "shared-cpus", .group = COMPARING, .kind = OPTION_INT,
	  AT(shared_cpus), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "share N CPUs among all cores (one each)" },
	{ .name = "most-cores", .group = COMPARING, .kind = OPTION_INT,
	  AT(most_cores), .verbs = SCALE, .argument = "N", RANGE(1, 1e6),
	  .help = "predict 1, 2, 4 ... up to N cores (2048)",
	  .details = "With --topology measured, --sweep gives the numbers of "
	  "cores." },
	{ .name = "sweep", .group = COMPARING, .kind = OPTION_TEXT, AT(sweep),
	  .verbs = SCALE, .reads = EVERY, .argument = "FILE",
	  .help = "read the cost of sums in a node from FILE",
	  .details = "bench env --network --export-csv FILE writes it." },
	{ .name = "base", .group = COMPARING, .kind = OPTION_TEXT, AT(base),
	  .verbs = CHECK, .reads = EVERY, .argument = "PROGRAM",
	  .help = "use this bench as the base (the running one)" },
	{ .name = "head", .group = COMPARING, .kind = OPTION_TEXT, AT(head),
	  .verbs = CHECK, .reads = EVERY, .argument = "PROGRAM",
	  .help = "use this bench as the head (the running one)" },
	{ .name = "base-ref", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(base_ref), .verbs = CHECK, .argument = "REVISION",
	  .help = "build the base from this revision, into build/base",
	  .details = "See COMPARING." },
	{ .name = "base-cmd", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(base_cmd), .verbs = CHECK, .argument = "COMMAND",
	  .help = "run this command as the base, instead of bench",
	  .details = "If the command prints rows of bench measure, its "
	  "iterations are timed. Else the whole process is timed." },
	{ .name = "head-cmd", .group = COMPARING, .kind = OPTION_TEXT,
	  AT(head_cmd), .verbs = CHECK, .argument = "COMMAND",
	  .help = "run this command as the head, instead of bench",
	  .details = "It is timed like --base-cmd." },
	{ .name = "base-env", .group = COMPARING, .kind = OPTION_LIST,
	  AT(base_env), .verbs = CHECK, .argument = "VARIABLE=VALUE",
	  .help = "set a variable for the base only; repeat for more" },
	{ .name = "head-env", .group = COMPARING, .kind = OPTION_LIST,
	  AT(head_env), .verbs = CHECK, .argument = "VARIABLE=VALUE",
	  .help = "set a variable for the head only; repeat for more" },
	{ .name = "blocks", .group = MEASURING, .kind = OPTION_INT, AT(blocks),
	  .verbs = CHECK, .argument = "N", RANGE(6, 100),
	  .help = "measure N pairs of processes per target (20)",
	  .details = "A confirmation takes N more pairs. Fewer than 12 give no "
	  "verdict." },
	{ .name = "extend", .group = MEASURING, .kind = OPTION_FLAG, AT(extend),
	  .verbs = CHECK,
	  .help = "measure more blocks if results are too noisy",
	  .details = "The number of blocks is then doubled. Both looks use "
	  "half the level (0.0125), so that chance flags no more than without "
	  "this option." },
	{ .name = "control", .group = MEASURING, .kind = OPTION_ON_OFF,
	  AT(control), .verbs = CHECK, .argument = "on|off",
	  .help = "measure the base twice per block (off)",
	  .details = "This is a control: if the base differs from itself, "
	  "there is no verdict." },
	{ .name = "order-seed", .group = MEASURING, .kind = OPTION_INT,
	  AT(order_seed), .verbs = CHECK, .argument = "N",
	  RANGE(0, 4294967295.),
	  .help = "set the seed of the order in blocks (the clock)" },
	{ .name = "on-inconclusive", .group = COMPARING, .kind = OPTION_CHOICE,
	  AT(on_inconclusive), .verbs = CHECK, .argument = "WHAT",
	  ONE_OF("fail", "pass"),
	  .help = "choose the exit status without a verdict (fail)",
	  .details = "fail exits with 3, pass with 0." },
	{ .name = "fail-above", .group = COMPARING, .kind = OPTION_REAL,
	  AT(fail_above), .verbs = COMPARE, .argument = "PCT", RANGE(0, 1000),
	  .help = "exit with 3 if a time grew by over PCT % (off)",
	  .details = "See Two campaigns." },
	{ .name = "dump-masks", .group = INSIDE, .kind = OPTION_TEXT,
	  AT(dump_masks), .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "write dropout decisions to FILE, one byte each" },
	{ .name = "save-weights", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(save_weights), .verbs = MEASURE, .writes = EVERY,
	  .argument = "FILE",
	  .help = "write the final weights to FILE, as safetensors",
	  .details = "The names come from PyTorch's state_dict. An "
	  "interrupted run writes no file. FILE:best keeps the epoch with the "
	  "lowest test loss instead, and an interrupted run writes that one." },
	{ .name = "save-parameters", .group = INSIDE, .kind = OPTION_TEXT,
	  AT(save_parameters), .verbs = MEASURE, .writes = EVERY,
	  .argument = "FILE",
	  .help = "write raw parameters; use --save-weights instead",
	  .details = "This option is deprecated. FILE gets float32 numbers, "
	  "in the order of state_dict." },
	{ .name = "team", .group = INSIDE, .kind = OPTION_TEXT, AT(team),
	  .verbs = VERIFY, .writes = EVERY, .argument = "FILE",
	  .help = "train as one core of TARGET, for bench verify",
	  .details = "mpirun starts this for each core of a target. The first "
	  "core writes the results to FILE." },
	{ .name = "run-file", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(run_file), .verbs = MEASURE, .writes = EVERY, .argument = "FILE",
	  .help = "write the run's row of runs.csv to FILE" },
	{ .name = "run-id", .group = OUTPUT, .kind = OPTION_TEXT, AT(run_id),
	  .verbs = MEASURE, .argument = "TEXT", BYTES_OF(run_id),
	  .help = "set the run ID in the rows" },
	{ .name = "campaign-id", .group = OUTPUT, .kind = OPTION_TEXT,
	  AT(campaign_id), .verbs = MEASURE, .argument = "TEXT",
	  BYTES_OF(campaign_id),
	  .help = "set the campaign ID in the rows" },
	{ .name = "dry-run", .group = MEASURING, .kind = OPTION_FLAG,
	  AT(dry_run), .verbs = RUNS | CHECK | VERIFY,
	  .help = "print the plan and its duration; measure nothing" },
	{ .name = "list", .letter = 'l', .group = GENERAL, .kind = OPTION_FLAG,
	  AT(list), .verbs = RUN,
	  .help = "list models, data sets, backends and transports" },
	{ .name = "progress", .group = OUTPUT, .kind = OPTION_CHOICE,
	  AT(progress), .verbs = ITERATES, .argument = "WHEN",
	  ONE_OF("auto", "always", "never"),
	  .help = "show progress on standard error (auto)" },
	{ .name = "color", .group = OUTPUT, .kind = OPTION_CHOICE, AT(color),
	  .verbs = REPORTS | VERIFY, .argument = "WHEN",
	  ONE_OF("auto", "always", "never"),
	  .help = "highlight best values and errors (auto)" },
	{ .name = "quiet", .letter = 'q', .group = OUTPUT, .kind = OPTION_FLAG,
	  AT(quiet), .verbs = COMPUTES | TABLE | PLOT | SCALE,
	  .help = "print the table only, without progress and notes" },
	{ .name = "verbose", .letter = 'v', .group = OUTPUT,
	  .kind = OPTION_FLAG, AT(verbose), .verbs = ITERATES,
	  .help = "print device, fused steps and declined solvers" },
	{ .name = "generate", .group = GENERAL, .kind = OPTION_CHOICE,
	  AT(generate), .verbs = HELP, .argument = "WHAT",
	  ONE_OF("man", "bash", "zsh", "fish"),
	  .help = "print the man page or a shell's completions" },
	{ .name = "help", .letter = 'h', .group = GENERAL, .kind = OPTION_FLAG,
	  AT(help), .verbs = EVERY,
	  .help = "print this help" },
	{ .name = "version", .letter = 'V', .group = GENERAL,
	  .kind = OPTION_FLAG, AT(version), .verbs = EVERY,
	  .help = "print version, compiler and libraries" },
};

const struct option_words option_words[] = {
	{ "steps", VERB_VERIFY, "stop after N iterations in total (50)" },
	{ "batch", VERB_VERIFY,
	  "set the last step's batch size (the model's)" },
	{ "dry-run", VERB_VERIFY, "describe the devices; compare nothing" },
	{ "infer", VERB_VERIFY, "verify the forward passes of bench infer" },
	{ "dataset", VERB_INFER, "choose the images to time (auto)" },
	{ "model", VERB_INFER, "choose the network to time (mnist)" },
	{ "batch", VERB_INFER, "set the batch size per core (32)" },
	{ "warmup", VERB_INFER, "make N warm-up passes before timing (1)" },
	{ "quick", VERB_INFER,
	  "take a minute or two, at most 40 forward passes" },
	{ "timeout", VERB_PLOT, "stop drawing after TIME, such as 90s (30)" },
	{ "out", VERB_PLOT, "write the pictures to DIR (the rows' folder)" },
	{ "export-csv", VERB_CHECK, "write one CSV row per verdict to FILE" },
	{ "export-csv", VERB_COMPARE,
	  "write one CSV row per target and metric" },
	{ "export-csv", VERB_ENV, "write the rates to FILE, as CSV" },
	{ "export-json", VERB_CHECK, "write the verdicts to FILE, as JSON" },
	{ "inject", VERB_CHECK,
	  "add PCT % of work to each iteration of the head" },
	{ "format", VERB_COMPARE,
	  "print tables as plain or github (plain)" },
	{ "format", VERB_SCALE,
	  "print tables as plain or github (plain)" },
	{ "seed", VERB_SCALE, "set the seed of the resamples (1)" },
	{ "export-csv", VERB_SCALE,
	  "write the rows to FILE, as CSV (DIR/scale.csv)" },
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
