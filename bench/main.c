/* The command: parse, dispatch, print the one error, exit. */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/contract/backend.h"
#include "bench/system/text.h"
#include "bench/system/cpus.h"
#include "bench/record/machine.h"
#include "bench/options/options.h"
#include "bench/app/page.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/system/terminal.h"
#include "bench/app/baseline_command.h"
#include "bench/app/calibrate_command.h"
#include "bench/app/check_command.h"
#include "bench/app/compare_command.h"
#include "bench/app/data_command.h"
#include "bench/app/info_command.h"
#include "bench/app/measure.h"
#include "bench/app/peak_command.h"
#include "bench/app/plot_command.h"
#include "bench/app/run_command.h"
#include "bench/app/selftest_command.h"
#include "bench/app/table_command.h"
#include "bench/verify/verify.h"

static int data_verb(const struct options *options, FILE *log,
		     struct error *err)
{
	const struct data_command command = {
		.verb = options->argument_count > 0 ? options->arguments[0] :
						      NULL,
		.name = options->argument_count > 1 ? options->arguments[1] :
						      NULL,
		.dir = options->data_dir,
		.mirror = options->mirror,
	};

	return data_command_run(&command, stdout, log, err);
}

static int table_verb(const struct options *options, FILE *log,
		      struct error *err)
{
	struct table_command command = {
		.paths = options->arguments,
		.path_count = options->argument_count,
		.with_post = options->with_post,
		.details = options->details,
		.quiet = options->quiet,
		.include_warmup = options->include_warmup,
		.cores = options->cores,
		.columns = options->columns,
		.utf8 = terminal_is_utf8(),
		.color = terminal_uses_color(options->color, stdout),
		.width = terminal_columns(stdout),
		.exports = { options->export_csv, options->export_json,
			     options->export_markdown },
	};

	table_format_find(options->format, &command.format);
	return table_command_run(&command, stdout, log, err);
}

static int compare_verb(const struct options *options, FILE *log,
			 struct error *err)
{
	struct compare_command command = {
		.paths = options->arguments,
		.path_count = options->argument_count,
		.table = {
			.include_warmup = options->include_warmup,
			.utf8 = terminal_is_utf8(),
			.width = terminal_columns(stdout),
		},
		.export_csv = options->export_csv,
	};

	table_format_find(options->format, &command.table.format);
	return compare_command_run(&command, stdout, log, err);
}

static int plot_verb(const struct options *options, FILE *log,
		     struct error *err)
{
	const struct plot_command command = {
		.folder = options->argument_count == 1 ?
				  options->arguments[0] : NULL,
		.out = options->out,
		.quiet = options->quiet,
		.seconds = options->timeout == OPTION_UNSET ?
				   30 : (double)options->timeout,
	};

	return plot_command_run(&command, stdout, log, err);
}

static int env_verb(const struct options *options, struct error *err)
{
	if (options->peak || options->export_csv)
		return peak_command(options, stdout, err);
	return env_command(stdout, err);
}

/*
 * Some libraries read how to work when the process starts. Verbs that compute
 * begin anew with what their backends ask for.
 */
static int restart_if_needed(const struct options *options, char **argv,
			     struct error *err)
{
	const struct backend *backend = NULL;

	if (options->verb != VERB_MEASURE && options->verb != VERB_VERIFY &&
	    options->verb != VERB_DEVICES && options->verb != VERB_ENV)
		return 0;
	while ((backend = backend_next(backend))) {
		const char *variable = backend_variable(backend);

		if (variable)
			return process_restart(argv, variable, err);
	}
	return 0;
}

/* Whether a device may have been at work for a verb that computes. */
static int used_device(const struct options *options)
{
	const struct backend *backend;

	if (options->verb != VERB_MEASURE && options->verb != VERB_VERIFY)
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

static int dispatch(const struct options *options, FILE *log, struct error *err)
{
	const int takes_none = options->verb == VERB_SELFTEST ||
			       options->verb == VERB_DEVICES ||
			       options->verb == VERB_ENV;

	if (takes_none && options->argument_count)
		return error_set(err, ERROR_USAGE,
				 "bench %s takes no arguments, found '%.60s'",
				 verb_name(options->verb),
				 options->arguments[0]);
	switch (options->verb) {
	case VERB_RUN:
		return run_command(options, stdout, log, err);
	case VERB_MEASURE:
		return measure_command(options, stdout, log, err);
	case VERB_TABLE:
		return table_verb(options, log, err);
	case VERB_PLOT:
		return plot_verb(options, log, err);
	case VERB_CHECK:
		return check_command(options, stdout, log, err);
	case VERB_COMPARE:
		return compare_verb(options, log, err);
	case VERB_CALIBRATE:
		return calibrate_command(options, stdout, log, err);
	case VERB_SELFTEST:
		return selftest_command(stdout, err);
	case VERB_BASELINE:
		return baseline_command(options, stdout, log, err);
	case VERB_VERIFY:
		return verify_command(options, stdout, log, err);
	case VERB_DEVICES:
		return devices_command(stdout, err);
	case VERB_ENV:
		return env_verb(options, err);
	default:
		return data_verb(options, log, err);
	}
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
	/* What is started inherits it, whether or not it knows the option. */
	if (options->cpus && cpus_restrict(options->cpus, err))
		return err->kind;
	options->cpus = NULL;
	if (restart_if_needed(options, argv, err))
		return err->kind;
	code = dispatch(options, log, err);
	return code < 0 ? (int)err->kind : code;
}

/*
 * A file that we open must not be taken for a standard one that was closed:
 * messages would go into it. What is put in place cannot be written as standard
 * output, so that lost results are noticed.
 */
static void keep_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_WRONLY :
								O_RDONLY);
}

/* Names of files and devices are in it, and a compiler's log may be. */
static void print_error(const struct error *err, FILE *log)
{
	char text[4 * sizeof(err->message)];

	text_clean(text, sizeof(text), err->message, TEXT_LINES);
	fprintf(log, "bench: %s\n", text);
}

/* Before the libraries, OpenBLAS for one, have threads of their own: those
 * inherit which signals are held off. */
__attribute__((section(".preinit_array"), used))
static void (*const before_libraries)(void) = interrupt_reset;

int main(int argc, char **argv)
{
	struct options options;
	struct error err = { .kind = ERROR_FAILED };
	FILE *log;
	int code, leaves_driver;

	keep_standard_files();
	/* We read our own files again, whatever others may. */
	umask(umask(0777) & ~(mode_t)S_IRWXU);
	/* Numbers keep their point; only characters follow the user. */
	setlocale(LC_CTYPE, "");
	log = terminal_wrapped(stderr);
	code = run(&options, argc, argv, log, &err);
	leaves_driver = used_device(&options);
	options_release(&options);
	if (!code && (fflush(stdout) || ferror(stdout)))
		code = -error_set(&err, ERROR_OUTPUT,
				  "standard output could not be written") *
		       ERROR_OUTPUT;
	/* A measuring child's parent says what went wrong. */
	if (code && err.message[0] && !options.campaign_id)
		print_error(&err, log);
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
