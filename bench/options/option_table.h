/* The rows of the option table, see bench/options/options.h. */
#ifndef BENCH_OPTIONS_OPTION_TABLE_H
#define BENCH_OPTIONS_OPTION_TABLE_H

#include <stddef.h>

#include "bench/options/options.h"

#define OPTION_MOST_CHOICES 7
#define OPTION_GROUPS 8

enum option_kind {
	OPTION_FLAG,   /* int, set to 1 */
	OPTION_ON_OFF, /* int, 1 or 0 */
	OPTION_INT,    /* long from .least to .most */
	OPTION_TIME,   /* long: seconds, as 90, 90s, 5m or 2h, from .least to
			  .most */
	OPTION_REAL,   /* double from .least to .most */
	OPTION_TEXT,   /* const char *, at most .most bytes; 0 = no limit */
	OPTION_LIST,   /* const char *[OPTION_MOST_TIMES + 1], one per use */
	OPTION_CHOICE  /* const char *, one of .choices */
};

struct option_row {
	const char *name;
	char letter; /* 0 = no short form */
	int group;   /* index in option_groups: heading in help and man page */
	enum option_kind kind;
	size_t offset;
	unsigned verbs; /* bits 1u << VERB_... */
	/* Verbs that read, or write, the file or folder of the argument;
	 * together they are .verbs if the argument is a file or folder. */
	unsigned reads, writes;
	const char *argument; /* as in the help: bench/commands/argument.h */
	const char *help;    /* imperative, ends with "(default)" */
	const char *details; /* sentences for the manual, or NULL */
	double least, most;
	const char *choices[OPTION_MOST_CHOICES];
};

struct verb_row {
	const char *name, *arguments, *summary;
};

/* Returns 1 if the verb has this option; for VERB_COUNT, if all verbs have. */
int verb_knows(enum verb verb, const struct option_row *row);

/* The help of an option that means something else for one verb. */
struct option_words {
	const char *name; /* name of the option; NULL ends the table */
	enum verb verb;
	const char *help;
};

/* Returns the help of an option for this verb; for VERB_COUNT, the row's. */
const char *option_help(const struct option_row *row, enum verb verb);

/* Writes the help with the choices before the default. Returns the length of
 * the whole text, as snprintf() does. */
size_t option_explain(const struct option_row *row, enum verb verb, char *text,
		      size_t size);

/* Returns the row of a name that must exist. */
const struct option_row *option_find(const char *name);

/* Returns 1 if the option was on the command line. */
int option_is_given(const struct options *options,
		    const struct option_row *row);

/* Sets an option from text, as on the command line. text must outlive options.
 * Fails with ERROR_USAGE, which names the valid values. */
int option_set(struct options *options, const struct option_row *row,
	       const char *text, struct error *err);

/* Writes the value as on the command line; empty if the option is not set or
 * has no value. */
void option_print(const struct options *options, const struct option_row *row,
		  char *text, size_t size);

/* Sets an option that takes a value to its default. */
void option_reset(struct options *options, const struct option_row *row);

extern const char *const option_groups[OPTION_GROUPS]; /* headings */

/* Returns the heading in the help of this verb. */
const char *option_heading(int group, enum verb verb);

extern const struct option_row option_rows[];
extern const int option_row_count;
extern const struct option_words option_words[];
extern const struct verb_row verb_rows[VERB_COUNT];

#endif
