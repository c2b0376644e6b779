/* The command line. One table has the name, argument, meaning and verbs of
 * every option; parsing and help are made from it. */
#ifndef BENCH_OPTIONS_OPTIONS_H
#define BENCH_OPTIONS_OPTIONS_H

#include <stdio.h>

#include "backends/contract/error.h"

enum verb {
	VERB_RUN,
	VERB_INFER,
	VERB_MEASURE,
	VERB_TABLE,
	VERB_PLOT,
	VERB_CHECK,
	VERB_COMPARE,
	VERB_SCALE,
	VERB_VERIFY,
	VERB_DEVICES,
	VERB_ENV,
	VERB_DATA,
	VERB_COMPLETE,
	VERB_HELP,
	VERB_COUNT
};

#define OPTION_UNSET (-1) /* numbers whose default depends on other options */
#define OPTION_MOST_ROWS 96 /* of the table */
#define OPTION_MOST_TIMES 16 /* uses of one option */

#define SEED_MOST 4294967295L /* 32 bits, as in PyTorch's generator */
/* Distance between the seeds of two repetitions. Epoch e is ordered by seed +
 * e: closer seeds would share orders of samples. */
#define SEED_STRIDE 100000L

struct options {
	enum verb verb;
	const char **arguments; /* words that are not options, in argv */
	int argument_count;

	const char *model, *dataset, *data_dir, *targets_csv, *mirror;
	long epochs, steps, batch, global_batch, test_batch, seed, warmup;
	long image_size, test_steps;
	long repeat, timeout;
	long random; /* OPTION_UNSET = a model by name */
	double lr; /* OPTION_UNSET = the model's */
	double target_accuracy; /* percent; OPTION_UNSET = none */
	double fail_above;	/* percent; OPTION_UNSET = none */
	long synthetic_train, synthetic_test;
	int dropout, reshuffle, test; /* 1 = on */
	int pad; /* 1 = on; OPTION_UNSET = off, as in versions without it */
	const char *algorithm;	      /* NULL = the backend's default */
	const char *precision;	      /* NULL = fp32 */
	const char *device_class;     /* NULL = by the device's type */
	const char *resident;	      /* NULL = auto */
	const char *sync;	      /* NULL = step */
	const char *allreduce;	      /* NULL = ordered */
	long bucket_mb;		      /* OPTION_UNSET = 25 */
	const char *hosts;	      /* a:4,b:4; NULL = this host */
	const char *plugin;	      /* a file, or NULL */
	const char *cpus;	      /* 0,2-3; NULL = all allowed */
	long count; /* of forward passes; OPTION_UNSET = the default */
	int infer;  /* measure: forward passes only */
	int include_warmup, with_post, details, columns, cores;
	const char *out, *label;
	const char *export_csv, *export_json, *export_markdown;
	const char *run_file, *run_id, *campaign_id;
	int has_parent; /* 1: another bench started this one and reports its
			   errors */
	const char *team; /* verify: a file; NULL = not a core of a team */
	const char *dump_masks, *save_parameters, *save_weights, *weights;
	const char *straggler, *inject, *trace, *profile;
	const char *base, *head, *base_cmd, *head_cmd, *base_ref;
	const char *base_env[OPTION_MOST_TIMES + 1]; /* ends with NULL */
	const char *head_env[OPTION_MOST_TIMES + 1];
	const char *on_inconclusive;
	long blocks, order_seed;
	int control, extend;
	const char *format, *progress, *color, *generate;
	int peak, network;
	const char *topology; /* NULL = torus */
	const char *sweep;    /* a file, or NULL */
	double latency, bandwidth;	      /* us, GB/s; or OPTION_UNSET */
	long node_cores, shared_cpus, most_cores; /* or OPTION_UNSET */
	int quick, dry_run, list, quiet, verbose, help, version;
	unsigned char given[OPTION_MOST_ROWS]; /* by row: 1 = on the command
						  line */
};

/* The defaults. */
extern const struct options options_defaults;

/*
 * Fills options from argv. Fails with ERROR_USAGE, which names the mistake and
 * the choices. With --help or --version nothing else is checked. `bench help
 * VERB` is `bench VERB --help`; `bench help` covers all verbs. Release options
 * also after a failure.
 */
int options_parse(struct options *options, int argc, char **argv,
		  struct error *err);
void options_release(struct options *options);

/* Prints the help of the verb in options, or of all verbs. */
void options_print_help(FILE *out, const struct options *options);

const char *verb_name(enum verb verb);

#endif
