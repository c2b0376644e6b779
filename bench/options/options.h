/*
 * The command line. One table says what every option is called, takes, means
 * and which verbs know it; parsing and help are made from it.
 */
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

#define OPTION_UNSET (-1) /* of numbers whose default depends on others */
#define OPTION_MOST_ROWS 96 /* of the table */
#define OPTION_MOST_TIMES 16 /* that one option is given */

#define SEED_MOST 4294967295L /* 32 bits, as PyTorch's generator takes */
/* From one repetition's seed to the next one's. The order of epoch e is that
 * of seed + e: closer seeds would share orders of samples. */
#define SEED_STRIDE 100000L

struct options {
	enum verb verb;
	const char **arguments; /* what is not an option, into argv */
	int argument_count;

	const char *model, *dataset, *data_dir, *targets_csv, *mirror;
	long epochs, steps, batch, global_batch, test_batch, seed, warmup;
	long image_size, test_steps;
	long repeat, timeout;
	long random; /* OPTION_UNSET: a model that has a name */
	double lr; /* OPTION_UNSET: the model's */
	double target_accuracy; /* percent; OPTION_UNSET: none */
	double fail_above;	/* likewise */
	long synthetic_train, synthetic_test;
	int dropout, reshuffle, test; /* on: 1 */
	int pad; /* likewise; OPTION_UNSET: off, as in versions without it */
	const char *algorithm;	      /* NULL: what the backend does */
	const char *precision;	      /* NULL: fp32 */
	const char *device_class;     /* NULL: as the device's type wants it */
	const char *resident;	      /* NULL: auto */
	const char *sync;	      /* NULL: step */
	const char *allreduce;	      /* NULL: ordered */
	long bucket_mb;		      /* OPTION_UNSET: 25 */
	const char *hosts;	      /* a:4,b:4; NULL: this one */
	const char *plugin;	      /* a file, or NULL */
	const char *cpus;	      /* 0,2-3; NULL: all allowed */
	long count; /* of inferences; OPTION_UNSET: the usual one */
	int infer;  /* measure: forward passes only */
	int include_warmup, with_post, details, columns, cores;
	const char *out, *label;
	const char *export_csv, *export_json, *export_markdown;
	const char *run_file, *run_id, *campaign_id;
	int has_parent; /* another bench, which says what went wrong */
	const char *team; /* verify: a file; NULL: no core of others' */
	const char *dump_masks, *save_parameters, *save_weights, *weights;
	const char *straggler, *inject, *trace, *profile;
	const char *base, *head, *base_cmd, *head_cmd, *base_ref;
	const char *base_env[OPTION_MOST_TIMES + 1]; /* up to a NULL */
	const char *head_env[OPTION_MOST_TIMES + 1];
	const char *on_inconclusive;
	long blocks, order_seed;
	int control, extend;
	const char *format, *progress, *color, *generate;
	int peak, network;
	const char *topology; /* NULL: torus */
	const char *sweep;    /* a file, or NULL */
	double latency, bandwidth;	      /* us, GB/s; OPTION_UNSET */
	long node_cores, shared_cpus, most_cores; /* OPTION_UNSET */
	int quick, dry_run, list, quiet, verbose, help, version;
	unsigned char given[OPTION_MOST_ROWS]; /* by row: on the command line */
};

/* Where nothing is asked for. */
extern const struct options options_defaults;

/*
 * Fills options from argv. ERROR_USAGE says what is wrong and what there is to
 * choose from. With --help or --version nothing else is checked. `bench help
 * VERB` is `bench VERB --help`, and without VERB that of all.
 */
int options_parse(struct options *options, int argc, char **argv,
		  struct error *err);
void options_release(struct options *options);

/* Help for all verbs, or for the one that options names. */
void options_print_help(FILE *out, const struct options *options);

const char *verb_name(enum verb verb);

#endif
