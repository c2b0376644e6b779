#include "bench/gate/proof.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plan/ranks.h"
#include "bench/system/file.h"
#include "bench/system/hash.h"
#include "bench/system/kernel.h"
#include "bench/system/memory.h"

#define KEPT "verified"
#define SELF "/proc/self/exe"

/* Variables of a terminal and of a session. They change from one check to the
 * next and concern no library. */
static const char *const idle_variables[] = {
	"_=", "COLORTERM=", "COLUMNS=", "LINES=", "OLDPWD=", "PWD=", "SHLVL=",
	"SSH_AUTH_SOCK=", "SSH_CLIENT=", "SSH_CONNECTION=", "SSH_TTY=",
	"TERM=", "WINDOWID=", "XDG_SESSION_ID=",
};

static int is_idle(const char *variable)
{
	for (size_t i = 0; i < sizeof(idle_variables) /
				       sizeof(*idle_variables); i++)
		if (!strncmp(variable, idle_variables[i],
			     strlen(idle_variables[i])))
			return 1;
	return 0;
}

/* Stores only the hash: some variables are secret. The arm's own variables
 * count under any name. */
static void hash_variables(const struct proof *proof,
			   char hex[HASH_SHA256_SIZE])
{
	const char *const *own = proof->arm->variables;
	struct hash_pieces pieces;

	hash_pieces_begin(&pieces);
	for (char **variable = proof->environment; *variable; variable++)
		if (!is_idle(*variable))
			hash_pieces_add(&pieces, *variable,
					strlen(*variable) + 1);
	for (; *own; own++)
		hash_pieces_add(&pieces, *own, strlen(*own) + 1);
	hash_pieces_end(&pieces, hex);
}

/* Sets the path of the program's file. Returns -1 if it is not ELF: a script's
 * bytes do not decide what it does. */
static int find_program(const struct proof *proof, char path[PATH_MAX])
{
	const char *program = proof->arm->program ? proof->arm->program : SELF;
	char magic[5];

	return !strchr(program, '/') || !realpath(program, path) ||
	       small_file_read(NULL, path, magic, sizeof(magic)) ||
	       strcmp(magic, "\177ELF") ? -1 : 0;
}

/* Prints everything that decides the result, except the content of the mapped
 * files. Relative paths in variables start at the folder; the pilot found the
 * device. */
static int print_question(FILE *out, const void *context, struct error *err)
{
	const struct proof *proof = context;
	const struct objects *objects = &proof->objects;
	const struct run *pilot = &proof->target->pilot;
	char path[PATH_MAX], folder[PATH_MAX], hex[HASH_SHA256_SIZE];

	if (find_program(proof, path) || hash_sha256_file(path, hex) ||
	    !getcwd(folder, sizeof(folder)))
		return error_set(err, ERROR_MISSING, "no program");
	fprintf(out, "bench verify found this right\nprogram %s %s\n"
		"folder %s\n", hex, path, folder);
	for (char **word = proof->words + 1; *word; word++)
		fprintf(out, "word %s\n", *word);
	hash_variables(proof, hex);
	fprintf(out, "variables %s\ncpu %s\ndevice %s, %s\ndata %s\n", hex,
		pilot->cpu_model, pilot->device_name, pilot->device_driver,
		pilot->dataset_sha256);
	for (size_t i = 0; i < objects->count; i++)
		fprintf(out, "starts with %s\n", objects->paths[i]);
	return 0;
}

static int print_stamps(FILE *out, const void *context, struct error *err)
{
	const struct objects *objects = context;
	char stamp[OBJECT_STAMP_SIZE];

	for (size_t i = 0; i < objects->count; i++) {
		if (object_stamp(objects->paths[i], stamp) < 0)
			return error_set(err, ERROR_MISSING, "%.900s is no "
					 "file any more", objects->paths[i]);
		fprintf(out, "%s %s\n", stamp, objects->paths[i]);
	}
	return 0;
}

/* The list and one more, unless last is NULL. NULL: no memory. */
static char **extend(char *const *list, const char *last)
{
	char **longer;
	size_t count = 0;

	while (list[count])
		count++;
	longer = malloc((count + 2) * sizeof(*longer));
	if (!longer)
		return NULL;
	memcpy(longer, list, count * sizeof(*longer));
	/* posix_spawn promises not to change the strings. */
	longer[count] = (char *)(size_t)last;
	longer[count + 1] = NULL;
	return longer;
}

/* Starts it with its arm's variables, and asks for a report of its mapped
 * files. */
static int start(const struct proof *proof, char *const *words, int stderr_fd,
		 double seconds, struct process_status *status,
		 struct error *err)
{
	const char *report = proof->objects.variable;
	char **environment = extend(proof->environment,
				    *report ? report : NULL);
	const struct process_setting setting = {
		.stdout_fd = PROCESS_NOWHERE,
		.stderr_fd = stderr_fd,
		.environment = (const char *const *)environment,
	};
	const int failed = environment ?
		process_run((const char *const *)words, &setting, seconds,
			    status, err) :
		error_memory(err, "a list of variables");

	free(environment);
	return failed;
}

/* Lists the files that the program maps once its device is open. Older programs
 * do not report them. */
static int look(struct proof *proof, double seconds, struct error *err)
{
	char **words = extend(proof->words, "--dry-run");
	struct process_status status = { 0 };
	const int failed = words ? start(proof, words, PROCESS_NOWHERE,
					 seconds, &status, err) :
				   error_memory(err, "a command line");

	free(words);
	if (failed)
		return -1;
	if (status.code || objects_read(&proof->objects, err) ||
	    !proof->objects.count)
		return error_set(err, ERROR_MISSING, "no report");
	return 0;
}

/* A launcher and its ranks use libraries, components and settings, on several
 * hosts, that no look at this program shows. */
static int is_launched(const struct proof *proof)
{
	struct target target;
	struct error unknown;

	return !target_parse(&target, proof->target->name, &unknown) &&
	       ranks_are_launched(&target);
}

int proof_open(struct proof *proof, double seconds, struct error *err)
{
	char path[PATH_MAX];
	struct error cause;
	size_t size;

	proof->environment = arm_environment(proof->arm, 0, err);
	if (!proof->environment)
		return -1;
	if (is_launched(proof) || find_program(proof, path) ||
	    objects_open(&proof->objects, &cause))
		return 0;
	if (look(proof, seconds, &cause)) {
		if (cause.kind == ERROR_STOPPED)
			*err = cause;
		return cause.kind == ERROR_STOPPED ? -1 : 0;
	}
	if (!memory_print(&proof->stamps, &size, print_stamps, &proof->objects,
			  "what is mapped", &cause))
		memory_print(&proof->question, &size, print_question, proof,
			     "what is verified", &cause);
	return 0;
}

void proof_close(struct proof *proof)
{
	objects_close(&proof->objects);
	free(proof->environment);
	free(proof->words);
	free(proof->question);
	free(proof->stamps);
	*proof = (struct proof){ 0 };
}

/* Prints "HASH STAMP PATH" of a file. Fails if its content has not the expected
 * hash (NULL = any). If the stamp is unchanged, the hash is not computed again;
 * stamp "-" marks a file that may change without it. */
static int print_object(FILE *out, const char *path, const char *expected,
			const char *stamp_then)
{
	char stamp[OBJECT_STAMP_SIZE], hex[HASH_SHA256_SIZE];
	const int lately = object_stamp(path, stamp);

	if (lately < 0)
		return -1;
	if (!expected || lately || strcmp(stamp, stamp_then)) {
		if (hash_sha256_file(path, hex) ||
		    (expected && strcmp(hex, expected)))
			return -1;
		expected = hex;
	}
	fprintf(out, "%s %s %s\n", expected, lately ? "-" : stamp, path);
	return 0;
}

static int print_objects(FILE *out, const void *context, struct error *err)
{
	const struct objects *objects = context;

	for (size_t i = 0; i < objects->count; i++)
		if (print_object(out, objects->paths[i], NULL, NULL))
			return error_set(err, ERROR_MISSING, "%.900s is no "
					 "file any more", objects->paths[i]);
	return objects->count ? 0 : error_set(err, ERROR_MISSING, "no report");
}

/* Prints the lines of an answer again. Fails if a file has changed. */
static int print_again(FILE *out, const void *context, struct error *err)
{
	const char *line = context, *end;
	char hex[HASH_SHA256_SIZE], stamp[OBJECT_STAMP_SIZE];
	char path[PATH_MAX];

	for (; (end = strchr(line, '\n')); line = end + 1)
		if (sscanf(line, "%64s %127s%*1[ ]%4095[^\n]", hex, stamp,
			   path) != 3 ||
		    print_object(out, path, hex, stamp))
			return error_set(err, ERROR_INPUT, "another file");
	return 0;
}

/* Files that are the same with another stamp, as after an installation, get
 * that. */
int proof_is_kept(const struct proof *proof)
{
	char *answer, *again = NULL;
	struct error ignored;
	size_t size;
	int kept;

	answer = proof->question ? kept_find(KEPT, proof->question) : NULL;
	if (!answer)
		return 0;
	kept = !memory_print(&again, &size, print_again, answer,
			     "what was verified", &ignored);
	if (kept && strcmp(answer, again))
		kept_add(KEPT, proof->question, again, &ignored);
	free(answer);
	free(again);
	return kept;
}

int proof_run(struct proof *proof, double seconds,
	      struct process_status *status, struct error *err)
{
	return start(proof, proof->words, -1, seconds, status, err);
}

/* A file that has been replaced meanwhile is another one. */
static int check_stamps(const char *line, struct error *err)
{
	char stamp[OBJECT_STAMP_SIZE], now[OBJECT_STAMP_SIZE];
	char path[PATH_MAX] = "";
	const char *end;

	for (; (end = strchr(line, '\n')); line = end + 1)
		if (sscanf(line, "%127s%*1[ ]%4095[^\n]", stamp, path) != 2 ||
		    object_stamp(path, now) < 0 || strcmp(stamp, now))
			return error_set(err, ERROR_FAILED, "%.900s has "
					 "changed", path);
	return 0;
}

int proof_keep(struct proof *proof, struct error *err)
{
	char *answer = NULL;
	size_t size;
	int failed;

	if (!proof->question)
		return 0;
	failed = check_stamps(proof->stamps, err) ||
		 objects_read(&proof->objects, err) ||
		 memory_print(&answer, &size, print_objects, &proof->objects,
			      "what was verified", err) ||
		 kept_add(KEPT, proof->question, answer, err);
	free(answer);
	return failed ? -1 : 0;
}
