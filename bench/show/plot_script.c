#include "bench/show/plot_script.h"

#include <limits.h>
#include <stdio.h>

#include "bench/system/file.h"

/* Made from the files in plot/, one string a line. */
static const char *const style_lines[] = {
#include "plot/style.gp.h"
	NULL
};
static const char *const epochs_lines[] = {
#include "plot/epochs.gp.h"
	NULL
};
static const char *const iterations_lines[] = {
#include "plot/iterations.gp.h"
	NULL
};
static const char *const learning_lines[] = {
#include "plot/learning.gp.h"
	NULL
};
static const char *const speedup_lines[] = {
#include "plot/speedup.gp.h"
	NULL
};
static const char *const phases_lines[] = {
#include "plot/phases.gp.h"
	NULL
};

static const struct script {
	const char *name;
	const char *const *lines;
} scripts[] = {
	{ "style.gp", style_lines },
	{ "epochs.gp", epochs_lines },
	{ "iterations.gp", iterations_lines },
	{ "learning.gp", learning_lines },
	{ "speedup.gp", speedup_lines },
	{ "phases.gp", phases_lines },
};

static int print_lines(FILE *out, const void *context, struct error *err)
{
	(void)err;
	for (const char *const *line = context; *line; line++)
		fputs(*line, out);
	return 0;
}

int plot_script_write(const char *folder, struct error *err)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, scripts[i].name);
		if (file_replace_with(path, print_lines, scripts[i].lines, err))
			return -1;
	}
	return 0;
}
