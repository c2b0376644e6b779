/* The rows behind bench/options/options.h. */
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
	OPTION_TIME,   /* long, likewise: seconds, as 90, 90s, 5m or 2h */
	OPTION_REAL,   /* double from .least to .most */
	OPTION_TEXT,   /* const char *, of at most .most bytes; 0: of any */
	OPTION_LIST,   /* const char *[OPTION_MOST_TIMES + 1], one each time */
	OPTION_CHOICE  /* const char *, one of .choices */
};

struct option_row {
	const char *name;
	char letter; /* 0: no short form */
	int group;   /* in option_groups: help and man page have them so */
	enum option_kind kind;
	size_t offset;
	unsigned verbs; /* bits 1u << VERB_... */
	/* Verbs that read, or write, the file or folder that the argument
	 * names; the two together are .verbs where there is such a file. */
	unsigned reads, writes;
	const char *argument; /* as in the help: bench/commands/argument.h */
	const char *help;
	double least, most;
	const char *choices[OPTION_MOST_CHOICES];
};

struct verb_row {
	const char *name, *arguments, *summary;
};

/* Whether the verb has this option. VERB_COUNT: whether all have it. */
int verb_knows(enum verb verb, const struct option_row *row);

/* Where an option means something else to one verb than its row says. */
struct option_words {
	const char *name; /* of the option; NULL ends the table */
	enum verb verb;
	const char *help;
};

/* The help of an option to this verb; VERB_COUNT: to most of those it has. */
const char *option_help(const struct option_row *row, enum verb verb);

/* The same, with the choices that there are. Returns, as snprintf() does, the
 * length of all of it, so that nobody need cut it. */
size_t option_explain(const struct option_row *row, enum verb verb, char *text,
		      size_t size);

/* The row of this name, which there is. */
const struct option_row *option_find(const char *name);

/* Was it on the command line? */
int option_is_given(const struct options *options,
		    const struct option_row *row);

/*
 * The value of an option from text, as on the command line; text has to stay
 * as long as options. ERROR_USAGE says what it could be.
 */
int option_set(struct options *options, const struct option_row *row,
	       const char *text, struct error *err);

/* The value as that text; empty if the option is not set, or has no value. */
void option_print(const struct options *options, const struct option_row *row,
		  char *text, size_t size);

/* As where it is not given; for those that have a value. */
void option_reset(struct options *options, const struct option_row *row);

extern const char *const option_groups[OPTION_GROUPS]; /* their headings */

/* The heading in the help of this verb. */
const char *option_heading(int group, enum verb verb);

extern const struct option_row option_rows[];
extern const int option_row_count;
extern const struct option_words option_words[];
extern const struct verb_row verb_rows[VERB_COUNT];

#endif
