#include "bench/options/option_table.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/dataset_names.h"

#define AT(member) offsetof(struct options, member)
#define BIT(verb) (1u << (verb))

/* What ends a row: the values that its option may have. */
#define NO_RANGE 0, 0, { 0 }
#define RANGE(least, most) least, most, { 0 }
#define ONE_OF(...) 0, 0, { __VA_ARGS__ }
#define ITS_NAME(name, summary) name,

enum {
	RUN = BIT(VERB_RUN),
	INFER = BIT(VERB_INFER),
	MEASURE = BIT(VERB_MEASURE),
	TABLE = BIT(VERB_TABLE),
	PLOT = BIT(VERB_PLOT),
	COMPARE = BIT(VERB_COMPARE),
	VERIFY = BIT(VERB_VERIFY),
	DATA = BIT(VERB_DATA),
	HELP = BIT(VERB_HELP),
	ENV = BIT(VERB_ENV),
	CHECK = BIT(VERB_CHECK),
	CALIBRATE = BIT(VERB_CALIBRATE),
	BASELINE = BIT(VERB_BASELINE),
	PAIRS = CHECK | CALIBRATE,
	RUNS = RUN | INFER,
	TIMED = RUN | MEASURE,
	BLOCKS = PAIRS | BASELINE,
	STEPS = TIMED | BLOCKS, /* what an iteration is */
	TRAINS = STEPS | VERIFY,
	ITERATES = STEPS | INFER,
	COMPUTES = TRAINS | INFER,
	REPORTS = RUNS | CHECK | TABLE,
	SHOWS = REPORTS | CALIBRATE,
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
	[VERB_CALIBRATE] = { "calibrate", "[TARGET ...]",
			     "measure the noise floor of this machine" },
	[VERB_SELFTEST] = { "selftest", "",
			    "show that check can reach each verdict" },
	[VERB_BASELINE] = { "baseline", "save|show DIR [TARGET ...]",
			    "save times to check against later" },
	[VERB_VERIFY] = { "verify", "[BACKEND[:DEVICE] ...]",
			  "compare backends with the reference" },
	[VERB_DEVICES] = { "devices", "", "list what can be timed here" },
	[VERB_ENV] = { "env", "", "describe the machine and this build" },
	[VERB_DATA] = { "data", "get|check|list [SET]",
			"get and check data sets" },
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

const struct option_row option_rows[] = {
	{ "model", 'm', TRAINING, OPTION_TEXT, AT(model), COMPUTES, "MODEL",
	  "the network to train (mnist)", NO_RANGE },
	{ "image-size", 0, TRAINING, OPTION_INT, AT(image_size), COMPUTES, "N",
	  "resize the images to NxN (the model's)",
	  RANGE(1, 4096) },
	{ "dataset", 'd', DATA_SET, OPTION_CHOICE, AT(dataset), COMPUTES,
	  "NAME",
	  "the images (auto: the model's; of MNIST's models MNIST, else "
	  "Fashion-MNIST)",
	  ONE_OF(DATASET_NAMES(ITS_NAME)) },
	{ "data-dir", 0, DATA_SET, OPTION_TEXT, AT(data_dir), COMPUTES | DATA,
	  "DIR", "look for the IDX files in this folder only", NO_RANGE },
	{ "mirror", 0, DATA_SET, OPTION_TEXT, AT(mirror), DATA, "URL",
	  "download from here instead of the public mirrors", NO_RANGE },
	{ "epochs", 'e', TRAINING, OPTION_INT, AT(epochs), TIMED, "N",
	  "passes over the training set (the model's)", RANGE(1, 100000) },
	{ "steps", 's', TRAINING, OPTION_INT, AT(steps), TRAINS, "N",
	  "stop each epoch after N iterations", RANGE(1, 1e9) },
	{ "batch", 'b', TRAINING, OPTION_INT, AT(batch), COMPUTES, "N",
	  "samples per core and iteration (the model's)", RANGE(1, 65536) },
	{ "global-batch", 0, TRAINING, OPTION_INT, AT(global_batch), STEPS,
	  "N", "samples of all cores together: strong scaling",
	  RANGE(1, 65536) },
	{ "test-batch", 0, TRAINING, OPTION_INT, AT(test_batch),
	  TIMED | VERIFY, "N",
	  "samples of all cores in a test step (the model's, or 1000)",
	  RANGE(1, 65536) },
	{ "test-steps", 0, TRAINING, OPTION_INT, AT(test_steps), TIMED, "N",
	  "stop each test after N steps", RANGE(1, 1e9) },
	{ "test", 0, TRAINING, OPTION_ON_OFF, AT(test), TIMED, "on|off",
	  "run the test set after each epoch (on)", NO_RANGE },
	{ "count", 0, MEASURING, OPTION_INT, AT(count), MEASURE | INFER, "N",
	  "forward passes that are timed (256)", RANGE(1, 1e9) },
	{ "infer", 0, MEASURING, OPTION_FLAG, AT(infer), MEASURE | PAIRS, NULL,
	  "time forward passes instead of training, as bench infer does",
	  NO_RANGE },
	{ "target-accuracy", 0, TRAINING, OPTION_REAL, AT(target_accuracy),
	  TIMED, "PCT",
	  "stop after the first test that reaches PCT %, and report the time "
	  "it took; a global batch of 128", RANGE(1, 100) },
	{ "seed", 0, TRAINING, OPTION_INT, AT(seed), COMPUTES, "N",
	  "seed of parameters, sample order and dropout (1)",
	  RANGE(0, SEED_MOST) },
	{ "weights", 0, TRAINING, OPTION_TEXT, AT(weights), TIMED | INFER,
	  "FILE", "begin with the parameters and running statistics of FILE "
	  "(safetensors), instead of with seeded ones", NO_RANGE },
	{ "lr", 0, TRAINING, OPTION_REAL, AT(lr), TRAINS, "RATE",
	  "the learning rate of the first epoch (the model's)",
	  RANGE(0, 1e38) },
	{ "dropout", 0, TRAINING, OPTION_ON_OFF, AT(dropout), TRAINS, "on|off",
	  "apply the dropout layers (on)", NO_RANGE },
	{ "random", 0, TRAINING, OPTION_INT, AT(random), VERIFY, "N",
	  "verify a step of N random networks on one to three cores, instead "
	  "of a model; --seed draws the first one", RANGE(1, 1e9) },
	{ "algorithm", 0, DEVICES, OPTION_CHOICE, AT(algorithm), COMPUTES,
	  "WHICH",
	  "how much is multiplied; dense: all that the layers define (fast)",
	  ONE_OF("fast", "dense") },
	{ "precision", 0, DEVICES, OPTION_CHOICE, AT(precision), COMPUTES,
	  "WHICH",
	  "number format; bf16: for the factors of products, where that is "
	  "faster; fp16: mixed precision with a scaled loss; bf16-storage: "
	  "of all that is stored (fp32)",
	  ONE_OF("fp32", "bf16", "fp64", "fp16", "bf16-storage") },
	{ "resident", 0, DEVICES, OPTION_CHOICE, AT(resident), ITERATES, "WHEN",
	  "keep the data set on the device; auto: where it fits (auto)",
	  ONE_OF("auto", "no") },
	{ "device-class", 0, DEVICES, OPTION_CHOICE, AT(device_class), COMPUTES,
	  "WHICH",
	  "the kernels for an OpenCL device: written for CPUs or for GPUs (by "
	  "its type)", ONE_OF("cpu", "gpu") },
	{ "sync", 0, DEVICES, OPTION_CHOICE, AT(sync), TIMED, "WHEN",
	  "wait for a device after each step, or let it run ahead within an "
	  "epoch, so that s/iter is the epoch's mean (step)",
	  ONE_OF("step", "epoch") },
	{ "cpus", 0, DEVICES, OPTION_TEXT, AT(cpus), ITERATES | ENV, "LIST",
	  "use only these CPUs, such as 0,2-3 (all that are allowed; N cores "
	  "take N: large cores first, one thread of each)", NO_RANGE },
	{ "reshuffle", 0, TRAINING, OPTION_ON_OFF, AT(reshuffle), STEPS,
	  "on|off",
	  "a new sample order each epoch (on; the post's eight cores: off)",
	  NO_RANGE },
	{ "pad", 0, TRAINING, OPTION_ON_OFF, AT(pad), STEPS, "on|off",
	  "give every core as many samples an epoch and test, some of them "
	  "twice, as PyTorch's DistributedSampler does (off)", NO_RANGE },
	{ "warmup", 'w', MEASURING, OPTION_INT, AT(warmup), ITERATES, "N",
	  "steps on generated data before timing starts (10)",
	  RANGE(0, 100000) },
	{ "include-warmup", 0, MEASURING, OPTION_FLAG, AT(include_warmup),
	  RUNS | TABLE | COMPARE, NULL, "count warm-up steps in s/iter, as the "
	  "post did",
	  NO_RANGE },
	{ "synthetic-train", 0, DATA_SET, OPTION_INT, AT(synthetic_train),
	  COMPUTES, "N", "training samples of the synthetic data set (60000)",
	  RANGE(1, 1e6) },
	{ "synthetic-test", 0, DATA_SET, OPTION_INT, AT(synthetic_test),
	  COMPUTES, "N", "test samples of the synthetic data set (10000)",
	  RANGE(1, 1e6) },
	{ "repeat", 'r', MEASURING, OPTION_INT, AT(repeat), RUNS, "N",
	  "fresh processes per target; each adds 100000 to the seed (1)",
	  RANGE(1, 10000) },
	{ "quick", 0, TRAINING, OPTION_FLAG, AT(quick), RUNS, NULL,
	  "one or two minutes: 1 epoch of at most 40 steps; of large "
	  "networks fewer, smaller ones, and part of the test", NO_RANGE },
	{ "timeout", 0, MEASURING, OPTION_TIME, AT(timeout),
	  RUNS | BLOCKS | PLOT, "TIME",
	  "stop a run after TIME: seconds, or such as 90s, 5m, 2h",
	  RANGE(1, 1e9) },
	{ "out", 'o', OUTPUT, OPTION_TEXT, AT(out), RUNS | PAIRS | PLOT, "DIR",
	  "the campaign's folder; results are added to those in it "
	  "(results/<UTC time>-<label>)", NO_RANGE },
	{ "label", 'n', OUTPUT, OPTION_TEXT, AT(label), RUNS | BLOCKS, "TEXT",
	  "name of this campaign in tables and folder", NO_RANGE },
	{ "export-csv", 0, OUTPUT, OPTION_TEXT, AT(export_csv),
	  REPORTS | COMPARE | ENV, "FILE",
	  "one row per target with the numbers of all tables (-: standard "
	  "output)", NO_RANGE },
	{ "export-json", 0, OUTPUT, OPTION_TEXT, AT(export_json), REPORTS,
	  "FILE", "all rows except single intervals, as one JSON document",
	  NO_RANGE },
	{ "export-markdown", 0, OUTPUT, OPTION_TEXT, AT(export_markdown),
	  REPORTS, "FILE", "the tables in Markdown, for a web page", NO_RANGE },
	{ "format", 'f', OUTPUT, OPTION_CHOICE, AT(format), SHOWS | COMPARE,
	  "NAME", "format of the tables", ONE_OF("plain", "github", "post") },
	{ "details", 0, OUTPUT, OPTION_FLAG, AT(details), RUNS | TABLE, NULL,
	  "all four tables, with their terms explained, instead of one",
	  NO_RANGE },
	{ "with-post", 0, OUTPUT, OPTION_FLAG, AT(with_post), RUNS | TABLE,
	  NULL, "add the post's figures as rows of all four tables", NO_RANGE },
	{ "cores", 0, OUTPUT, OPTION_FLAG, AT(cores), TABLE, NULL,
	  "one line per core instead: where its time went", NO_RANGE },
	{ "columns", 0, OUTPUT, OPTION_FLAG, AT(columns), TABLE, NULL,
	  "explain the columns of the files instead", NO_RANGE },
	{ "straggler", 0, MEASURING, OPTION_TEXT, AT(straggler), TIMED,
	  "RANK:MS",
	  "delay one core by MS ms in each iteration, to see the others wait",
	  NO_RANGE },
	{ "inject", 0, MEASURING, OPTION_TEXT, AT(inject), TIMED | CHECK,
	  "PCT",
	  "make every core do PCT % more work in each iteration, to see "
	  "whether it is detected; with FROM-TO each process draws its own",
	  NO_RANGE },
	{ "trace", 0, INSIDE, OPTION_TEXT, AT(trace), TIMED | INFER, "FILE",
	  "a timeline of all cores for a trace viewer (Perfetto)", NO_RANGE },
	{ "profile", 0, INSIDE, OPTION_TEXT, AT(profile), MEASURE, "FILE",
	  "time of each part of an iteration: CSV to FILE, a table on standard "
	  "error", NO_RANGE },
	{ "peak", 0, MEASURING, OPTION_FLAG, AT(peak), ENV, NULL,
	  "measure the peak rates of one core", NO_RANGE },
	{ "base", 0, COMPARING, OPTION_TEXT, AT(base), CHECK, "PROGRAM",
	  "A: the bench to compare with (this one)", NO_RANGE },
	{ "head", 0, COMPARING, OPTION_TEXT, AT(head), CHECK, "PROGRAM",
	  "B: the bench that may be slower (this one)", NO_RANGE },
	{ "base-ref", 0, COMPARING, OPTION_TEXT, AT(base_ref), CHECK,
	  "REVISION",
	  "build A from this git revision, and cache it in build/base",
	  NO_RANGE },
	{ "base-cmd", 0, COMPARING, OPTION_TEXT, AT(base_cmd), CHECK,
	  "COMMAND",
	  "A is any command, timed by its rows if it prints any, else as a "
	  "whole",
	  NO_RANGE },
	{ "head-cmd", 0, COMPARING, OPTION_TEXT, AT(head_cmd), CHECK,
	  "COMMAND", "B likewise", NO_RANGE },
	{ "base-env", 0, COMPARING, OPTION_LIST, AT(base_env), CHECK,
	  "VARIABLE=VALUE", "set for A only; may be repeated", NO_RANGE },
	{ "head-env", 0, COMPARING, OPTION_LIST, AT(head_env), CHECK,
	  "VARIABLE=VALUE", "set for B only; may be repeated", NO_RANGE },
	{ "baseline", 0, COMPARING, OPTION_TEXT, AT(baseline), CHECK, "DIR",
	  "A is what bench baseline saved there; verdicts are advisory",
	  NO_RANGE },
	{ "blocks", 0, MEASURING, OPTION_INT, AT(blocks), BLOCKS, "N",
	  "pairs of processes per target, and as many again to confirm (20)",
	  RANGE(6, 100) },
	{ "extend", 0, MEASURING, OPTION_FLAG, AT(extend), CHECK, NULL,
	  "as many blocks again where results are too noisy; both looks use "
	  "half the level (0.0125), so that chance flags no more than without",
	  NO_RANGE },
	{ "control", 0, MEASURING, OPTION_ON_OFF, AT(control), CHECK, "on|off",
	  "a third process in each block, A again, which must not differ (off)",
	  NO_RANGE },
	{ "order-seed", 0, MEASURING, OPTION_INT, AT(order_seed), BLOCKS, "N",
	  "seed of the order in the blocks (from the clock)",
	  RANGE(0, 4294967295.) },
	{ "on-inconclusive", 0, COMPARING, OPTION_CHOICE, AT(on_inconclusive),
	  CHECK, "WHAT",
	  "exit with 3 (fail) or 0 (pass) if there is no verdict or only "
	  "advice",
	  ONE_OF("fail", "pass") },
	{ "floors", 0, COMPARING, OPTION_TEXT, AT(floors), PAIRS, "FILE",
	  "file of noise floors by machine; calibrate adds this one's "
	  "(results/floors.csv)", NO_RANGE },
	{ "dump-masks", 0, INSIDE, OPTION_TEXT, AT(dump_masks), MEASURE,
	  "FILE", "raw dropout decisions of every step, 1 byte each",
	  NO_RANGE },
	{ "save-weights", 0, OUTPUT, OPTION_TEXT, AT(save_weights), MEASURE,
	  "FILE", "final parameters and running statistics, as PyTorch's "
	  "state_dict (safetensors); FILE:best: those of the epoch whose test "
	  "loss is lowest", NO_RANGE },
	{ "save-parameters", 0, INSIDE, OPTION_TEXT, AT(save_parameters),
	  MEASURE, "FILE", "final parameters alone, raw float32 in state_dict "
	  "order; deprecated", NO_RANGE },
	{ "run-file", 0, OUTPUT, OPTION_TEXT, AT(run_file), MEASURE, "FILE",
	  "write the run's row of runs.csv to FILE", NO_RANGE },
	{ "run-id", 0, OUTPUT, OPTION_TEXT, AT(run_id), MEASURE, "TEXT",
	  "name of this run in the rows", NO_RANGE },
	{ "campaign-id", 0, OUTPUT, OPTION_TEXT, AT(campaign_id), MEASURE,
	  "TEXT", "name of the campaign that it belongs to", NO_RANGE },
	{ "dry-run", 0, MEASURING, OPTION_FLAG, AT(dry_run), RUNS | PAIRS, NULL,
	  "print what would be measured and how long it would take", NO_RANGE },
	{ "list", 'l', GENERAL, OPTION_FLAG, AT(list), RUN, NULL,
	  "list models, data sets, backends and transports", NO_RANGE },
	{ "progress", 0, OUTPUT, OPTION_CHOICE, AT(progress), ITERATES, "WHEN",
	  "show progress on standard error",
	  ONE_OF("auto", "always", "never") },
	{ "log", 0, OUTPUT, OPTION_CHOICE, AT(log), TIMED, "WHICH",
	  "print on standard error, instead of progress, what the program of "
	  "the model's post prints", ONE_OF("post") },
	{ "color", 0, OUTPUT, OPTION_CHOICE, AT(color), SHOWS | VERIFY, "WHEN",
	  "highlight the best, and what is wrong",
	  ONE_OF("auto", "always", "never") },
	{ "quiet", 'q', OUTPUT, OPTION_FLAG, AT(quiet), COMPUTES | TABLE | PLOT,
	  NULL, "no progress and no notes, only the table", NO_RANGE },
	{ "verbose", 'v', OUTPUT, OPTION_FLAG, AT(verbose), ITERATES, NULL,
	  "print the device and the fused steps", NO_RANGE },
	{ "generate", 0, GENERAL, OPTION_CHOICE, AT(generate), HELP, "WHAT",
	  "the man page, or the completions of a shell",
	  ONE_OF("man", "bash", "zsh", "fish") },
	{ "help", 'h', GENERAL, OPTION_FLAG, AT(help), EVERY, NULL,
	  "print this help", NO_RANGE },
	{ "version", 'V', GENERAL, OPTION_FLAG, AT(version), EVERY, NULL,
	  "print version, compiler and libraries", NO_RANGE },
};

const struct option_words option_words[] = {
	{ "steps", VERB_VERIFY, "stop after N iterations in total (50)" },
	{ "batch", VERB_VERIFY, "samples of the last step, as in a run (the "
	  "model's); the most in lockstep steps" },
	{ "test-batch", VERB_VERIFY, "samples of a test (1000)" },
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
	{ "export-csv", VERB_ENV, "one row per peak (-: standard output)" },
	{ "export-json", VERB_CHECK, "the verdicts, as one document" },
	{ "inject", VERB_CHECK, "make every core of B do PCT % more work in "
	  "each iteration, to see whether it is detected; with FROM-TO each "
	  "process draws its own" },
	{ "format", VERB_COMPARE, "format of the tables; not post" },
	{ "blocks", VERB_CALIBRATE, "pairs of processes per target (40)" },
	{ "blocks", VERB_BASELINE, "processes per target (20)" },
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

const char *option_help(const struct option_row *row, enum verb verb)
{
	for (const struct option_words *own = option_words; own->name; own++)
		if (own->verb == verb && !strcmp(own->name, row->name))
			return own->help;
	return row->help;
}

void option_explain(const struct option_row *row, enum verb verb, char *text,
		    size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s",
				       option_help(row, verb));

	for (int i = 0; i < OPTION_MOST_CHOICES && row->choices[i] &&
			used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? ", " : ": ", row->choices[i]);
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
