#include "bench/options/run_settings.h"

#include <string.h>

#include "bench/options/option_table.h"

const struct run_setting run_settings[] = {
	{ "machine", NULL, "cpu_model", 0, NULL },
	{ "machine", NULL, "logical_cpus", 0, NULL },
	{ "machine", NULL, "cpu_quota", 0, NULL },
	{ "machine", NULL, "mem_bytes", 0, NULL },
	{ "machine", NULL, "os", 0, NULL },
	{ "machine", NULL, "kernel", 0, NULL },
	{ "machine", NULL, "virtualisation", 0, NULL },
	{ "machine", NULL, "governor", 0, NULL },
	{ "machine", NULL, "cpus", 0, NULL },
	{ "machine", NULL, "cpu_list", 0, NULL },
	{ "machine", NULL, "device_name", 0, NULL },
	{ "machine", NULL, "device_type", 0, NULL },
	{ "machine", NULL, "device_driver", 0, NULL },
	{ "machine", NULL, "device_units", 0, NULL },
	{ "build", NULL, "version", 0, NULL },
	{ "build", NULL, "git_commit", 0, NULL },
	{ "build", NULL, "compiler", 0, NULL },
	{ "build", NULL, "cflags", 0, NULL },
	{ "build", NULL, "binary_sha256", 0, NULL },
	{ "options", NULL, "transport", 0, NULL },
	{ "options", "model", "model", 0, NULL },
	{ "options", "image-size", "image_size", 0, NULL },
	{ "data set", "dataset", "dataset", 0, NULL },
	{ "data set", NULL, "dataset_sha256", 0, NULL },
	{ "data set", "synthetic-train", "train_samples",
	  SETTING_SYNTHETIC, NULL },
	{ "data set", "synthetic-test", "test_samples",
	  SETTING_SYNTHETIC, NULL },
	{ "options", "epochs", "epochs", 0, NULL },
	{ "options", "steps", "steps", 0, NULL },
	{ "options", "global-batch", "global_batch", 0, NULL },
	{ "options", "batch", "batch", 0, NULL },
	{ "options", "test-batch", "test_batch", 0, NULL },
	{ "options", "test-steps", "test_steps", 0, NULL },
	{ "options", "count", "passes", 0, NULL },
	{ "options", "seed", "seed", 0, NULL },
	{ "options", "weights", "weights", 0, NULL },
	{ "options", "lr", "lr", 0, NULL },
	{ "options", "dropout", "dropout", 0, NULL },
	{ "options", "algorithm", "algorithm", 0, NULL },
	{ "options", "precision", "precision", 0, NULL },
	{ "options", "reshuffle", "reshuffle", 0, NULL },
	{ "options", "pad", "pad", 0, NULL },
	{ "options", "warmup", "warmup", 0, NULL },
	{ "options", "straggler", "straggler", 0, NULL },
	{ "options", "inject", "inject_pct", 0, NULL },
	{ "options", "target-accuracy", "target_accuracy_pct", 0, NULL },
	{ "options", "device-class", "device_class", SETTING_DEVICE, NULL },
	{ "options", "resident", "resident", SETTING_DEVICE, "auto" },
	{ "options", "sync", "sync", SETTING_DEVICE, "step" },
	{ "options", "allreduce", "allreduce", SETTING_DEVICE, "ordered" },
	{ "options", "bucket-mb", "bucket_mb", SETTING_DEVICE, "25" },
	{ "options", "hosts", "hosts", SETTING_DEVICE, NULL },
	{ "variables", NULL, "variables", 0, NULL },
};

const int run_setting_count = sizeof(run_settings) / sizeof(run_settings[0]);

int run_setting_is_of(const struct run_setting *setting, enum verb verb)
{
	return setting->option &&
	       verb_knows(verb, option_find(setting->option));
}

int run_setting_concerns(const struct run_setting *setting,
			 const struct run *run)
{
	return setting->option && (!(setting->flags & SETTING_SYNTHETIC) ||
				   !strcmp(run->dataset, "synthetic"));
}

const char *run_cell_text(const struct run *run, const char *name,
			  char number[NUMBER_SIZE])
{
	return cell_format(row_column(&run_rows, name), run, number);
}

const char *run_setting_text(const struct run_setting *setting,
			     const struct run *run, char number[NUMBER_SIZE])
{
	/* The column has the outcome, not the option. */
	if (!strcmp(setting->column, "resident"))
		return run_asked_resident(run);
	/* One host needs no option. */
	if (!strcmp(setting->column, "hosts") && !run_has_hosts(run))
		return "";
	return run_cell_text(run, setting->column, number);
}
