/* The abilities of the user's terminal. */
#ifndef BENCH_SYSTEM_TERMINAL_H
#define BENCH_SYSTEM_TERMINAL_H

#include <stdio.h>

#include "backends/contract/error.h"

/* Returns 1 if the locale's characters are more than ASCII. */
int terminal_is_utf8(void);

/* Returns 1 if output to stream should be coloured. when: auto, always or
 * never. auto requires a capable terminal and no NO_COLOR (no-color.org). */
int terminal_uses_color(const char *when, FILE *stream);

/* Returns the columns of the window of stream; 0 if stream is no terminal. */
int terminal_columns(FILE *stream);

/*
 * Returns a stream that wraps lines of messages at the current width of
 * stream's terminal. Returns stream itself if it is no terminal, so that lines
 * of a log stay whole. The stream stays open until the process ends.
 */
FILE *terminal_wrapped(FILE *stream);

/* Prints a line of results; text has no '\n'. On a terminal it is wrapped, and
 * continuation lines are indented. */
void terminal_print_line(FILE *stream, char *text, int indent);

/* Prints "bench: " and the message. Characters that a terminal takes for
 * commands are replaced: names of files and devices, or a compiler's log, may
 * contain them. */
void terminal_print_error(const struct error *err, FILE *log);

#endif
