/*
 * The scripts of gnuplot's that draw the pictures: those in plot/, which are
 * part of the program, so that it needs no files besides.
 */
#ifndef BENCH_SHOW_PLOT_SCRIPT_H
#define BENCH_SHOW_PLOT_SCRIPT_H

#include "backends/contract/error.h"

/* Writes all of them into the folder. */
int plot_script_write(const char *folder, struct error *err);

#endif
