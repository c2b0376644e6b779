#include "bench/app/argument.h"

#include <ctype.h>
#include <string.h>

#include "bench/data/dataset_files.h"
#include "bench/run/target.h"
#include "bench/verify/verify.h"
#include "models/model.h"

/* Powers of two; those with another transport than the usual have an @. */
static void print_targets(FILE *out)
{
	const struct backend *backend = NULL;
	struct target target;
	struct error refused;
	char text[64];

	while ((backend = backend_next(backend)))
		for (int n = 1; n <= GROUP_MAX_SIZE; n *= 2) {
			const struct transport *by = NULL;

			if (backend->unavailable)
				break;
			while ((by = transport_next(by))) {
				snprintf(text, sizeof(text), "%s-%d@%s",
					 backend->name, n, by->name);
				if (!by->unavailable &&
				    !target_parse(&target, text, &refused))
					fprintf(out, " %s", target.name);
			}
		}
}

static void print_backends(FILE *out)
{
	const struct backend *backend = NULL;

	while ((backend = backend_next(backend)))
		if (verify_compares(backend))
			fprintf(out, " %s", backend->name);
}

static void print_models(FILE *out)
{
	const struct model *model = NULL;

	while ((model = model_next(model)))
		fprintf(out, " %s", model->name);
}

static void print_sets(FILE *out)
{
	const struct dataset_known *known = NULL;

	while ((known = dataset_known_next(known)))
		fprintf(out, " %s", known->name);
}

void verb_print_words(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		fprintf(out, " %s", verb_rows[v].name);
}

void option_print_words(FILE *out, const struct option_row *row)
{
	fprintf(out, " --%s", row->name);
	if (row->letter)
		fprintf(out, " -%c", row->letter);
}

static const struct kind {
	const char *name;
	enum offer offer;
	void (*print)(FILE *out);
} kinds[] = {
	{ "FILE", OFFER_FILES, NULL },
	{ "DIR", OFFER_FOLDERS, NULL },
	{ "PROGRAM", OFFER_FILES, NULL },
	{ "TARGET", OFFER_WORDS, print_targets },
	{ "BACKEND", OFFER_WORDS, print_backends },
	{ "MODEL", OFFER_WORDS, print_models },
	{ "SET", OFFER_WORDS, print_sets },
	{ "VERB", OFFER_WORDS, verb_print_words },
};

static const struct kind *find_kind(const char *name, int length)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(kinds[i].name, name, (size_t)length) &&
		    !kinds[i].name[length])
			return &kinds[i];
	return NULL;
}

/* Small letters stand for themselves. */
static int is_literal(const char *word)
{
	return !isupper((unsigned char)*word);
}

/* The next of the words that | parts, or NULL; starts with *length 0. */
static const char *next_word(const struct argument *argument, const char *word,
			     int *length)
{
	const char *end = argument->text + argument->length;

	word = word ? word + *length + 1 : argument->text;
	if (word >= end)
		return NULL;
	*length = (int)strcspn(word, "|");
	if (*length > end - word)
		*length = (int)(end - word);
	return word;
}

int option_argument(const struct option_row *row, struct argument *argument)
{
	if (row->kind == OPTION_FLAG)
		return 0;
	*argument = (struct argument){
		.text = row->argument,
		.length = (int)strlen(row->argument),
		.choices = row->kind == OPTION_CHOICE ? row->choices : NULL,
	};
	return 1;
}

int verb_argument(enum verb verb, int position, struct argument *argument)
{
	const char *text = verb_rows[verb].arguments;
	int at = -1, length;

	*argument = (struct argument){ 0 };
	for (; *(text += strspn(text, " []")); text += length) {
		length = (int)strcspn(text, " []");
		if (!strncmp(text, "...", 3))
			argument->repeats |= at == position;
		else if (++at == position) {
			argument->text = text;
			argument->length = length;
		}
	}
	return argument->text != NULL;
}

enum offer argument_offer(const struct argument *argument)
{
	enum offer best = argument->choices ? OFFER_WORDS : OFFER_NOTHING;
	const char *word = NULL;
	int length = 0;

	while ((word = next_word(argument, word, &length))) {
		const struct kind *kind = find_kind(word, length);
		const enum offer offer = is_literal(word) ? OFFER_WORDS :
					 kind ? kind->offer : OFFER_NOTHING;

		if (offer > best)
			best = offer;
	}
	return best;
}

void argument_print_words(FILE *out, const struct argument *argument)
{
	const char *word = NULL;
	int length = 0;

	for (int i = 0; argument->choices && i < OPTION_MOST_CHOICES &&
			argument->choices[i]; i++)
		fprintf(out, " %s", argument->choices[i]);
	while ((word = next_word(argument, word, &length))) {
		const struct kind *kind = find_kind(word, length);

		if (is_literal(word))
			fprintf(out, " %.*s", length, word);
		else if (kind && kind->print)
			kind->print(out);
	}
}
