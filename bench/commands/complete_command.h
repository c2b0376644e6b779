/* `bench complete`: what a shell may offer for the word that is typed. */
#ifndef BENCH_COMMANDS_COMPLETE_COMMAND_H
#define BENCH_COMMANDS_COMPLETE_COMMAND_H

#include <stdio.h>

#include "bench/options/options.h"

/*
 * The arguments are the words after the command's name; the last one, which may
 * be empty, is typed. Prints "files" or "folders" if the shell's own words are
 * to be offered, else "words" and a line for each word, with a tab before its
 * description.
 */
int complete_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err);

#endif
