/*
 * For tests: models and backends of a test, and the command, which finds them
 * by name. The linker redirects its search to this file (Makefile, WRAPPED of
 * the test); its own models and backends follow.
 */
#ifndef TESTS_OWN_H
#define TESTS_OWN_H

#include "bench/commands/commands.h"
#include "bench/verify/verify.h"
#include "tests/cmocka.h"

#define MOST_WORDS 24
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define RECIPE                                                           \
	{ .batch = 32, .epochs = 1, .lr = 1, .rho = .9, .eps = 1e-6,     \
	  .lr_step = 1, .lr_gamma = .7 }

#define MODEL(called, table, ...)                                        \
	{ .name = called, .summary = "", .input = { 1, 28, 28 },         \
	  .layer_count = (int)COUNT(table), .layers = table,             \
	  .recipe = __VA_ARGS__ }

/* Defined by the test; the entry after the last one has no name. */
extern const struct model own_models[];
extern struct backend own_backends[];

const struct model *__real_model_find(const char *name);
const struct model *__wrap_model_find(const char *name);
const struct backend *__real_backend_find(const char *name);
const struct backend *__wrap_backend_find(const char *name);

const struct model *__wrap_model_find(const char *name)
{
	for (const struct model *own = own_models; own->name; own++)
		if (!strcmp(own->name, name))
			return own;
	return __real_model_find(name);
}

const struct backend *__wrap_backend_find(const char *name)
{
	for (const struct backend *own = own_backends; own->name; own++)
		if (!strcmp(own->name, name))
			return own;
	return __real_backend_find(name);
}

/* Copies of null, as it is and with less. */
enum { COPY, TORN, LACKING_BACKENDS };

static inline void add_lacking_backends(void)
{
	own_backends[COPY] = *__real_backend_find("null");
	own_backends[COPY].name = "copy";
	own_backends[TORN] = *__real_backend_find("null");
	own_backends[TORN].name = "torn";
	own_backends[TORN].update = NULL;
}

struct said {
	int code;
	char *out; /* free() it */
	char error[1024];
};

static inline struct said say(const char *line)
{
	char text[512], *argv[MOST_WORDS], *rest = text;
	struct said said = { 0 };
	struct options options;
	struct error err = { .message = "" };
	size_t size;
	FILE *out = open_memstream(&said.out, &size);
	int argc = 1;

	assert_non_null(out);
	snprintf(text, sizeof(text), "%s -q -d synthetic --synthetic-train 70 "
		 "--synthetic-test 40", line);
	while ((argv[argc] = strsep(&rest, " ")) && argc < MOST_WORDS - 1)
		argc++;
	argv[0] = argv[1];
	assert_int_equal(options_parse(&options, argc, argv, &err), 0);
	said.code = (options.verb == VERB_VERIFY ? verify_command :
		     options.verb == VERB_RUN ? run_command :
						measure_command)(
		&options, out, stderr, &err);
	if (said.code < 0)
		said.code = (int)err.kind;
	snprintf(said.error, sizeof(said.error), "%s", err.message);
	options_release(&options);
	fclose(out);
	return said;
}

/* Each command ends with 0. */
static inline void assert_right(const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct said said = say(lines[i]);

		if (said.code)
			fail_msg("%s: %s%s", lines[i], said.out, said.error);
		free(said.out);
	}
}

static inline void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

#endif
