/*
 * The verbs: `bench VERB ARGUMENT ...`. Each prints results to out, notes and
 * progress to log. It returns the exit code, or -1 for the code of err. It
 * fills err unless the code is 0 or a verdict.
 */
#ifndef BENCH_COMMANDS_COMMANDS_H
#define BENCH_COMMANDS_COMMANDS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/record/run.h"

typedef int verb_command(const struct options *options, FILE *out, FILE *log,
			 struct error *err);

/* Is B slower than A? Returns 0 if no regression is confirmed, 1 if one is, 3
 * without a verdict. --quiet does not hide the last line of log, "verdict:
 * ...". */
verb_command check_command;

/* DIR DIR: compares two campaigns. */
verb_command compare_command;

/*
 * Completes a word for a shell. The arguments are the words after the command's
 * name; the last one, which may be empty, is being typed. Prints "files" or
 * "folders" if the shell should offer these; otherwise "words" and a line per
 * word, with a tab before its description.
 */
verb_command complete_command;

/* get|check|list [NAME]: lists, downloads and verifies data sets. */
verb_command data_command;

verb_command devices_command, env_command;

/*
 * `bench env --network`: measures an all-reduce. Prints a table to out, and
 * rows as CSV to the file of --export-csv if it is given; for "-" only rows, to
 * out. If there is one target and its rows go to out, this process measures it.
 */
verb_command network_command;

/* `bench env --peak`: measures the peak rates of one core. Prints a table, and
 * rows as CSV to the file path unless it is NULL; for "-" only rows, to out. */
int peak_command(const char *path, FILE *out, struct error *err);

/* TARGET: runs once in this process; prints rows as CSV. */
verb_command measure_command;

/* Prints a note to log if the run did not get its CPUs and its times are
 * inflated: run_is_slowed(). */
void note_disturbed(const struct run *run, FILE *log);

/* DIR: draws the pictures of a campaign and writes report.html; prints the
 * names of the files. */
verb_command plot_command;

/* [TARGET ...]: runs a campaign, one fresh process per run. Fails with
 * ERROR_STOPPED after a signal: see interrupt_signal(). */
verb_command run_command;

/* `bench run --list`: prints models, data sets, backends and transports,
 * independent of other options. */
int list_print(FILE *out, struct error *err);
/* Prints the data sets of --dataset and their summaries. */
void list_datasets(FILE *out);

/* DIR: predicts the speed of more cores. Prints a table per setup with a
 * one-core target, and writes the rows to its scale.csv or to --export-csv. */
verb_command scale_command;

/* DIR|FILE ...: prints the tables from saved rows. */
verb_command table_command;

#endif
