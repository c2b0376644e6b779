/* What the user's terminal can show, and wants to. */
#ifndef BENCH_SYSTEM_TERMINAL_H
#define BENCH_SYSTEM_TERMINAL_H

#include <stdio.h>

/* The locale's characters are more than ASCII. */
int terminal_is_utf8(void);

/*
 * Whether to colour what goes to stream: when is auto, always or never. auto
 * means a capable terminal and no NO_COLOR (no-color.org).
 */
int terminal_uses_color(const char *when, FILE *stream);

#endif
