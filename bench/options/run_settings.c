#include "bench/options/run_settings.h"

#include <string.h>

#include "bench/options/option_table.h"

const struct run_setting run_settings[] = {
	{ "model", "model", 0, NULL },
	{ "image-size", "image_size", SETTING_LATER, NULL },
	{ "dataset", "dataset", SETTING_DATA | SETTING_OPEN, NULL },
	{ NULL, "dataset_sha256", SETTING_DATA, NULL },
	{ "synthetic-train", "train_samples",
	  SETTING_DATA | SETTING_SYNTHETIC, NULL },
	{ "synthetic-test", "test_samples",
	  SETTING_DATA | SETTING_SYNTHETIC, NULL },
	{ "epochs", "epochs", 0, NULL },
	{ "steps", "steps", SETTING_CAPPED, NULL },
	{ "global-batch", "global_batch", 0, NULL },
	{ "batch", "batch", SETTING_OPEN, NULL },
	{ "test-batch", "test_batch", 0, NULL },
	{ "test-steps", "test_steps", SETTING_LATER, NULL },
	{ "count", "passes", SETTING_LATER, NULL },
	{ "seed", "seed", 0, NULL },
	{ "weights", "weights", SETTING_LATER | SETTING_OPEN, NULL },
	{ "lr", "lr", 0, NULL },
	{ "dropout", "dropout", 0, NULL },
	{ "algorithm", "algorithm", SETTING_LATER, NULL },
	{ "precision", "precision", SETTING_LATER, NULL },
	{ "reshuffle", "reshuffle", 0, NULL },
	{ "pad", "pad", SETTING_LATER, NULL },
	{ "warmup", "warmup", 0, NULL },
	{ "straggler", "straggler", 0, NULL },
	{ "inject", "inject_pct", 0, NULL },
	{ "target-accuracy", "target_accuracy_pct", 0, NULL },
	{ "device-class", "device_class", SETTING_LATER | SETTING_DEVICE,
	  NULL },
	{ "resident", "resident", SETTING_LATER | SETTING_DEVICE, "auto" },
	{ "sync", "sync", SETTING_LATER | SETTING_DEVICE, "step" },
	{ "allreduce", "allreduce", SETTING_LATER | SETTING_DEVICE,
	  "ordered" },
	{ "bucket-mb", "bucket_mb", SETTING_LATER | SETTING_DEVICE, "25" },
	{ "hosts", "hosts", SETTING_LATER | SETTING_DEVICE, NULL },
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
	/* Its column has what came of the option. */
	if (!strcmp(setting->column, "resident"))
		return run_asked_resident(run);
	/* One host needs no option. */
	if (!strcmp(setting->column, "hosts") && !run_has_hosts(run))
		return "";
	return run_cell_text(run, setting->column, number);
}
