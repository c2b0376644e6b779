/* The command: parse, dispatch, print the one error, exit. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/contract/backend.h"
#include "bench/commands/commands.h"
#include "bench/commands/outputs.h"
#include "bench/commands/page.h"
#include "bench/options/options.h"
#include "bench/plan/plugin_file.h"
#include "bench/record/machine.h"
#include "bench/system/cpus.h"
#include "bench/system/interrupt.h"
#include "bench/system/objects.h"
#include "bench/system/process.h"
#include "bench/system/terminal.h"
#include "bench/verify/verify.h"

/* The commands, as in bench/commands/commands.h. */
static const struct {
	verb_command *run;
	int opens_devices; /* in this process */
	int trains;	   /* on them, if they are not this CPU */
} verbs[VERB_COUNT] = {
	[VERB_RUN] = { run_command, 0, 0 },
	[VERB_INFER] = { run_command, 0, 0 },
	[VERB_MEASURE] = { measure_command, 1, 1 },
	[VERB_TABLE] = { table_command, 0, 0 },
	[VERB_PLOT] = { plot_command, 0, 0 },
	[VERB_CHECK] = { check_command, 0, 0 },
	[VERB_COMPARE] = { compare_command, 0, 0 },
	[VERB_SCALE] = { scale_command, 0, 0 },
	[VERB_VERIFY] = { verify_command, 1, 1 },
	[VERB_DEVICES] = { devices_command, 1, 0 },
	[VERB_ENV] = { env_command, 1, 0 },
	[VERB_DATA] = { data_command, 0, 0 },
	[VERB_COMPLETE] = { complete_command, 0, 0 },
	/* bench help asks for what run() prints before any verb. */
};

/*
 * Some libraries read how to work when the process starts. Verbs that open
 * devices begin anew with what their backends ask for.
 */
static int restart_if_needed(const struct options *options, char **argv,
			     struct error *err)
{
	const struct backend *backend = NULL;

	if (!verbs[options->verb].opens_devices)
		return 0;
	while ((backend = backend_next(backend))) {
		const char *variable = backend_variable(backend);

		if (variable)
			return process_restart(argv, variable, err);
	}
	return 0;
}

/* Returns 1 if the verb computes and may have used a device. */
static int used_device(const struct options *options)
{
	const struct backend *backend;

	if (options->verb == VERB_COUNT || !verbs[options->verb].trains)
		return 0;
	for (int a = 0; a < options->argument_count; a++) {
		const char *target = options->arguments[a];
		char name[48];

		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(target, "-@:"), target);
		backend = backend_find(name);
		if (backend && backend->offloads)
			return 1;
	}
	return !options->argument_count; /* verify takes all of them */
}

static int run(struct options *options, int argc, char **argv, FILE *log,
	       struct error *err)
{
	int code;

	if (options_parse(options, argc, argv, err))
		return err->kind;
	if (options->version) {
		machine_print_version(stdout);
		return 0;
	}
	if (options->help) {
		options_print_help(stdout, options);
		return 0;
	}
	if (options->generate) {
		page_print(stdout, options->generate);
		return 0;
	}
	if (outputs_check(options, err))
		return err->kind;
	/* Child processes inherit the set, whether or not they support the
	 * option. */
	if (options->cpus && cpus_restrict(options->cpus, err))
		return err->kind;
	/* Another host has CPUs of its own. */
	if (!options->hosts)
		options->cpus = NULL;
	/* Child processes inherit it. */
	if (options->plugin && plugin_choose(options->plugin, err))
		return err->kind;
	options->plugin = NULL;
	if (restart_if_needed(options, argv, err))
		return err->kind;
	code = verbs[options->verb].run(options, stdout, log, err);
	return code < 0 ? (int)err->kind : code;
}

/*
 * Opens /dev/null for standard files that are closed: otherwise a file of ours
 * would take their number and get messages. The replacement of standard output
 * is not writable, so that lost results are noticed.
 */
static void keep_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_WRONLY :
								O_RDONLY);
}

/* Must run before libraries such as OpenBLAS start threads, which inherit
 * blocked signals. */
__attribute__((section(".preinit_array"), used))
static void (*const before_libraries)(void) = interrupt_reset;

int main(int argc, char **argv)
{
	struct options options;
	struct error err = { .kind = ERROR_FAILED };
	FILE *log;
	int code, leaves_driver;

	keep_standard_files();
	/* This process must be able to read its own files again. */
	umask(umask(0777) & ~(mode_t)S_IRWXU);
	/* Numbers keep their point; only characters follow the user. */
	setlocale(LC_CTYPE, "");
	log = terminal_wrapped(stderr);
	code = run(&options, argc, argv, log, &err);
	/* Reports all libraries and drivers that were loaded. */
	objects_report();
	leaves_driver = used_device(&options);
	options_release(&options);
	if (!code && (fflush(stdout) || ferror(stdout)))
		code = -error_set(&err, ERROR_OUTPUT,
				  "standard output could not be written") *
		       ERROR_OUTPUT;
	/* A measuring child's parent prints the error. */
	if (code && err.message[0] && !options.has_parent)
		terminal_print_error(&err, log);
	if (code == ERROR_STOPPED && interrupt_signal())
		code = 128 + interrupt_signal();
	/* Threads of a driver may still put things away, and its destructors
	 * would take from under them what they work on. */
	if (leaves_driver) {
		fflush(NULL);
		_exit(code);
	}
	return code;
}
