#include "bench/commands/argument.h"

#include <ctype.h>
#include <string.h>

#include "bench/data/dataset_files.h"
#include "bench/plan/target.h"
#include "bench/verify/verify.h"
#include "models/model.h"

void argument_offer_word(const struct offered *offered, const char *word,
			 const char *description)
{
	if (strncmp(word, offered->typed, strlen(offered->typed)) ||
	    (strchr(word, '@') && !strchr(offered->typed, '@')))
		return;
	fprintf(offered->out, "%s%s%s%s\n", offered->prefix, word,
		description ? "\t" : "", description ? description : "");
}

/* Offers targets with powers of two cores. Transports other than the default
 * are offered after an @. */
static void offer_targets(const struct offered *offered)
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
					argument_offer_word(offered,
							    target.name, NULL);
			}
		}
}

static void offer_backends(const struct offered *offered)
{
	const struct backend *backend = NULL;

	while ((backend = backend_next(backend)))
		if (verify_compares(backend))
			argument_offer_word(offered, backend->name, NULL);
}

static void offer_models(const struct offered *offered)
{
	const struct model *model = NULL;

	while ((model = model_next(model)))
		argument_offer_word(offered, model->name, NULL);
}

static void offer_sets(const struct offered *offered)
{
	const struct dataset_known *known = NULL;

	while ((known = dataset_known_next(known)))
		argument_offer_word(offered, known->name, NULL);
}

static void offer_verbs(const struct offered *offered)
{
	for (int v = 0; v < VERB_COUNT; v++)
		argument_offer_word(offered, verb_rows[v].name, NULL);
}

static const struct kind {
	const char *name;
	enum offer offer;
	void (*offer_all)(const struct offered *offered);
} kinds[] = {
	{ "FILE", OFFER_FILES, NULL },
	{ "DIR", OFFER_FOLDERS, NULL },
	{ "PROGRAM", OFFER_FILES, NULL },
	{ "TARGET", OFFER_WORDS, offer_targets },
	{ "BACKEND", OFFER_WORDS, offer_backends },
	{ "MODEL", OFFER_WORDS, offer_models },
	{ "SET", OFFER_WORDS, offer_sets },
	{ "VERB", OFFER_WORDS, offer_verbs },
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

void argument_offer_words(const struct offered *offered,
			  const struct argument *argument)
{
	const char *word = NULL;
	char literal[64];
	int length = 0;

	for (int i = 0; argument->choices && i < OPTION_MOST_CHOICES &&
			argument->choices[i]; i++)
		argument_offer_word(offered, argument->choices[i], NULL);
	while ((word = next_word(argument, word, &length))) {
		const struct kind *kind = find_kind(word, length);

		snprintf(literal, sizeof(literal), "%.*s", length, word);
		if (is_literal(word))
			argument_offer_word(offered, literal, NULL);
		else if (kind && kind->offer_all)
			kind->offer_all(offered);
	}
}
