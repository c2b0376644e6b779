/*
 * The verbs: `bench VERB ARGUMENT ...`. Each prints its results to out, notes
 * and progress to log. It returns the exit code, with err filled in unless the
 * code is 0 or a verdict; or -1 for the code of err.
 */
#ifndef BENCH_COMMANDS_COMMANDS_H
#define BENCH_COMMANDS_COMMANDS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/options/options.h"
#include "bench/record/run.h"

typedef int verb_command(const struct options *options, FILE *out, FILE *log,
			 struct error *err);

/* Is B slower than A? 0: measured, and no regression is confirmed; 1: one is;
 * 3: no verdict. The last line of log, "verdict: ...", is not hidden by
 * --quiet. */
verb_command check_command;

/* DIR DIR: two campaigns side by side. */
verb_command compare_command;

/*
 * What a shell may offer for the word that is typed. The arguments are the
 * words after the command's name; the last one, which may be empty, is typed.
 * Prints "files" or "folders" if the shell's own words are to be offered, else
 * "words" and a line for each word, with a tab before its description.
 */
verb_command complete_command;

/* get|check|list [NAME]: find data sets, fetch and verify them. */
verb_command data_command;

verb_command devices_command, env_command;

/*
 * `bench env --network`: what an all-reduce costs here. Measures it and prints
 * a table, rows as CSV into the file of --export-csv unless it is NULL; for "-"
 * the rows to out, and no table. Of one target whose rows go to out it is
 * measured in this process.
 */
verb_command network_command;

/* `bench env --peak`: what one core can do at most, as a table, rows as CSV
 * into the file path unless it is NULL; for "-" the rows to out, and no
 * table. */
int peak_command(const char *path, FILE *out, struct error *err);

/* TARGET: one run in this process, its rows as CSV. */
verb_command measure_command;

/* Writes into log that the run's times are inflated, and by what, if the run
 * did not get its CPUs: run_is_slowed(). */
void note_disturbed(const struct run *run, FILE *log);

/* DIR: pictures of a campaign, and report.html with them; prints the names of
 * what was made. */
verb_command plot_command;

/* [TARGET ...]: a campaign, one fresh process a run. ERROR_STOPPED stands for
 * both signals: see interrupt_signal(). */
verb_command run_command;

/* `bench run --list`: models, data sets, backends and transports, whatever
 * other options say. */
int list_print(FILE *out, struct error *err);
/* The data sets that --dataset takes, and what each is. */
void list_datasets(FILE *out);

/* DIR: what more cores would bring. Prints a table for each setup of the folder
 * with a target of one core, and leaves the rows in its scale.csv, or in
 * --export-csv. */
verb_command scale_command;

/* DIR|FILE ...: the tables again, from saved rows. */
verb_command table_command;

#endif
