/* What the user's terminal can show, and wants to. */
#ifndef BENCH_SYSTEM_TERMINAL_H
#define BENCH_SYSTEM_TERMINAL_H

#include <stdio.h>

#include "backends/contract/error.h"

/* The locale's characters are more than ASCII. */
int terminal_is_utf8(void);

/*
 * Whether to colour what goes to stream: when is auto, always or never. auto
 * means a capable terminal and no NO_COLOR (no-color.org).
 */
int terminal_uses_color(const char *when, FILE *stream);

/* Of the window that stream is shown in; 0 if it is shown in none. */
int terminal_columns(FILE *stream);

/*
 * A stream of messages to stream whose lines are wrapped at the width that its
 * terminal has by then; stream itself where it is no terminal, so that a line
 * of a log stays one. Open until the process ends.
 */
FILE *terminal_wrapped(FILE *stream);

/* A line of results, text without its '\n': wrapped in the same way where
 * stream is a terminal, with so many blanks before what is left over. */
void terminal_print_line(FILE *stream, char *text, int indent);

/* "bench: " and the message, without what a terminal would take for commands:
 * names of files and devices are in it, and a compiler's log may be. */
void terminal_print_error(const struct error *err, FILE *log);

#endif
